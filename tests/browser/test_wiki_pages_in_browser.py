"""A wiki in a real browser: a search that moves with its sliders, and a graph that is walked."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from bank import services, wikis
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
