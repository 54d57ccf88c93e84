"""The same queries by two stored models side by side, before anybody switches.

Both sides read the change clock, so they answer from the same memory.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from memoryweb.core import active_model
from memoryweb.core.errors import Conflict, Invalid, NotFound
from memoryweb.core.models import ActiveModel
from search import judging, services
from search.judging import Measures
from search.live import live
from search.models import SuggestedQuery
from search.other_index import OfModel, other
from search.schemas import SearchIn, WeightsIn
from search.services import Found, Result

MOST_QUERIES = 20
BY_VECTORS = WeightsIn(vector=1.0, bm25=0.0)


@dataclass(frozen=True)
class Placed:
    """A result of one side, and its place on the other, None where it is not among the best."""

    place: int
    other: int | None
    result: Result
    grade: int | None = None

    @property
    def moved(self) -> int:
        """Places further up here than there."""
        return (self.other or self.place) - self.place

    @property
    def fallen(self) -> int:
        return -self.moved


@dataclass(frozen=True)
class Side:
    found: Found
    placed: list[Placed]
    measures: Measures | None


@dataclass(frozen=True)
class Pair:
    """One query on both sides; `shared` of the best ten are on both."""

    query: str
    active: Side
    other: Side
    shared: int

    @property
    def most(self) -> int:
        """How many could be shared: the longer of the two lists."""
        return max(len(self.active.placed), len(self.other.placed))


@dataclass(frozen=True)
class Comparison:
    """All queries on both sides, with the means over those that were judged."""

    active: ActiveModel
    other: ActiveModel
    pairs: list[Pair]

    @property
    def overlap(self) -> float | None:
        """The mean share of the best ten that both have; None where nothing was found."""
        shares = [pair.shared / pair.most for pair in self.pairs if pair.most]
        return sum(shares) / len(shares) if shares else None

    @property
    def judged(self) -> int:
        return sum(pair.active.measures is not None for pair in self.pairs)

    @property
    def means(self) -> tuple[Measures, Measures] | None:
        """What the judged queries came to on the active and on the other side."""
        if not self.judged:
            return None
        sides = [(pair.active.measures, pair.other.measures) for pair in self.pairs]
        active, others = zip(*(both for both in sides if both[0] is not None), strict=True)
        return judging.mean(active), judging.mean(others)


def compare(model: str, queries: Sequence[str], by_vectors: bool = False) -> Comparison:
    """The queries by the active model and by another stored one, ranked as every search is, or
    by vectors alone.

    Raises Conflict while no model is active, NotFound for a model without vectors, Invalid for
    the active one, no query or too many.
    """
    active = active_model.active()
    if active is None:
        raise Conflict("no vector is stored yet, so there is no model to compare with")
    if model == active.model:
        raise Invalid.field("model", "is the one that searches compare already")
    if not 0 < len(queries) <= MOST_QUERIES:
        raise Invalid.field("queries", f"must be from 1 to {MOST_QUERIES}")
    if (index := other.index(model)) is None:
        raise NotFound("no vector of this model is stored; embed with it first")
    pairs = [_pair(query, index, by_vectors) for query in queries]
    return Comparison(active, index.model, pairs)


def _pair(query: str, index: OfModel, by_vectors: bool) -> Pair:
    weights = BY_VECTORS if by_vectors else None
    request = SearchIn(query=query, limit=judging.BEST, weights=weights)
    mine, theirs = services.search(request, live), services.search(request, index)
    here, there = _places(mine), _places(theirs)
    grades = judging.grades(query)
    return Pair(
        query,
        _side(mine, there, grades),
        _side(theirs, here, grades),
        len(here.keys() & there.keys()),
    )


def _places(found: Found) -> dict[tuple[str, str], int]:
    hits = (result.hit for result in found.results)
    return {(hit.collection, hit.id): place for place, hit in enumerate(hits, start=1)}


def _side(
    found: Found, elsewhere: dict[tuple[str, str], int], grades: dict[tuple[str, str], int]
) -> Side:
    keys = [(result.hit.collection, result.hit.id) for result in found.results]
    placed = [
        Placed(place, elsewhere.get(key), result, grades.get(key))
        for place, (key, result) in enumerate(zip(keys, found.results, strict=True), start=1)
    ]
    return Side(found, placed, judging.measured(keys, grades) if any(grades.values()) else None)


def suggested() -> list[str]:
    """What to compare by when nobody has typed a query: those that were judged, then shipped
    ones."""
    shipped = SuggestedQuery.objects.order_by("pk").values_list("text", flat=True)
    return list(dict.fromkeys([*judging.queries(MOST_QUERIES), *shipped[:8]]))[:MOST_QUERIES]
