"""The search page in a real browser: it moves with the sliders, by keyboard and without script."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from episodes import store, vectors
from memoryweb.core.actor import system
from memoryweb.core.models import User
from memoryweb.core.vectors import encode_blob
from search.live import live
from search.models import SuggestedQuery

pytestmark = pytest.mark.browser
HOSTILE = "<script>alert('x')</script><img src=x onerror=alert(1)> deadlock"


@pytest.fixture
def remember(transactional_db: None) -> Callable[..., None]:
    def make(id: str, summary: str, vector: list[float] | None = None, **fields: Any) -> None:
        row = {
            "id": id,
            "agent_id": "otter",
            "working_dir": "/srv/shop",
            "outcome": "success",
            "summary": summary,
            **fields,
        }
        store.store(system(), store.parse(row))
        if vector is not None:
            vectors.set_vector(system(), vectors.Sent(id, vector, None, "toy"))

    live.forget()
    return make


@pytest.fixture
def shop(remember: Callable[..., None]) -> None:
    """Three episodes: one the words find best, one the vector, one between."""
    remember("words", "Deadlock, deadlock and deadlock in the worker", [0.1, 1.0])
    remember("both", "A deadlock in the payment worker", [0.8, 0.6], working_dir="/srv/pay")
    remember("vector", "Two transactions waited for each other", [1.0, 0.0], outcome="failure")
    blob = encode_blob(vectors.received([1.0, 0.0], None))
    SuggestedQuery.objects.create(text="deadlock", model="toy", dimension=2, vector=blob)


def expect_titles(page: Page, *beginnings: str) -> None:
    """The answer comes to hold hits whose titles begin so, in this order."""
    begun = [re.compile(rf"^\s*{re.escape(beginning)}") for beginning in beginnings]
    expect(page.locator(".result-title")).to_have_text(begun)


def expect_first(page: Page, beginning: str) -> None:
    first = page.locator(".result-title").first
    expect(first).to_have_text(re.compile(rf"^\s*{re.escape(beginning)}"))


def slide(page: Page, name: str, value: str) -> None:
    page.locator(f".slider:has([name={name}]) [data-slider-range]").fill(value)


def test_results_move_with_the_slider_and_the_address_says_where_it_stands(
    open_page: Any, viewer: User, shop: None
):
    page = open_page("/search/?q=deadlock", viewer)
    expect_titles(page, "A", "Two", "Deadlock,")
    slide(page, "vector", "0")
    expect(page.locator(".result-title").first).to_contain_text("Deadlock, deadlock")
    expect(page.locator("[name=vector]")).to_have_value("0")
    page.wait_for_url(lambda url: url.endswith("/search/?vector=0&q=deadlock"))
    expect(page.locator(".result").first.locator(".rank-up")).to_have_text("up 2")
    page.reload()
    expect_first(page, "Deadlock,")
    expect(page.locator("[data-slider-range]").first).to_have_value("0")


def test_back_at_the_saved_settings_the_address_is_short_again(
    open_page: Any, viewer: User, shop: None
):
    page = open_page("/search/?q=deadlock&vector=0", viewer)
    page.locator("[name=vector]").fill("0.7")
    page.wait_for_url(lambda url: url.endswith("/search/?q=deadlock"))
    expect(page.locator(".rank-move")).to_have_count(0)


def test_the_slider_keeps_the_focus_and_an_opened_reason_stays_open(
    open_page: Any, viewer: User, shop: None
):
    page = open_page("/search/?q=deadlock", viewer)
    row = page.locator(".result", has_text="payment worker")
    row.get_by_text("Why").click()
    expect(row.locator(".why")).to_be_visible()
    page.locator("[data-slider-range]").first.focus()
    for _ in range(5):
        page.keyboard.press("ArrowLeft")
    page.wait_for_url(lambda url: "vector=0.45" in url)
    assert page.evaluate("document.activeElement.type") == "range"
    expect(row.locator(".why")).to_be_visible()


def test_the_last_place_of_a_quick_drag_is_the_one_that_counts(
    open_page: Any, viewer: User, shop: None
):
    page = open_page("/search/?q=deadlock", viewer)
    for step in range(13, -1, -1):
        slide(page, "vector", str(step / 20))
    page.wait_for_url(lambda url: "vector=0&" in url)
    expect(page.locator("[name=vector]")).to_have_value("0")


def test_results_glide_to_their_place_unless_motion_is_unwanted(
    open_page: Any, viewer: User, shop: None
):
    count = """() => new Promise((done) => document.getElementById("results").addEventListener(
        "htmx:afterSwap", () => done(document.getAnimations().filter(
            (each) => each.constructor === Animation).length), { once: true }))"""
    for motion, moving in (("no-preference", True), ("reduce", False)):
        page = open_page("/search/?q=deadlock", viewer, reduced_motion=motion)
        handle = page.evaluate_handle(f"({{ count: ({count})() }})")
        slide(page, "vector", "0")
        assert (page.evaluate("(held) => held.count", handle) > 0) is moving


def test_what_is_typed_searches_while_it_is_typed(open_page: Any, viewer: User, shop: None):
    page = open_page("/search/", viewer)
    page.keyboard.type("payment")
    expect(page.locator(".result-title")).to_have_count(1)
    assert page.locator("mark").all_inner_texts() == ["payment"]
    expect(page.locator("#id_q")).to_have_value("payment")
    page.wait_for_url(lambda url: url.endswith("?q=payment"))


def test_a_weight_that_is_none_says_so_beside_the_results_and_at_the_field(
    open_page: Any, viewer: User, shop: None
):
    page = open_page("/search/?q=deadlock&bm25=0", viewer)
    page.locator("[name=vector]").fill("0")
    expect(page.get_by_role("alert")).to_contain_text("Vector and BM25 must not both be 0.")
    expect(page.locator("[name=bm25]")).to_have_attribute("aria-invalid", "true")
    page.locator("[name=vector]").fill("1")
    expect(page.get_by_role("alert")).to_have_count(0)
    expect(page.locator("[aria-invalid]")).to_have_count(0)


def test_a_filter_is_taken_off_by_its_chip(open_page: Any, viewer: User, shop: None):
    page = open_page("/search/?q=deadlock&outcome=failure&limit=20", viewer)
    expect_titles(page, "Two")
    page.get_by_role("link", name="outcome failure").click()
    expect(page.locator(".result-title")).to_have_count(3)
    expect(page).to_have_url(re.compile(r"/search/\?q=deadlock&limit=20$"))


def test_a_curator_saves_the_ranking_and_it_is_the_default_from_then_on(
    open_page: Any, curator: User, shop: None
):
    page = open_page("/search/?q=deadlock", curator)
    slide(page, "vector", "0")
    page.get_by_role("button", name="Save as default").click()
    expect(page.get_by_role("status").first).to_contain_text("Saved as version")
    expect_first(page, "Deadlock,")
    expect(page.locator("[name=vector]")).to_have_value("0")
    page.goto("/settings/search/")
    page.get_by_role("button", name="Revert to version 0").click()
    page.get_by_role("status").first.wait_for()
    page.goto("/search/?q=deadlock")
    expect_first(page, "A")


def test_it_works_without_script(open_page: Any, curator: User, shop: None):
    page = open_page("/search/", curator, java_script_enabled=False)
    page.locator("#id_q").fill("deadlock")
    page.locator("[name=vector]").fill("0")
    page.get_by_role("button", name="Search", exact=True).click()
    expect_first(page, "Deadlock,")
    page.get_by_text("Why").first.click()
    expect(page.get_by_role("region", name="Parts of the score")).to_be_visible()
    page.get_by_role("button", name="Save as default").click()
    expect(page.get_by_role("status").first).to_contain_text("Saved as version")


def test_it_works_by_keyboard_alone(open_page: Any, viewer: User, shop: None):
    page = open_page("/search/?q=deadlock", viewer)
    page.get_by_role("heading", name="Search").click()
    page.keyboard.press("j")
    page.keyboard.press("j")
    assert page.evaluate("document.activeElement.innerText").startswith("Two transactions")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator(".why:visible")).to_have_count(1)
    page.keyboard.press("/")
    page.keyboard.type("worker")
    page.keyboard.press("Enter")
    page.wait_for_url(lambda url: url.endswith("?q=worker"))


def test_hostile_text_is_shown_and_does_nothing(
    open_page: Any, viewer: User, remember: Callable[..., None]
):
    remember("bad", HOSTILE, working_dir="/srv/<b>bold</b>")
    page = open_page("/search/?q=deadlock+script", viewer)
    assert page.locator(".result-title").inner_text() == HOSTILE
    assert page.locator("mark").all_inner_texts() == ["script", "script", "deadlock"]
    page.goto("/search/?q=%3Cimg+src%3Dx+onerror%3Dalert(1)%3E&outcome=%22%3E%3Cscript%3E")
    expect(page.locator(".search-errors img")).to_have_count(0)


@pytest.mark.parametrize("width", [375, 1280])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_long_words_and_every_script_fit(
    open_page: Any, viewer: User, remember: Callable[..., None], width: int, theme: str
):
    remember(
        "long", "deadlock" + "_a_very_long_identifier" * 40, working_dir="/srv" + "/deep" * 300
    )
    remember("zh", "修复死锁 deadlock" + "数据库部署之后必须重建索引" * 30)
    remember("ar", "deadlock مراجعة إعدادات النشر قبل الإصدار", agent_id="وكيل")
    query = "/search/?q=deadlock&vector=0.1&working_dir_prefix=/srv"
    page = open_page(query, viewer, width, color_scheme=theme)
    expect(page.locator(".result-title")).to_have_count(3)
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    assert page.evaluate("document.documentElement.scrollWidth") == width


def test_more_results_come_below_those_that_are_there(
    open_page: Any, viewer: User, remember: Callable[..., None]
):
    for number in range(25):
        remember(f"e{number}", f"A deadlock in worker {number}")
    page = open_page("/search/?q=deadlock", viewer)
    more = page.get_by_role("link", name="More results")
    more.scroll_into_view_if_needed()
    place = page.evaluate("scrollY")
    assert place > 0
    more.click()
    expect(page.locator(".result")).to_have_count(20)
    assert page.evaluate("scrollY") == place
    expect(page.locator("[name=limit]")).to_have_value("20")
    page.wait_for_url(lambda url: url.endswith("/search/?q=deadlock&limit=20"))
