"""The search routes of the API."""

from typing import Annotated, Any

from django.http import HttpRequest
from ninja import Query, Router

from memoryweb.core import active_model
from memoryweb.core.api_auth import ApiRequest, read, write
from memoryweb.core.errors import Invalid
from memoryweb.core.models import ActiveModel
from memoryweb.core.paging import Listed, Paging, page
from search import comparing, coverage, defaults, judging, services, switching, wording
from search.comparing import Placed, Side
from search.engine import Hit, Trace
from search.judging import Measures
from search.schemas import (
    Collection,
    CompareIn,
    CompareOut,
    CoverageFilter,
    CoveredOut,
    ExplainOut,
    JudgementIn,
    MeasuresOut,
    ModelOut,
    PairOut,
    PlacedOut,
    ResultOut,
    SearchIn,
    SearchOut,
    SettingsIn,
    SettingsOut,
    SideOut,
    TermOut,
    WhyNotIn,
    WhyNotOut,
)
from search.services import Found, Result

router = Router()
similar_router = Router()  # Served below the episodes' own paths.
Limit = Annotated[int, Query(ge=1, le=100)]


@router.post("", response=SearchOut, auth=read)
def search(request: HttpRequest, body: SearchIn) -> SearchOut:
    """Search by words, by a vector, or by both. `mode` and `reasons` say how it was answered."""
    return answered(services.search(body))


@router.post("/why-not", response=WhyNotOut, auth=read)
def why_not(request: HttpRequest, body: WhyNotIn) -> WhyNotOut:
    """Why a document is not among the results: the stage of this very search that drops it."""
    missed = services.why_not(body, body.document.collection, body.document.id)
    found = missed.trace or Trace("found")
    return WhyNotOut(
        stage=missed.stage,
        detail=wording.why_not(missed, body.limit, body.min_score).text,
        rank=found.rank,
        score=found.score,
        vector=found.vector,
        bm25=found.bm25,
        pool=found.pool or None,
        filters=list(found.filters),
        matched=list(found.matched),
        missing=list(found.missing),
    )


@similar_router.get("/{episode:episode_id}/similar", response=SearchOut, auth=read)
def similar(request: HttpRequest, episode_id: str, limit: Limit = 10) -> SearchOut:
    """The episodes nearest to one: by its vector, or by its text when it has none."""
    return answered(services.similar("episodes", episode_id, limit))


@router.post("/compare", response=CompareOut, auth=read)
def compare(request: HttpRequest, body: CompareIn) -> CompareOut:
    """The same queries by the active model and by another stored one, before a switch."""
    queries = list(dict.fromkeys(body.queries)) or comparing.suggested()
    found = comparing.compare(body.model, queries, body.by_vectors)
    means = found.means or (None, None)
    return CompareOut(
        active=_model(found.active),
        other=_model(found.other),
        overlap=found.overlap,
        judged=found.judged,
        measures_active=_measures(means[0]),
        measures_other=_measures(means[1]),
        pairs=[
            PairOut(
                query=pair.query,
                shared=pair.shared,
                active=_side(pair.active),
                other=_side(pair.other),
            )
            for pair in found.pairs
        ],
    )


@router.put("/judgements", response=JudgementIn, auth=write)
def judge(request: ApiRequest, body: JudgementIn) -> JudgementIn:
    """Keep how relevant a document is for a query: what models and settings are compared by."""
    document = body.document
    judging.judge(request.actor, body.query, document.collection, document.id, body.grade)
    return body


@router.get("/coverage", auth=read)
def coverage_report(request: HttpRequest) -> dict[str, Any]:
    """How much of the memory vectors cover, and how the index of this process stands."""
    return coverage.report()


@router.get("/coverage/{collection}", response=Listed[CoveredOut], auth=read)
def coverage_of(
    request: ApiRequest,
    collection: Collection,
    wanted: Query[CoverageFilter],
    paging: Query[Paging],
) -> dict[str, Any]:
    """The documents that one number of the coverage counts; `failed` ones with the cause."""
    documents = coverage.COLLECTIONS[collection]
    found = page(
        documents.listed(coverage.Wanted(**wanted.model_dump())),
        ("pk",),
        limit=paging.limit,
        cursor=paging.cursor,
        described=lambda rows: documents.described(rows, wanted.by),
    )
    items = [documents.shown(request.actor, row, wanted.by) for row in found.items]
    return {"items": items, "next_cursor": found.next_cursor, "total": found.total}


@router.get("/settings", response=SettingsOut, auth=read)
def settings(request: HttpRequest) -> SettingsOut:
    return _settings()


@router.put("/settings", response=SettingsOut, auth=write)
def change_settings(request: ApiRequest, body: SettingsIn) -> SettingsOut:
    """Save a new version of the settings; a token needs the scope admin, a person is a curator."""
    if body.revert_to is not None:
        if body.changes or body.active_model:
            raise Invalid.field("revert_to", "stands alone: it takes a whole earlier version")
        defaults.revert(request.actor, body.revert_to)
    elif body.changes or body.active_model:
        if body.active_model:
            switching.switch(request.actor, body.active_model)
        if body.changes:
            defaults.save(request.actor, body.changes)
    else:
        raise Invalid("name at least one setting to change")
    return _settings()


def answered(found: Found) -> SearchOut:
    """What services found, in the API's shape."""
    answer = found.answer
    return SearchOut(
        mode=answer.mode,
        reasons=list(found.reasons),
        took_ms=round(found.took_ms, 3),
        seq=found.seq,
        lag=found.lag,
        total_candidates=answer.total_candidates,
        weights={"vector": answer.weights.vector, "bm25": answer.weights.bm25},
        query_kind=answer.query_kind,
        results=[_result(result) for result in found.results],
    )


def _result(result: Result) -> ResultOut:
    hit, shown = result.hit, result.shown
    return ResultOut(
        collection=hit.collection,
        id=hit.id,
        title=shown.title,
        summary=shown.summary,
        created_at=shown.created_at,
        url=shown.url,
        score=hit.score,
        vector=hit.vector,
        bm25=hit.bm25,
        rank_vector=hit.rank_vector,
        rank_bm25=hit.rank_bm25,
        explain=_explanation(hit),
    )


def _explanation(hit: Hit) -> ExplainOut | None:
    why = hit.explanation
    if why is None:
        return None
    return ExplainOut(
        terms=[TermOut.model_validate(term, from_attributes=True) for term in why.terms],
        contributions=why.contributions,
        matched=list(why.matched),
        rank_before=why.rank_before,
        bm25_raw=why.bm25_raw,
        bm25_best=why.bm25_best,
        cosine=why.cosine,
    )


def _model(model: ActiveModel) -> ModelOut:
    return ModelOut(model=model.model, dimension=model.dimension)


def _measures(measures: Measures | None) -> MeasuresOut | None:
    return MeasuresOut(**vars(measures)) if measures else None


def _side(side: Side) -> SideOut:
    return SideOut(
        mode=side.found.answer.mode,
        reasons=list(side.found.reasons),
        results=[_placed(placed) for placed in side.placed],
        measures=_measures(side.measures),
    )


def _placed(placed: Placed) -> PlacedOut:
    hit, shown = placed.result.hit, placed.result.shown
    return PlacedOut(
        collection=hit.collection,
        id=hit.id,
        title=shown.title,
        url=shown.url,
        score=hit.score,
        rank=placed.place,
        rank_other=placed.other,
        grade=placed.grade,
    )


def _settings() -> SettingsOut:
    version, saved = defaults.current()
    active = active_model.active()
    return SettingsOut.model_validate(
        {
            **vars(saved),
            "version": version,
            "weights": {"vector": saved.vector, "bm25": saved.bm25},
            "active_model": {"model": active.model, "dimension": active.dimension}
            if active
            else None,
        }
    )
