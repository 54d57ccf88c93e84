"""Histories over HTTP, of entities, of notes and of the long-term memory alike."""

from dataclasses import asdict
from typing import Annotated, Any

from django.http import HttpResponse
from ninja import Header, Path, Query, Router

from bank import queries, services, withholding
from bank.models import Kind
from bank.saving import Saved
from bank.schemas import (
    DiffOut,
    DiffRow,
    EntityWritten,
    NoteWritten,
    RestoreIn,
    RevisionOut,
    RevisionRow,
    revision_of,
    revision_row,
)
from bank.showing import changes
from bank.written import base_of, entity_written, note_written
from memoryweb.core.api_auth import ApiRequest, write
from memoryweb.core.paging import Listed, Paging, page

router = Router()

IfMatch = Annotated[str, Header(alias="If-Match", description="the revision: what ETag gave")]
Number = Annotated[int, Path(ge=1, le=2**31 - 1)]
Against = Annotated[
    int | None, Query(ge=1, le=2**31 - 1, description="by default the revision before")
]
ENTITY, NOTE, MEMORY = "/bank/entities/{name}", "/bank/notes/{date}", "/bank/memory"


# Entities


@router.get(f"{ENTITY}/revisions", response=Listed[RevisionRow])
def list_revisions(request: ApiRequest, name: str, paging: Query[Paging]) -> dict[str, Any]:
    """The page's history, the latest first."""
    return _listed(request, Kind.ENTITY, name, paging)


@router.get(f"{ENTITY}/revisions/{{number}}", response=RevisionOut)
def get_revision(request: ApiRequest, name: str, number: Number) -> RevisionOut:
    """One revision with its text."""
    return _one(request, Kind.ENTITY, name, number)


@router.get(f"{ENTITY}/revisions/{{number}}/diff", response=DiffOut)
def diff_revisions(
    request: ApiRequest, name: str, number: Number, against: Against = None
) -> DiffOut:
    """What changed from revision `against` to this one."""
    return _diff(request, Kind.ENTITY, name, number, against)


@router.post(f"{ENTITY}/revisions/{{number}}/restore", auth=write, response=EntityWritten)
def restore_revision(
    request: ApiRequest,
    response: HttpResponse,
    name: str,
    number: Number,
    body: RestoreIn | None = None,
    if_match: IfMatch = "",
) -> EntityWritten:
    """Make an earlier text the current one again, as a new revision; an archived page is brought
    back with its history, while its name is free."""
    saved = _restored(request, Kind.ENTITY, name, number, body, if_match)
    return entity_written(request, response, saved)


# Long-term memory


@router.get(f"{MEMORY}/revisions", response=Listed[RevisionRow])
def list_memory_revisions(request: ApiRequest, paging: Query[Paging]) -> dict[str, Any]:
    """The history of MEMORY.md, the latest first."""
    return _listed(request, Kind.MEMORY, queries.MEMORY_NAME, paging)


@router.get(f"{MEMORY}/revisions/{{number}}", response=RevisionOut)
def get_memory_revision(request: ApiRequest, number: Number) -> RevisionOut:
    """One revision of MEMORY.md with its text."""
    return _one(request, Kind.MEMORY, queries.MEMORY_NAME, number)


@router.get(f"{MEMORY}/revisions/{{number}}/diff", response=DiffOut)
def diff_memory_revisions(request: ApiRequest, number: Number, against: Against = None) -> DiffOut:
    """What changed in MEMORY.md from revision `against` to this one."""
    return _diff(request, Kind.MEMORY, queries.MEMORY_NAME, number, against)


@router.post(f"{MEMORY}/revisions/{{number}}/restore", auth=write, response=EntityWritten)
def restore_memory_revision(
    request: ApiRequest,
    response: HttpResponse,
    number: Number,
    body: RestoreIn | None = None,
    if_match: IfMatch = "",
) -> EntityWritten:
    """Make an earlier text of MEMORY.md the current one again, as a new revision."""
    saved = _restored(request, Kind.MEMORY, queries.MEMORY_NAME, number, body, if_match)
    return entity_written(request, response, saved)


# Notes


@router.get(f"{NOTE}/revisions", response=Listed[RevisionRow])
def list_note_revisions(request: ApiRequest, date: str, paging: Query[Paging]) -> dict[str, Any]:
    """The history of a day's note, the latest first."""
    return _listed(request, Kind.NOTE, date, paging)


@router.get(f"{NOTE}/revisions/{{number}}", response=RevisionOut)
def get_note_revision(request: ApiRequest, date: str, number: Number) -> RevisionOut:
    """One revision of a day's note with its text."""
    return _one(request, Kind.NOTE, date, number)


@router.get(f"{NOTE}/revisions/{{number}}/diff", response=DiffOut)
def diff_note_revisions(
    request: ApiRequest, date: str, number: Number, against: Against = None
) -> DiffOut:
    """What changed in a day's note from revision `against` to this one."""
    return _diff(request, Kind.NOTE, date, number, against)


@router.post(f"{NOTE}/revisions/{{number}}/restore", auth=write, response=NoteWritten)
def restore_note_revision(
    request: ApiRequest,
    response: HttpResponse,
    date: str,
    number: Number,
    body: RestoreIn | None = None,
    if_match: IfMatch = "",
) -> NoteWritten:
    """Make an earlier text of a day's note the current one again, as a new revision."""
    saved = _restored(request, Kind.NOTE, date, number, body, if_match)
    return note_written(request, response, saved)


# Steps


def _listed(request: ApiRequest, kind: Kind, name: str, paging: Paging) -> dict[str, Any]:
    of = queries.find(kind, name)
    revisions = queries.revisions(of)
    found = page(revisions, ("-number",), limit=paging.limit, cursor=paging.cursor)
    items = [revision_row(one, of, request.actor) for one in found.items]
    return {"items": items, "next_cursor": found.next_cursor, "total": found.total}


def _one(request: ApiRequest, kind: Kind, name: str, number: int) -> RevisionOut:
    of = queries.find(kind, name)
    return revision_of(queries.revision(of, number), of, request.actor)


def _diff(request: ApiRequest, kind: Kind, name: str, number: int, against: int | None) -> DiffOut:
    of = queries.find(kind, name)
    new = queries.revision(of, number)
    old = queries.before(of, number) if against is None else queries.revision(of, against)
    withholding.require_readable(request.actor, old, new)
    found = changes(old.content if old else "", new.content)
    return DiffOut(
        number=number,
        against=old.number if old else None,
        added=found.added,
        removed=found.removed,
        coarse=found.coarse,
        cut=found.cut,
        rows=[DiffRow(**asdict(row)) for row in found.rows],
    )


def _restored(
    request: ApiRequest, kind: Kind, name: str, number: int, body: RestoreIn | None, if_match: str
) -> Saved:
    given = body or RestoreIn()
    base = base_of(given.base, if_match)
    if (gone := queries.archived_under(kind, name)) is not None:
        services.check_revert(request.actor, gone, number, base=base, message=given.message)
        back = services.restore(request.actor, gone.pk)
        if number == back.revision.number:
            return back
    return services.revert(request.actor, kind, name, number, base=base, message=given.message)
