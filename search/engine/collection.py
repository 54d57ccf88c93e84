"""One collection as it stands: rows with terms, attributes, times and vectors.

A row is never changed: replacing a document drops its row and appends another. A collection that
is read is never changed either: `successor` gives one that may be, which shares with it all that
is only appended to. So readers need no lock, and see each document before or after a change.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from copy import copy
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from memoryweb.core.directories import Subtree
from memoryweb.core.vectors import Vector
from search.engine import bm25
from search.engine.attributes import Columns
from search.engine.growing import BoolArray, FloatArray, Growing, IntArray
from search.engine.model import Filters
from search.engine.numbering import RowNumbers
from search.engine.postings import Postings
from search.engine.vectors import Vectors

DAY = 86_400.0
# How much a document of the preferred directory gains on its own score.
PREFERRED_GAIN = 0.25


@dataclass(frozen=True, slots=True)
class Analysed:
    """A document made ready to be added: its terms counted, its vector checked and scaled.

    `fingerprint` stands for all of the document but its vector.
    """

    id: str
    created_at: float
    attributes: Mapping[str, str]
    counts: Mapping[str, int]
    length: int
    unit: Vector | None
    fingerprint: int


class Scored(NamedTuple):
    """Rows that match a query's terms and their BM25 scores, all above 0."""

    rows: IntArray
    scores: FloatArray


class TermWeight(NamedTuple):
    """One query term in one document; `score` is its part of the BM25 score, repeats included."""

    term: str
    tf: int
    df: int
    idf: float
    score: float


class Collection:
    def __init__(self, k1: float, b: float, vectors: Vectors) -> None:
        self.k1, self.b = k1, b
        self.vectors = vectors
        self.postings = Postings()
        self._columns = Columns()
        self._created = Growing(np.float64)
        self._alive = Growing(np.bool_)
        self._ids = Growing(np.object_)
        self._numbers = RowNumbers()
        self._fingerprints = Growing(np.int64)

    def successor(self) -> "Collection":
        """The same, to be changed; this one stays as it is. Only one may be made."""
        fresh = copy(self)
        fresh.vectors = self.vectors.successor()
        fresh.postings = self.postings.successor()
        fresh._columns = self._columns.successor()
        fresh._created = self._created.successor()
        fresh._alive = self._alive.copied()
        fresh._ids = self._ids.successor()
        fresh._numbers = self._numbers.successor()
        fresh._fingerprints = self._fingerprints.successor()
        return fresh

    def __len__(self) -> int:
        return self.postings.live

    @property
    def ids(self) -> list[str]:
        return list(self._ids.view[self._alive.view])

    @property
    def created(self) -> FloatArray:
        return self._created.view

    @property
    def dropped(self) -> int:
        return len(self._ids) - len(self)

    @property
    def nbytes(self) -> int:
        parts = (self.postings, self.vectors, self._columns, self._created, self._alive)
        return self._fingerprints.nbytes + sum(part.nbytes for part in parts)

    def id_of(self, row: int) -> str:
        return str(self._ids.view[row])

    def row_of(self, document_id: str) -> int | None:
        """The row of a document, None when it is not here."""
        row = self._numbers.get(document_id)
        if row is None or row >= len(self._ids) or not self._alive.view[row]:
            return None
        # A change that was broken off may have left a number that another document then took.
        return row if self._ids.view[row] == document_id else None

    def put(self, document: Analysed) -> None:
        """Add a document, in place of the one with the same id."""
        self.drop(document.id)
        row = self.postings.add(document.counts, document.length)
        self._columns.add(document.attributes)
        self._created.append(document.created_at)
        self._alive.append(True)
        self._ids.append(document.id)
        self._numbers.put(document.id, row)
        self._fingerprints.append(document.fingerprint)
        if document.unit is not None:
            self.vectors.add(row, document.unit)

    def holds(self, document_id: str, fingerprint: int) -> bool:
        """Whether this very document is here, whatever its vector."""
        row = self.row_of(document_id)
        return row is not None and bool(self._fingerprints.view[row] == fingerprint)

    def set_vector(self, document_id: str, unit: Vector | None) -> None:
        """Give a document that is here this vector, or none; its text stays as it lies."""
        row = self._numbers.get(document_id)
        if row is None:
            raise KeyError(document_id)
        held = self.vectors.of(row)
        same = held is None if unit is None else held is not None and np.array_equal(held, unit)
        if not same:
            self.vectors.replace(row, unit)

    def drop(self, document_id: str) -> bool:
        """Take a document out; False when there was none."""
        row = self.row_of(document_id)
        if row is None:
            return False
        self.postings.drop(row)
        self.vectors.drop(row)
        self._alive.view[row] = False
        return True

    def wanted(self, filters: Filters) -> BoolArray | None:
        """The rows that pass, dropped ones aside; None when nothing is filtered."""
        masks = [self._columns.equal(name, value) for name, value in filters.exact().items()]
        if (prefix := filters.working_dir_prefix) is not None:
            masks.append(self._below(prefix))
        if filters.since is not None:
            masks.append(self.created >= filters.since)
        if filters.until is not None:
            masks.append(self.created <= filters.until)
        if filters.ids is not None:
            masks.append(self._among(filters.ids))
        return np.logical_and.reduce([self._alive.view, *masks]) if masks else None

    def freshness(self, now: float, half_life_days: float) -> FloatArray:
        """0.5 ** (age / half-life) for every row; what lies ahead of `now` has no age."""
        age = np.maximum(now - self.created, 0.0) / DAY
        decay: FloatArray = np.exp2(-age / half_life_days)
        return decay

    def preference(self, directory: str) -> FloatArray:
        """What every row gains for its directory, as a share of its score."""
        return np.where(self._below(directory), PREFERRED_GAIN, 0.0)

    def matching(self, terms: Counter[str], wanted: BoolArray | None) -> Scored:
        """BM25 of the wanted rows that hold any of the terms, each counted as often as given."""
        scores = np.zeros(len(self._ids))
        for term, times in terms.items():
            posting = self.postings.posting(term)
            if len(posting.rows):
                scores[posting.rows] += times * self._idf(term) * self._saturation(*posting)
        rows = np.flatnonzero(scores)
        rows = rows[(self._alive.view if wanted is None else wanted)[rows]]
        return Scored(rows, scores[rows])

    def scores(self, rows: IntArray, terms: Counter[str]) -> FloatArray:
        """BM25 of these rows, the same sums as `matching`; 0 for one that holds no term."""
        scores = np.zeros(len(rows))
        for term, times in terms.items():
            posting = self.postings.posting(term)
            if len(posting.rows):
                at = np.minimum(np.searchsorted(posting.rows, rows), len(posting.rows) - 1)
                held = np.flatnonzero(posting.rows[at] == rows)
                share = self._saturation(rows[held], posting.counts[at[held]])
                scores[held] += times * self._idf(term) * share
        return scores

    def term_weights(self, row: int, terms: Counter[str]) -> list[TermWeight]:
        """What each of the terms gives to one row, the same sums as `matching`."""
        weights = []
        for term, times in terms.items():
            if tf := self.postings.count(row, term):
                idf = self._idf(term)
                part = self._saturation(np.array([row]), np.array([tf]))[0]
                df = self.postings.document_frequency(term)
                weights.append(TermWeight(term, tf, df, idf, float(times * idf * part)))
        return weights

    def compacted(self) -> "Collection":
        """The same collection without what was dropped, its rows renumbered in their order."""
        alive = self._alive.view
        fresh = Collection(self.k1, self.b, self.vectors.compacted(alive))
        fresh.postings = self.postings.compacted(alive)
        fresh._columns = self._columns.compacted(alive)
        fresh._created = Growing.of(self.created[alive])
        fresh._alive = Growing.of(np.ones(len(self), np.bool_))
        fresh._ids = Growing.of(self._ids.view[alive])
        fresh._numbers = RowNumbers(fresh._ids.view)
        fresh._fingerprints = Growing.of(self._fingerprints.view[alive])
        return fresh

    def _below(self, directory: str) -> BoolArray:
        return self._columns.where("working_dir", Subtree.of(directory).holds)

    def _among(self, ids: Iterable[str]) -> BoolArray:
        mask = np.zeros(len(self._ids), np.bool_)
        mask[[row for one in ids if (row := self.row_of(one)) is not None]] = True
        return mask

    def _idf(self, term: str) -> float:
        frequency = self.postings.document_frequency(term)
        return bm25.idf(len(self), frequency) if frequency else 0.0

    def _saturation(self, rows: npt.NDArray[Any], counts: npt.NDArray[Any]) -> FloatArray:
        postings = self.postings
        lengths = postings.lengths[rows]
        return bm25.saturation(counts, lengths, postings.average_length, self.k1, self.b)
