"""A search from request to results: parse, retrieve, fuse, hydrate, explain."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from django.utils import timezone

from episodes.vectors import received
from memoryweb.core import active_model
from memoryweb.core.analysis import ANALYZERS, Analyzer
from memoryweb.core.errors import FieldError, Invalid, NotFound
from memoryweb.core.models import QuarantineItem
from memoryweb.core.vectors import Vector, VectorRefused, decode_blob
from search.defaults import Defaults
from search.embedding.problems import PROBLEMS
from search.embedding.querying import query_vector
from search.engine import (
    Answer,
    Filters,
    Hit,
    Query,
    QueryError,
    Stage,
    Trace,
    Weights,
    scan,
    trace,
)
from search.engine import search as ranked
from search.live import LiveIndex, View, live
from search.models import SuggestedQuery
from search.other_index import other
from search.schemas import FiltersIn, SearchIn
from search.sources import SOURCES, Shown


@dataclass(frozen=True)
class Result:
    """One hit with the document it stands for."""

    hit: Hit
    shown: Shown


@dataclass(frozen=True)
class Found:
    """The answer to one search. `reasons` name everything that made it less than it could be."""

    answer: Answer
    reasons: tuple[str, ...]
    results: list[Result]
    seq: int
    lag: int
    took_ms: float
    analyzer: Analyzer


def search(request: SearchIn, index: LiveIndex | None = None) -> Found:
    """By the index of the model that the request names, if none is given. Raises Invalid for a
    request without meaning, Unavailable for an unmet `min_seq`."""
    started = time.perf_counter()
    view = (index or _index_of(request.embedding_model)).view(request.min_seq)
    vector, reasons = _query_vector(request, view)
    query = _query(request, view.saved, vector)
    analyzer = ANALYZERS[view.saved.analyzer]
    answer = _retrieve(view, query, request.collections, analyzer)
    results = list(_hydrated(answer.hits))
    return Found(
        answer=answer,
        reasons=_merged(reasons, view.reasons, answer.reasons),
        results=results,
        seq=view.seq,
        lag=view.lag,
        took_ms=(time.perf_counter() - started) * 1000,
        analyzer=analyzer,
    )


def similar(collection: str, document: str, limit: int) -> Found:
    """The documents nearest to one by vector, by its text when it has none. Raises NotFound."""
    shown = SOURCES[collection].shown([document]).get(document)
    if shown is None:
        raise NotFound("there is no such document, or it is not served")
    index = (live.view().indexes or {}).get(collection)
    vector = index.vector(document) if index is not None else None
    request = SearchIn.model_construct(
        query="" if vector is not None else shown.summary[:2000],
        query_embedding=vector,
        limit=limit + 1,
        collections=[collection],
    )
    found = search(request)
    others = [result for result in found.results if result.hit.id != document]
    return Found(**{**vars(found), "results": others[:limit]})


@dataclass(frozen=True)
class Missed:
    """Why a document is not among the results of a search. What waits in quarantine, and what is
    asked while there is no index, has a stage of its own and no more to say."""

    stage: Stage | Literal["quarantined", "no_index"]
    trace: Trace | None = None
    shown: Shown | None = None


def why_not(request: SearchIn, collection: str, document: str) -> Missed:
    """The stage at which this search drops a document. Raises NotFound, and as `search` does."""
    source = SOURCES.get(collection)
    shown = source.shown([document]).get(document) if source else None
    if shown is None:
        if held(collection, document):
            return Missed("quarantined")
        raise NotFound("there is no such document")
    view = _index_of(request.embedding_model).view(request.min_seq)
    vector, _ = _query_vector(request, view)
    query = _query(request, view.saved, vector)
    if view.indexes is None:
        return Missed("no_index", shown=shown)
    indexes = {name: view.indexes[name] for name in _wanted(request.collections)}
    found = trace(indexes, query, collection, document)
    return Missed(found.stage, found, shown)


def held(collection: str, document: str) -> bool:
    """Whether a text of this document waits for a curator's decision."""
    items = QuarantineItem.objects.filter(collection=collection, document=document)
    return items.filter(state=QuarantineItem.State.WAITING).exists()


def suggestions(most: int = 8) -> list[str]:
    """Queries that the active model's vectors were shipped with."""
    active = active_model.active()
    if active is None:
        return []
    texts = SuggestedQuery.objects.filter(model=active.model).values_list("text", flat=True)
    return list(texts.order_by("pk")[:most])


def _index_of(model: str | None) -> LiveIndex:
    """The index that compares this stored model's vectors; the one that serves for no model, the
    active one, and one of which nothing is stored."""
    if model is None:
        return live
    active = live.state().active
    if active is None or model == active.model:
        return live
    return other.index(model) or live


def _query(request: SearchIn, saved: Defaults, vector: Vector | None) -> Query:
    """The request in the engine's terms; what it leaves open is as saved."""
    weights, half_life = request.weights or saved, request.recency_half_life_days
    if not request.query.strip() and vector is None:
        raise Invalid.field("query", "give words to search for, or a query_embedding")
    try:
        return Query(
            text=request.query,
            vector=vector,
            now=timezone.now().timestamp(),
            limit=request.limit,
            weights=Weights(weights.vector, weights.bm25),
            fusion=request.fusion or saved.fusion,
            filters=_filters(request.filters),
            prefer_working_dir=request.prefer_working_dir or "",
            min_score=request.min_score,
            recency_half_life_days=saved.recency_half_life_days if half_life is None else half_life,
            explain=request.explain,
        )
    except QueryError as error:
        raise Invalid(
            str(error), [FieldError(("body", *error.field.split(".")), error.problem)]
        ) from error


def _filters(wanted: FiltersIn) -> Filters:
    """The filters with their moments in seconds since the epoch."""
    return Filters(
        **wanted.model_dump(exclude={"since", "until"}),
        since=wanted.since.timestamp() if wanted.since else None,
        until=wanted.until.timestamp() if wanted.until else None,
    )


def _query_vector(request: SearchIn, view: View) -> tuple[Vector | None, tuple[str, ...]]:
    """The vector to compare with, or None and why. Raises Invalid for one that is no vector."""
    given, active = _given_vector(request), view.active
    known = active.model if active else None
    if request.embedding_model is not None and request.embedding_model != known:
        return None, ("unknown_model",)
    text = request.query.strip()
    if given is not None or not text:
        return given, ()
    if active is not None and (shipped := _suggested_vector(text, active.model)) is not None:
        return shipped, ()
    if request.weights and not request.weights.vector:
        return None, ()  # A provider is not asked for what would count for nothing.
    return query_vector(text, active, view.provider)


def _given_vector(request: SearchIn) -> Vector | None:
    try:
        return received(request.query_embedding, request.query_embedding_b64)
    except VectorRefused as error:
        place = FieldError(("body", "query_embedding"), str(error))
        raise Invalid(f"query_embedding: {error}", [place], reason=error.reason) from error


def _suggested_vector(text: str, model: str) -> Vector | None:
    """The shipped vector of a suggested query: hybrid search without a provider."""
    row = SuggestedQuery.objects.filter(text=text, model=model).first()
    return decode_blob(bytes(row.vector)) if row else None


# The reasons of this module and of search.embedding for a search without its vector.
VECTOR_REASONS = {"unknown_model", "no_vectors"} | {error.reason for error in PROBLEMS}


def _wanted(collections: Sequence[str]) -> list[str]:
    return [name for name in dict.fromkeys(collections) if name in SOURCES]


def _retrieve(view: View, query: Query, collections: Sequence[str], analyzer: Analyzer) -> Answer:
    wanted = _wanted(collections)
    if view.indexes is None:
        return scan({name: SOURCES[name].documents(None) for name in wanted}, query, analyzer)
    return ranked({name: view.indexes[name] for name in wanted}, query)


def _hydrated(hits: tuple[Hit, ...]) -> Iterator[Result]:
    """Hits with their rows; one deleted since it was found is left out."""
    shown = {
        name: SOURCES[name].shown([hit.id for hit in hits if hit.collection == name])
        for name in {hit.collection for hit in hits}
    }
    for hit in hits:
        if (row := shown[hit.collection].get(hit.id)) is not None:
            yield Result(hit, row)


def _merged(*reasons: tuple[str, ...]) -> tuple[str, ...]:
    merged = dict.fromkeys(reason for some in reasons for reason in some)
    if any(reason in VECTOR_REASONS for reason in merged):
        # Why no vector was compared is told already.
        merged.pop("no_query_vector", None)
    return tuple(merged)
