"""The frame and the components in a real browser, under the real policy."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.contrib.staticfiles.handlers import StaticFilesHandler
from django.test.testcases import LiveServerThread
from django.test.utils import override_settings
from playwright.sync_api import expect

from memoryweb import context

CHROMIUM = shutil.which("chromium")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
FIXTURES = Path(__file__).parent / "templates"

expect.set_options(timeout=30_000)  # As long as Playwright waits for everything else.

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed"),
]


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """A server of the fixture pages; none of them asks the database anything."""
    engine = django_settings.TEMPLATES[0]
    templates = [{**engine, "DIRS": [*engine["DIRS"], FIXTURES]}]
    with (
        pytest.MonkeyPatch.context() as patch,
        override_settings(
            TEMPLATES=templates, ROOT_URLCONF="tests.look.urls", ALLOWED_HOSTS=["localhost"]
        ),
    ):
        patch.setattr(context, "WAITING", {"quarantine": lambda: 3})
        server = LiveServerThread("localhost", StaticFilesHandler)
        server.daemon = True
        server.start()
        server.is_ready.wait()
        assert server.error is None
        yield f"http://localhost:{server.port}"
        server.terminate()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield launched
        launched.close()


@pytest.fixture
def open_page(browser: Any, address: str) -> Iterator[Any]:
    """Opens a path in a browser of its own; `said` collects what the console complains about."""
    opened = []

    def make(path: str, width: int = 1280, **options: Any) -> Any:
        window = browser.new_context(
            viewport={"width": width, "height": 800}, base_url=address, **options
        )
        opened.append(window)
        page = window.new_page()
        page.said = []
        page.on("console", lambda message: page.said.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: page.said.append(str(error)))
        page.asked = []
        page.on("request", lambda request: page.asked.append(request.url))
        page.goto(path)
        return page

    yield make
    for window in opened:
        window.close()


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [375, 1280])
def test_the_page_of_components_fits_and_keeps_the_policy(
    open_page: Any, address: str, width: int, theme: str
):
    page = open_page("/episodes/", width, color_scheme=theme)
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert page.said == []
    assert {url for url in page.asked if not url.startswith(address)} == set()


def test_a_slider_and_its_number_are_equal_and_the_result_moves_with_them(open_page: Any):
    page = open_page("/behaviour/")
    page.locator("[data-slider-range]").fill("0.25")
    expect(page.locator("#vector")).to_have_value("0.25")
    page.get_by_text("vector=0.25").wait_for()
    expect(page).to_have_url(re.compile(r"/echo/\?vector=0\.25$"))
    page.locator("#vector").fill("0.5")
    expect(page.locator("[data-slider-range]")).to_have_value("0.5")
    page.get_by_text("vector=0.5").wait_for()


def test_a_refusal_is_said_and_the_typed_text_stays(open_page: Any):
    page = open_page("/behaviour/")
    page.locator("textarea").fill("an hour of work")
    page.get_by_role("button", name="Save").click()
    page.get_by_role("status").get_by_text("Someone else saved this page").wait_for()
    expect(page.locator("textarea")).to_have_value("an hour of work")


def test_a_form_that_redirects_when_done_leads_to_that_page(open_page: Any):
    page = open_page("/behaviour/")
    page.get_by_role("button", name="Finish").click()
    page.wait_for_url("**/episodes/")


def test_a_server_error_is_said_without_what_the_server_answered(open_page: Any):
    page = open_page("/behaviour/")
    page.get_by_role("button", name="Break").click()
    page.get_by_role("status").get_by_text("The server could not do this (500)").wait_for()
    expect(page.get_by_text("Traceback")).to_have_count(0)
    page.get_by_role("button", name="Dismiss").click()
    expect(page.get_by_role("status")).to_have_text("")


def test_the_theme_is_switched_and_kept(open_page: Any):
    page = open_page("/behaviour/", color_scheme="light")
    canvas = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(canvas) == "rgb(255, 255, 255)"
    switch = page.get_by_role("button", name="Theme")
    switch.click()
    switch.click()
    assert page.evaluate(canvas) == "rgb(21, 25, 27)"
    page.reload()
    assert page.evaluate(canvas) == "rgb(21, 25, 27)"
    assert page.get_by_role("button", name="Theme").inner_text().endswith("Dark")


@pytest.mark.parametrize("script", [True, False])
def test_the_menu_opens_on_a_narrow_screen_also_without_script(open_page: Any, script: bool):
    page = open_page("/episodes/", 375, java_script_enabled=script)
    coverage = page.get_by_role("navigation", name="Sections").get_by_role("link", name="Coverage")
    expect(coverage).to_be_hidden()
    page.get_by_role("button", name="Menu", exact=True).click()
    expect(coverage).to_be_visible()
    home = page.get_by_role("link", name="Home", exact=True)
    assert home.evaluate("link => link.getBoundingClientRect().top") < 80  # Below its head.


def test_without_script_nothing_is_shown_that_needs_it(open_page: Any):
    page = open_page("/episodes/", java_script_enabled=False)
    expect(page.locator(".needs-script:visible")).to_have_count(0)
    expect(page.locator("input[type=range]:visible")).to_have_count(0)
    expect(page.locator("#vector")).to_be_visible()


def test_keys_search_go_and_move_but_never_inside_a_field(open_page: Any):
    page = open_page("/episodes/")
    page.keyboard.press("j")
    page.keyboard.press("j")
    assert page.evaluate("document.activeElement.closest('[data-item]').innerText")[0] == "2"
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.hasAttribute('data-page-search')")
    page.keyboard.type("?ge")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.locator("[data-page-search]")).to_have_value("?ge")
    page.get_by_role("heading", name="Episodes", exact=True).click()
    page.keyboard.press("g")
    page.keyboard.press("s")
    page.wait_for_url("**/search/")


def test_keys_can_be_switched_off_and_stay_off(open_page: Any):
    page = open_page("/behaviour/")
    page.keyboard.press("?")
    page.get_by_label("Use these keys").uncheck()
    page.keyboard.press("Escape")
    page.reload()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_a_dialog_opens_takes_the_focus_and_closes_by_escape(open_page: Any):
    page = open_page("/episodes/")
    opener = page.locator("[data-dialog=sure]")
    opener.click()
    assert page.evaluate("document.activeElement.closest('dialog').id") == "sure"
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert opener.evaluate("button => button === document.activeElement")


def test_code_is_copied_whole(open_page: Any):
    page = open_page("/episodes/", permissions=["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy", exact=True).click()
    page.get_by_text("Copied").wait_for(state="attached")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == page.locator(".code code").inner_text()


def test_one_box_ticks_all_rows_and_the_bar_counts_them(open_page: Any):
    page = open_page("/episodes/")
    page.get_by_label("Select all").check()
    expect(page.locator("[data-selected]")).to_have_text("4")
    page.locator("[data-select]").first.uncheck()
    expect(page.locator("[data-selected]")).to_have_text("3")
    assert page.get_by_label("Select all").evaluate("box => box.indeterminate")
