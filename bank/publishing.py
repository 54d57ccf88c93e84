"""Pages and their files: each page's file is the published copy of its current revision.

Whoever saves a page holds its lock over the whole save. A FileOperation, stored with the
revision, says what has to happen to the file; whatever fails or is killed after that, settling
the page again brings the file to the new text. What somebody else wrote to the file is never
overwritten unseen: it becomes a revision.
"""

import errno
import logging
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from django.conf import settings
from django.db import DatabaseError, transaction
from django.db.models import Q
from django.utils import timezone

from bank import file_operations, layout, moves, places, problems, queries, record
from bank.files import Change, Content, Displaced, Stamp, TooLarge, reason_of
from bank.locks import LockTimeout, PathLocks
from bank.models import FileOperation, Kind, Page
from bank.paths import PathRefused
from bank.record import Origin
from bank.texts import Text
from memoryweb.core import clock
from memoryweb.core.actor import system
from memoryweb.core.errors import Conflict, Unavailable
from memoryweb.core.guard import Finding, scan, scan_page
from memoryweb.core.sqlite.scrub import scrub

logger = logging.getLogger(__name__)

FILE = system("file")  # Whoever edits files outside.


class Unreadable(Exception):
    """The file holds no text that could be a page; it is left as it is."""


class Blocked(Conflict):
    """What lies in the place of the page's file is no text of a page, and is left as it is."""


class Missing(Unavailable):
    """So many files are gone at once that none is written again until somebody says so."""


class Moving(Missing):
    """The page's file was renamed outside, and the page follows with the next look."""


@cache
def _locks(folder: Path) -> PathLocks:
    return PathLocks(folder)


@contextmanager
def hold(kind: Kind, *names: str) -> Iterator[None]:
    """Nobody else saves these pages inside the block. Raises Unavailable after 30 seconds."""
    # By the page and not by its file: two spellings of a name are one page.
    folder = settings.MEMORYWEB_MEMORY_DIR / kind
    paths = [folder / queries.key_of(kind, name) for name in names]
    with ExitStack() as stack:
        try:
            stack.enter_context(_locks(settings.MEMORYWEB_HOME / "locks").hold(*paths))
        except LockTimeout as error:
            raise Unavailable(f"{error}; nothing was saved, try again") from error
        except OSError as error:
            detail = f"the locks in memoryweb's home do not work ({reason_of(error)})"
            raise Unavailable(f"{detail}; nothing was saved, {_LOOK_AT_DISK}") from error
        yield


_LOOK_AT_DISK = "look at the disk and at who may write there, then try again"


@contextmanager
def explained(outcome: str, **members: object) -> Iterator[None]:
    """Errors of the disk and of odd files in the words of the domain; `outcome` says what is safe.

    `members` say it to programs. Raises Unavailable when the disk fails, Blocked when something
    else is in the file's place.
    """
    try:
        yield
    except (PathRefused, Unreadable) as error:
        mend = "mend it in the memory folder or move it away, then try again"
        raise Blocked(f"{str(error).rstrip('.')}; {outcome}; {mend}", **members) from error
    except Missing as away:
        raise Missing(f"{outcome}; {away.detail}", **members) from away
    except OSError as error:
        detail = f"the memory folder does not work ({reason_of(error)}); {outcome}"
        raise Unavailable(f"{detail}; {_LOOK_AT_DISK}", **members) from error


def inspect(text: Text) -> list[Finding]:
    """What the guard finds in a page of this text, in every form in which it is shown."""
    found = scan_page(text.ref, text.content, text.read.abstract)
    if text.file_name in text.aliases:
        of_file = scan(text.file_name)
        found += [replace(one, span=None, view=f"file name, {one.view}") for one in of_file]
    return found


# A page and its file, brought together; the caller holds the page's lock


def settle(kind: Kind, name: str, path: str = "", *, planned: bool = False) -> Page | None:
    """Finish what was begun, take in what was edited outside; the page as it is then, or None.

    `path` is where the page's file was seen, when it may be another than the page knows. A plan
    has found that a file which is gone was not renamed; without one it is looked for here.
    Raises OSError when the disk fails, PathRefused and Unreadable for a file that is no text,
    Missing.
    """
    key = queries.key_of(kind, name)
    if path:
        _follow(kind, key, path)
    # By its path too: the file of a page that has another name now may still be to go.
    mine = Q(page__kind=kind, page__key=key) | Q(path=path or record.path_of(kind, name))
    pending = FileOperation.objects.filter(mine, done_at=None)
    for op in pending.select_related("page").order_by("pk"):
        _resume(op)
    page = Page.objects.filter(kind=kind, key=key, archived_at=None).first()
    if page is not None:
        # Whoever asks for it may be answered with its text, though nothing is changed.
        clock.told(page.collection, page.document)
        return _look(page, planned)
    path = path or record.path_of(kind, name)
    found = _read(path)
    return adopt(kind, name, path, found) if found else None


def publish(op: FileOperation, expected: str | None) -> None:
    """Do to the file what the operation asks, where `expected` should be; mark it done.

    Raises OSError and PathRefused; the operation is then still to be done.
    """
    page = op.page
    if op.op == FileOperation.Op.DELETE:
        _conclude(page, places.remove(op.path, expected), op)
        return
    text = page.revisions.get(number=op.revision).content
    _conclude(page, places.write(op.path, text.encode(), expected), op)


def erase(op: FileOperation) -> bool:
    """Delete the file of an erased page, whatever it holds, and then the row that is left of it.

    Whether the database's own files hold nothing of it any more. Raises OSError, PathRefused and
    Missing; the operation is then still to be done.
    """
    if places.stamp(op.path) is None:
        check_is_there(op.path)
    taken = Page.objects.filter(path=op.path, archived_at=None).exclude(pk=op.page_id)
    if not taken.exists():
        places.remove(op.path, op.expected_sha)
        for leftover in places.beside([op.path]):
            places.discard(leftover.path)
        if any(places.beside([op.path])):
            raise OSError(errno.EBUSY, "a file beside it cannot be deleted", op.path)
    clean = scrub()
    try:
        with transaction.atomic():
            op.page.delete()
    except DatabaseError:
        # Its texts are gone. The operation stays open, and settling deletes the row.
        logger.exception("%s is erased, but its row is not deleted yet", op.path)
        return False
    return clean


def publish_new(ops: Sequence[FileOperation]) -> None:
    """Make the files of pages that are new, as `publish` does it for one."""
    by_path = {op.path: op for op in ops}
    stamps = places.write_new({path: op.page.content.encode() for path, op in by_path.items()})
    try:
        with transaction.atomic():
            for path, stamp in stamps.items():
                _stamp(by_path[path].page, stamp)
            file_operations.done_first([by_path[path] for path in stamps])
    except DatabaseError:
        # Texts and files are safe. The operations stay open, and settling finds them done.
        logger.exception("%d new pages are written, but this could not be noted", len(stamps))
    for path in by_path.keys() - stamps.keys():
        publish(by_path[path], None)


def publish_changed(ops: Sequence[FileOperation]) -> None:
    """Bring the files of many pages to their new texts, as `publish` does it for one; that they
    are is noted at once. After an error those that were not reached are still to be done."""
    noted: list[tuple[FileOperation, Stamp | None]] = []
    try:
        for op in ops:
            change = places.write(op.path, op.page.content.encode(), op.expected_sha)
            if change.displaced:
                _conclude(op.page, change, op)
            else:
                noted.append((op, change.stamp))
    finally:
        _mark_many_done(noted)


def _mark_many_done(noted: Sequence[tuple[FileOperation, Stamp | None]]) -> None:
    try:
        with transaction.atomic():
            for op, stamp in noted:
                file_operations.done(op)
                _stamp(op.page, stamp)
    except DatabaseError:
        # Texts and files are safe. The operations stay open, and settling finds them done.
        logger.exception("%d pages are written, but this could not be noted", len(noted))


def adopt(kind: Kind, name: str, path: str, found: Content) -> Page:
    """Make a page of a file that memoryweb has not seen before."""
    new = as_new(kind, name, path, found)
    with clock.writing(FILE) as tx:
        page, _ = record.create(tx, new)
        _stamp(page, found.stamp)
    return page


def as_new(kind: Kind, name: str, path: str, found: Content) -> record.New:
    """The page that such a file becomes. Raises Unreadable and TooLarge."""
    text = Text(kind, name, decoded(found.data))
    origin = Origin("", "file", at=min(_changed_at(found.stamp), timezone.now()))
    return record.New(text, origin, path, inspect(text))


def keep_aside(page: Page, data: bytes, sha: str, op: FileOperation | None = None) -> bool:
    """Store a text that was in the file and that the page never had; False when it is no text."""
    try:
        text = Text(Kind(page.kind), page.name, decoded(data))
    except (Unreadable, TooLarge) as error:
        logger.info("%s was displaced and is kept beside it: %s", page.path, error)
        return False
    if not _is_ours(page, sha):
        findings = inspect(text)
        with clock.writing(FILE) as tx:
            record.set_aside(tx, page, text, Origin("", "file"), findings)
            if op is not None:
                file_operations.done(op)
    return True


def _follow(kind: Kind, key: str, path: str) -> None:
    """Note that the page's file goes by another name now: another spelling of the same."""
    page = Page.objects.filter(kind=kind, key=key, archived_at=None).exclude(path=path).first()
    if page is not None and places.stamp(page.path) is None:
        with transaction.atomic():
            page.file_operations.filter(done_at=None).update(path=path)
            Page.objects.filter(pk=page.pk).update(path=path, file_stamp="")


def _resume(op: FileOperation) -> None:
    """Finish an operation that was begun, by what the file holds now."""
    if op.op == FileOperation.Op.ERASE:
        erase(op)
        return
    page, found = op.page, _read(op.path)
    if op.op == FileOperation.Op.DELETE:
        if found is not None and _is_ours(page, found.sha256):
            publish(op, found.sha256)
        else:  # Gone, or somebody else's by now, which makes it a page of its own.
            if found is None:
                check_is_there(op.path)
            file_operations.done(op)
    elif found is None:
        check_is_there(op.path)
        publish(op, None)
    elif found.sha256 == op.new_sha:
        _mark_done(page, op, found.stamp)
    elif found.sha256 == op.expected_sha or _is_ours(page, found.sha256):
        publish(op, found.sha256)
    else:
        _take_in(page, found, conflict=page.revision, op=op)


def _look(page: Page, planned: bool) -> Page:
    """Take in an outside edit; the stamp is a hint that there is one, the hash is the proof."""
    stamp = places.stamp(page.path)
    if stamp is not None and written(stamp) == page.file_stamp:
        return page
    found = _read(page.path)
    if found is None:
        return _find(page, planned)
    if found.sha256 == page.sha256:
        _stamp(page, found.stamp)
    else:
        _take_in(page, found, conflict=page.conflict)
    return page


def _find(page: Page, planned: bool) -> Page:
    """Write the page's file again: the record is kept here, and the file is a copy that somebody
    lost. Or follow it to where it was renamed just now."""
    check_is_there(page.path)
    now = moves.Now() if planned else moves.of(page)
    if now.spelled:
        _follow(Kind(page.kind), page.key, now.spelled)
        page.refresh_from_db()
        return _look(page, planned=True)
    if now.renamed:
        name = now.renamed.rpartition("/")[2]
        raise Moving(f"its file is called “{name}” since a moment ago; try again in a moment")
    _conclude(page, places.write(page.path, page.content.encode(), None), None)
    with clock.writing(FILE) as tx:
        tx.audited("page.file_rewritten", f"pages/{page.document}", sha256=page.sha256)
    page.refresh_from_db()
    return page


def check_is_there(path: str) -> None:
    """Raise Missing where files are gone that may come back: a file written now would be in the
    way of theirs, and one that is not there may come back with them."""
    if problems.is_held_back(path) or _is_just_gone(path):
        folder = places.of(path).folder.root / places.below(layout.folder_of(path))
        raise Missing(
            f"the files of {folder} are gone; nothing is written there until they are back, or "
            "until somebody says under Bank, Files not taken in, that they are lost"
        )


def _is_just_gone(path: str) -> bool:
    """Whether the folder of the entities is gone with their files, and no scan has seen it yet."""
    folder = layout.folder_of(path)
    if folder != layout.ENTITIES or places.has_entities() or folder in problems.confirmed():
        return False
    entities = Page.objects.filter(kind=Kind.ENTITY, archived_at=None)
    return entities.exclude(file_stamp="").exists()


def _take_in(
    page: Page, found: Content, *, conflict: int | None, op: FileOperation | None = None
) -> None:
    """Make what is in the file the page's current text; nothing on the disk is touched."""
    text = Text(Kind(page.kind), page.name, decoded(found.data))
    findings = inspect(text)
    at = max(page.updated_at, min(_changed_at(found.stamp), timezone.now()))
    with clock.writing(FILE) as tx:
        record.revise(tx, page, text, Origin("", "file", at=at), findings, conflict=conflict)
        _stamp(page, found.stamp)
        if op is not None:
            file_operations.done(op)


def _conclude(page: Page, change: Change, op: FileOperation | None) -> None:
    """Transaction B: note that the file is as it should be, and keep what was in its way."""
    try:
        kept = _keep(page, change.displaced, op) if change.displaced else False
        _mark_done(page, op, change.stamp)
    except DatabaseError:
        # Text and file are safe. The operation stays open, and settling finds it done.
        logger.exception("%s is written, but this could not be noted", page.path)
        return
    if kept and change.displaced:
        places.discard(change.displaced.path)


def _keep(page: Page, displaced: Displaced, op: FileOperation | None) -> bool:
    return keep_aside(page, displaced.data, displaced.sha256, op)


def _mark_done(page: Page, op: FileOperation | None, stamp: Stamp | None) -> None:
    with transaction.atomic():
        if op is not None:
            file_operations.done(op)
        if op is None or op.path == page.path:
            _stamp(page, stamp)


def _stamp(page: Page, stamp: Stamp | None) -> None:
    """Remember the file that holds the page's current text."""
    page.file_stamp = written(stamp) if stamp else ""
    Page.objects.filter(pk=page.pk).update(file_stamp=page.file_stamp)


def written(stamp: Stamp) -> str:
    """A stamp as `Page.file_stamp` keeps it."""
    return f"{stamp.size}-{stamp.mtime_ns}-{stamp.inode}"


def _changed_at(stamp: Stamp) -> datetime:
    try:
        return datetime.fromtimestamp(stamp.mtime_ns / 1e9, UTC)
    except (ValueError, OverflowError, OSError):
        return timezone.now()


def _is_ours(page: Page, sha: str) -> bool:
    return page.revisions.filter(sha256=sha).exists()


def _read(path: str) -> Content | None:
    try:
        return places.read(path)
    except FileNotFoundError:
        return None


def decoded(data: bytes) -> str:
    """The text of a page's file. Raises Unreadable and TooLarge."""
    if len(data) > layout.CONTENT_LIMIT:
        raise TooLarge(f"The file is larger than {layout.CONTENT_LIMIT:,} bytes, a page's most.")
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise Unreadable("The page's file is not UTF-8 text.") from None
    if "\0" in text:
        raise Unreadable("The page's file holds a NUL character, as no text does.")
    return text
