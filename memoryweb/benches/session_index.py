"""Giving a memory its vector of 768 values, with the durable commit and without it.

Through the writer that every door uses: clock, change row and audit included. Without the
durable commit SQLite does not wait for the disk (`PRAGMA synchronous=OFF`).
"""

import statistics
import time
from collections.abc import Callable, Iterator

import numpy as np
from django.db import connection

from episodes import memory_vectors, sessions
from episodes.memory_vectors import Sent
from episodes.session_schemas import MemoryIn
from memoryweb.benches import Table, percentile
from memoryweb.benches.scratch import scratch_database
from memoryweb.core.actor import system

DIMENSION = 768
MEMORIES = 300
AT_ONCE = 100


def measure(docs: int | None = None) -> Iterator[Table]:
    """Measure on 300 memories, or on `docs`."""
    rows = []
    for durable in (True, False):
        with scratch_database():
            _set_durable(durable)
            rows += _rows(docs or MEMORIES, "durable" if durable else "not durable")
    columns = ("commit", "what", "median ms", "p95 ms")
    yield Table("one memory and its vector", columns, tuple(rows))


def _rows(count: int, commit: str) -> list[tuple[str, str, float, float]]:
    ids = [f"m{n}" for n in range(count)]
    vectors = np.random.default_rng(0).standard_normal((count, DIMENSION)).astype(np.float32)
    sent = [Sent(one, vector, model="bench") for one, vector in zip(ids, vectors, strict=True)]
    sessions.save(system(), context_id="bench", name="Bench")

    def save(place: int) -> None:
        given = MemoryIn.model_construct(
            id=ids[place], content=f"memory {place}", type="note", source="", importance=0.5,
            created_at=None,
        )  # fmt: skip
        sessions.save(system(), context_id="bench", memories=[given])

    def index(place: int) -> None:
        memory_vectors.index(system(), sent[place])

    def index_many(place: int) -> None:
        memory_vectors.index_many(system(), sent[place : place + AT_ONCE])

    places = range(count)
    batches = range(0, count, AT_ONCE)
    return [
        (commit, "save the memory", *_times(save, places, 1)),
        (commit, "give it its vector", *_times(index, places, 1)),
        (commit, f"the same, {AT_ONCE} at once", *_times(index_many, batches, AT_ONCE)),
    ]


def _times(do: Callable[[int], None], places: range, share: int) -> tuple[float, float]:
    """Median and 95th percentile in milliseconds, for one of `share`."""
    times = []
    for place in places:
        started = time.perf_counter()
        do(place)
        times.append((time.perf_counter() - started) * 1000 / share)
    return statistics.median(times), percentile(times, 0.95)


def _set_durable(durable: bool) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"PRAGMA synchronous={'FULL' if durable else 'OFF'}")
