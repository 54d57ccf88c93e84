"""Pages over HTTP: each operation parses, calls the writer or a query, and answers."""

from typing import Annotated, Any, TypeVar

from django.http import HttpResponse
from ninja import Header, Query, Router, Status

from bank import queries, services
from bank.history_api import IfMatch
from bank.history_api import router as history_router
from bank.memory_tool_api import router as memory_tool_router
from bank.models import Kind
from bank.removal_api import TAKEN_AWAY, Erase, Reason, taken_away
from bank.removal_api import router as removal_router
from bank.saving import Saved
from bank.schemas import (
    AppendIn,
    EntityOut,
    EntityRow,
    EntityWritten,
    ErasedOut,
    NoteOut,
    NoteRow,
    NoteWritten,
    PageIn,
    SummaryOut,
    entity,
    entity_row,
    note,
    note_row,
)
from bank.untaken_api import router as untaken_router
from bank.upkeep_api import router as upkeep_router
from bank.written import base_of, entity_written, note_written
from memoryweb.core.api_auth import ApiRequest, write
from memoryweb.core.paging import Listed, Paging, page

router = Router()
router.add_router("", history_router)
router.add_router("", removal_router)
router.add_router("", upkeep_router)
router.add_router("", untaken_router)
router.add_router("", memory_tool_router)

IfNoneMatch = Annotated[str, Header(alias="If-None-Match", description="`*` asks for a new page")]
T = TypeVar("T", EntityWritten, NoteWritten)
Words = Annotated[str, Query(max_length=200)]
WRITTEN = {201: EntityWritten, 200: EntityWritten}
NOTE_WRITTEN = {201: NoteWritten, 200: NoteWritten}


# Entities


@router.get("/bank/entities", response=Listed[EntityRow])
def list_entities(
    request: ApiRequest, paging: Query[Paging], q: Words = "", tag: Words = ""
) -> dict[str, Any]:
    """Pages by name; `q` is found in names, titles, abstracts, tags and aliases."""
    found = page(
        queries.entities(q, tag, request.actor),
        ("name", "id"),
        limit=paging.limit,
        cursor=paging.cursor,
        described=queries.described,
    )
    items = [entity_row(one, request.actor) for one in found.items]
    return {"items": items, "next_cursor": found.next_cursor, "total": found.total}


@router.get("/bank/entities/{name}", response=EntityOut)
def get_entity(request: ApiRequest, response: HttpResponse, name: str) -> EntityOut:
    """One page; its ETag, the revision, is what If-Match takes."""
    return _shown(request, response, Kind.ENTITY, name)


@router.put("/bank/entities/{name}", auth=write, response=WRITTEN)
def put_entity(
    request: ApiRequest,
    response: HttpResponse,
    name: str,
    body: PageIn,
    if_match: IfMatch = "",
    if_none_match: IfNoneMatch = "",
) -> Status[EntityWritten]:
    """Make `content` the page's text: 201 when the page is new, 200 with what it replaced.

    With `base` or If-Match a stale save is 409, with both texts and their merge where they fit
    together. Without, the last writer wins. What the guard objects to is 422.
    """
    return _put(request, response, Kind.ENTITY, name, body, if_match, if_none_match)


@router.delete("/bank/entities/{name}", auth=write, response=TAKEN_AWAY)
def archive_entity(
    request: ApiRequest,
    response: HttpResponse,
    name: str,
    erase: Erase = False,
    reason: Reason = "",
    if_match: IfMatch = "",
) -> Status[ErasedOut | None]:
    """Archive a page: its file goes, its history stays, and its name is free.

    With `erase` file, revisions, quarantined texts, links and index rows go for good. The
    receipt names backups that still hold the page; they are not altered.
    """
    return taken_away(request, response, Kind.ENTITY, name, erase, reason, if_match)


# Long-term memory


@router.get("/bank/memory", response=EntityOut)
def get_memory(request: ApiRequest, response: HttpResponse) -> EntityOut:
    """MEMORY.md, in the shape of an entity."""
    return _shown(request, response, Kind.MEMORY, queries.MEMORY_NAME)


@router.put("/bank/memory", auth=write, response=WRITTEN)
def put_memory(
    request: ApiRequest,
    response: HttpResponse,
    body: PageIn,
    if_match: IfMatch = "",
    if_none_match: IfNoneMatch = "",
) -> Status[EntityWritten]:
    """Replace MEMORY.md as a whole; as with an entity."""
    name = queries.MEMORY_NAME
    return _put(request, response, Kind.MEMORY, name, body, if_match, if_none_match)


@router.delete("/bank/memory", auth=write, response=TAKEN_AWAY)
def archive_memory(
    request: ApiRequest,
    response: HttpResponse,
    erase: Erase = False,
    reason: Reason = "",
    if_match: IfMatch = "",
) -> Status[ErasedOut | None]:
    """Archive MEMORY.md, or erase it for good; as with an entity."""
    return taken_away(request, response, Kind.MEMORY, queries.MEMORY_NAME, erase, reason, if_match)


# Notes


@router.get("/bank/notes", response=Listed[NoteRow])
def list_notes(request: ApiRequest, paging: Query[Paging]) -> dict[str, Any]:
    """The daily notes, the latest first."""
    rows = queries.notes().defer("content")
    found = page(rows, ("-name", "id"), limit=paging.limit, cursor=paging.cursor)
    items = [note_row(one, request.actor) for one in found.items]
    return {"items": items, "next_cursor": found.next_cursor, "total": found.total}


@router.post("/bank/notes/append", auth=write, response=NOTE_WRITTEN)
def append_note(request: ApiRequest, response: HttpResponse, body: AppendIn) -> Status[NoteWritten]:
    """Add a paragraph to a day's note; what others add at the same time stays."""
    day = None if body.date is None else services.day(body.date)
    saved = services.append_note(request.actor, body.text, day)
    return _status(saved, note_written(request, response, saved))


@router.get("/bank/notes/{date}", response=NoteOut)
def get_note(request: ApiRequest, response: HttpResponse, date: str) -> NoteOut:
    """The note of a day, such as 2026-03-01."""
    found = queries.find(Kind.NOTE, date)
    response["ETag"] = found.etag
    return note(found, request.actor)


@router.put("/bank/notes/{date}", auth=write, response=NOTE_WRITTEN)
def put_note(
    request: ApiRequest,
    response: HttpResponse,
    date: str,
    body: PageIn,
    if_match: IfMatch = "",
    if_none_match: IfNoneMatch = "",
) -> Status[NoteWritten]:
    """Replace the note of a day as a whole; as with an entity."""
    saved = _save(request, Kind.NOTE, date, body, if_match, if_none_match)
    return _status(saved, note_written(request, response, saved))


@router.delete("/bank/notes/{date}", auth=write, response=TAKEN_AWAY)
def archive_note(
    request: ApiRequest,
    response: HttpResponse,
    date: str,
    erase: Erase = False,
    reason: Reason = "",
    if_match: IfMatch = "",
) -> Status[ErasedOut | None]:
    """Archive the note of a day, or erase it for good; as with an entity."""
    return taken_away(request, response, Kind.NOTE, date, erase, reason, if_match)


# What agents are given


@router.get("/bank/summary", response=SummaryOut)
def get_summary(
    request: ApiRequest,
    max_rows: Annotated[int | None, Query(ge=0, le=100_000)] = None,
    prefer: Annotated[list[str], Query(max_length=500, description="pages to keep")] = [],  # noqa: B006
) -> SummaryOut:
    """One row a page, by name. Without room for all the preferred stay, then the latest edited."""
    summary = queries.summary(max_rows, prefer)
    return SummaryOut(
        text=f"## Memory Bank\n\n{summary.text}\n" if summary.rows else "",
        rows=list(summary.rows),
        omitted=summary.omitted,
        skipped_by_guard=len(summary.skipped_by_guard),
    )


# Steps


def _shown(request: ApiRequest, response: HttpResponse, kind: Kind, name: str) -> EntityOut:
    found = queries.read(kind, name)
    response["ETag"] = found.etag
    return entity(found, request.actor)


def _put(
    request: ApiRequest,
    response: HttpResponse,
    kind: Kind,
    name: str,
    body: PageIn,
    if_match: str,
    if_none_match: str,
) -> Status[EntityWritten]:
    saved = _save(request, kind, name, body, if_match, if_none_match)
    return _status(saved, entity_written(request, response, saved))


def _status(saved: Saved, answer: T) -> Status[T]:
    return Status(201 if saved.created else 200, answer)


def _save(
    request: ApiRequest, kind: Kind, name: str, body: PageIn, if_match: str, if_none_match: str
) -> Saved:
    return services.save(
        request.actor,
        kind,
        name,
        body.content,
        base=base_of(body.base, if_match),
        if_none=if_none_match.strip() == "*",
        message=body.message,
    )
