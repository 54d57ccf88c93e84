"""Coverage day by day, as the worker notes it, and how much of the nearest the graph finds."""

import logging
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from math import floor
from typing import Any

from django.db import connection
from django.db.models import F
from django.utils import timezone

from episodes.schemas import VECTOR_STATES, VectorState
from memoryweb.core import active_model
from search import coverage
from search.coverage import Coverage
from search.engine import Index
from search.live import live
from search.models import CoverageDay

logger = logging.getLogger(__name__)

NOT_COMPARED: tuple[VectorState, ...] = ("stale", "wrong_width", "other_model")
DAYS = 90
SAMPLE = 100  # vectors that the recall is measured with
BAR, HEIGHT = 4.0, 48.0  # of the chart, in its own units
MEASURED = ["recall", "sample", "graph", "measured_model", "measured_at"]
MEASURING = "recall"
PATIENCE = 60.0  # seconds that the worker waits for its index


def keep(today: date | None = None) -> None:
    """Note how much of each collection is covered by now; only what has changed is written."""
    day, active = today or timezone.localdate(), active_model.active()
    for name, documents in coverage.COLLECTIONS.items():
        counted = documents.coverage()
        now = {
            "model": active.model if active else "",
            "counts": counted.counts,
            "blank": counted.blank,
        }
        before = CoverageDay.objects.filter(collection=name, day=day).values(*now).first()
        if before != now:
            CoverageDay.objects.update_or_create(collection=name, day=day, defaults=now)


def measure(today: date | None = None) -> None:
    """Compare each graph with the exact answer, once a day and model.

    Below the threshold there is no graph and nothing to measure; no index is opened for that.
    """
    day, threshold = today or timezone.localdate(), live.state().saved.exact_threshold
    for row in CoverageDay.objects.filter(day=day).exclude(model=F("measured_model")):
        if not row.model or row.counts["current"] < threshold:
            continue
        index = (live.view(patience=PATIENCE).indexes or {}).get(row.collection)
        if index is not None and _has_graph(index):
            graph = index.statistics.graph
            row.recall, row.sample, row.graph = (
                index.recall_at_10(SAMPLE),
                min(SAMPLE, graph),
                graph,
            )
            row.measured_model, row.measured_at = row.model, timezone.now()
            row.save(update_fields=MEASURED)


def _has_graph(index: Index) -> bool:
    """Whether the graph is there, which another thread may be building just now."""
    if not index.statistics.hnsw_available:
        return False
    until = time.monotonic() + PATIENCE
    index.build_graph()
    while index.statistics.mode == "exact" and time.monotonic() < until:
        time.sleep(0.1)
    return index.statistics.mode == "hnsw"


def measure_aside() -> None:
    """Measure in a thread of its own, one at a time."""
    if not any(thread.name == MEASURING for thread in threading.enumerate()):
        threading.Thread(target=_measure_and_close, name=MEASURING, daemon=True).start()


def _measure_and_close() -> None:
    try:
        measure()
    except Exception:
        logger.exception("the graphs could not be measured; it is tried again")
    finally:
        connection.close()


@dataclass(frozen=True)
class Day:
    """One day in the chart: a bar for its documents, the share that was covered filled."""

    day: date
    coverage: Coverage
    x: float
    y: float
    height: float


@dataclass(frozen=True)
class Chart:
    """The last days of one collection. A day on which no worker ran has no bar."""

    days: Sequence[Day]
    first: date
    width: float = BAR * DAYS
    length: int = DAYS

    @property
    def words(self) -> str:
        """The chart in a sentence, for who does not see it."""
        if not self.days:
            return "nothing noted yet"
        begun, now = self.days[0], self.days[-1]
        return (
            f"{begun.coverage.percent} covered on {begun.day:%-d %B %Y}, "
            f"{now.coverage.percent} on {now.day:%-d %B %Y}"
        )


def chart(name: str, today: date | None = None) -> Chart:
    """How much of a collection was covered on each of the last days."""
    last = today or timezone.localdate()
    first = last - timedelta(days=DAYS - 1)
    rows = CoverageDay.objects.filter(collection=name, day__gte=first, day__lte=last)
    return Chart([_bar(row, (row.day - first).days) for row in rows.order_by("day")], first)


def _bar(row: CoverageDay, place: int) -> Day:
    counted: Any = dict.fromkeys(VECTOR_STATES, 0) | row.counts
    covered = Coverage(counted, row.blank)
    height = floor(10 * HEIGHT * covered.ratio) / 10
    return Day(row.day, covered, BAR * place, round(HEIGHT - height, 1), height)


def tell() -> None:
    """One line in the log for all that no search compares; the coverage page lists it."""
    counts = dict.fromkeys(NOT_COMPARED, 0)
    total = covered = 0
    for documents in coverage.COLLECTIONS.values():
        found = documents.coverage()
        total, covered = total + found.total - found.blank, covered + found.vectorized
        for state in NOT_COMPARED:
            counts[state] += found.counts[state]
    if total:
        logger.info("%d of %d documents have a current vector", covered, total)
    if sum(counts.values()):
        left_out = (f"{n} {VECTOR_STATES[state]}" for state, n in counts.items() if n)
        logger.warning(
            "%d stored vectors are left out of searches (%s); their documents are found by words "
            "alone until they are embedded again. A stored vector cannot be converted: "
            "`manage.py reindex` makes new ones with a provider, and agents send theirs to "
            "POST /api/v1/episodes/embeddings",
            sum(counts.values()),
            ", ".join(left_out),
        )
