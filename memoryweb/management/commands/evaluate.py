"""`manage.py evaluate PATH…`: does the right memory come back, and by which weights best."""

import json
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pysqlite3 as sqlite3
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from memoryweb import house
from memoryweb.core.analysis import ANALYZERS
from memoryweb.core.errors import Unavailable
from memoryweb.evaluating import DEPTH, Evaluation, Row, Settings, Way, evaluate, ways
from memoryweb.evaluating.sets import NotASet, RetrievalSet, opened
from memoryweb.evaluating.vectors import KeptVectors
from memoryweb.progress import Progress
from search.embedding import configured
from search.embedding.problems import ProviderError
from search.embedding.providers import Local, Provider
from search.engine import FUSIONS, MAX_LIMIT, QueryError, Weights
from search.measures import Interval


class Command(BaseCommand):
    help = "Reports recall, nDCG and MRR on retrieval sets, by analyzer, weights and fusion."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add = parser.add_argument
        add("sets", nargs="+", type=Path, metavar="PATH", help="corpus, queries and qrels.tsv")
        add("--analyzer", action="append", choices=list(ANALYZERS), help="default: all")
        add("--fusion", action="append", choices=FUSIONS, help="default: all")
        add(
            "--weights",
            action="append",
            type=_weights,
            metavar="VECTOR,BM25",
            help="such as 0.7,0.3; default: five for linear, and 0.7,0.3 for the others",
        )
        add("--k", type=int, default=10, help="depth of recall and MRR")
        add("--k1", type=float, default=1.2)
        add("--b", type=float, default=0.75)
        add(
            "--provider",
            choices=("none", "local", "configured"),
            default="none",
            help="who makes the vectors; none: words alone",
        )
        add("--json", action="store_true", help="print JSON instead of tables")

    def handle(self, *args: Any, **options: Any) -> None:
        if not 1 <= options["k"] <= MAX_LIMIT:
            raise CommandError(f"--k must be 1 to {MAX_LIMIT}")
        try:
            asked = [opened(path) for path in options["sets"]]
            found = list(self._evaluations(asked, options))
        except (NotASet, OSError, QueryError) as problem:
            raise CommandError(str(problem)) from problem
        except ProviderError as error:
            raise CommandError(error.detail) from error
        if options["json"]:
            shown = [_as_json(one, options) for one in found]
            self.stdout.write(json.dumps(shown, ensure_ascii=False, indent=2))

    def _evaluations(
        self, asked: Iterable[RetrievalSet], options: dict[str, Any]
    ) -> Iterator[Evaluation]:
        """One after another; tables are printed as they come."""
        provider = _provider(options["provider"])
        compared = ways(
            options["analyzer"] or list(ANALYZERS),
            options["fusion"] or FUSIONS,
            options["weights"],
            with_vectors=provider is not None,
        )
        depths = Settings(options["k"], options["k1"], options["b"])
        for one in asked:
            with ExitStack() as open_files:
                vectors = open_files.enter_context(_kept(provider)) if provider else None
                done = evaluate(one, compared, depths, vectors, self._bar(one, compared))
            if not options["json"]:
                self.stdout.writelines(f"{line}\n" for line in _table(done, depths.k))
            yield done

    def _bar(self, asked: RetrievalSet, compared: list[Way]) -> Callable[[int], None]:
        """Hears of texts as they are read, once for each analyzer."""
        rounds = len({way.analyzer for way in compared})
        bar = Progress(self.stderr, rounds * (asked.size + len(asked.queries)), "texts")
        seen = 0

        def told(texts: int) -> None:
            nonlocal seen
            seen += texts
            bar.show(seen, seen)
            if seen >= rounds * (asked.size + len(asked.queries)):
                bar.clear()

        return told


def _weights(value: str) -> Weights:
    try:
        vector, bm25 = map(float, value.split(","))
        return Weights(vector, bm25)
    except ValueError as error:
        raise ArgumentTypeError(f"{value!r}: two numbers such as 0.7,0.3 ({error})") from error


def _provider(named: str) -> Provider | None:
    if named == "none":
        return None
    if named == "local":
        return Local()
    house.enter()
    try:
        return configured.required()
    except Unavailable as error:
        raise CommandError(error.detail) from error


def _kept(provider: Provider) -> KeptVectors:
    path = settings.MEMORYWEB_HOME / "cache" / "evaluate.sqlite3"
    try:
        return KeptVectors(provider, path)
    except sqlite3.Error as error:
        raise CommandError(f"{path} cannot be used ({error}); it may be deleted") from error


def _table(done: Evaluation, k: int) -> Iterator[str]:
    made = f"vectors of {done.model}" if done.model else "words alone"
    yield f"{done.name}: {done.documents:,} documents, {done.queries:,} queries, {made}"
    head = f"  {'analyzer':<9}{'ranking':<17}"
    names = (f"recall@{k}", f"nDCG@{DEPTH}", f"MRR@{max(k, DEPTH)}")
    against = f"nDCG against {done.baseline.analyzer} {done.baseline.label}"
    yield head + "".join(f"{name:<20}" for name in names) + against
    yield from (_line(row) for row in done.rows)
    yield from (f"  left out: {problem}" for problem in done.problems)
    if done.left_out > len(done.problems):
        yield f"  and {done.left_out - len(done.problems):,} more rows"
    yield ""


def _line(row: Row) -> str:
    reached = "".join(f"{_shown(one):<20}" for one in row.reached.values())
    more = row.difference["ndcg"]
    certain = " *" if more.low > 0 or more.high < 0 else ""
    return (
        f"  {row.way.analyzer:<9}{row.way.label:<17}{reached}{_shown(more, '+')}{certain}".rstrip()
    )


def _shown(one: Interval, sign: str = "") -> str:
    return f"{one.mean:{sign}.3f} {one.low:{sign}.3f}…{one.high:{sign}.3f}"


def _as_json(done: Evaluation, options: dict[str, Any]) -> dict[str, Any]:
    return {
        "set": done.name,
        "documents": done.documents,
        "queries": done.queries,
        "model": done.model,
        "k": options["k"],
        "k1": options["k1"],
        "b": options["b"],
        "baseline": _way_json(done.baseline),
        "rows": [
            _way_json(row.way)
            | {name: one._asdict() for name, one in row.reached.items()}
            | {"difference": {name: one._asdict() for name, one in row.difference.items()}}
            for row in done.rows
        ],
        "left_out": {"count": done.left_out, "rows": list(done.problems)},
    }


def _way_json(way: Way) -> dict[str, Any]:
    shares = way.weights.shares()
    return {
        "analyzer": way.analyzer,
        "ranking": way.label,
        "fusion": way.fusion,
        "weights": {"vector": shares.vector, "bm25": shares.bm25},
    }
