"""What the home page shows at a glance: what happened, what waits, and what is left to begin."""

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Any

from django.db.models import Count, Q, QuerySet
from django.urls import reverse
from django.utils import timezone

from bank import problems
from bank import queries as bank
from bank.models import Kind
from episodes import queries
from episodes.models import Context, Episode, Memory
from memoryweb import house, rereading
from memoryweb.core import health
from memoryweb.core.models import ApiToken
from search import coverage
from search.embedding.configured import configured

DAYS = 30
LATEST = 6
HEIGHT = 48.0  # of the chart, in its own units
BAR, GAP = 8.0, 2.0


@dataclass(frozen=True)
class Day:
    """One day of the configured time zone, what came in on it, and its bar in the chart."""

    day: date
    count: int
    x: float
    y: float
    height: float


@dataclass(frozen=True)
class Chart:
    """What came in of one kind; `verb` is what its day is the day of."""

    title: str
    verb: str
    url: str
    days: list[Day]

    @property
    def recent(self) -> int:
        return sum(day.count for day in self.days)

    @property
    def most(self) -> int:
        return max(day.count for day in self.days)

    @property
    def today(self) -> int:
        return self.days[-1].count


@dataclass(frozen=True)
class Step:
    """One step of the first run; it is ticked by what is there, not by a click.

    The first run is over without what is `optional`.
    """

    title: str
    text: str
    done: bool
    command: str = ""
    url: str = ""
    action: str = ""
    optional: bool = False


def first_steps(store_example: str, searched: bool, administrator: bool) -> list[Step]:
    """The steps of the first run; none once all are done that must be."""
    steps = [
        Step(
            "Make a token for an agent",
            "An agent shows it with each request. Make one in the terminal, or on the page.",
            ApiToken.objects.filter(revoked_at=None).exists(),
            "export MEMORYWEB_TOKEN=$("
            f"{house.moved()}.venv/bin/python manage.py create_token my-agent --scope write"
            " | tail -1)",
            *(("/settings/tokens/", "Tokens") if administrator else ()),
        ),
        Step(
            "Store a first episode",
            "Whatever the agent finished, or failed at: what it did, where, and how it ended. "
            "To bring in what there is: manage.py import_episodes FILE or import_bank FOLDER. "
            "To look around first: manage.py serve --demo in an empty home.",
            Episode.objects.exists(),
            store_example,
        ),
        Step(
            "Name a provider of vectors",
            "Then a search also finds what means the same in other words. Without one, words "
            "are compared, and vectors that agents send themselves.",
            configured() is not None,
            optional=True,
            **({"url": "/settings/provider/", "action": "Provider"} if administrator else {}),
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
    return [] if all(step.done or step.optional for step in steps) else steps


def at_a_glance() -> dict[str, Any]:
    """The context of the page."""
    counted, charts = coverage.episodes(), came_in()
    state, warnings = health.report()
    return {
        "episodes": counted,
        "percent": coverage.percent(counted.ratio),
        "states": coverage.bar(counted),
        "charts": charts,
        "today": charts[0].today,
        "pages": bank.entities().count(),
        "sessions": Context.objects.filter(status=Context.Status.ACTIVE).count(),
        "untaken": problems.listed().count(),
        "missing": problems.missing(),
        "troubles": [text for text in (*state.values(), *warnings.values()) if text != "ok"],
        "backup": house.last_backup(),
        "rereading": rereading.progress(),
        "without": counted.total - counted.blank - counted.vectorized,
        "latest": queries.described(Episode.objects.order_by("-created_at", "id"))[:LATEST],
    }


def came_in() -> list[Chart]:
    """What came in of each kind, by the day it is of."""
    pages = bank.living().exclude(kind=Kind.WIKI)
    episodes, memories = Episode.objects.all(), Memory.objects.all()
    rows = [
        ("Episodes", "happened", "episodes", per_day(episodes)),
        ("Pages and notes", "last changed", "bank", per_day(pages, "updated_at")),
        ("Session memories", "were made", "sessions", per_day(memories)),
    ]
    return [Chart(title, verb, reverse(to), chart(counts)) for title, verb, to, counts in rows]


def per_day(rows: QuerySet[Any], moment: str = "created_at") -> dict[date, int]:
    """How many of the rows are of each of the last 30 days, today last."""
    today = timezone.localdate()
    days = [today - timedelta(days=ago) for ago in range(DAYS - 1, -1, -1)]
    borders = [_midnight(day) for day in [*days, today + timedelta(days=1)]]
    # How many since each midnight: one pass over the month, and neighbours differ by a day.
    rows = rows.filter(**{f"{moment}__gte": borders[0], f"{moment}__lt": borders[-1]})
    since = {f"d{n}": Count("pk", filter=Q((f"{moment}__gte", at))) for n, at in enumerate(borders)}
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
