"""A wiki in a real browser: a search that moves with its sliders, and a graph that is walked."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from bank import services, wiki_pages, wikis
from bank.models import Kind
from memoryweb.core.models import User

pytestmark = pytest.mark.browser


@pytest.fixture
def garden(home: Path, curator: User) -> None:
    ada = curator.actor("page")
    wikis.create(ada, team_id="", name="Garden", id="garden")
    for ref, content in {
        "rose": "# Rose\n\nA thorny flower, see [[guide/tulip]].",
        "guide/tulip": "# Tulip\n\nFrom a bulb, beside [[moss]].",
        "moss": "# Moss\n\nGrows in the shade.",
    }.items():
        services.save(ada, Kind.WIKI, f"garden/{ref}", content)


def test_results_follow_the_words_and_the_hops(
    open_page: Callable[..., Page], garden: None, curator: User
) -> None:
    page: Any = open_page("/wikis/garden/", curator)
    page.get_by_role("searchbox", name="What you look for").fill("thorny")
    expect(page.locator(".result")).to_have_count(1)
    expect(page.locator(".result mark").first).to_have_text("thorny")
    page.get_by_role("spinbutton", name="Hops").fill("2")
    expect(page.locator(".result")).to_have_count(3)
    page.locator(".result summary").nth(2).click()
    expect(page.locator(".result").nth(2).locator(".way li")).to_have_count(3)
    expect(page).to_have_url(re.compile("hop=2"))


def test_the_graph_is_walked_from_page_to_page(
    open_page: Callable[..., Page], garden: None, curator: User
) -> None:
    page: Any = open_page("/wikis/garden/graph/", curator)
    expect(page.locator("circle")).to_have_count(3)
    page.locator(".graph-dot").filter(has_text="Moss").click()
    expect(page).to_have_url(re.compile("page=moss"))
    expect(page.locator("circle")).to_have_count(3)
    page.get_by_role("spinbutton", name="Hops").fill("1")
    page.keyboard.press("Tab")
    expect(page.locator("circle")).to_have_count(2)


def test_a_folder_is_sent_a_few_files_at_a_time(
    open_page: Callable[..., Page], garden: None, curator: User, tmp_path: Path
) -> None:
    folder = tmp_path / "vault"
    (folder / "deep").mkdir(parents=True)
    for number in range(60):
        (folder / f"deep/page {number}.md").write_text(f"# Page {number}\n")
    (folder / "huge.md").write_text("x" * (512 * 1024 + 9))
    (folder / "picture.png").write_bytes(b"png")
    page: Any = open_page("/wikis/garden/upload/", curator)
    page.get_by_label("Folder").set_input_files(folder)
    page.get_by_role("button", name="Send the folder").click()
    expect(page.locator("[data-folder-upload] [role=status]")).to_have_text(
        re.compile(r"^61 files: (60 created, 1 left|1 left, 60 created)\.$")
    )
    expect(page.locator("#outcomes tbody tr")).to_have_count(1)
    expect(page.locator("#outcomes")).to_contain_text("huge.md")
    assert wiki_pages.find("garden", "deep/page 59").title == "Page 59"
