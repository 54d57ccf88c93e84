"""A day begins and ends where the configured time zone says."""

from datetime import UTC, date, datetime, timedelta

import pytest
from django.utils import timezone

from memoryweb.core.days import first_moment, last_moment


@pytest.mark.parametrize(
    ("zone", "day", "begins", "hours"),
    [
        ("UTC", date(2026, 3, 1), datetime(2026, 3, 1, tzinfo=UTC), 24),
        ("Asia/Shanghai", date(2026, 3, 1), datetime(2026, 2, 28, 16, tzinfo=UTC), 24),
        ("America/New_York", date(2026, 3, 8), datetime(2026, 3, 8, 5, tzinfo=UTC), 23),
        ("America/New_York", date(2026, 11, 1), datetime(2026, 11, 1, 4, tzinfo=UTC), 25),
    ],
)
def test_a_day_is_all_moments_from_its_first_to_its_last(zone, day, begins, hours):
    with timezone.override(zone):
        assert first_moment(day) == begins
        assert last_moment(day) == begins + timedelta(hours=hours) - timedelta(microseconds=1)
        assert last_moment(day) + timedelta(microseconds=1) == first_moment(day + timedelta(1))
