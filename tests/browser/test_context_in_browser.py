"""The context page in a real browser: the budget moves the text, and the address keeps up."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import Locator, Page, expect

from bank import services
from bank.models import Kind
from bank.models import Page as Stored
from episodes import store
from memoryweb.core.actor import system
from memoryweb.core.models import User
from search.live import live

pytestmark = pytest.mark.browser


@pytest.fixture(autouse=True)
def _fresh_index() -> None:
    live.forget()


@pytest.fixture
def save(home: Path, transactional_db: None) -> Callable[..., None]:
    return lambda kind, name, content: services.save(system(), kind, name, content)


@pytest.fixture
def bank(save: Callable[..., None]) -> None:
    rules = "".join(f"- Rule {number} is that locks are sorted.\n" for number in range(200))
    save(Kind.MEMORY, "MEMORY", f"# House rules\n\n{rules}")
    services.append_note(system(), "Drained the queue.", timezone.localdate())
    save(Kind.ENTITY, "alice", "# Alice\n\nRuns the docks.\n")


def slide(page: Page, value: str) -> None:
    page.locator("[data-slider-range]").fill(value)


def sum_of(page: Page) -> Locator:
    return page.locator("#given").get_by_role("status")


def test_the_slider_moves_the_text_the_figures_and_the_address(
    open_page: Any, viewer: User, bank: None
):
    page = open_page("/context/", viewer)
    expect(sum_of(page)).to_contain_text("of 2,500 tokens")
    slide(page, "200")
    page.wait_for_url(lambda url: url.endswith("/context/?max_tokens=200"))
    expect(sum_of(page)).to_contain_text("of 200 tokens")
    expect(page.locator("[name=max_tokens]")).to_have_value("200")
    twin = page.get_by_role("link", name="as JSON")
    expect(twin).to_have_attribute("href", "/api/v1/bank/context?max_tokens=200")
    page.reload()
    expect(sum_of(page)).to_contain_text("of 200 tokens")


def test_the_slider_keeps_the_focus_and_the_last_place_of_a_drag_counts(
    open_page: Any, viewer: User, bank: None
):
    page = open_page("/context/", viewer)
    page.locator("[data-slider-range]").focus()
    for _ in range(12):
        page.keyboard.press("ArrowLeft")
    page.wait_for_url(lambda url: url.endswith("?max_tokens=1900"))
    expect(sum_of(page)).to_contain_text("of 1,900 tokens")
    assert page.evaluate("document.activeElement.type") == "range"


def test_a_typed_query_adds_past_experiences(open_page: Any, viewer: User, bank: None):
    episode = {"agent_id": "otter", "working_dir": "/srv/shop", "outcome": "success"}
    episode["summary"] = "Sorted the locks of the order queue"
    store.store(system(), store.parse(episode))
    page = open_page("/context/", viewer)
    page.get_by_label("Query").fill("order queue")
    expect(page.get_by_role("region", name="Relevant Past Experiences")).to_contain_text(
        "Sorted the locks of the order queue"
    )
    page.get_by_label("Working directory").fill("/srv/shop")
    page.wait_for_url(lambda url: "query=order+queue&prefer_working_dir=%2Fsrv%2Fshop" in url)


def test_what_is_copied_is_what_the_api_gives(open_page: Any, viewer: User, bank: None):
    allowed = ["clipboard-read", "clipboard-write"]
    page = open_page("/context/?max_tokens=300", viewer, permissions=allowed)
    page.get_by_role("button", name="Copy", exact=True).click()
    expect(page.get_by_text("Copied")).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()")
    given = page.request.get("/api/v1/bank/context?max_tokens=300").json()
    assert copied == given["text"]


def test_a_budget_that_is_none_says_so_until_it_is_one_again(
    open_page: Any, viewer: User, bank: None
):
    page = open_page("/context/", viewer)
    page.locator("[name=max_tokens]").fill("0")
    expect(page.get_by_role("alert")).to_contain_text("Budget: Ensure this value")
    page.locator("[name=max_tokens]").fill("7")
    expect(page.get_by_role("alert")).to_have_count(0)
    expect(sum_of(page)).to_contain_text("0 of 7 tokens")


def test_it_works_without_script(open_page: Any, viewer: User, bank: None):
    page = open_page("/context/", viewer, java_script_enabled=False)
    page.locator("[name=max_tokens]").fill("200")
    page.get_by_role("button", name="Show", exact=True).click()
    expect(page).to_have_url(re.compile(r"max_tokens=200"))
    expect(sum_of(page)).to_contain_text("of 200 tokens")
    page.get_by_text("How the sections share the budget").click()
    expect(page.get_by_text("They take turns")).to_be_visible()


@pytest.mark.parametrize("width", [375, 1280])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_script_and_length_fits_and_hostile_text_does_nothing(
    open_page: Any, viewer: User, save: Callable[..., None], width: int, theme: str
):
    hostile = "<img src=x onerror=alert(1)><script>alert(2)</script>"
    save(Kind.MEMORY, "MEMORY", f"# {hostile}\n\n{'long_word_' * 60}\n\nمراجعة إعدادات النشر\n")
    save(Kind.ENTITY, "部署手册", "# 部署\n\n" + "先预发，后全量，" * 12 + "\n")
    save(Kind.ENTITY, "x" * 120, "# X\n\nFine.\n")
    Stored.objects.filter(name="x" * 120).update(quarantined=True, title="y" * 200)
    page = open_page("/context/", viewer, width, color_scheme=theme)
    assert hostile in page.locator("pre").first.inner_text()
    assert page.evaluate("document.documentElement.scrollWidth") == width
