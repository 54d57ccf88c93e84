"""Episodes over time: whole days of the configured time zone, all of them counted once."""

from datetime import date
from itertools import pairwise
from typing import Any

import pytest
from django.test import Client

from episodes.histogram import MOST_BINS, bins
from episodes.models import Episode

pytestmark = pytest.mark.django_db


def counted(since: date | None = None, until: date | None = None) -> list[tuple[Any, ...]]:
    found = bins(Episode.objects.all(), since, until)
    return [(bin.since, bin.until, bin.count) for bin in found if bin.chosen]


def test_no_days_are_offered_while_there_is_nothing_to_choose_from(remember):
    assert counted() == []
    remember("a", created_at="2026-03-01T08:00:00Z")
    remember("b", created_at="2026-03-01T09:00:00Z")
    assert counted() == []


def test_each_day_is_counted_and_the_fullest_is_as_high_as_the_chart(remember):
    for name, moment in {"a": "01T08", "b": "01T10", "c": "03T08"}.items():
        remember(name, created_at=f"2026-03-{moment}:00:00Z")
    first, second, third = (date(2026, 3, day) for day in (1, 2, 3))
    assert counted() == [(first, first, 2), (second, second, 0), (third, third, 1)]
    assert [bin.height for bin in bins(Episode.objects.all(), None, None)] == [46.0, 0.0, 23.0]
    assert counted(second) == [(second, second, 0), (third, third, 1)]
    assert counted(None, first) == [(first, first, 2)]


def test_a_day_begins_at_midnight_of_the_configured_time_zone(remember, settings):
    settings.TIME_ZONE = "Asia/Kathmandu"  # 5:45 ahead
    remember("a", created_at="2026-03-01T18:14:59Z")
    remember("b", created_at="2026-03-01T18:15:00Z")
    assert counted() == [
        (date(2026, 3, 1), date(2026, 3, 1), 1),
        (date(2026, 3, 2), date(2026, 3, 2), 1),
    ]


def test_a_long_time_is_cut_into_equal_runs_that_lose_no_episode(remember):
    remember("old", created_at="1999-12-31T12:00:00Z")
    for day in range(1, 29):
        remember(str(day), created_at=f"2026-02-{day:02}T12:00:00Z")
    found = bins(Episode.objects.all(), None, None)
    assert len(found) <= MOST_BINS
    assert (found[0].since, found[-1].until) == (date(1999, 12, 31), date(2026, 2, 28))
    assert all((b.since - a.until).days == 1 for a, b in pairwise(found))
    assert sum(bin.count for bin in found) == 29


def test_the_list_shows_what_the_other_filters_let_through_over_time(remember, signed_in, viewer):
    for name, day, outcome in (("a", 1, "success"), ("b", 2, "success"), ("c", 9, "failure")):
        remember(name, created_at=f"2026-03-0{day}T12:00:00Z", outcome=outcome)
    client: Client = signed_in(viewer)
    page = client.get("/episodes/?outcome=success&since=2026-03-02").content.decode()
    assert page.count('<g data-since="') == 2
    assert '<g data-since="2026-03-01" data-until="2026-03-01" class="brush-out">' in page
    assert "<title>2 Mar 2026: 1</title>" in page
    assert "<g data-since=" not in client.get("/episodes/?since=never").content.decode()
