"""The month of the daily notes in a real browser: dots, the agents' window, other months."""

from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import Page as Window
from playwright.sync_api import expect

from bank import queries, services
from bank.models import Kind
from memoryweb.core.actor import system
from memoryweb.core.models import User

pytestmark = pytest.mark.browser


@pytest.fixture
def note(home: Path, transactional_db: None) -> Callable[[date, str], None]:
    def add(day: date, text: str) -> None:
        services.append_note(system(), text, day)

    return add


def cell(window: Window, day: date) -> Any:
    """The square of a day of the month that is shown."""
    inside = window.locator("table.calendar td:not(.outside)")
    return inside.filter(has_text=str(day.day)).filter(
        has=window.get_by_text(str(day.day), exact=True)
    )


def dotted(window: Window) -> list[str]:
    """The days with a dot, as a browser draws them."""
    return window.locator("table.calendar td a").evaluate_all(
        """links => links.filter(link => getComputedStyle(link, "::after").width === "6px")
                         .map(link => link.textContent)"""
    )


def test_days_with_notes_have_dots_and_lead_to_them(open_page: Any, viewer: User, note):
    today = timezone.localdate()
    note(today, "Drained the queue.")
    window = open_page("/bank/notes/", viewer)
    assert dotted(window) == [str(today.day)]
    cell(window, today).get_by_role("link").click()
    window.wait_for_url(f"**/bank/notes/{today.isoformat()}/")
    expect(window.locator(".prose")).to_contain_text("Drained the queue.")


def test_the_days_that_agents_are_given_are_marked_over_the_borders_of_months(
    open_page: Any, viewer: User, note
):
    today = timezone.localdate()
    note(today, "Drained the queue.")
    window = open_page("/bank/notes/", viewer)
    marked = window.locator("table.calendar td.in-window")
    given = [(today - timedelta(days=ago)).day for ago in range(7, -1, -1)]
    month = today.replace(day=1)
    first = month - timedelta(days=month.weekday())
    shown = [day for ago, day in zip(range(7, -1, -1), given, strict=True)
             if today - timedelta(days=ago) >= first]  # fmt: skip
    assert [int(text) for text in marked.all_inner_texts()] == shown
    expect(window.locator("td.today")).to_have_text(str(today.day))


def test_earlier_and_later_lead_to_the_months_that_have_notes(open_page: Any, viewer: User, note):
    today = timezone.localdate()
    note(today, "Now.")
    note(date(2020, 2, 29), "Leapt.")
    window = open_page("/bank/notes/", viewer)
    window.get_by_role("link", name="Feb 2020").click()
    window.wait_for_url("**/?month=2020-02")
    expect(window.get_by_role("heading", name="February 2020")).to_be_visible()
    assert dotted(window) == ["29"]
    expect(window.locator("td.in-window")).to_have_count(0)
    window.get_by_role("link", name=today.strftime("%b %Y")).click()
    expect(window.get_by_role("heading", name=today.strftime("%B %Y"))).to_be_visible()
    assert dotted(window) == [str(today.day)]


def test_a_day_without_a_note_offers_a_curator_to_start_one(open_page: Any, curator: User, note):
    note(date(2020, 2, 29), "Leapt.")
    window = open_page("/bank/notes/?month=2020-02", curator)
    window.get_by_role("link", name="3 February, write a note", exact=True).click()
    window.wait_for_url("**/bank/notes/2020-02-03/edit/")
    window.get_by_label("Text", exact=True).fill("Started late.\n")
    window.get_by_role("button", name="Save").click()
    window.wait_for_url("**/bank/notes/2020-02-03/")
    assert queries.find(Kind.NOTE, "2020-02-03").content == "Started late.\n"
    window.goto(window.url.replace("2020-02-03/", "?month=2020-02"))
    assert dotted(window) == ["3", "29"]


def test_a_viewer_is_offered_no_note_to_start(open_page: Any, viewer: User, note):
    note(date(2020, 2, 29), "Leapt.")
    window = open_page("/bank/notes/?month=2020-02", viewer)
    expect(window.locator("table.calendar td a")).to_have_count(1)
