"""Vendored libraries are the published ones, and pages need nothing but our own origin."""

import hashlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
STATIC = ROOT / "static"
VENDOR = STATIC / "vendor"


def test_every_vendored_file_has_the_checksum_that_is_written_down():
    lines = (VENDOR / "SHA256SUMS").read_text().splitlines()
    written = {name: digest for digest, name in (line.split("  ") for line in lines)}
    found = {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in VENDOR.iterdir()
        if path.name not in ("SHA256SUMS", "README.md")
    }
    assert written == found


def test_every_vendored_library_has_its_licence_beside_it_and_its_version_in_the_readme():
    readme = (VENDOR / "README.md").read_text()
    for script in VENDOR.glob("*.js"):
        library = re.split(r"[-.]", script.name)[0]
        assert (VENDOR / f"{library}.LICENSE").is_file()
        assert re.search(rf"^\| {re.escape(script.name)} \| \S+ \d+\.\d+\.\d+,", readme, re.M)


def test_htmx_is_version_two_because_four_gives_attributes_another_meaning():
    assert re.search(r'version:"2\.0\.\d+"', (VENDOR / "htmx.min.js").read_text())


@pytest.mark.parametrize("sheet", sorted(STATIC.glob("css/*.css")), ids=lambda path: path.name)
def test_a_style_sheet_loads_nothing_from_anywhere(sheet: Path):
    assert not re.search(r"url\(|@import|https?:|//[a-z]", sheet.read_text())


def test_our_own_scripts_stay_under_seven_hundred_lines_and_without_eval():
    scripts = [path.read_text() for path in STATIC.glob("js/*.js")]
    assert sum(len(script.splitlines()) for script in scripts) < 700
    for script in scripts:
        assert not re.search(r"\beval\(|new Function|innerHTML|https?:", script)


@pytest.mark.parametrize("image", sorted(STATIC.glob("icons/*.svg")), ids=lambda path: path.name)
def test_an_icon_file_carries_no_style_script_or_address(image: Path):
    text = image.read_text().replace('xmlns="http://www.w3.org/2000/svg"', "")
    assert not re.search(r"<style|style=|<script|https?:|on\w+=", text)
