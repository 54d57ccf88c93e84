"""Whether database, disk, audit and vectors agree. Nothing is changed here, only told."""

from collections.abc import Callable, Iterator
from typing import Any

from django.db import DatabaseError, connection
from django.db.models import OuterRef, QuerySet, Subquery

from bank import layout, places
from bank.files import Folder, sha256
from bank.layout import Listing
from bank.models import FileOperation, Page, PageVector, Revision, Wiki
from bank.paths import PathRefused
from bank.wikis import BANK, MEMORIES
from episodes.models import CodeVector, Episode, EpisodeVector, Memory, MemoryVector
from episodes.sessions import content_sha
from episodes.texts import text_sha
from memoryweb.core import clock
from memoryweb.core.models import Change
from memoryweb.core.vectors import VectorRefused, decode_blob
from search.wiki import checking as wiki_index

CHUNK = 500


def faults() -> Iterator[str]:
    """One sentence for each thing that is not as it should be; none when all agrees."""
    for check in (database, audit, changes, episodes, memories, vectors, pages, files, wikis):
        yield from _whole(check)


def _whole(check: Callable[[], Iterator[str]]) -> Iterator[str]:
    """The check's faults; that it cannot go on is one, and keeps no other check from its turn."""
    try:
        yield from check()
    except (DatabaseError, OSError) as error:
        yield f"{check.__name__}: the check cannot go on: {error}"


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


def memories() -> Iterator[str]:
    rows = Memory.objects.values_list("pk", "content", "content_sha").iterator(CHUNK)
    for pk, content, sha in rows:
        if content_sha(content) != sha:
            yield f"memory {pk}: its content has another hash than the record says"


def vectors() -> Iterator[str]:
    """Every stored blob against the width that its row names."""
    told = ("model", "dimension", "vector")
    yield from _bad_vectors("episode", EpisodeVector.objects.values_list("episode_id", *told))
    yield from _bad_vectors("memory", MemoryVector.objects.values_list("memory_id", *told))
    yield from _bad_vectors("page", PageVector.objects.values_list("page_id", *told))
    yield from _bad_vectors("symbol", CodeVector.objects.values_list("symbol_name", *told))


def _bad_vectors(what: str, rows: QuerySet[Any, tuple[Any, ...]]) -> Iterator[str]:
    for pk, model, dimension, blob in rows.iterator(CHUNK):
        try:
            decode_blob(bytes(blob), dimension)
        except (VectorRefused, TypeError) as error:  # A text is no blob at all.
            yield f"{what} {pk}: vector of {model}: {error}"


def pages() -> Iterator[str]:
    """Each page against its own current revision, and its text against its hash."""
    current = Revision.objects.filter(page=OuterRef("pk"), number=OuterRef("revision"))
    rows = Page.objects.annotate(of_revision=Subquery(current.values("sha256")))
    for page in rows.iterator(CHUNK):
        if sha256(page.content.encode()) != page.sha256:
            yield f"page {page.document}: its text has another hash than the record says"
        if page.of_revision != page.sha256:
            yield f"page {page.document}: revision {page.revision} is not its current text"


def files() -> Iterator[str]:
    """Each page's file against the record, each file against the pages, and saves not finished."""
    for op in FileOperation.objects.filter(done_at=None):
        yield f"file {op.path}: a save was begun and is not on the disk yet"
    folder = places.memory_folder()
    listing = layout.look(folder)
    known = _known(None)
    yield from _compared(folder, listing, known)
    for path in sorted(known.keys() - {file.path for file in listing.files}):
        if not {layout.folder_of(path), layout.ROOT} & listing.faults.keys():
            yield f"file {path}: it is missing"


def wikis() -> Iterator[str]:
    """The same of each wiki's folder, and its index against the record."""
    there = Wiki.objects.order_by("pk")
    living = list(there.filter(deleted_at=None).values_list("pk", flat=True))
    for wiki in living:
        yield from _files_of(wiki)
    for wiki in (BANK, *living):
        yield from (f"index of {wiki}: {fault}" for fault in wiki_index.faults(wiki))
    known = {BANK, MEMORIES, *there.values_list("pk", flat=True)}
    for name in sorted(places.homes() - known):
        yield f"folder wikis/{name}: there is no such wiki"


def _files_of(wiki: str) -> Iterator[str]:
    folder, known = places.of_wiki(wiki).folder, _known(wiki)
    listing = layout.look_at_wiki(folder, wiki, known)
    yield from _compared(folder, listing, known)
    if not listing.faults:  # Nothing is known of what a folder with a fault holds.
        for path in sorted(known.keys() - {file.path for file in listing.files}):
            yield f"file {path}: it is missing"


def _known(wiki: str | None) -> dict[str, str]:
    """The hash of each page's text by the path of its file."""
    rows = Page.objects.filter(archived_at=None, wiki=wiki).order_by("path")
    return dict(rows.values_list("path", "sha256"))


def _compared(folder: Folder, listing: Listing, known: dict[str, str]) -> Iterator[str]:
    for path, problem in listing.faults.items():
        yield f"folder {path}: {problem}"
    for file in listing.files:
        below = places.below(file.path)
        if fault := file.problem or _difference(folder, below, known.get(file.path)):
            yield f"file {file.path}: {fault}"


def _difference(folder: Folder, path: str, sha: str | None) -> str:
    """How the file differs from the page of this hash; "" when it does not."""
    if sha is None:
        return "it is not in the record yet"
    try:
        found = folder.read(path).sha256
    except FileNotFoundError:
        return "it is missing"
    except PathRefused as refused:
        return str(refused)
    except OSError as error:
        return f"it cannot be read: {error.strerror}"
    return "" if found == sha else "it holds another text than the record"
