"""What the home page shows at a glance: what happened, what waits, and what is left to begin."""

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Any

from django.db.models import Count, Q
from django.utils import timezone

from bank import problems
from bank import queries as bank
from episodes import queries
from episodes.models import Context, Episode
from memoryweb import house, rereading
from memoryweb.core import quarantine
from memoryweb.core.models import ApiToken
from search import coverage

DAYS = 30
LATEST = 6
HEIGHT = 96.0  # of the chart, in its own units
BAR, GAP = 8.0, 2.0


@dataclass(frozen=True)
class Day:
    """One day of the configured time zone, its episodes, and its bar in the chart."""

    day: date
    count: int
    x: float
    y: float
    height: float


@dataclass(frozen=True)
class Step:
    """One step of the first run; it is ticked by what is there, not by a click."""

    title: str
    text: str
    done: bool
    command: str = ""
    url: str = ""
    action: str = ""


def first_steps(store_example: str, searched: bool, administrator: bool) -> list[Step]:
    """The steps of the first run; none once all are done."""
    steps = [
        Step(
            "Make a token for an agent",
            "An agent shows it with each request. Make one in the terminal, or on the page.",
            ApiToken.objects.filter(revoked_at=None).exists(),
            f"{house.moved()}.venv/bin/python manage.py create_token my-agent --scope write",
            *(("/settings/tokens/", "Tokens") if administrator else ()),
        ),
        Step(
            "Store a first episode",
            "Whatever the agent finished, or failed at: what it did, where, and how it ended.",
            Episode.objects.exists(),
            store_example,
        ),
        Step(
            "Search",
            "What is stored is found by the next search.",
            searched,
            url="/search/",
            action="Search",
        ),
        Step(
            "Write a page",
            "What every agent should know: how to deploy, who is who, what was decided.",
            bank.entities().exists(),
            url="/bank/",
            action="Bank",
        ),
    ]
    return [] if all(step.done for step in steps) else steps


def at_a_glance() -> dict[str, Any]:
    """The context of the page."""
    days, counted = chart(per_day()), coverage.episodes()
    return {
        "episodes": counted,
        "percent": coverage.percent(counted.ratio),
        "states": coverage.bar(counted),
        "days": days,
        "recent": sum(day.count for day in days),
        "most": max(day.count for day in days),
        "today": days[-1].count,
        "pages": bank.entities().count(),
        "sessions": Context.objects.filter(status=Context.Status.ACTIVE).count(),
        "untaken": problems.listed().count(),
        "missing": problems.missing(),
        "held": quarantine.waiting_count(),
        "rereading": rereading.progress(),
        "without": counted.total - counted.blank - counted.vectorized,
        "latest": queries.described(Episode.objects.order_by("-created_at", "id"))[:LATEST],
    }


def per_day() -> dict[date, int]:
    """The episodes of each of the last 30 days, today last."""
    today = timezone.localdate()
    days = [today - timedelta(days=ago) for ago in range(DAYS - 1, -1, -1)]
    borders = [_midnight(day) for day in [*days, today + timedelta(days=1)]]
    # How many since each midnight: one pass over the month, and neighbours differ by a day.
    rows = Episode.objects.filter(created_at__gte=borders[0], created_at__lt=borders[-1])
    since = {f"d{n}": Count("pk", filter=Q(created_at__gte=at)) for n, at in enumerate(borders)}
    counts = rows.aggregate(**since)
    return {day: counts[f"d{n}"] - counts[f"d{n + 1}"] for n, day in enumerate(days)}


def chart(counts: dict[date, int]) -> list[Day]:
    """Bars side by side, the fullest day as high as the chart; a day with any shows something."""
    most = max(counts.values(), default=0) or 1
    drawn = []
    for number, (day, count) in enumerate(counts.items()):
        height = max(2.0, round((HEIGHT - 2) * count / most, 2)) if count else 0.0
        drawn.append(Day(day, count, number * (BAR + GAP), HEIGHT - height, height))
    return drawn


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time.min, timezone.get_current_timezone())
