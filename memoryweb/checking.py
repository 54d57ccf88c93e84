"""Whether database, disk, audit and vectors agree. Nothing is changed here, only told."""

from collections.abc import Iterator

from django.db import connection

from bank import publishing
from bank.files import sha256
from bank.layout import iter_pages
from bank.models import FileOperation, Page, Revision
from episodes.models import Episode, EpisodeVector
from episodes.store import text_sha
from memoryweb.core import clock
from memoryweb.core.models import Change
from memoryweb.core.vectors import VectorRefused, decode_blob

CHUNK = 500


def faults() -> Iterator[str]:
    """One sentence for each thing that is not as it should be; none when all agrees."""
    yield from database()
    yield from audit()
    yield from changes()
    yield from episodes()
    yield from vectors()
    yield from pages()
    yield from files()


def database() -> Iterator[str]:
    if connection.vendor != "sqlite":
        return
    with connection.cursor() as cursor:
        for check in ("integrity_check", "foreign_key_check"):
            for row in cursor.execute(f"PRAGMA {check}").fetchall():
                if row != ("ok",):
                    yield f"database: {check}: {' '.join(map(str, row))}"


def audit() -> Iterator[str]:
    if place := clock.first_broken_entry():
        yield f"audit: it is not as it was written from here on: {place}"


def changes() -> Iterator[str]:
    newest = Change.objects.order_by("-seq").values_list("seq", flat=True).first() or 0
    if newest > clock.current_seq():
        yield f"changes: number {newest} lies beyond the clock's {clock.current_seq()}"


def episodes() -> Iterator[str]:
    rows = Episode.objects.values_list("pk", "summary", "summary_sha").iterator(CHUNK)
    for pk, summary, sha in rows:
        if text_sha(summary) != sha:
            yield f"episode {pk}: its summary has another hash than the record says"


def vectors() -> Iterator[str]:
    rows = EpisodeVector.objects.values_list("episode_id", "model", "dimension", "vector")
    for pk, model, dimension, blob in rows.iterator(CHUNK):
        try:
            decode_blob(bytes(blob), dimension)
        except VectorRefused as error:
            yield f"episode {pk}: vector of {model}: {error}"


def pages() -> Iterator[str]:
    """Each page against its own newest revision, and its text against its hash."""
    for page in Page.objects.iterator(CHUNK):
        if sha256(page.content.encode()) != page.sha256:
            yield f"page {page.document}: its text has another hash than the record says"
        newest = Revision.objects.filter(page=page, number=page.revision).first()
        if newest is None or newest.sha256 != page.sha256:
            yield f"page {page.document}: revision {page.revision} is not its current text"


def files() -> Iterator[str]:
    """Each page's file against the record, each file against the pages, and saves not finished."""
    for op in FileOperation.objects.filter(done_at=None).select_related("page"):
        yield f"file {op.path}: a save was begun and is not on the disk yet"
    folder = publishing.memory_folder()
    known = {page.path: page.sha256 for page in Page.objects.filter(archived_at=None)}
    seen = set()
    for file in iter_pages(folder):
        seen.add(file.path)
        if file.problem:
            yield f"file {file.path}: {file.problem}"
        elif file.path not in known:
            yield f"file {file.path}: it is not in the record yet"
        elif folder.read(file.path).sha256 != known[file.path]:
            yield f"file {file.path}: it holds another text than the record"
    for path in sorted(known.keys() - seen):
        yield f"file {path}: it is missing"
