"""Why a document is not among the results: the same stages, asked about one document."""

from collections.abc import Mapping
from dataclasses import fields, replace

import numpy as np

from memoryweb.core.vectors import unit_vector
from search.engine.index import Index
from search.engine.legs import ROUNDING, Request, Shard
from search.engine.model import Filters, Query, Stage, Trace
from search.engine.searching import Ranked, ranking, request_to


def trace(indexes: Mapping[str, Index], query: Query, collection: str, document_id: str) -> Trace:
    """The stage at which `search` drops the document, or its rank where it does not."""
    request = request_to(indexes, query)
    shard = next((one for one in request.shards if one.name == collection), None)
    if shard is None:
        return Trace("not_searched")
    row = shard.collection.row_of(document_id)
    if row is None:
        return Trace("not_in_index")
    if failed := _failed(shard, row):
        return Trace("filtered", filters=failed)
    ranked = ranking(request)
    found = _measured(request, shard, row, ranked.text.best)
    return _ranked(found, request, ranked, shard.key(row))


def _failed(shard: Shard, row: int) -> tuple[str, ...]:
    """The filters that a row does not pass, by their names."""
    filters = shard.query.filters
    given = {one.name: getattr(filters, one.name) for one in fields(filters)}
    alone = {name: Filters(**{name: value}) for name, value in given.items() if value is not None}
    masks = {name: shard.collection.wanted(one) for name, one in alone.items()}
    return tuple(name for name, mask in masks.items() if mask is not None and not mask[row])


def _measured(request: Request, shard: Shard, row: int, best: float) -> Trace:
    """What each leg would give to the row, whether or not it is among their candidates."""
    weighed = shard.collection.term_weights(row, shard.terms)
    matched = tuple(term.term for term in weighed)
    cosine = _cosine(shard, row)
    return Trace(
        "not_matched",
        pool=request.size,
        matched=matched,
        missing=tuple(term for term in shard.terms if term not in matched),
        vector=None if cosine is None else max(0.0, cosine),
        bm25=sum(term.score for term in weighed) / best if weighed else None,
    )


def _cosine(shard: Shard, row: int) -> float | None:
    if shard.query.vector is None:
        return None
    unit = unit_vector(shard.query.vector)
    cosine = float(shard.collection.vectors.cosines(np.array([row]), unit)[0])
    return None if np.isnan(cosine) else cosine


def _ranked(found: Trace, request: Request, ranked: Ranked, key: int) -> Trace:
    """The stage of a row that passes the filters."""
    keys, scores = ranked.fused.keys, ranked.fused.scores
    order = keys[request.best_first(keys, scores)].tolist()
    if key in order:
        rank = order.index(key) + 1
        stage: Stage = "found" if rank <= request.query.limit else "beyond_limit"
        score = float(scores[np.searchsorted(keys, key)])
        return replace(found, stage=stage, rank=rank, score=score)
    return replace(found, stage=_dropped(found, request.query, key in ranked.candidates.keys))


def _dropped(found: Trace, query: Query, is_candidate: bool) -> Stage:
    legs = [score for score in (found.vector, found.bm25) if score is not None]
    if not legs:
        return "not_matched"
    if query.min_score is not None and max(legs) < query.min_score - ROUNDING:
        return "below_floor"
    return "weightless" if is_candidate else "outside_pool"
