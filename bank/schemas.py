"""What pages look like on their way in and out. Nothing is coerced, unknown fields are refused."""

from datetime import date
from typing import Annotated, Any, Literal

from django.db.models import prefetch_related_objects
from pydantic import BaseModel, Field

from bank import erasing, lint, queries, withholding
from bank.models import Page, Revision
from memoryweb.core.actor import Actor
from memoryweb.core.schemas import Strict
from memoryweb.core.times import Time

Number = Annotated[int, Field(ge=0, le=2**31 - 1)]
Message = Annotated[str, Field(max_length=500)]


# In


class PageIn(Strict):
    """A page's whole new text; `base` is the revision that it was made from."""

    content: str
    message: Message = ""
    base: Number | None = None


class RestoreIn(Strict):
    message: Message = ""
    base: Number | None = None


class RenameIn(Strict):
    """The new name; `base` is the revision that the caller has seen."""

    to: Annotated[str, Field(max_length=1_000)]
    update_links: bool = True
    base: Number | None = None


class AppendIn(Strict):
    """A paragraph for a day's note, today's in the configured zone without a `date`."""

    text: str
    date: str | None = Field(None, json_schema_extra={"format": "date"})


# Out


HeldBack = Annotated[
    bool,
    Field(
        description="The guard held this text back, and the caller may not decide about it: the "
        "text and all that is read from it are empty, and the title is the page's name."
    ),
]


class EntityRow(BaseModel):
    """An entity in a list, without its text."""

    name: str
    title: str
    abstract: str
    revision: int
    sha256: str
    tags: list[str]
    aliases: list[str]
    front_matter: dict[str, Any]
    backlinks: list[str]
    flags: list[str]
    held_back: HeldBack
    created_at: Time
    updated_at: Time
    author: str


class EntityOut(EntityRow):
    content: str


class Previous(BaseModel):
    """The text that a save replaced: merge from it what must not be lost."""

    content: str
    revision: int
    held_back: HeldBack


class EntityWritten(BaseModel):
    entity: EntityOut
    previous: Previous | None
    created: bool
    changed: bool
    change_seq: int


class NoteRow(BaseModel):
    """A daily note in a list, without its text."""

    date: date
    revision: int
    updated_at: Time
    flags: list[str]
    held_back: HeldBack


class NoteOut(NoteRow):
    content: str


class NoteWritten(NoteOut):
    previous: Previous | None
    created: bool
    changed: bool
    change_seq: int


class RevisionRow(BaseModel):
    """A revision in a list, without its text."""

    number: int
    sha256: str
    author: str
    via: Literal["page", "api", "mcp", "file", "import", "restore"]
    message: str
    created_at: Time
    current: bool
    held_back: HeldBack


class RevisionOut(RevisionRow):
    content: str


class SegmentOut(BaseModel):
    """A stretch of a line. With a `name` its text stands for something that cannot be seen."""

    text: str
    changed: bool
    name: str


class DiffRow(BaseModel):
    """A line that stayed, went or came, or a fold of `hidden` lines that stayed."""

    kind: Literal["same", "removed", "added", "folded"]
    old: int | None
    new: int | None
    segments: list[SegmentOut]
    hidden: int


class DiffOut(BaseModel):
    """From revision `against` to revision `number`; `coarse` when not all that stayed was found.

    `cut` when rows at the end are left out; `added` and `removed` count all lines.
    """

    number: int
    against: int | None
    added: int
    removed: int
    coarse: bool
    cut: bool
    rows: list[DiffRow]


class SummaryOut(BaseModel):
    """The Memory Bank section. Pages left out are counted: their names were not looked at."""

    text: str
    rows: list[str]
    omitted: int
    skipped_by_guard: int


class RenamedOut(BaseModel):
    """`rewritten` are pages whose links were; `left` says of others why theirs were not.

    `pending` is how many are rewritten after this answer; their links lead to the page meanwhile.
    """

    entity: EntityOut
    renamed_from: str
    rewritten: list[str]
    left: dict[str, str]
    pending: int
    change_seq: int


class ArchivedRow(BaseModel):
    """A page that was archived, without anything that its text says."""

    id: int
    kind: Literal["entity", "note", "memory"]
    name: str
    revision: int
    archived_at: Time


class ErasedOut(BaseModel):
    """What was erased for good; `detail` says in words what remains to be known.

    `file`: no file is left. `index`: the index of this process does not hold it, null where
    there is none. `files_left` are files of no page that say the same, or have its name in
    another spelling: they bring it back. `backups` still hold the page, `backups_unread` could not
    be looked into. None of these is altered. `verified`: looking again found nothing of it, in the
    database's files neither.
    """

    document: str
    revisions: int
    file: bool
    quarantine: int
    links: int
    index: bool | None
    files_left: list[str]
    backups: list[str]
    backups_unread: list[str]
    verified: bool
    detail: str
    change_seq: int


class LintCounts(BaseModel):
    counts: dict[lint.Name, int]


class LintRow(BaseModel):
    """A finding: the page it is in; of a link its target and the pages which that fits."""

    kind: Literal["entity", "note", "memory", "wiki"]
    name: str
    title: str
    target: str
    fits: list[str]


# Rows to shapes


def entity_row(page: Page, reader: Actor) -> dict[str, Any]:
    """The page must come from `queries.described`, or its links are read one by one."""
    shown = withholding.shown(reader, page)
    own = EntityRow.model_fields.keys() - shown.keys() - {"backlinks"}
    fields = {name: getattr(page, name) for name in own}
    return {**fields, **shown, "backlinks": queries.names_of_backlinks(page, reader)}


def entity(page: Page, reader: Actor) -> EntityOut:
    """The shape of a page that no list gave."""
    prefetch_related_objects([page], queries.inward_links())
    return EntityOut(**entity_row(page, reader), content=withholding.content(reader, page))


def archived_row(page: Page, reader: Actor) -> dict[str, Any]:
    fields = {name: getattr(page, name) for name in ("kind", "revision", "archived_at")}
    return {"id": page.pk, "name": withholding.name(reader, page), **fields}


def erased(receipt: erasing.Receipt) -> ErasedOut:
    names = ErasedOut.model_fields.keys() - {"change_seq"}
    fields = {name: getattr(receipt, name) for name in names}
    return ErasedOut(**fields, change_seq=receipt.seq)


def lint_row(item: lint.Item, reader: Actor) -> dict[str, Any]:
    page = item.page
    fits = [withholding.name(reader, one) for one in item.fits]
    shown = {"kind": page.kind, "name": page.name, "title": page.title}
    return {**shown, "target": item.target, "fits": fits}


def note_row(page: Page, reader: Actor) -> dict[str, Any]:
    fields = {"revision": page.revision, "updated_at": page.updated_at, "flags": page.flags}
    held_back = withholding.is_withheld(reader, page)
    return {"date": date.fromisoformat(page.name), "held_back": held_back, **fields}


def note(page: Page, reader: Actor) -> NoteOut:
    return NoteOut(**note_row(page, reader), content=withholding.content(reader, page))


def revision_row(revision: Revision, page: Page, reader: Actor) -> dict[str, Any]:
    names = [name for name in RevisionRow.model_fields if name not in ("current", "held_back")]
    shown = {name: getattr(revision, name) for name in names}
    current = revision.number == page.revision
    return {**shown, "current": current, "held_back": withholding.is_withheld(reader, revision)}


def revision_of(revision: Revision, page: Page, reader: Actor) -> RevisionOut:
    text = withholding.content(reader, revision)
    return RevisionOut(**revision_row(revision, page, reader), content=text)


def previous(revision: Revision | None, reader: Actor) -> Previous | None:
    if revision is None:
        return None
    return Previous(
        content=withholding.content(reader, revision),
        revision=revision.number,
        held_back=withholding.is_withheld(reader, revision),
    )
