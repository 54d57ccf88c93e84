"""The same queries by two stored models side by side, before anybody switches.

The other model has an index of its own in this process while somebody compares. It reads the
change clock as the one that serves does, so both sides answer from the same memory.
"""

import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.db.models import F

from bank.models import PageVector
from episodes.models import EpisodeVector, MemoryVector
from memoryweb.core import active_model
from memoryweb.core.chunks import chunks
from memoryweb.core.errors import Conflict, Invalid, NotFound
from memoryweb.core.models import ActiveModel
from memoryweb.core.vectors import VectorRefused, decode_blob
from search import judging, services, switching
from search.engine import Document
from search.judging import Measures
from search.live import LiveIndex, State, live
from search.models import SuggestedQuery
from search.schemas import SearchIn, WeightsIn
from search.services import Found, Result
from search.sources import SOURCES, Source

MOST_QUERIES = 20
CHUNK = 500
IDLE = 600.0  # seconds after the last comparison until the other model's index is dropped
BY_VECTORS = WeightsIn(vector=1.0, bm25=0.0)


class OfModel(LiveIndex):
    """An index with the vectors of a stored model, whichever one searches compare."""

    def __init__(self, model: str, dimension: int) -> None:
        super().__init__({name: _by(source, model, dimension) for name, source in SOURCES.items()})
        self.model = ActiveModel(model=model, dimension=dimension)

    def state(self) -> State:
        return replace(super().state(), active=self.model)


class _Beside:
    """The one other model that is compared in this process, until nobody does for a while."""

    def __init__(self) -> None:
        self._index: OfModel | None = None
        self._lock = threading.Lock()
        self._end: threading.Timer | None = None

    def index(self, model: str, dimension: int) -> OfModel:
        with self._lock:
            if self._end is not None:
                self._end.cancel()
            index = self._index
            if index is None or (index.model.model, index.model.dimension) != (model, dimension):
                index = self._index = OfModel(model, dimension)
            self._end = threading.Timer(IDLE, self.forget)
            self._end.daemon = True
            self._end.start()
            return index

    def forget(self) -> None:
        with self._lock:
            self._index = None


beside = _Beside()


Stored = tuple[str, bytes | memoryview]  # a document and the blob of its vector


def _by(source: Source, model: str, dimension: int) -> Source:
    """The same documents with the vectors of another model, where it has made one of their text."""
    read = VECTORS[source.name]

    def documents(ids: Collection[str] | None) -> Iterator[Document]:
        for some in chunks(source.documents(ids), CHUNK):
            made = read(model, dimension, [one.id for one in some])
            yield from (replace(one, vector=made.get(one.id)) for one in some)

    return replace(source, documents=documents)


def _episodes(model: str, dimension: int, ids: Sequence[str]) -> Iterable[Stored]:
    made = EpisodeVector.objects.filter(model=model, dimension=dimension, episode__in=ids)
    return made.filter(text_sha=F("episode__summary_sha")).values_list("episode", "vector")


def _memories(model: str, dimension: int, ids: Sequence[str]) -> Iterable[Stored]:
    made = MemoryVector.objects.filter(model=model, dimension=dimension, memory__in=ids)
    return made.filter(text_sha=F("memory__content_sha")).values_list("memory", "vector")


def _pages(model: str, dimension: int, ids: Sequence[str]) -> Iterable[Stored]:
    names = [one.partition("/")[2] for one in ids]
    made = PageVector.objects.filter(model=model, dimension=dimension, page__name__in=names)
    rows = made.filter(text_sha=F("page__sha256"), page__archived_at=None, page__wiki=None)
    for kind, name, blob in rows.values_list("page__kind", "page__name", "vector"):
        yield f"{kind}/{name}", blob


def _decoded(rows: Iterable[Stored]) -> Iterator[tuple[str, Any]]:
    for document, blob in rows:
        try:
            yield document, decode_blob(bytes(blob))
        except VectorRefused:
            continue  # One that was damaged counts as none.


Read = Callable[[str, int, Sequence[str]], dict[str, Any]]


def _reading(rows: Callable[[str, int, Sequence[str]], Iterable[Stored]]) -> Read:
    return lambda model, dimension, ids: dict(_decoded(rows(model, dimension, ids)))


VECTORS: dict[str, Read] = {
    "episodes": _reading(_episodes),
    "memories": _reading(_memories),
    "pages": _reading(_pages),
}


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
        active, other = zip(*(both for both in sides if both[0] is not None), strict=True)
        return judging.mean(active), judging.mean(other)


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
    if not (widths := switching.widths(model)):
        raise NotFound("no vector of this model is stored; embed with it first")
    [(dimension, _)] = widths.most_common(1)
    index = beside.index(model, dimension)
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
