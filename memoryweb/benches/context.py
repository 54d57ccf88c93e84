"""What agents are given of budgets from 50 to 10,000 tokens, of what this home holds, and how soon.

With a number of documents: of a long-term memory, a week of notes and so many pages that are made
for it in a database of their own. The first answer of a process has every text read by the guard;
the others find what that read.
"""

import random
import time
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from functools import partial
from typing import TypeVar

from django.utils import timezone

from bank import queries, record
from bank.models import Kind
from bank.record import New, Origin
from bank.texts import Text
from memoryweb.benches import Table, percentile
from memoryweb.benches.scratch import scratch_database
from memoryweb.core import clock
from memoryweb.core.actor import system
from search.budget import ORDER
from search.context import Context, context

BUDGETS = (50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000)
TIMES = 20
SUMMARY_ROWS = (100, 1_000, None)
T = TypeVar("T")
WORDS = ["harbour", "crane", "deploy", "review", "token", "of", "and", "before", "while", "index"]


def measure(docs: int | None = None) -> Iterator[Table]:
    """Measure what there is, or `docs` pages that are made for it."""
    if docs is None:
        yield from _tables()
        return
    with scratch_database():
        _fill(docs)
        yield from _tables()


def _tables() -> Iterator[Table]:
    timed = [(budget, *_timed(partial(context, budget))) for budget in BUDGETS]
    yield Table(
        "context by budget; of each section its tokens, and how many units are given/left out",
        ("budget", "tokens", *ORDER[:-1], "kept out by the guard"),
        tuple((budget, *_given(built)) for budget, built, *_ in timed),
    )
    yield Table(
        "time of a context",
        ("budget", "first ms", "median ms", "p95 ms"),
        tuple((budget, *times) for budget, _, *times in timed),
    )
    yield Table("time of a summary", ("rows", "first ms", "median ms", "p95 ms"), tuple(_rows()))


def _given(built: Context) -> Iterator[str | int]:
    yield built.fitted.tokens
    for given in built.fitted.sections:
        yield f"{given.tokens:,} ({given.included:,}/{given.omitted:,})"
    yield built.skipped


def _rows() -> Iterator[tuple[str | float, ...]]:
    for most in SUMMARY_ROWS:
        found, *times = _timed(partial(queries.summary, most))
        yield f"{len(found.rows):,}" if most is None else f"at most {most:,}", *times


def _timed(do: Callable[[], T]) -> tuple[T, float, float, float]:
    """The answer, and in milliseconds the first time, the median and the 95th percentile."""
    times = []
    for _ in range(TIMES + 1):
        started = time.perf_counter()
        answer = do()
        times.append((time.perf_counter() - started) * 1000)
    first, *others = times
    return answer, first, percentile(others, 0.5), percentile(others, 0.95)


def _fill(pages: int) -> None:
    chance, today = random.Random(0), timezone.localdate()  # noqa: S311 - no secret
    texts = [Text(Kind.MEMORY, queries.MEMORY_NAME, _text(chance, "Long-term memory", 40))]
    texts += [_note(chance, today - timedelta(days=ago)) for ago in range(8)]
    texts += [Text(Kind.ENTITY, f"page-{n}", _text(chance, f"Page {n}", 3)) for n in range(pages)]
    for start in range(0, len(texts), 500):
        with clock.writing(system()) as tx:
            origin = Origin.of(system())
            some = texts[start : start + 500]
            news = [New(one, origin, record.path_of(one.kind, one.name)) for one in some]
            record.create_many(tx, news)


def _note(chance: random.Random, day: date) -> Text:
    return Text(Kind.NOTE, day.isoformat(), _text(chance, day.isoformat(), 6))


def _text(chance: random.Random, title: str, paragraphs: int) -> str:
    body = (" ".join(chance.choices(WORDS, k=chance.randint(8, 30))) for _ in range(paragraphs))
    return f"# {title}\n\n" + "\n\n".join(f"{one.capitalize()}." for one in body) + "\n"
