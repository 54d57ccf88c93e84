"""The only writer of pages: pages, API, MCP, imports, commands and the files' own editors.

A save holds the page's lock from its first look to its last: the file and the record are
brought together, the new text is stored in one transaction (page, revision, names, links,
change, audit, and what has to happen to the file), the file is written outside of it, and a
second transaction notes that this is done. Whatever fails or is killed in between, the page is
wholly the old one or wholly the new one, and no text is lost.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date as Date

from django.utils import timezone

from bank import markdown, merge, names, publishing, queries, record
from bank.files import sha256
from bank.layout import CONTENT_LIMIT
from bank.models import FileOperation, Kind, Page, Revision
from bank.record import Origin
from bank.texts import Text
from memoryweb.core import clock, quarantine
from memoryweb.core.actor import Actor, Role
from memoryweb.core.errors import Conflict, Invalid, NotFound, Refused
from memoryweb.core.guard import Finding, scan
from memoryweb.core.models import QuarantineItem
from memoryweb.core.times import FIRST_YEAR, LAST_YEAR

_TAIL = 4_000  # Characters of a note that are read with what is added: more than a rule spans.
_OBJECTION = "the guard objects to this text; "


@dataclass(frozen=True)
class Saved:
    """What a save did. `previous` is the revision that it replaced, None for a new page.

    Where nothing changed, `revision` is the current one and `previous` is None.
    """

    page: Page
    revision: Revision
    previous: Revision | None
    created: bool
    changed: bool
    seq: int


# What is decided with a save, written first in its transaction; what it raises undoes the save.
Decision = Callable[[clock.Writing], None]


@dataclass(frozen=True)
class Archived:
    page: Page
    seq: int


def save(
    actor: Actor,
    kind: Kind,
    name: str,
    content: str,
    *,
    base: int | None = None,
    if_none: bool = False,
    message: str = "",
    approved: bool = False,
    settles: int | None = None,
    derived: bool = False,
) -> Saved:
    """Make `content` the text of the page, which is created where there is none.

    `base` is the revision that the writer has seen; without it the last writer wins, and gets
    what was overwritten. `if_none` asks for a new page. `settles` names the revision of a
    conflict that this text decides. `approved` is a curator's decision that skips the guard.
    `derived` is a text made here of one that stands, which need not have an agent's shape.

    Raises Conflict for a stale base, with the members `current` {content, revision}, `yours`
    and `merged` (None unless both changes fit together); Refused when the guard objects, with
    nothing stored but in quarantine; Invalid, Forbidden; Unavailable when the disk fails, with
    the member `stored` where that was after the text was safe.
    """
    text = Text(kind, canonical_name(kind, name), content)
    wanted = _Wanted(
        text, Origin.of(actor, message), base, if_none, approved, settles, derived=derived
    )
    return _save(actor, wanted)


def revert(
    actor: Actor, kind: Kind, name: str, number: int, *, base: int | None = None, message: str = ""
) -> Saved:
    """Make an earlier revision's text the current one again, as a new revision. Raises as save."""
    actor.require(Role.CURATOR)
    page = queries.find(kind, name)
    text = Text(kind, page.name, queries.revision(page, number).content)
    origin = Origin.of(actor, message or f"Restored from revision {number}", via="restore")
    return _save(actor, _Wanted(text, origin, base))


def append_note(
    actor: Actor, text: str, date: Date | None = None, *, decide: Decision | None = None
) -> Saved:
    """Add a paragraph to the note of a day, today in the configured zone. Raises as save.

    `decide` is a curator's decision that skips the guard.
    """
    actor.require(Role.CURATOR)
    name = (date or timezone.localdate()).isoformat()
    addition = _without_heading(text, name).strip("\r\n")
    if not addition.strip():
        raise Invalid.field("text", "is empty; there is nothing to add")
    _check_storable(addition, "text")
    with publishing.hold(Kind.NOTE, name):
        page = _settled(Kind.NOTE, name)
        before = page.content if page else ""
        if decide is None:
            findings = _findings_at_end(before, addition)
            _refuse(actor, f"{Kind.NOTE}/{name}{queries.APPENDED}", addition, findings)
        whole = Text(Kind.NOTE, name, _joined(before, addition, name))
        _check_size(whole, "text")
        return _write(actor, page, _Wanted(whole, Origin.of(actor), approved=True, decide=decide))


def accept(
    actor: Actor,
    item: QuarantineItem,
    text: str,
    message: str = "",
    *,
    base: int | None = None,
    decide: Decision = lambda tx: None,
) -> Saved:
    """Store what a curator decided to let through, as it was held or edited. Raises as save.

    Without `base` there must be no page, unless the page itself holds the text. `decide` marks
    the item as decided in the transaction that stores the text. Call it outside of any other.
    """
    kind, _, name = item.document.partition("/")
    if name.endswith(queries.APPENDED):
        day = Date.fromisoformat(name.removesuffix(queries.APPENDED))
        return append_note(actor, text, day, decide=decide)
    held = Text(Kind(kind), canonical_name(Kind(kind), name), text)
    origin = Origin.of(actor, message)
    new = base is None and not queries.holds_back(item)
    return _save(actor, _Wanted(held, origin, base, new, approved=True, decide=decide))


def archive(actor: Actor, kind: Kind, name: str, *, base: int | None = None) -> Archived:
    """Take the page away: its file goes, its history stays and its name is free.

    Raises NotFound, and Conflict for a stale base.
    """
    actor.require(Role.CURATOR)
    name = queries.find(kind, name).name
    with publishing.hold(kind, name):
        page = _settled(kind, name) or queries.find(kind, name)  # Which says what is not there.
        if base is not None and base != page.revision:
            raise _stale(page, base, None)
        with clock.writing(actor) as tx:
            record.archive(tx, page)
            op = record.operation(page, FileOperation.Op.DELETE, page.sha256, timezone.now())
        _publish(op, "the page is archived, and its file goes as soon as that can be mended")
    return Archived(page, tx.seq)


def restore(actor: Actor, pk: int) -> Saved:
    """Bring an archived page back. Raises NotFound, and Conflict when its name is used again."""
    actor.require(Role.CURATOR)
    gone = queries.archived().filter(pk=pk).first()
    if gone is None:
        raise NotFound("there is no such archived page")
    kind = Kind(gone.kind)
    text = Text(kind, gone.name, gone.content)
    findings = publishing.inspect(text) if gone.quarantined else []
    with publishing.hold(kind, gone.name):
        if _settled(kind, gone.name) is not None:
            raise Conflict("a page of this name was made since; rename or archive it first")
        with clock.writing(actor) as tx:
            record.unarchive(tx, gone, text, findings)
            op = record.operation(gone, FileOperation.Op.WRITE, None, timezone.now())
        _publish(op, "the page is restored, and its file follows as soon as that can be mended")
    return Saved(gone, gone.revisions.get(number=gone.revision), None, False, True, tx.seq)


def inspect(kind: Kind, name: str, content: str) -> list[Finding]:
    """What the guard finds in a page with this name and text, as `save` would ask it."""
    return publishing.inspect(Text(kind, name, content))


def canonical_name(kind: Kind, name: str) -> str:
    """The name as pages are filed under it. Raises Invalid with the reason."""
    if kind == Kind.MEMORY:
        return queries.MEMORY_NAME
    try:
        return names.slug(name) if kind == Kind.ENTITY else day(name).isoformat()
    except names.NameRefused as refused:
        raise Invalid.field("name", refused.reason) from refused


def day(text: str) -> Date:
    """The day that a note is named by. Raises Invalid."""
    try:
        found = Date.fromisoformat(text)
    except ValueError:
        found = None
    if found is None or found.isoformat() != text or not FIRST_YEAR <= found.year <= LAST_YEAR:
        raise Invalid.field("date", "must be a day from 1900 to 9000, such as 2026-03-01")
    return found


# Steps of a save


@dataclass(frozen=True)
class _Wanted:
    text: Text
    origin: Origin
    base: int | None = None
    if_none: bool = False
    approved: bool = False
    settles: int | None = None
    decide: Decision | None = None
    derived: bool = False


def _save(actor: Actor, wanted: _Wanted) -> Saved:
    actor.require(Role.CURATOR)
    text = wanted.text
    _check_storable(text.content, "content")
    _check_size(text, "content")
    if actor.kind == "token" and text.kind == Kind.ENTITY and not wanted.derived:
        _check_shape(text)
    free = wanted.approved or _stands(text)
    findings = [] if free else publishing.inspect(text)
    if actor.via != "import":
        _refuse(actor, f"{text.kind}/{text.name}", text.content, findings)
    with publishing.hold(text.kind, text.name):
        page = _settled(text.kind, text.name)
        return _write(actor, page, wanted, findings)


def _stands(text: Text) -> bool:
    """Whether this very text is being served already: then a curator let it pass."""
    key = queries.key_of(text.kind, text.name)
    same = queries.servable().filter(kind=text.kind, key=key, sha256=text.sha256)
    return same.exists()


def _settled(kind: Kind, name: str) -> Page | None:
    with publishing.explained("nothing was saved"):
        return publishing.settle(kind, name)


def _write(
    actor: Actor, page: Page | None, wanted: _Wanted, findings: Sequence[Finding] = ()
) -> Saved:
    """Store the text and publish it; the page was settled, and its lock is held."""
    text, base = wanted.text, wanted.base
    if page is None:
        if base is not None:
            raise Conflict(
                "this page is not there any more; nothing was saved",
                current=None,
                yours=text.content,
                merged=None,
            )
        return _create(actor, wanted, findings)
    if wanted.if_none:
        raise _stale(page, None, text.content, "a page of this name is there already")
    if page.sha256 == text.sha256:
        return _leave(actor, page, wanted)
    if base is not None and base != page.revision:
        raise _stale(page, base, text.content)
    return _replace(actor, page, wanted, findings)


def _create(actor: Actor, wanted: _Wanted, findings: Sequence[Finding]) -> Saved:
    text, origin = wanted.text, wanted.origin
    path = record.path_of(text.kind, text.name)
    with clock.writing(actor) as tx:
        _decide(tx, wanted)
        page, revision = record.create(tx, record.New(text, origin, path, findings))
        op = record.operation(page, FileOperation.Op.WRITE, None, origin.at)
    _publish(op, _STORED)
    page.refresh_from_db()
    return Saved(page, revision, None, True, True, tx.seq)


def _replace(actor: Actor, page: Page, wanted: _Wanted, findings: Sequence[Finding]) -> Saved:
    text = wanted.text
    if text.name != page.name:  # The first spelling of a name stays.
        text = replace(text, name=page.name)
    previous = page.revisions.get(number=page.revision)
    conflict = None if wanted.settles == page.conflict else page.conflict
    with clock.writing(actor) as tx:
        _decide(tx, wanted)
        revision = record.revise(tx, page, text, wanted.origin, findings, conflict=conflict)
        op = record.operation(page, FileOperation.Op.WRITE, previous.sha256, wanted.origin.at)
    _publish(op, _STORED)
    page.refresh_from_db()
    return Saved(page, revision, previous, False, True, tx.seq)


def _leave(actor: Actor, page: Page, wanted: _Wanted) -> Saved:
    """The text is the current one; a decision about it may be new."""
    settled = page.conflict is not None and wanted.settles == page.conflict
    released = page.quarantined and wanted.approved
    seq = clock.current_seq()
    if settled or released or wanted.decide:
        with clock.writing(actor) as tx:
            _decide(tx, wanted)
            if settled or released:
                record.decide(tx, page, settled=settled, released=released)
        seq = tx.seq
    return Saved(page, page.revisions.get(number=page.revision), None, False, False, seq)


def _decide(tx: clock.Writing, wanted: _Wanted) -> None:
    if wanted.decide is not None:
        wanted.decide(tx)


_STORED = "the text is stored, and its file follows as soon as that can be mended"


def _publish(op: FileOperation, outcome: str) -> None:
    with publishing.explained(outcome, stored=True, revision=op.revision):
        publishing.publish(op, op.expected_sha)


def _stale(page: Page, base: int | None, yours: str | None, why: str = "") -> Conflict:
    """The conflict with both texts, and with both in one where they fit together."""
    old = page.revisions.filter(number=base).first() if base is not None else None
    merged = merge.merge(old.content, yours, page.content).text if old and yours else None
    return Conflict(
        f"{why or 'somebody else saved this page since you read it'}; nothing was saved",
        current={"content": page.content, "revision": page.revision},
        yours=yours,
        merged=merged,
    )


# What may be stored


def _check_storable(text: str, field: str) -> None:
    if "\0" in text:
        raise Invalid.field(field, "holds a NUL character, as no text does")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise Invalid.field(field, "holds half of a character (a lone surrogate)") from None


def _check_shape(text: Text) -> None:
    if problem := markdown.shape_problem(text.content):
        raise Invalid.field("content", problem)


def _check_size(text: Text, field: str) -> None:
    if len(text.data) > CONTENT_LIMIT:
        raise Invalid.field(
            field, f"a page may take {CONTENT_LIMIT:,} bytes; this one would be {len(text.data):,}"
        )


def _refuse(actor: Actor, document: str, text: str, findings: Sequence[Finding]) -> None:
    """Raise Refused when there are findings; an agent's text is kept for a curator to see."""
    if not findings:
        return
    if actor.kind == "person":
        raise Refused(_OBJECTION + "nothing was saved", findings)
    held = _held_alike(document, text)
    if held is None:
        with clock.writing(actor) as tx:
            held = quarantine.hold(actor, queries.COLLECTION, document, text, findings)
            facts = {"sha256": sha256(text.encode()), "quarantine_id": held.pk}
            tx.audited("page.hold", f"pages/{document}", **facts)
    raise Refused(_OBJECTION + "it waits for a curator's decision", findings, held.pk)


def _held_alike(document: str, text: str) -> QuarantineItem | None:
    """The same text waiting already: an agent that tries again makes no second item."""
    waiting = QuarantineItem.objects.filter(state=QuarantineItem.State.WAITING, text=text)
    return waiting.filter(collection=queries.COLLECTION, document=document).first()


# Notes


def _joined(before: str, addition: str, name: str) -> str:
    """The note with the paragraph at its end, under the one heading that a note has."""
    if not before.strip():
        return f"{before}## {name}\n\n{addition}\n"
    gap = "\n" if before.endswith("\n\n") else "\n\n"
    return f"{before.removesuffix(chr(10))}{gap}{addition}\n"


def _without_heading(text: str, name: str) -> str:
    """What is added without the `## date` heading that agents put before each addition."""
    heading, _, rest = text.lstrip().partition("\n")
    return rest if heading.strip() == f"## {name}" else text


def _findings_at_end(before: str, addition: str) -> list[Finding]:
    """What the guard finds in an addition, also where it continues what stands before it."""
    tail = before[-_TAIL:]
    joined = f"{tail}\n\n{addition}"
    return [
        replace(one, span=_shifted(one.span, len(tail) + 2))
        for one in scan(joined)
        if one.span is None or one.span[1] > len(tail)
    ]


def _shifted(span: tuple[int, int] | None, by: int) -> tuple[int, int] | None:
    return span and (max(0, span[0] - by), max(0, span[1] - by))
