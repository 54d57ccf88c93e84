"""The two legs of a request over all its collections: candidates by BM25 and by cosine."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from memoryweb.core.analysis import Analyzer
from memoryweb.core.vectors import unit_vector
from search.engine import bm25
from search.engine.collection import Collection
from search.engine.growing import BoolArray, FloatArray, IntArray
from search.engine.model import Query
from search.engine.ranking import best_first, shortlist
from search.engine.vectors import Pool

# Candidates a leg gives for every result asked for, as octos-memory has it.
CANDIDATES = 4
# A floor is inclusive: what falls short of it by rounding alone passes.
ROUNDING = 1e-9
# A candidate's key is its collection's number and its row in one integer.
ROW_BITS = 40


class Shard:
    """One collection as one request sees it: its terms, its filter, its boosts."""

    def __init__(
        self, number: int, name: str, collection: Collection, analyzer: Analyzer, query: Query
    ) -> None:
        self.number = number
        self.name = name
        self.collection = collection
        self.query = query
        self.terms = Counter(analyzer.query_tokens(query.text))

    def key(self, row: int) -> int:
        """What this row is called among the candidates of all collections."""
        return self.number << ROW_BITS | row

    @cached_property
    def wanted(self) -> BoolArray | None:
        return self.collection.wanted(self.query.filters)

    @cached_property
    def freshness(self) -> FloatArray:
        """The factor of every row for its age."""
        return self.collection.freshness(self.query.now, self.query.recency_half_life_days)

    @cached_property
    def preference(self) -> FloatArray:
        """What every row gains for its directory, as a share of its score."""
        return self.collection.preference(self.query.prefer_working_dir)

    @cached_property
    def boost(self) -> FloatArray | None:
        """What recency and the preferred directory multiply every score by, if they are on."""
        boost = None
        if self.query.recency_half_life_days:
            boost = self.freshness
        if self.query.prefer_working_dir:
            gain = 1.0 + self.preference
            boost = gain if boost is None else boost * gain
        return boost


@dataclass(frozen=True, slots=True)
class Request:
    """A query and the collections it goes to, held still."""

    query: Query
    shards: list[Shard]

    @property
    def size(self) -> int:
        """How many candidates a leg gives."""
        return self.query.limit * CANDIDATES

    @property
    def terms(self) -> tuple[str, ...]:
        """The query's terms, in its order, each once."""
        return tuple(dict.fromkeys(term for shard in self.shards for term in shard.terms))

    @property
    def has_terms(self) -> bool:
        return any(shard.terms for shard in self.shards)

    def place(self, key: int) -> tuple[Shard, int]:
        return self.shards[key >> ROW_BITS], key & ((1 << ROW_BITS) - 1)

    def by_row(
        self, keys: IntArray, values_of: Callable[[Shard, IntArray], FloatArray]
    ) -> FloatArray:
        """For each key the value that its shard has for its row."""
        gathered = np.empty(len(keys))
        for shard in self.shards:
            own = keys >> ROW_BITS == shard.number
            gathered[own] = values_of(shard, keys[own] & ((1 << ROW_BITS) - 1))
        return gathered

    def best_first(self, keys: IntArray, scores: FloatArray) -> IntArray:
        """Positions by score; ties newest first, then by id, then by the collection's name."""
        created = self.by_row(keys, lambda shard, rows: shard.collection.created[rows])

        def name_of(position: int) -> tuple[str, str]:
            shard, row = self.place(int(keys[position]))
            return shard.collection.id_of(row), shard.name

        return best_first(scores, created, name_of)


@dataclass(frozen=True, slots=True)
class Leg:
    """The candidates of one leg: keys rising, and for each its score from 0 to 1, the score that
    was made from (by formula, or the cosine) and its rank by score. `best` is the BM25 score
    that all were divided by."""

    keys: IntArray
    scores: FloatArray
    raw: FloatArray
    ranks: IntArray
    best: float = 1.0

    def __bool__(self) -> bool:
        return len(self.keys) > 0

    def at(self, keys: IntArray, values: FloatArray | IntArray) -> FloatArray:
        """This leg's `values` in the order of `keys`, NaN for keys it does not have."""
        spread = np.full(len(keys), np.nan)
        spread[np.searchsorted(keys, self.keys)] = values
        return spread


class _Found(NamedTuple):
    """What one collection gives to a leg, more than enough of it."""

    keys: IntArray
    scores: FloatArray
    raw: FloatArray
    order: FloatArray


NO_LEG = Leg(
    np.empty(0, np.int64), np.empty(0, np.float64), np.empty(0, np.float64), np.empty(0, np.int64)
)


def text_leg(request: Request) -> Leg:
    """Candidates by BM25, over the best score of everything that the request searches: after
    filters, before any floor."""
    matching = [shard.collection.matching(shard.terms, shard.wanted) for shard in request.shards]
    best = max((float(match.scores.max(initial=0.0)) for match in matching), default=0.0)
    if best < bm25.NOTHING:
        return NO_LEG
    found = [
        _found(request, shard, match.rows, match.scores / best, match.scores)
        for shard, match in zip(request.shards, matching, strict=True)
    ]
    return _leg(request, found, best)


def vector_leg(request: Request) -> tuple[Leg, tuple[str, ...]]:
    """Candidates by cosine, negative ones scoring 0, and why there are none or not all."""
    query = request.query
    if query.vector is None:
        return NO_LEG, ("no_query_vector",)
    unit = unit_vector(query.vector)
    found = []
    refused = False
    for shard in request.shards:
        vectors = shard.collection.vectors
        if vectors.dimension == len(unit):
            pool = Pool(request.size, query.min_score, shard.boost)
            rows, cosines = vectors.nearest(unit, pool, shard.wanted)
            found.append(_found(request, shard, rows, np.maximum(cosines, 0.0), cosines))
        else:
            refused = refused or vectors.dimension is not None
    leg = _leg(request, found, 1.0)
    if refused:
        return leg, ("wrong_width",)
    return leg, () if leg else ("no_vectors",)


def text_scores(request: Request, keys: IntArray) -> FloatArray:
    """The BM25 scores of these rows by formula, NaN for those that hold none of the terms."""
    scores = request.by_row(keys, lambda shard, rows: shard.collection.scores(rows, shard.terms))
    return np.where(scores > 0, scores, np.nan)


def cosines(request: Request, keys: IntArray) -> FloatArray:
    """The cosines of these rows with the query, NaN for those without a vector of its width."""
    unit = unit_vector(request.query.vector)
    return request.by_row(keys, lambda shard, rows: shard.collection.vectors.cosines(rows, unit))


def _found(
    request: Request, shard: Shard, rows: IntArray, scores: FloatArray, raw: FloatArray
) -> _Found:
    order = scores if shard.boost is None else scores * shard.boost[rows]
    chosen = shortlist(scores, order, request.size, request.query.min_score, ROUNDING)
    keys = (shard.number << ROW_BITS) | rows[chosen].astype(np.int64)
    return _Found(keys, scores[chosen], raw[chosen], order[chosen])


def _leg(request: Request, found: Sequence[_Found], best: float) -> Leg:
    """The best of all collections together, and with a floor whatever else reaches it.

    Where scores are boosted the candidates are the best by boosted score: nothing that the boost
    would lift into the results is missed. Ranks are always by score alone.
    """
    if not found:
        return NO_LEG
    keys, scores, raw, order = (np.concatenate(part) for part in zip(*found, strict=True))
    ranked = request.best_first(keys, order)
    kept = np.arange(len(ranked)) < request.size
    if request.query.min_score is not None:
        kept |= scores[ranked] >= request.query.min_score - ROUNDING
    chosen = ranked[kept]
    chosen = chosen[np.argsort(keys[chosen])]
    keys, scores, raw = keys[chosen], scores[chosen], raw[chosen]
    ranks = np.empty(len(keys), np.int64)
    ranks[request.best_first(keys, scores)] = np.arange(1, len(keys) + 1)
    return Leg(keys, scores, raw, ranks, best)
