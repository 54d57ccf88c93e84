"""The routes of long work: begin it, look at it, cancel it."""

from typing import Annotated, Any

from django.http import HttpRequest
from ninja import Body, Query, Router, Status
from pydantic import BaseModel, Field, StrictBool

from episodes.schemas import Name
from memoryweb.core.api_auth import ApiRequest, read, write
from memoryweb.core.paging import Listed, Paging, page
from memoryweb.core.schemas import Strict
from memoryweb.core.times import Time
from search import runs
from search.reindex import Repair
from search.schemas import Collection

router = Router()
search_router = Router()  # Served below /search.


class ReindexIn(Strict):
    """What to embed; nothing named means everything that lacks a current vector."""

    collections: Annotated[list[Collection], Field(min_length=1)] | None = None
    states: Annotated[
        list[Repair],
        Field(description="only what is in these states, or what runs failed at"),
    ] = []
    documents: Annotated[
        list[Annotated[str, Field(min_length=1, max_length=4096)]],
        Field(max_length=1000, description="only these documents, of one collection"),
    ] = []
    model: Annotated[
        Name | None, Field(description="another model of the same provider, beside the active one")
    ] = None
    dry_run: StrictBool = False


EVERYTHING = ReindexIn()


class SampleOut(BaseModel):
    collection: str
    id: str
    text: str


class PlanOut(BaseModel):
    """What a reindex would do: of which model, how many documents, and the first ten."""

    model: str
    count: int
    sample: list[SampleOut]


class RunErrorOut(BaseModel):
    id: str
    reason: str


class CoverageOut(BaseModel):
    total: int
    vectorized: int
    ratio: float


class RunOut(BaseModel):
    """Long work. `errors` names the first hundred documents that could not be done, and before
    them, without an id, what ended the run; the coverage is that of its model, by collection."""

    id: int
    kind: str
    state: str
    done: int
    total: int
    failed: int
    rate: float
    eta_s: float | None
    errors: list[RunErrorOut]
    coverage_before: dict[str, CoverageOut] | None
    coverage_after: dict[str, CoverageOut] | None
    created_at: Time
    finished_at: Time | None


@search_router.post("/reindex", response={202: RunOut, 200: PlanOut}, auth=write)
def reindex(request: ApiRequest, body: Body[ReindexIn] = EVERYTHING) -> Status[Any]:
    """Embed what lacks a current vector, in the background. A dry run only counts."""
    wanted = runs.Request(
        body.collections or (), body.model or "", body.states, documents=body.documents
    )
    if body.dry_run:
        return Status(200, vars(runs.planned(wanted)))
    return Status(202, _shown(runs.start_reindex(request.actor, wanted).pk))


@search_router.post("/rebuild", response={202: RunOut}, auth=write)
def rebuild(request: ApiRequest) -> Status[Any]:
    """Build the indexes anew, aside; each process swaps when its own is ready."""
    return Status(202, _shown(runs.start_rebuild(request.actor).pk))


@router.get("", response=Listed[RunOut], auth=read)
def list_runs(request: HttpRequest, paging: Query[Paging]) -> dict[str, Any]:
    """All runs, newest first."""
    found = page(
        runs.all_runs(),
        ("-id",),
        limit=paging.limit,
        cursor=paging.cursor,
        described=runs.with_errors,
    )
    items = [runs.shown(run) for run in found.items]
    return {"items": items, "next_cursor": found.next_cursor, "total": found.total}


@router.get("/{int:run_id}", response=RunOut, auth=read)
def one_run(request: HttpRequest, run_id: int) -> dict[str, Any]:
    return _shown(run_id)


@router.post("/{int:run_id}/cancel", response=RunOut, auth=write)
def cancel(request: ApiRequest, run_id: int) -> dict[str, Any]:
    """End a run; what it has stored stays."""
    runs.cancel(request.actor, run_id)
    return _shown(run_id)


def _shown(run_id: int) -> dict[str, Any]:
    return runs.shown(runs.find(run_id))
