"""Days of the configured time zone as moments."""

from datetime import UTC, date, datetime, time

from django.utils import timezone


def first_moment(day: date) -> datetime:
    """When the day begins, in UTC."""
    return _moment(day, time.min)


def last_moment(day: date) -> datetime:
    """The last microsecond of the day, in UTC."""
    return _moment(day, time.max)


def _moment(day: date, at: time) -> datetime:
    return datetime.combine(day, at, timezone.get_current_timezone()).astimezone(UTC)
