"""Many entities, or pages of wikis, made or changed at once: the protocol of bank.services, with
one transaction for all of them.

Alone a page costs two transactions and several waits for the disk.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from bank import admission, file_operations, places, publishing, queries, record, withholding
from bank.files import Stamp
from bank.models import FileOperation, Kind, Page
from bank.paths import PathRefused
from bank.record import New, Origin
from bank.texts import Text
from memoryweb.core import clock
from memoryweb.core.actor import Actor, Role
from memoryweb.core.errors import Conflict, DomainError
from memoryweb.core.guard import Finding

LARGEST = 200  # New pages; other writers wait for so many about half a second.
LARGEST_CHANGE = 50  # Pages that are changed, of which each costs more.


def create(actor: Actor, news: Sequence[New]) -> list[Page]:
    """Make these pages, all of one kind; one whose name is in use by now is left out.

    What the guard found in one puts it in quarantine. Raises Forbidden; Unavailable when the
    disk fails, and then all pages are stored and their files follow.
    """
    actor.require(Role.CURATOR)
    kind = news[0].text.kind if news else Kind.ENTITY
    with publishing.hold(kind, *(new.text.name for new in news)):
        used = _used(kind, [new.key for new in news])
        free = [new for new in news if new.key not in used]
        if not free:
            return []
        publishing.check_is_there(free[0].path)
        with clock.writing(actor) as tx:
            pages = [page for page, _ in record.create_many(tx, free)]
            ops = file_operations.note_first(pages)
        with publishing.explained("the pages are stored, and their files follow"):
            publishing.publish_new(ops)
    return pages


@dataclass(frozen=True)
class Changed:
    """A page as it was read, and the text that it is to have; with findings it is quarantined."""

    page: Page
    text: Text
    origin: Origin
    findings: Sequence[Finding] = ()


def revise(actor: Actor, changes: Sequence[Changed]) -> list[Page]:
    """Give these pages, all of one kind, their new texts; the pages that have them now.

    Left out is whatever is better looked at alone: a page that is not as it was read any more, is
    locked or has an odd file. Raises Forbidden; Unavailable when the disk fails, and then all
    texts are stored and their files follow.
    """
    actor.require(Role.CURATOR)
    if not changes:
        return []
    kind = Kind(changes[0].page.kind)
    with publishing.hold(kind, *(one.page.name for one in changes)):
        settled = [(one, page) for one in changes if (page := _settled(actor, one))]
        try:
            with clock.writing(actor) as tx:
                ops = [_revise(tx, page, one) for one, page in settled]
        except Conflict:  # One was changed in this moment, and so none is here.
            return []
        with publishing.explained("the texts are stored, and their files follow"):
            publishing.publish_changed(ops)
    return [op.page for op in ops]


def _settled(actor: Actor, change: Changed) -> Page | None:
    """The page as file and record agree on it, if its text can be replaced without a question."""
    text = change.text
    try:
        admission.check_storable(text.content, "content")
        admission.check_size(text, "content")
        page = publishing.settle(text.kind, text.name)
        if page is not None:
            withholding.require_free(actor, page)
    except (DomainError, OSError, PathRefused, publishing.Unreadable):
        return None
    same = page is not None and (page.pk, page.revision, page.name) == (
        change.page.pk,
        change.page.revision,
        text.name,
    )
    return page if same and page is not None and page.sha256 != text.sha256 else None


def _revise(tx: clock.Writing, page: Page, change: Changed) -> FileOperation:
    before, origin = page.sha256, change.origin
    record.revise(tx, page, change.text, origin, change.findings, conflict=page.conflict)
    return file_operations.note(page, FileOperation.Op.WRITE, before, origin.at)


def adopt(kind: Kind, files: Mapping[str, str]) -> set[str]:
    """Make pages of these files, given the name by the path; the paths of those that are pages now.

    Left out is whatever is better looked at alone: a file that cannot be a page, or one whose
    name or path is in use by now.
    """
    with publishing.hold(kind, *files.values()):
        used = _used(kind, [queries.key_of(kind, name) for name in files.values()])
        going = FileOperation.objects.filter(path__in=files, done_at=None)
        used_paths = set(going.values_list("path", flat=True))
        free = {
            path: name
            for path, name in files.items()
            if path not in used_paths and queries.key_of(kind, name) not in used
        }
        found = list(_readable(kind, free))
        if found:
            with clock.writing(publishing.FILE) as tx:
                pages = [page for page, _ in record.create_many(tx, [new for new, _ in found])]
                for page, (_, stamp) in zip(pages, found, strict=True):
                    page.file_stamp = publishing.written(stamp)
                Page.objects.bulk_update(pages, ["file_stamp"])
    return {new.path for new, _ in found}


def _readable(kind: Kind, files: Mapping[str, str]) -> Iterator[tuple[New, Stamp]]:
    """The pages that these files become, each with its file's stamp."""
    for path, name in files.items():
        try:
            content = places.read(path)
            yield publishing.as_new(kind, name, path, content), content.stamp
        except (OSError, PathRefused, publishing.Unreadable):
            continue


def _used(kind: Kind, keys: Sequence[str]) -> set[str]:
    """The names that have a page, or a file that is still to go."""
    living = Page.objects.filter(kind=kind, key__in=keys, archived_at=None)
    going = FileOperation.objects.filter(page__kind=kind, page__key__in=keys, done_at=None)
    return {*living.values_list("key", flat=True), *going.values_list("page__key", flat=True)}
