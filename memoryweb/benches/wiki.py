"""The search of a wiki at 0, 1 and 3 links, in this process and over HTTP, and how it is fed.

Of the pages of `--folder`, taken in as an upload is, or of 3,000 that are made up, in a home of its
own. `--queries` is a JSON line each: {text, type, gold: [paths], source_page}; without one the
queries are made of the pages' titles and of their beginnings. A page that a query was taken from
is no answer to it. Times are of each query once, after a few that are not counted; on a machine
that has other work the time of the processor says more than that of the clock.
"""

import json
import random
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

from bank import refs, uploads, wiki_pages, wikis
from bank.models import Page
from bank.refs import ENDING
from memoryweb.benches import Table, percentile
from memoryweb.benches.scratch import scratch_home
from memoryweb.benches.served import Client, served
from memoryweb.core.actor import system
from search.wiki import feeding, service
from search.wiki.searching import Query

T = TypeVar("T")
WIKI = "bench"
PAGES = 3_000
HOPS = (0, 1, 3)
TIMED = 200  # Queries of which the times are told.
JUDGED = 150  # Queries of each type whose answers are compared with the pages that answer them.
WARM = 10
LONG = 5_000  # Characters of a long query.
LONG_ONES = 30
EDITS = 20
BEST = 10
_LETTERS = "abcdefghijklmnoprstuvwz"
_CHINESE = "知识图谱搜索引擎页面链接记忆部署编码测试升级说明文件用户设置按钮数据模块重构索引系统"


@dataclass(frozen=True)
class Asked:
    """A query, and the paths of the pages that answer it."""

    text: str
    type: str
    gold: frozenset[str]
    source: str = ""


def measure(
    docs: int | None = None, *, folder: Path | None = None, queries: Path | None = None
) -> Iterator[Table]:
    """Measure on the pages of a folder, or on `docs` that are made up."""
    if folder is not None:
        yield from _measured(folder, queries)
        return
    with tempfile.TemporaryDirectory(prefix="memoryweb-bench-wiki-") as made:
        _make_up(Path(made), docs or PAGES)
        yield from _measured(Path(made), queries)


def _measured(folder: Path, queries: Path | None) -> Iterator[Table]:
    with scratch_home() as home:
        wikis.create(system(), team_id="", name=WIKI, id=WIKI)
        yield _fed(folder)
        asked = list(_read(queries) if queries else _made_of_pages())
        texts = _some([one.text for one in asked], TIMED)
        ways = {"in the service": _in_service}
        yield _times("short queries", ways, texts)
        yield _times(f"queries of {LONG:,} characters", ways, _long())
        yield _recall(asked)
        yield _edits()
        with served(home) as client:
            yield _times("short queries", {"over HTTP": _over_http(client)}, texts)


# Feeding


def _fed(folder: Path) -> Table:
    upload = uploads.from_folder(WIKI, folder)
    before, (outcomes, taken) = _peak(), _timed(lambda: list(uploads.carry_out(system(), upload)))
    _, built = _timed(lambda: feeding.catch_up(WIKI, wait=True))
    _, again = _timed(lambda: list(uploads.carry_out(system(), uploads.from_folder(WIKI, folder))))
    pages = feeding.pages(WIKI).count()
    columns = ("what", "files", "pages", "seconds", "files a second", "peak MiB more")
    grown = _peak() - before
    return Table(
        "a folder taken in",
        columns,
        (
            ("all pages and files", len(outcomes), pages, taken, len(outcomes) / taken, grown),
            ("the index, anew", pages, pages, built, pages / built, 0.0),
            ("the same folder again", len(outcomes), pages, again, len(outcomes) / again, 0.0),
        ),
    )


def _edits() -> Table:
    """One page after another gets a sentence and a link more; its index follows."""
    names = _some(list(feeding.pages(WIKI).order_by("pk").values_list("name", flat=True)), EDITS)
    saves, follows, rows = [], [], []
    for name in names:
        ref = refs.split(name)[1]
        found = wiki_pages.find(WIKI, ref)
        text = f"{found.content}\n\nMeasured, as [[{refs.split(names[0])[1]}]] says.\n"
        saves.append(_timed(partial(wiki_pages.write_page, system(), WIKI, ref, text))[1])
        state, took = _timed(lambda: feeding.catch_up(WIKI))
        follows.append(took)
        rows.append(state.touched)
    return Table(
        "one page edited",
        ("what", "median", "p95"),
        (
            ("save ms", *_of_all([took * 1000 for took in saves])),
            ("index ms", *_of_all([took * 1000 for took in follows])),
            ("index rows", *_of_all([float(count) for count in rows])),
        ),
    )


def _peak() -> float:
    """MiB that this process had at most."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / (1024**2 if sys.platform == "darwin" else 1024)


# Searching

Search = Callable[[str, int], Sequence[str]]


def _in_service(text: str, hop: int) -> list[str]:
    found = service.search_wiki(WIKI, Query(text, hop=hop))
    return [one.path for one in found.answer.results]


def _over_http(client: Client) -> Search:
    def search(text: str, hop: int) -> list[str]:
        body = {"wiki_id": WIKI, "query": text, "hop": hop}
        return [one["path"] for one in client.post("/v3/wiki/search", body)["data"]["results"]]

    return search


def _times(name: str, ways: Mapping[str, Search], texts: Sequence[str]) -> Table:
    rows = []
    for way, search in ways.items():
        for hop in HOPS:
            for text in texts[:WARM]:
                search(text, hop)
            busy = time.process_time()
            taken = [_timed(partial(search, text, hop))[1] * 1000 for text in texts]
            busy = (time.process_time() - busy) * 1000 / len(texts)
            rows.append((way, hop, len(texts), *_of_all(taken), max(taken), busy))
    columns = ("way", "hop", "queries", "p50 ms", "p95 ms", "longest ms", "mean ms of processor")
    return Table(f"time of a search, {name}", columns, tuple(rows))


def _recall(asked: Sequence[Asked]) -> Table:
    """Of the pages that answer a query, the share among its ten best; the mean over queries."""
    rows: list[tuple[str | int | float, ...]] = []
    for kind in sorted({one.type for one in asked}):
        some = _some([one for one in asked if one.type == kind], JUDGED)
        rows.append((kind, len(some), *(_mean_recall(some, hop) for hop in HOPS)))
    columns = ("queries", "how many", *(f"recall@{BEST} at hop {hop}" for hop in HOPS))
    return Table("recall", columns, tuple(rows))


def _mean_recall(asked: Sequence[Asked], hop: int) -> float:
    shares = []
    for one in asked:
        best = [path for path in _in_service(one.text, hop) if path != one.source][:BEST]
        shares.append(len(one.gold.intersection(best)) / len(one.gold))
    return sum(shares) / max(1, len(shares))


def _long() -> list[str]:
    contents = feeding.pages(WIKI).order_by("pk").values_list("content", flat=True)
    long = [text[:LONG] for text in contents.iterator(200) if len(text) >= LONG]
    joined = "\n".join(contents[:100])
    rest = [joined[at : at + LONG] for at in range(0, len(joined), LONG)]
    return _some(long or rest, LONG_ONES)


def _timed(do: Callable[[], T]) -> tuple[T, float]:
    started = time.perf_counter()
    answer = do()
    return answer, time.perf_counter() - started


def _of_all(values: Sequence[float]) -> tuple[float, float]:
    return percentile(values, 0.5), percentile(values, 0.95)


def _some(values: Sequence[T], most: int) -> list[T]:
    """At most so many of them, from all over."""
    step = max(1, len(values) // most)
    return list(values[::step][:most])


# Queries and pages


def _read(file: Path) -> Iterator[Asked]:
    with file.open(encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            source = row.get("source_page") or ""
            yield Asked(row["text"], row.get("type", "all"), frozenset(row["gold"]), source)


def _made_of_pages() -> Iterator[Asked]:
    """By its title a page is to be found, and by its beginning those that it links to."""
    pages = {page.pk: page for page in feeding.pages(WIKI).order_by("pk")}
    for page in _some(list(pages.values()), TIMED):
        path = wiki_pages.path_of(page)
        yield Asked(page.title, "title", frozenset([path]))
        if linked := {wiki_pages.path_of(pages[to]) for to in _targets(page) if to in pages} - {
            path
        }:
            yield Asked(page.content[:200], "linked", frozenset(linked), path)


def _targets(page: Page) -> Iterable[int]:
    return page.links.exclude(to=None).values_list("to", flat=True)


def _make_up(folder: Path, count: int) -> None:
    """Pages about one thing each, in English or Chinese, that link to a few others."""
    chance = random.Random(0)  # noqa: S311 - no secret
    words = ["".join(chance.choices(_LETTERS, k=chance.randint(3, 9))) for _ in range(8_000)]
    common = [1 / rank for rank in range(1, len(words) + 1)]
    for number in range(count):
        chinese = number % 2
        said = chance.choices(words, common, k=chance.randint(40, 400))
        if chinese:
            said = ["".join(chance.choices(_CHINESE, k=chance.randint(2, 9))) for _ in said]
        links = (f"[[Page {chance.randrange(count)}]]" for _ in range(chance.randint(0, 4)))
        text = " ".join([*said, *links])
        (folder / f"Page {number}{ENDING}").write_text(f"# Topic {number} {said[0]}\n\n{text}\n")
