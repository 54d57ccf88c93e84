"""The pages of episodes in a real browser: they fit, keep the policy, and need no script."""

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.test import Client
from playwright.sync_api import expect

from episodes.models import Episode
from tests.episodes.builders import ATTACK
from tests.look.test_frame_in_browser import CHROMIUM, FLAGS

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed"),
]

LONG = "averylongwordwithoutanyplacetobreakit" * 8
PATHS = [
    "/episodes/",
    "/episodes/?q=x&outcome=success&working_dir_prefix=/srv&since=bad",
    "/episodes/long/",
    "/episodes/long/edit/",
    "/episodes/long/delete/",
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with pytest.MonkeyPatch.context() as patch, sync_playwright() as playwright:
        # Playwright runs a loop in this thread, where Django suspects every query of blocking it.
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "1")
        launched = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield launched
        launched.close()


@pytest.fixture
def open_page(
    browser: Any, live_server: Any, curator: Any, signed_in: Callable[[Any], Client]
) -> Iterator[Any]:
    """Opens a page as the curator; `said` is what the console complains about."""
    session = signed_in(curator).cookies["sessionid"].value
    opened = []

    def make(path: str, width: int = 1280, **options: Any) -> Any:
        window = browser.new_context(
            viewport={"width": width, "height": 800}, base_url=live_server.url, **options
        )
        window.add_cookies([{"name": "sessionid", "value": session, "url": live_server.url}])
        opened.append(window)
        page = window.new_page()
        page.said, page.asked = [], []
        page.on("console", lambda message: page.said.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: page.said.append(str(error)))
        page.on("request", lambda request: page.asked.append(request.url))
        page.goto(path)
        return page

    yield make
    for window in opened:
        window.close()


@pytest.fixture
def rows(transactional_db: None, remember: Callable[..., Episode]) -> None:
    remember("one", vector=[1.0])
    remember("two", summary="数据库部署之后必须重建索引", working_dir="/srv/shop/web")
    remember("three", summary="مراجعة إعدادات النشر", outcome="blocked")
    remember("bad", summary=ATTACK)
    names = {"working_dir": f"/{LONG}/{LONG}", "agent_id": LONG[:200], "task_id": LONG[:200]}
    lists = {"key_decisions": [LONG], "files_modified": [f"{LONG}.py"]}
    remember("long", summary=LONG, **names, **lists, note=LONG, body=f"a\n{LONG}")


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [375, 1280])
def test_every_page_fits_and_keeps_the_policy(
    open_page: Any, live_server: Any, rows: None, width: int, theme: str
):
    for path in PATHS:
        page = open_page(path, width, color_scheme=theme)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path
        assert [said for said in page.said if "does not conform" not in said] == [], path
        assert all(url.startswith(live_server.url) for url in page.asked), path


def test_the_list_follows_what_is_typed_and_so_do_the_address_and_the_twin(open_page, rows):
    page = open_page("/episodes/")
    page.get_by_label("Part of a summary").fill("重建")
    page.locator("tr[data-item]").nth(1).wait_for(state="detached")
    expect(page.locator("tr[data-item]")).to_have_count(1)
    expect(page).to_have_url(re.compile(r"q=%E9%87%8D%E5%BB%BA"))
    twin = page.get_by_role("link", name="as JSON").get_attribute("href")
    assert "q=%E9%87%8D%E5%BB%BA" in twin


def test_days_are_chosen_by_a_drag_over_the_histogram_and_taken_off_by_their_chips(
    open_page: Any, transactional_db: None, remember: Callable[..., Episode]
) -> None:
    for day in (1, 2, 3, 4):
        remember(str(day), created_at=f"2026-03-0{day}T12:00:00Z")
    page = open_page("/episodes/")
    bars = page.locator("[data-brush] g")
    expect(bars).to_have_count(4)
    bars.nth(2).hover()
    page.mouse.down()
    bars.nth(1).hover()
    page.get_by_role("heading", level=1).hover()  # Released beside it, it ends at the last bar.
    page.mouse.up()
    expect(page.locator("tr[data-item]")).to_have_count(2)
    expect(page).to_have_url(re.compile("since=2026-03-02&until=2026-03-03"))
    expect(page.locator(".brush-out")).to_have_count(2)
    page.reload()
    expect(page.locator("tr[data-item]")).to_have_count(2)
    page.get_by_role("link", name="Clear all").click()
    expect(page.locator("tr[data-item]")).to_have_count(4)


def test_ticked_episodes_are_deleted_and_brought_back(open_page, rows):
    page = open_page("/episodes/")
    expect(page.locator(".bulk")).to_be_hidden()
    page.locator("[data-select]").nth(0).check()
    page.locator("[data-select]").nth(1).check()
    page.get_by_text("2 selected").wait_for()
    page.locator(".bulk").get_by_role("button", name="Delete").click()
    page.get_by_role("button", name="Delete 2 episodes").click()
    page.get_by_text("Deleted 2 episodes").wait_for()
    expect(page.locator("tr[data-item]")).to_have_count(3)
    page.get_by_role("button", name="Bring all back").click()
    page.get_by_text("2 episodes restored.").wait_for()
    expect(page.locator("tr[data-item]")).to_have_count(5)


def test_all_of_it_works_without_script(open_page, rows):
    page = open_page("/episodes/", java_script_enabled=False)
    page.get_by_label("Part of a summary").fill("locks")
    page.get_by_role("button", name="Filter").click()
    expect(page.locator("tr[data-item]")).to_have_count(1)
    page.locator("[data-select]").check()
    page.locator(".bulk").get_by_role("button", name="Delete").click()
    page.get_by_role("button", name="Delete 1 episode").click()
    page.get_by_role("button", name="Bring back").click()
    expect(page.get_by_text("1 episode restored.")).to_be_visible()
    page.get_by_role("link", name="Edit").click()
    page.get_by_label("Summary").fill("Edited without script")
    page.get_by_role("button", name="Save").click()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("The episode is saved.")).to_be_visible()
    assert Episode.objects.get(pk="one").summary == "Edited without script"
