"""The only writer of pages: pages, API, MCP, imports, commands and the files' own editors.

A save holds the page's lock from its first look to its last: the file and the record are
brought together, the new text is stored in one transaction (page, revision, names, links,
change, audit, and what has to happen to the file), the file is written outside of it, and a
second transaction notes that this is done. Whatever fails or is killed in between, the page is
wholly the old one or wholly the new one, and no text is lost.
"""

from dataclasses import dataclass
from datetime import date as Date

from django.utils import timezone

from bank import (
    admission,
    file_operations,
    names,
    notes,
    publishing,
    queries,
    record,
    refs,
    saving,
    withholding,
)
from bank.models import FileOperation, Kind, Page
from bank.record import Origin
from bank.saving import Decision, Saved, Wanted
from bank.texts import Text
from memoryweb.core import clock
from memoryweb.core.actor import Actor, Role
from memoryweb.core.errors import Conflict, Invalid
from memoryweb.core.guard import Finding, scan
from memoryweb.core.models import QuarantineItem
from memoryweb.core.times import FIRST_YEAR, LAST_YEAR


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
    and `merged` (None unless both changes fit together), and for a page in quarantine unless the
    actor may decide about it; Refused when the guard objects, with nothing stored but in
    quarantine; Invalid, Forbidden; Unavailable when the disk fails, with the member `stored`
    where that was after the text was safe.
    """
    text = Text(kind, canonical_name(kind, name), content)
    wanted = Wanted(
        text, Origin.of(actor, message), base, if_none, approved, settles, derived=derived
    )
    return _save(actor, wanted)


def revert(
    actor: Actor, kind: Kind, name: str, number: int, *, base: int | None = None, message: str = ""
) -> Saved:
    """Make an earlier revision's text the current one again, as a new revision. Raises as save."""
    actor.require(Role.CURATOR)
    name = queries.find(kind, name).name
    with publishing.hold(kind, name):
        # An erasure may have come first: nothing that was read before the lock is written.
        page = saving.settled(kind, name) or queries.find(kind, name)
        wanted = _earlier(actor, page, number, base, message)
        return _write(actor, page, wanted, publishing.inspect(wanted.text))


def check_revert(
    actor: Actor, gone: Page, number: int, *, base: int | None = None, message: str = ""
) -> None:
    """Raise as `revert` of an archived page would, were it brought back for that."""
    actor.require(Role.CURATOR)
    wanted = _earlier(actor, gone, number, base, message)
    if base is not None and base != gone.revision:
        raise Conflict("this page was saved since you read it; nothing was brought back")
    if number != gone.revision:
        findings = publishing.inspect(wanted.text)
        admission.refuse(actor, gone.document, wanted.text.content, findings)


def _earlier(actor: Actor, page: Page, number: int, base: int | None, message: str) -> Wanted:
    """The text of an earlier revision as one to be saved."""
    earlier = queries.revision(page, number)
    withholding.require_readable(actor, earlier)
    origin = Origin.of(actor, message or f"Restored from revision {number}", via="restore")
    wanted = Wanted(Text(Kind(page.kind), page.name, earlier.content), origin, base)
    _check(actor, wanted)
    return wanted


def append_note(
    actor: Actor,
    text: str,
    date: Date | None = None,
    *,
    message: str = "",
    decide: Decision | None = None,
) -> Saved:
    """Add a paragraph to the note of a day, today in the configured zone. Raises as save.

    A note in quarantine takes it too, and stays there: what agents add is never lost, and the
    paragraph by itself has to pass the guard. `decide` is a curator's decision that skips it.
    """
    actor.require(Role.CURATOR)
    name = (date or timezone.localdate()).isoformat()
    addition = notes.without_heading(text, name).strip("\r\n")
    if not addition.strip():
        raise Invalid.field("text", "is empty; there is nothing to add")
    admission.check_storable(addition, "text")
    with publishing.hold(Kind.NOTE, name):
        page = saving.settled(Kind.NOTE, name)
        before = page.content if page else ""
        waits = page is not None and page.quarantined
        if decide is None:
            findings = notes.findings_at_end("" if waits else before, addition)
            admission.refuse(actor, f"{Kind.NOTE}/{name}{queries.APPENDED}", addition, findings)
        whole = Text(Kind.NOTE, name, notes.joined(before, addition, name))
        admission.check_size(whole, "text")
        found = publishing.inspect(whole) if waits else ()
        origin = Origin.of(actor, message)
        wanted = Wanted(whole, origin, approved=True, decide=decide, adds=True)
        return saving.write(actor, page, wanted, found)


APPROVED = "Approved in Review"


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
    if scan(message):  # It quotes the attack, and agents read what is said of revisions.
        message = APPROVED
    if name.endswith(queries.APPENDED):
        day = Date.fromisoformat(name.removesuffix(queries.APPENDED))
        return append_note(actor, text, day, message=message, decide=decide)
    held = Text(Kind(kind), canonical_name(Kind(kind), name), text)
    origin = Origin.of(actor, message)
    new = base is None and not queries.holds_back(item)
    return _save(actor, Wanted(held, origin, base, new, approved=True, decide=decide))


def archive(actor: Actor, kind: Kind, name: str, *, base: int | None = None) -> Archived:
    """Take the page away: its file goes, its history stays and its name is free.

    Raises NotFound, and Conflict for a stale base.
    """
    actor.require(Role.CURATOR)
    name = queries.find(kind, name).name
    with publishing.hold(kind, name):
        # Which says what is not there.
        page = saving.settled(kind, name) or queries.find(kind, name)
        withholding.require_free(actor, page)
        if base is not None and base != page.revision:
            raise saving.stale(page, base, None)
        with clock.writing(actor) as tx:
            record.archive(tx, page)
            op = file_operations.note(page, FileOperation.Op.DELETE, page.sha256, timezone.now())
        saving.publish(op, "the page is archived, and its file goes as soon as it can")
    return Archived(page, tx.seq)


def restore(actor: Actor, pk: int) -> Saved:
    """Bring an archived page back. Raises NotFound, and Conflict when its name is used again."""
    actor.require(Role.CURATOR)
    known = queries.archived_page(pk)
    kind = Kind(known.kind)
    with publishing.hold(kind, known.name):
        if saving.settled(kind, known.name) is not None:
            raise Conflict("a page of this name was made since; rename or archive it first")
        gone = queries.archived_page(pk)  # Somebody may have erased it meanwhile.
        text = Text(kind, gone.name, gone.content)
        findings = publishing.inspect(text) if gone.quarantined else []
        publishing.check_is_there(gone.path)
        with clock.writing(actor) as tx:
            record.unarchive(tx, gone, text, findings)
            op = file_operations.note(gone, FileOperation.Op.WRITE, None, timezone.now())
        saving.publish(op, "the page is restored, and its file follows as soon as it can")
        revision = gone.revisions.get(number=gone.revision)
    return Saved(gone, revision, None, False, True, tx.seq)


def inspect(kind: Kind, name: str, content: str) -> list[Finding]:
    """What the guard finds in a page with this name and text, as `save` would ask it."""
    return publishing.inspect(Text(kind, name, content))


def canonical_name(kind: Kind, name: str) -> str:
    """The name as pages are filed under it. Raises Invalid with the reason, and NotFound for a
    page of a wiki that there is not."""
    if kind == Kind.MEMORY:
        return queries.MEMORY_NAME
    try:
        if kind == Kind.WIKI:
            wiki, ref = refs.split(name)
            queries.wiki(wiki)
            return f"{wiki}/{refs.normal(ref)}"
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


def _save(actor: Actor, wanted: Wanted) -> Saved:
    actor.require(Role.CURATOR)
    text = wanted.text
    _check(actor, wanted)
    findings = [] if wanted.approved else publishing.inspect(text)
    with publishing.hold(text.kind, text.name):
        return _write(actor, saving.settled(text.kind, text.name), wanted, findings)


def _check(actor: Actor, wanted: Wanted) -> None:
    """Raise Invalid for what can be no page's text, Refused for what may not be said of it."""
    text = wanted.text
    admission.check_storable(text.content, "content")
    admission.check_size(text, "content")
    if actor.kind == "token" and text.kind == Kind.ENTITY and not wanted.derived:
        admission.check_shape(text)
    if not wanted.approved and actor.via != "import":
        admission.check_message(wanted.origin.message)


def _write(actor: Actor, page: Page | None, wanted: Wanted, findings: list[Finding]) -> Saved:
    """Store the text, under the page's lock; what the guard found of it is refused."""
    text = wanted.text
    if page is not None and not page.quarantined and page.sha256 == text.sha256:
        findings = []  # This very text is being served: a curator let it pass.
    if actor.via != "import":
        document = page.document if page else f"{text.kind}/{text.name}"
        admission.refuse(actor, document, text.content, findings)
    return saving.write(actor, page, wanted, findings)
