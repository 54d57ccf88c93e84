"""How many episodes there are over time, in equal runs of days that a person can choose from."""

from bisect import bisect_left
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise

from django.db.models import CharField, QuerySet
from django.db.models.functions import Cast, Left
from django.utils import timezone

from episodes.models import Episode
from memoryweb.core.days import first_moment

MOST_BINS = 40
WIDTH, GAP, HEIGHT = 10.0, 2.0, 48.0  # of a bin and of the chart, in the chart's own units
MINUTE = 16  # characters of a stored moment, which is text in UTC


@dataclass(frozen=True)
class Bin:
    """Episodes of some days of the configured time zone, both included, and their bar.

    `chosen` says that the filter lets them through.
    """

    since: date
    until: date
    count: int
    chosen: bool
    x: float
    y: float
    height: float


def bins(rows: QuerySet[Episode], since: date | None, until: date | None) -> list[Bin]:
    """At most 40 bins from the first day of these rows to the last; none if they are of one day."""
    # Read as they lie in the index: to have them grouped takes three times as long.
    minute = Left(Cast("created_at", CharField()), MINUTE)
    minutes = list(rows.order_by("created_at").values_list(minute, flat=True))
    if not minutes:
        return []
    first, last = _day(minutes[0]), _day(minutes[-1])
    if first == last:
        return []
    days = -(-((last - first).days + 1) // MOST_BINS)
    begins = [first + timedelta(n) for n in range(0, (last - first).days + 1, days)]
    # A day begins on a whole minute, so that counting minutes is exact in every time zone.
    places = [bisect_left(minutes, _minute(day)) for day in begins[1:]]
    counts = [end - start for start, end in pairwise([0, *places, len(minutes)])]
    most = max(counts)
    return [
        _bin(number, day, min(day + timedelta(days - 1), last), count, most, since, until)
        for number, (day, count) in enumerate(zip(begins, counts, strict=True))
    ]


def _bin(
    number: int, day: date, end: date, count: int, most: int, since: date | None, until: date | None
) -> Bin:
    chosen = (since is None or end >= since) and (until is None or day <= until)
    height = max(2.0, round((HEIGHT - 2) * count / most, 2)) if count else 0.0
    return Bin(day, end, count, chosen, number * WIDTH, HEIGHT - height, height)


def _day(minute: str) -> date:
    return timezone.localdate(datetime.fromisoformat(minute).replace(tzinfo=UTC))


def _minute(day: date) -> str:
    return f"{first_moment(day):%Y-%m-%d %H:%M}"
