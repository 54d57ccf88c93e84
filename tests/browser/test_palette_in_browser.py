"""The command palette in a real browser, by keys alone."""

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from bank import services
from bank.models import Kind
from memoryweb.core.models import User

pytestmark = pytest.mark.browser
FIELD = "Go anywhere"


@pytest.fixture
def pages(transactional_db: None, home: Path, curator: User) -> None:
    for name in ("crane", "dock"):
        services.save(curator.actor("page"), Kind.ENTITY, name, f"# {name}\n\nA page.\n")


@pytest.mark.parametrize("width", [1280, 375])
def test_a_page_is_gone_to_by_its_name_and_keys_alone(
    open_page: Any, curator: User, pages: None, width: int
):
    window = open_page("/activity/", curator, width)
    window.keyboard.press("Control+k")
    field = window.get_by_role("combobox", name=FIELD)
    expect(field).to_be_focused()
    expect(window.locator("#palette").get_by_role("option", selected=True)).to_have_text("dock")
    window.keyboard.press("ArrowDown")
    chosen = window.locator("#palette").get_by_role("option", selected=True)
    expect(chosen).to_have_text("crane")
    assert field.get_attribute("aria-activedescendant") == chosen.get_attribute("id")
    window.keyboard.type("doc")
    expect(chosen).to_have_text("dock")
    expect(window.locator("#palette").get_by_role("option")).to_have_count(2)
    window.keyboard.press("ArrowUp")
    expect(chosen).to_have_text("Search memories for “doc”")
    window.keyboard.press("ArrowDown")
    window.keyboard.press("Enter")
    window.wait_for_url("**/bank/dock/")


def test_the_palette_closes_by_escape_and_is_off_with_the_other_keys(
    open_page: Any, curator: User, pages: None
):
    window = open_page("/activity/", curator)
    window.keyboard.press("Control+k")
    expect(window.get_by_role("combobox", name=FIELD)).to_be_visible()
    window.keyboard.press("Escape")
    expect(window.get_by_role("combobox", name=FIELD)).to_be_hidden()
    window.keyboard.press("?")
    expect(window.get_by_text("Go anywhere")).to_be_visible()
    window.get_by_label("Use these keys").uncheck()
    window.keyboard.press("Escape")
    window.keyboard.press("Control+k")
    expect(window.get_by_role("combobox", name=FIELD)).to_be_hidden()
