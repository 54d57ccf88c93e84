"""Every template keeps to the content security policy; components draw what they are given."""

import re
from pathlib import Path
from typing import Any

import pytest
from django.template.loader import render_to_string
from django.test import RequestFactory

from bank.diff import compare, unified
from memoryweb import context
from memoryweb.core.paging import Page
from tests.look import sample

ROOT = Path(__file__).parents[2]
TEMPLATES = sorted((ROOT / "templates").rglob("*.html"))
ICONS = set(re.findall(r'<symbol id="(\w+)"', (ROOT / "static/icons/icons.svg").read_text()))


def name(path: Path) -> str:
    return path.relative_to(ROOT / "templates").as_posix()


@pytest.mark.parametrize("template", TEMPLATES, ids=name)
def test_a_template_holds_no_inline_style_or_script(template: Path):
    text = template.read_text()
    assert not re.search(r"\sstyle\s*=|<style", text)
    assert not re.search(r"<script(?![^>]*\ssrc=)", text)
    assert not re.search(r"\son[a-z]+\s*=|\shx-on|javascript:", text)
    assert not re.search(r"hx-(vals|headers)=[\"']js:|hx-trigger=[\"'][^\"']*\[", text)


@pytest.mark.parametrize("template", TEMPLATES, ids=name)
def test_a_template_asks_only_for_icons_that_exist(template: Path):
    asked = re.findall(r'icon\.html" with name="(\w+)"|\bicon="(\w+)"', template.read_text())
    assert {first or second for first, second in asked} <= ICONS


@pytest.mark.parametrize("template", TEMPLATES, ids=name)
def test_a_form_that_writes_carries_the_csrf_token(template: Path):
    for form in re.findall(r'<form[^>]*method="post".*?</form>', template.read_text(), re.S):
        assert "{% csrf_token %}" in form


@pytest.fixture(autouse=True)
def nothing_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(context, "WAITING", {})


@pytest.fixture
def page(settings: Any) -> str:
    """The page of all components, as someone who has signed in sees it."""
    engine = settings.TEMPLATES[0]
    folders = [*engine["DIRS"], ROOT / "tests/look/templates"]
    settings.TEMPLATES = [{**engine, "DIRS": folders}]
    return render_to_string("look/components.html", sample.components(), sample.request())


def test_every_component_is_drawn_on_the_page_of_components(page: str):
    assert "{{" not in page
    assert "{%" not in page
    assert 'href="#"' not in page


def test_the_section_of_the_page_is_marked_in_the_navigation(page: str):
    assert re.findall(r'href="(\S+)" aria-current="page" data-go', page) == ["/episodes/"]


def test_pages_of_a_list_keep_the_other_parameters(page: str):
    assert 'rel="next" href="?outcome=failure&amp;cursor=later"' in page
    assert 'href="?outcome=failure">First' in page


def test_the_first_page_is_a_link_also_when_nothing_else_is_in_the_address():
    request = RequestFactory().get("/episodes/?cursor=here")
    page = Page([0], 500, None, "earlier")
    drawn = render_to_string("_components/pagination.html", {"page": page}, request)
    assert 'href="?">First' in drawn


def test_text_of_the_user_is_escaped_in_every_component_that_takes_text():
    hostile = "<script>alert(1)</script>\"'><img src=x>"
    banner = render_to_string("_components/banner.html", {"title": hostile, "text": hostile})
    empty = render_to_string("_components/empty.html", {"title": hostile, "text": hostile})
    path = render_to_string("_components/path.html", {"path": hostile})
    code = render_to_string("_components/code.html", {"text": hostile})
    twin = render_to_string("_components/twin.html", {"url": hostile}, sample.request())
    rows = [*unified(compare("", hostile)), *unified(compare("", "a\u200bb"))]
    diff = render_to_string("_components/diff.html", {"rows": rows})
    assert 'title="zero width space, U+200B">ZWSP</span>' in diff
    for drawn in (banner, empty, path, code, twin, diff):
        assert "<script" not in drawn
        assert "<img" not in drawn


def test_widths_in_a_drawing_keep_the_point_whatever_the_language():
    bar = render_to_string("_components/score_bar.html", {"vector": 66.5, "text": 1.25})
    assert 'width="66.5"' in bar
    assert 'x="66.5" width="1.25"' in bar


def test_the_error_page_of_the_server_needs_no_request_and_no_database():
    drawn = render_to_string("500.html")
    assert "Something broke" in drawn
    assert 'aria-label="Sections"' not in drawn


def test_each_status_has_a_page_that_says_what_is_safe():
    for status in (400, 403, 413, 500):
        assert re.search(r"[Nn]othing was changed|is safe", render_to_string(f"{status}.html"))


def test_someone_who_has_not_signed_in_sees_no_navigation():
    request = RequestFactory().get("/login/")
    drawn = render_to_string("registration/login.html", {"form": sample.PersonForm()}, request)
    assert 'aria-label="Sections"' not in drawn
