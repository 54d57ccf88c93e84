"""The steps of a save, for bank.services: the page is settled, and its lock is held throughout."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from bank import file_operations, merge, publishing, record, withholding
from bank.models import FileOperation, Kind, Page, Revision
from bank.record import Origin
from bank.texts import Text
from memoryweb.core import clock
from memoryweb.core.actor import Actor
from memoryweb.core.errors import Conflict
from memoryweb.core.guard import Finding


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
class Wanted:
    """A text that is to be stored, under these conditions; see bank.services.save.

    With `adds` it is what stood there and a paragraph more: a page in quarantine stays there.
    """

    text: Text
    origin: Origin
    base: int | None = None
    if_none: bool = False
    approved: bool = False
    settles: int | None = None
    decide: Decision | None = None
    derived: bool = False
    adds: bool = False


def settled(kind: Kind, name: str) -> Page | None:
    """The page as its file and the record agree on it, None when there is none."""
    with publishing.explained("nothing was saved"):
        return publishing.settle(kind, name)


def write(
    actor: Actor, page: Page | None, wanted: Wanted, findings: Sequence[Finding] = ()
) -> Saved:
    """Store the text and publish it. Raises Conflict, and Unavailable when the disk fails or its
    files are away."""
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
    if not wanted.adds:
        withholding.require_free(actor, page, text.content)
    if wanted.if_none:
        raise stale(page, None, text.content, "a page of this name is there already")
    if page.sha256 == text.sha256:
        return _leave(actor, page, wanted)
    if base is not None and base != page.revision:
        raise stale(page, base, text.content)
    return _replace(actor, page, wanted, findings)


def _create(actor: Actor, wanted: Wanted, findings: Sequence[Finding]) -> Saved:
    text, origin = wanted.text, wanted.origin
    path = record.path_of(text.kind, text.name)
    publishing.check_is_there(path)
    with clock.writing(actor) as tx:
        _decide(tx, wanted)
        page, revision = record.create(tx, record.New(text, origin, path, findings))
        op = file_operations.note(page, FileOperation.Op.WRITE, None, origin.at)
    publish(op, _STORED)
    page.refresh_from_db()
    return Saved(page, revision, None, True, True, tx.seq)


def _replace(actor: Actor, page: Page, wanted: Wanted, findings: Sequence[Finding]) -> Saved:
    text = wanted.text
    if text.name != page.name:  # The first spelling of a name stays.
        text = replace(text, name=page.name)
    previous = page.revisions.get(number=page.revision)
    conflict = None if wanted.settles == page.conflict else page.conflict
    waits = bool(findings) or (wanted.adds and page.quarantined)
    with clock.writing(actor) as tx:
        _decide(tx, wanted)
        revision = record.revise(
            tx, page, text, wanted.origin, findings, conflict=conflict, waits=waits
        )
        op = file_operations.note(page, FileOperation.Op.WRITE, previous.sha256, wanted.origin.at)
    publish(op, _STORED)
    page.refresh_from_db()
    return Saved(page, revision, previous, False, True, tx.seq)


def _leave(actor: Actor, page: Page, wanted: Wanted) -> Saved:
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


def _decide(tx: clock.Writing, wanted: Wanted) -> None:
    if wanted.decide is not None:
        wanted.decide(tx)


_STORED = "the text is stored, and its file follows as soon as that can be mended"


def publish(op: FileOperation, outcome: str) -> None:
    """Do to the file what the operation asks; `outcome` says what is safe when the disk fails."""
    with publishing.explained(outcome, stored=True, revision=op.revision):
        publishing.publish(op, op.expected_sha)


def stale(page: Page, base: int | None, yours: str | None, why: str = "") -> Conflict:
    """The conflict with both texts, and with both in one where they fit together."""
    old = page.revisions.filter(number=base).first() if base is not None else None
    merged = merge.merge(old.content, yours, page.content).text if old and yours else None
    return Conflict(
        f"{why or 'somebody else saved this page since you read it'}; nothing was saved",
        current={"content": page.content, "revision": page.revision},
        yours=yours,
        merged=merged,
    )
