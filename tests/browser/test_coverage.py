"""The coverage and the home page in a real browser: numbers lead to their lists, at every width."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from episodes import store, vectors
from memoryweb.core.actor import system
from memoryweb.core.models import User
from search.live import live

pytestmark = pytest.mark.browser


@pytest.fixture
def remember(transactional_db: None) -> Callable[..., None]:
    def make(id: str, vector: list[float] | None = None, **fields: Any) -> None:
        row = {
            "id": id,
            "agent_id": "otter",
            "working_dir": "/srv/shop",
            "outcome": "success",
            "summary": f"Episode {id}",
            **fields,
        }
        store.store(system(), store.parse(row))
        if vector is not None:
            vectors.set_vector(system(), vectors.Sent(id, vector, None, "toy"))

    live.forget()
    return make


@pytest.fixture
def mixed(remember: Callable[..., None]) -> None:
    remember("current", [1.0, 0.0])
    remember("wide", [1.0, 0.0, 0.0], working_dir="/srv" + "/深い" * 200)
    remember("missing", summary="W" * 300)


def test_a_number_leads_to_as_many_episodes(open_page: Any, viewer: User, mixed: None):
    page = open_page("/coverage/", viewer)
    row = page.get_by_role("row").filter(has=page.get_by_role("rowheader", name="wrong width"))
    row.get_by_role("link").click()
    expect(page).to_have_url(re.compile(r"vector=wrong_width"))
    expect(page.locator("tr[data-item]")).to_have_count(1)


def test_the_banner_leads_to_what_must_be_mended(open_page: Any, viewer: User, mixed: None):
    page = open_page("/coverage/", viewer)
    page.locator(".banner-warn").get_by_role("link", name="1 episode").click()
    expect(page.locator("tr[data-item]")).to_have_count(1)


@pytest.mark.parametrize("path", ["/coverage/", "/", "/settings/search/"])
@pytest.mark.parametrize("width", [375, 1280])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_page_fits_with_long_words_and_paths(
    open_page: Any, administrator: User, mixed: None, path: str, width: int, theme: str
):
    page = open_page(path, administrator, width, color_scheme=theme)
    assert page.evaluate("document.documentElement.scrollWidth") == width


@pytest.mark.parametrize("path", ["/coverage/", "/", "/settings/search/", "/search/"])
def test_a_page_of_an_empty_home_fits_too(
    open_page: Any, administrator: User, transactional_db: None, path: str
):
    page = open_page(path, administrator, 375)
    assert page.evaluate("document.documentElement.scrollWidth") == 375


def test_the_first_command_is_copied_whole(
    open_page: Any, administrator: User, transactional_db: None
):
    page = open_page("/", administrator, permissions=["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy").last.click()
    page.get_by_text("Copied").wait_for(state="attached")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert re.search(r"^curl -s http://localhost:\d+/api/v1/episodes", copied)
    assert '"Authorization: Bearer $MEMORYWEB_TOKEN"' in copied
