"""Lint and renaming in a real browser, on a wide screen and on a telephone's."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from bank import services
from bank.models import Kind
from memoryweb.core.models import User

pytestmark = pytest.mark.browser
LONG = "A page with so many words that nobody could take it for a stub."
WIDE = "a-name-that-goes-on-and-on-" * 4


@pytest.fixture
def bank(transactional_db: None, home: Path, curator: User) -> Callable[[], None]:
    def make() -> None:
        actor = curator.actor("page")
        for name, text in {
            "alice": f"# Alice\n\n{LONG} [[nobody]] [[Chen]] [[{WIDE}]]\n",
            "chen-a": f"# Chen\n\n{LONG} [[alice]]\n",
            "chen-b": f"# Chen\n\n{LONG}\n",
            WIDE: "知识图谱",
        }.items():
            services.save(actor, Kind.ENTITY, name, text)

    return make


@pytest.mark.parametrize("width", [375, 1280])
def test_a_finding_leads_to_its_page_and_to_what_mends_it(
    open_page: Any, curator: User, bank: Callable[[], None], width: int
):
    bank()
    window = open_page("/bank/lint/", curator, width=width)
    for name in ("Ambiguous links", "Orphans", "Duplicate titles", "Without a title", "Stubs"):
        window.get_by_role("navigation", name="Checks").get_by_text(name).click()
        expect(window.get_by_role("heading", name=name)).to_be_visible()
        overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        assert window.evaluate(overflow) <= 0
    window.get_by_text("Broken links").click()
    expect(window.get_by_role("heading", name="Broken links")).to_be_visible()
    window.get_by_role("link", name=re.compile("Write it.*nobody")).click()
    expect(window.get_by_label("Name")).to_have_value("nobody")


@pytest.mark.parametrize("scripts", [True, False])
def test_a_page_is_renamed_and_its_old_address_leads_to_it(
    open_page: Any, curator: User, bank: Callable[[], None], scripts: bool
):
    bank()
    window = open_page("/bank/alice/", curator, java_script_enabled=scripts)
    window.get_by_text("More", exact=True).click()
    window.get_by_role("link", name="Rename…").click()
    window.get_by_label("New name").fill("a/b")
    window.get_by_role("button", name="Rename").click()
    expect(window.get_by_text("A name cannot hold “/”")).to_be_visible()
    window.get_by_label("New name").fill("Ada Lovelace")
    window.get_by_role("button", name="Rename").click()
    window.wait_for_url("**/bank/ada-lovelace/")
    expect(window.get_by_text("The links of 1 page follow it.")).to_be_visible()
    window.goto("/bank/alice/")
    window.wait_for_url("**/bank/ada-lovelace/")
    window.goto("/bank/chen-a/")
    expect(window.locator(".prose").get_by_role("link", name="ada-lovelace")).to_be_visible()
