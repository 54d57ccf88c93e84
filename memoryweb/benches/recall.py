"""Recall by vector in one context: ours end to end, beside plain numpy, SQL and sqlite-vec.

Vectors of 768 random values, unit length. Ours asks the clock, compares, and reads the memories
found; numpy alone is the matrix product and the selection, on a matrix that is there already.
All on one thread, as in the service.
"""

import sqlite3
import statistics
import time
from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt
from django.db import connection
from django.utils import timezone

from episodes import sessions
from episodes.models import Memory, MemoryVector
from memoryweb.benches import Table, percentile
from memoryweb.benches.scratch import scratch_database
from memoryweb.core import active_model, clock
from memoryweb.core.actor import system
from memoryweb.core.vectors import encode_blob
from search import recall

SIZES = (1_000, 10_000, 100_000)
DIMENSION = 768
QUERIES = 30
CHECKED = 3  # of them, for whether every way finds the same
SLOW_QUERIES = 5  # of a way that takes longer than this to answer once:
SLOW_MS = 200.0
BEST = 5
CHUNK = 1000

Matrix = npt.NDArray[np.float32]
Way = Callable[[npt.NDArray[np.float32]], list[str]]
RANKED = (
    "SELECT id FROM agent_memories WHERE context_id = %s"
    " ORDER BY cosine_similarity(embedding, %s) DESC LIMIT 5"
)


def measure(docs: int | None = None) -> Iterator[Table]:
    """Measure contexts of 1,000, 10,000 and 100,000 memories, or one of `docs`."""
    for size in (docs,) if docs else SIZES:
        with scratch_database():
            yield _table(size)


def _table(size: int) -> Table:
    random = np.random.default_rng(size)
    matrix = random.standard_normal((size, DIMENSION)).astype(np.float32)
    matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
    queries = list(random.standard_normal((QUERIES, DIMENSION)).astype(np.float32))
    _store(matrix)
    cold = _milliseconds(_ours, queries[0])
    expected = [_ours(query) for query in queries[:CHECKED]]
    rows: list[tuple[str, float, float, float]] = []
    ours = 0.0
    for name, way in _ways(matrix).items():
        wrong = [q for q, best in zip(queries, expected, strict=False) if way(q) != best]
        median, p95 = _times(way, queries)
        ours = ours or median
        label = name if not wrong else f"{name} (another order)"
        rows.append((label, median, p95, median / ours))
    rows.append(("memoryweb, the first recall of a process", cold, cold, cold / ours))
    columns = ("way", "median ms", "p95 ms", "times ours")
    return Table(f"the best {BEST} of {size:,} memories", columns, tuple(rows))


def _ways(matrix: Matrix) -> dict[str, Way]:
    ways: dict[str, Way] = {
        "memoryweb, end to end": _ours,
        "numpy alone": lambda query: _named(_best(matrix @ query)),
        "SQL function, row by row": _by_sql,
        "blobs fetched and multiplied": _fetched,
    }
    if (vec := _sqlite_vec(matrix)) is not None:
        ways["sqlite-vec"] = vec
    return ways


def _times(way: Way, queries: list[Matrix]) -> tuple[float, float]:
    """Median and 95th percentile in milliseconds."""
    first = _milliseconds(way, queries[0])
    chosen = queries if first < SLOW_MS else queries[:SLOW_QUERIES]
    times = [_milliseconds(way, query) for query in chosen]
    return statistics.median(times), percentile(times, 0.95)


def _milliseconds(way: Way, query: Matrix) -> float:
    started = time.perf_counter()
    way(query)
    return (time.perf_counter() - started) * 1000


def _store(matrix: Matrix) -> None:
    """The rows that the writers would make, without reading them by the guard one by one."""
    sessions.save(system(), context_id="bench", name="Bench")
    now = timezone.now()
    with clock.writing(system()) as tx:
        active_model.accept(tx, "bench", DIMENSION)
    for start in range(0, len(matrix), CHUNK):
        numbers = range(start, min(start + CHUNK, len(matrix)))
        Memory.objects.bulk_create(
            Memory(
                id=_id(n),
                context_id="bench",
                content=f"memory {n}",
                content_sha="bench",
                created_at=now,
                updated_at=now,
            )
            for n in numbers
        )
        MemoryVector.objects.bulk_create(
            MemoryVector(
                memory_id=_id(n),
                context_id="bench",
                model="bench",
                dimension=DIMENSION,
                text_sha="bench",
                indexed_at=now,
                vector=encode_blob(matrix[n]),
            )
            for n in numbers
        )


def _id(number: int) -> str:
    return f"m{number:07}"


def _best(scores: Matrix) -> list[int]:
    chosen = np.argpartition(-scores, min(BEST, len(scores) - 1))[:BEST]
    return [int(n) for n in chosen[np.argsort(-scores[chosen])]]


def _named(numbers: list[int]) -> list[str]:
    return [_id(number) for number in numbers]


def _ours(query: Matrix) -> list[str]:
    return [memory.pk for memory, _ in recall.recall("bench", query, limit=BEST).memories]


def _by_sql(query: Matrix) -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute(RANKED, ["bench", encode_blob(query)])
        return [row[0] for row in cursor.fetchall()]


def _fetched(query: Matrix) -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT id, embedding FROM agent_memories WHERE context_id = 'bench'")
        rows = cursor.fetchall()
    matrix = np.frombuffer(b"".join(row[1] for row in rows), "<f4").reshape(len(rows), -1)
    scores = (matrix @ query) / np.linalg.norm(matrix, axis=1)
    return [rows[n][0] for n in _best(scores)]


def _sqlite_vec(matrix: Matrix) -> Way | None:
    """The virtual table of sqlite-vec in a database in memory; None where it is not installed."""
    try:
        import sqlite_vec
    except ImportError:
        return None
    database = sqlite3.connect(":memory:")
    database.enable_load_extension(True)
    sqlite_vec.load(database)
    database.execute(
        f"CREATE VIRTUAL TABLE v USING vec0(e float[{DIMENSION}] distance_metric=cosine)"
    )
    rows = ((n + 1, vector.tobytes()) for n, vector in enumerate(matrix))
    database.executemany("INSERT INTO v (rowid, e) VALUES (?, ?)", rows)
    sql = f"SELECT rowid FROM v WHERE e MATCH ? AND k = {BEST} ORDER BY distance"  # noqa: S608

    def nearest(query: Matrix) -> list[str]:
        return _named([row[0] - 1 for row in database.execute(sql, [query.tobytes()])])

    return nearest
