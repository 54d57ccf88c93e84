"""Pages that hold still while rows come and go."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from episodes.models import Episode
from memoryweb.core.errors import Invalid
from memoryweb.core.paging import Page, page

NEWEST = ("-created_at", "id")
START = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.fixture
def row(db: None) -> Callable[..., Episode]:
    def make(id: str, minutes: int = 0) -> Episode:
        at = START + timedelta(minutes=minutes)
        return Episode.objects.create(id=id, created_at=at, updated_at=at)

    return make


def ids(found: Page[Episode]) -> list[str]:
    return [episode.id for episode in found.items]


def read_on(limit: int, order: tuple[str, ...] = NEWEST) -> list[list[str]]:
    """Every page from the first to the last."""
    found = page(Episode.objects.all(), order, limit=limit)
    pages = [ids(found)]
    while found.next_cursor:
        found = page(Episode.objects.all(), order, limit=limit, cursor=found.next_cursor)
        pages.append(ids(found))
    return pages


def test_an_empty_list_is_one_empty_page(db):
    found = page(Episode.objects.all(), NEWEST)
    assert (found.items, found.total) == ([], 0)
    assert (found.next_cursor, found.previous_cursor) == (None, None)


def test_rows_of_one_moment_are_told_apart_by_their_id(row):
    for name in "bdace":
        row(name)
    row("z", minutes=1)
    assert read_on(2) == [["z", "a"], ["b", "c"], ["d", "e"]]
    assert read_on(4, ("created_at", "-id")) == [["e", "d", "c", "b"], ["a", "z"]]


def test_a_full_last_page_has_no_next_one(row):
    row("a")
    row("b")
    assert read_on(2) == [["a", "b"]]


def test_rows_that_come_and_go_are_neither_shown_twice_nor_skipped(row):
    for minutes, name in enumerate("abcdef"):
        row(name, minutes)
    first = page(Episode.objects.all(), NEWEST, limit=2)
    assert ids(first) == ["f", "e"]
    row("new", minutes=60)
    Episode.objects.filter(pk="e").delete()
    second = page(Episode.objects.all(), NEWEST, limit=2, cursor=first.next_cursor or "")
    assert ids(second) == ["d", "c"]
    assert second.total == 6


def test_the_way_back_shows_the_page_one_came_from(row):
    for minutes, name in enumerate("abcde"):
        row(name, minutes)
    first = page(Episode.objects.all(), NEWEST, limit=2)
    second = page(Episode.objects.all(), NEWEST, limit=2, cursor=first.next_cursor or "")
    third = page(Episode.objects.all(), NEWEST, limit=2, cursor=second.next_cursor or "")
    assert ids(third) == ["a"]
    back = page(Episode.objects.all(), NEWEST, limit=2, cursor=third.previous_cursor or "")
    assert ids(back) == ids(second)
    assert back.next_cursor is not None
    start = page(Episode.objects.all(), NEWEST, limit=2, cursor=back.previous_cursor or "")
    assert ids(start) == ids(first)
    assert start.previous_cursor is None


def test_a_cursor_survives_ids_of_any_script(row):
    for name in ("a/b", "日本 %", "'; --", "🦦"):
        row(name)
    assert sorted(id for [id] in read_on(1)) == sorted(("a/b", "日本 %", "'; --", "🦦"))


@pytest.mark.parametrize("cursor", ["x", "e30", "e30:e30", "é", "a" * 4000])
def test_a_cursor_that_no_list_gave_is_refused(db, cursor: str):
    with pytest.raises(Invalid, match="is not one that a list gave"):
        page(Episode.objects.all(), NEWEST, cursor=cursor)


def test_a_cursor_of_another_order_is_refused(row):
    row("a")
    row("b")
    cursor = page(Episode.objects.all(), NEWEST, limit=1).next_cursor or ""
    with pytest.raises(Invalid, match="another order"):
        page(Episode.objects.all(), ("created_at", "-id"), cursor=cursor)


@pytest.mark.parametrize("limit", [0, -1, 501])
def test_a_limit_out_of_bounds_is_refused(db, limit: int):
    with pytest.raises(Invalid, match="must be from 1 to 500"):
        page(Episode.objects.all(), NEWEST, limit=limit)
