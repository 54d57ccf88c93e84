"""Pages over HTTP: each operation parses, calls the writer or a query, and answers."""

from dataclasses import asdict
from typing import Annotated, Any

from django.http import HttpResponse
from ninja import Header, Path, Query, Router, Status

from bank import queries, services
from bank.models import Kind
from bank.schemas import (
    AppendIn,
    DiffOut,
    DiffRow,
    EntityOut,
    EntityRow,
    EntityWritten,
    NoteOut,
    NoteRow,
    NoteWritten,
    PageIn,
    RestoreIn,
    RevisionOut,
    RevisionRow,
    SummaryOut,
    entity_of,
    entity_row,
    note_row,
    previous,
    revision_row,
)
from bank.services import Saved
from bank.showing import changes
from bank.upkeep_api import router as upkeep_router
from memoryweb.core.api_auth import ApiRequest, write
from memoryweb.core.errors import Invalid
from memoryweb.core.paging import Listed, Paging, page

router = Router()
router.add_router("", upkeep_router)

IfMatch = Annotated[str, Header(alias="If-Match", description="the revision: what ETag gave")]
IfNoneMatch = Annotated[str, Header(alias="If-None-Match", description="`*` asks for a new page")]
Number = Annotated[int, Path(ge=1, le=2**31 - 1)]
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
        queries.entities(q, tag),
        ("name", "id"),
        limit=paging.limit,
        cursor=paging.cursor,
        described=queries.described,
    )
    items = [entity_row(one) for one in found.items]
    return {"items": items, "next_cursor": found.next_cursor, "total": found.total}


@router.get("/bank/entities/{name}", response=EntityOut)
def get_entity(request: ApiRequest, response: HttpResponse, name: str) -> EntityOut:
    """One page; its ETag, the revision, is what If-Match takes."""
    return _shown(response, Kind.ENTITY, name)


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


@router.delete("/bank/entities/{name}", auth=write, response={204: None})
def archive_entity(
    request: ApiRequest, response: HttpResponse, name: str, if_match: IfMatch = ""
) -> Status[None]:
    """Archive a page: its file goes, its history stays, and its name is free."""
    base = _base(None, if_match)
    archived = services.archive(request.actor, Kind.ENTITY, name, base=base)
    response["X-Change-Seq"] = str(archived.seq)
    return Status(204, None)


# History


@router.get("/bank/entities/{name}/revisions", response=Listed[RevisionRow])
def list_revisions(request: ApiRequest, name: str, paging: Query[Paging]) -> dict[str, Any]:
    """The page's history, the latest first."""
    of = queries.find(Kind.ENTITY, name)
    revisions = queries.revisions(of)
    found = page(revisions, ("-number",), limit=paging.limit, cursor=paging.cursor)
    items = [revision_row(one, of) for one in found.items]
    return {"items": items, "next_cursor": found.next_cursor, "total": found.total}


@router.get("/bank/entities/{name}/revisions/{number}", response=RevisionOut)
def get_revision(request: ApiRequest, name: str, number: Number) -> RevisionOut:
    of = queries.find(Kind.ENTITY, name)
    found = queries.revision(of, number)
    return RevisionOut(**revision_row(found, of), content=found.content)


@router.get("/bank/entities/{name}/revisions/{number}/diff", response=DiffOut)
def diff_revisions(
    request: ApiRequest,
    name: str,
    number: Number,
    against: Annotated[int | None, Query(ge=1, le=2**31 - 1)] = None,
) -> DiffOut:
    """What changed from revision `against`, by default the one before, to this one."""
    of = queries.find(Kind.ENTITY, name)
    new = queries.revision(of, number)
    if against is None:
        old = of.revisions.filter(number__lt=number).order_by("-number").first()
    else:
        old = queries.revision(of, against)
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


@router.post("/bank/entities/{name}/revisions/{number}/restore", auth=write, response=EntityWritten)
def restore_revision(
    request: ApiRequest,
    response: HttpResponse,
    name: str,
    number: Number,
    body: RestoreIn | None = None,
    if_match: IfMatch = "",
) -> EntityWritten:
    """Make an earlier text the current one again, as a new revision."""
    given = body or RestoreIn()
    base = _base(given.base, if_match)
    saved = services.revert(
        request.actor, Kind.ENTITY, name, number, base=base, message=given.message
    )
    return _entity_written(response, saved)


# Long-term memory


@router.get("/bank/memory", response=EntityOut)
def get_memory(request: ApiRequest, response: HttpResponse) -> EntityOut:
    """MEMORY.md, in the shape of an entity."""
    return _shown(response, Kind.MEMORY, queries.MEMORY_NAME)


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


# Notes


@router.get("/bank/notes", response=Listed[NoteRow])
def list_notes(request: ApiRequest, paging: Query[Paging]) -> dict[str, Any]:
    """The daily notes, the latest first."""
    rows = queries.notes().defer("content")
    found = page(rows, ("-name", "id"), limit=paging.limit, cursor=paging.cursor)
    items = [note_row(one) for one in found.items]
    return {"items": items, "next_cursor": found.next_cursor, "total": found.total}


@router.post("/bank/notes/append", auth=write, response=NOTE_WRITTEN)
def append_note(request: ApiRequest, response: HttpResponse, body: AppendIn) -> Status[NoteWritten]:
    """Add a paragraph to a day's note; what others add at the same time stays."""
    day = None if body.date is None else services.day(body.date)
    return _note_written(response, services.append_note(request.actor, body.text, day))


@router.get("/bank/notes/{date}", response=NoteOut)
def get_note(request: ApiRequest, response: HttpResponse, date: str) -> NoteOut:
    """The note of a day, such as 2026-03-01."""
    found = queries.find(Kind.NOTE, date)
    response["ETag"] = found.etag
    return NoteOut(**note_row(found), content=found.content)


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
    return _note_written(response, saved)


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
        omitted=len(summary.omitted),
        skipped_by_guard=len(summary.skipped_by_guard),
    )


# Steps


def _shown(response: HttpResponse, kind: Kind, name: str) -> EntityOut:
    found = queries.find(kind, name)
    response["ETag"] = found.etag
    return entity_of(found)


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
    return Status(201 if saved.created else 200, _entity_written(response, saved))


def _save(
    request: ApiRequest, kind: Kind, name: str, body: PageIn, if_match: str, if_none_match: str
) -> Saved:
    return services.save(
        request.actor,
        kind,
        name,
        body.content,
        base=_base(body.base, if_match),
        if_none=if_none_match.strip() == "*",
        message=body.message,
    )


def _base(base: int | None, if_match: str) -> int | None:
    """The revision that the caller has seen; an ETag that is none of ours is of no revision."""
    tag = if_match.strip().removeprefix("W/").strip('"')
    if tag in ("", "*"):
        return base
    seen = int(tag) if tag.isascii() and tag.isdigit() and len(tag) < 10 else 0
    if base is not None and base != seen:
        raise Invalid("base and If-Match name two different revisions")
    return seen


def _entity_written(response: HttpResponse, saved: Saved) -> EntityWritten:
    _tell(response, saved)
    return EntityWritten(entity=entity_of(saved.page), **_outcome(saved))


def _note_written(response: HttpResponse, saved: Saved) -> Status[NoteWritten]:
    _tell(response, saved)
    note = note_row(saved.page) | {"content": saved.page.content}
    return Status(201 if saved.created else 200, NoteWritten(**note, **_outcome(saved)))


def _tell(response: HttpResponse, saved: Saved) -> None:
    response["ETag"] = saved.page.etag
    response["X-Change-Seq"] = str(saved.seq)


def _outcome(saved: Saved) -> dict[str, Any]:
    return {
        "previous": previous(saved.previous),
        "created": saved.created,
        "changed": saved.changed,
        "change_seq": saved.seq,
    }
