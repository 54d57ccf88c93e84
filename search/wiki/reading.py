"""What one connection to an index can be asked, all within one state of it."""

import json
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from operator import itemgetter
from typing import Any

from search.wiki.expansion import Direction
from search.wiki.opening import IndexFile, Stamp, close, connect, read_stamp, trusting

# Pages about the wiki itself, by their type or as the page of that name at its top.
STRUCTURAL = ("index", "log", "schema", "purpose", "overview")
TITLE_WEIGHT = 5.0
CONTENT_WEIGHT = 1.0

_NAMES = ", ".join(f"'{name}'" for name in STRUCTURAL)
_ORDINARY = f"lower(m.type) NOT IN ({_NAMES}) AND lower(m.page_id) NOT IN ({_NAMES})"
# bm25's weights go by column, and the first column is page_id, which holds no terms.
_MATCHES = """
SELECT rowid, -bm25(wiki_fts, 0.0, ?, ?) FROM wiki_fts WHERE wiki_fts MATCH ?
"""
_ORDINARY_PAGES = """
SELECT g.value, m.page_id FROM json_each(?) AS g CROSS JOIN page_meta AS m ON m.rowid = g.value
WHERE {which}
"""
# The loops in this order: the given pages, their links, and whether the other end is a page.
_NEIGHBOURS = """
SELECT g.value, e.target_id, 1 FROM json_each(?1) AS g
    CROSS JOIN graph_edge AS e ON e.source_id = g.value
    CROSS JOIN page_meta AS m ON m.page_id = e.target_id WHERE {which}
UNION ALL
SELECT g.value, e.source_id, 0 FROM json_each(?1) AS g
    CROSS JOIN graph_edge AS e ON e.target_id = g.value
    CROSS JOIN page_meta AS m ON m.page_id = e.source_id WHERE {which}
"""
_PAGES = """
SELECT m.page_id, m.title, m.type, m.rel_path, m.snippet
FROM json_each(?) AS g CROSS JOIN page_meta AS m ON m.page_id = g.value
"""
_DEGREES = """
SELECT g.value,
    (SELECT count(*) FROM graph_edge WHERE source_id = g.value)
    + (SELECT count(*) FROM graph_edge WHERE target_id = g.value)
FROM json_each(?) AS g
"""
_MOST_LINKED = """
SELECT m.page_id FROM page_meta AS m ORDER BY
    (SELECT count(*) FROM graph_edge WHERE source_id = m.page_id)
    + (SELECT count(*) FROM graph_edge WHERE target_id = m.page_id) DESC, m.page_id LIMIT ?
"""


@dataclass(frozen=True, slots=True)
class PageMeta:
    """What the index knows of a page; its text is in its file."""

    page_id: str
    title: str
    type: str
    rel_path: str
    snippet: str


class Reader:
    """A connection to one wiki's index. Only one thread at a time may ask it."""

    def __init__(self, file: IndexFile) -> None:
        """Raises NeedsRebuild, or Unavailable where the file cannot be reached."""
        self.file = file
        with trusting():
            # Before it is opened: where another takes its place in between, it is opened again.
            self.identity = file.identity()
            self._connection: Any = connect(file.path)
            try:
                self._connection.execute("PRAGMA query_only = 1")
                self.stamp()
            except BaseException:
                self.close()
                raise

    def stamp(self) -> Stamp:
        """The stamp as it is now. Raises NeedsRebuild when it is another's."""
        with trusting():
            stamp = read_stamp(self._connection)
        self.file.refuse_other(stamp)
        return stamp

    def is_current(self) -> bool:
        """Whether the file that is open is the one that stands there."""
        return self.identity is not None and self.file.identity() == self.identity

    def close(self) -> None:
        close(self._connection, self.file.path)

    @contextmanager
    def one_state(self) -> Iterator[Stamp]:
        """All answers inside the block are from one state of the index; gives its stamp."""
        with trusting():
            self._connection.execute("BEGIN")
            try:
                yield self.stamp()
            finally:
                self._connection.execute("ROLLBACK")

    def matches(
        self,
        expression: str,
        limit: int,
        *,
        title_weight: float = TITLE_WEIGHT,
        content_weight: float = CONTENT_WEIGHT,
        structural: bool = False,
    ) -> dict[str, float]:
        """The best pages for a MATCH expression with their scores, best first, ties by id."""
        if not expression:
            return {}
        rows = self._rows(_MATCHES, (title_weight, content_weight, expression))
        found: dict[str, float] = {}
        for level in _by_score(rows, limit):
            ids = self._rows(_ORDINARY_PAGES.format(which=_which(structural)), (_listed(level),))
            named = ((-level[rowid], page) for rowid, page in ids)
            found.update((page, -negative) for negative, page in sorted(named))
            if len(found) >= limit:
                break
        return dict(islice(found.items(), limit))

    def neighbours(
        self, pages: Collection[str], *, structural: bool = False
    ) -> Mapping[str, Sequence[tuple[str, Direction]]]:
        """The pages that each of these links to or is linked from, ordered by id.

        A link to a page that is not there leads nowhere.
        """
        sql = _NEIGHBOURS.format(which=_which(structural))
        found: dict[str, dict[str, Direction]] = defaultdict(dict)
        for page, other, outward in self._rows(sql, (_listed(pages),)):
            direction: Direction = "out" if outward else "in"
            if found[page].setdefault(other, direction) != direction:
                found[page][other] = "both"
        return {page: sorted(others.items()) for page, others in found.items()}

    def pages(self, ids: Collection[str]) -> dict[str, PageMeta]:
        """What there is to show of these pages; those that are not there are left out."""
        return {row[0]: PageMeta(*row) for row in self._rows(_PAGES, (_listed(ids),))}

    def degrees(self, ids: Collection[str]) -> dict[str, int]:
        """How many links go out from each of these pages or lead to it."""
        return dict(self._rows(_DEGREES, (_listed(ids),)))

    def most_linked(self, limit: int) -> list[str]:
        """The pages with the most links in and out, ties by id; as many as asked for."""
        return [page for (page,) in self._rows(_MOST_LINKED, (limit,))]

    def count(self) -> int:
        """How many pages there are."""
        ((number,),) = self._rows("SELECT count(*) FROM page_meta", ())
        return int(number)

    def _rows(self, sql: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        with trusting():
            return self._connection.execute(sql, values).fetchall()  # type: ignore[no-any-return]


def _by_score(rows: list[tuple[int, float]], size: int) -> Iterator[dict[int, float]]:
    """The rows, best first, at least `size` at a time; rows of one score stay together.

    What a page is called is looked up for these alone: most queries match far more than they ask.
    """
    rows.sort(key=itemgetter(1), reverse=True)
    start = 0
    while start < len(rows):
        end = min(start + size, len(rows))
        while end < len(rows) and rows[end][1] == rows[end - 1][1]:
            end += 1
        yield dict(rows[start:end])
        start = end


def _which(structural: bool) -> str:
    return "1" if structural else _ORDINARY


def _listed(ids: Collection[str | int]) -> str:
    return json.dumps(list(ids))
