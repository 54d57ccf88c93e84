"""From the record to the index of a wiki: what there is to index, and how an index catches up.

The bank is the wiki `bank` here. An index says which change it holds; the change rows after that
name the pages to read again. When a page changed, its own links are read again, and those of
every page that led to it or leads to it now. A big index is built by a thread aside, and until
then answers come from the old one, if it can be trusted, and are said to be stale.
"""

import logging
import threading
import time
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Literal, TypeVar

from django.db import connection
from django.db.models import Q, QuerySet

from bank import places, queries, refs, wiki_pages, wikis
from bank.models import Kind, Link, Page, WikiSource
from memoryweb.core import clock
from memoryweb.core.chunks import chunks
from memoryweb.core.models import Change
from search.wiki import index, pool
from search.wiki.index import BuildFailed, Entry, Source
from search.wiki.opening import IndexFile, NeedsRebuild

logger = logging.getLogger(__name__)

BANK = wikis.BANK
NOTES = wiki_pages.NOTES
BUILT_AT_ONCE = 300  # Pages; a larger wiki's index is built aside.
APPLIED_AT_ONCE = 500  # Changed pages; more of them are a reason to build anew.
SEALED_EVERY = 20_000  # Changes of others after which an index notes that none concerned it.
RETRY_AFTER = 5.0  # Seconds between two tries to build an index that failed.
_CHUNK = 200
T = TypeVar("T")


@dataclass(frozen=True)
class State:
    """How an index stands to the record. It can be searched when `ready`, or when `stale`: then
    it answers as of `seq`. `cause` says why it is built, or why that failed. `touched` are the rows
    of the index that were written to catch up."""

    file: IndexFile
    status: Literal["ready", "building", "failed"]
    stale: bool
    seq: int
    cause: str = ""
    touched: int = 0

    @property
    def searchable(self) -> bool:
        return self.status == "ready" or self.stale


# What there is to index


def pages(wiki: str) -> QuerySet[Page]:
    """The pages of a wiki that may be served."""
    return queries.servable_of_bank() if wiki == BANK else queries.servable().filter(wiki=wiki)


def page_id(kind: str, name: str) -> str:
    """What a page is called in its index: its ref; in the bank its name, a note's day below
    `notes/`."""
    if kind == Kind.WIKI:
        return refs.split(name)[1]
    return NOTES + name if kind == Kind.NOTE else name


def named(wiki: str, ids: Collection[str]) -> Q:
    """The pages that have these ids in the index of this wiki."""
    if wiki != BANK:
        return Q(name__in=[f"{wiki}/{one}" for one in ids])
    days = [one.removeprefix(NOTES) for one in ids if one.startswith(NOTES)]
    others = [one for one in ids if not one.startswith(NOTES)]
    return Q(kind=Kind.NOTE, name__in=days) | Q(
        kind__in=(Kind.ENTITY, Kind.MEMORY), name__in=others
    )


def wiki_entries(wiki: str, ids: Collection[str] | None = None) -> Iterator[Entry]:
    """The pages of a wiki, or those of these ids that may be served, some hundred at a time."""
    rows = pages(wiki).only("kind", "name", "title", "path", "front_matter", "content")
    if ids is None:
        yield from map(_entry, rows.order_by("pk").iterator(_CHUNK))
        return
    for some in chunks(ids, _CHUNK):
        yield from map(_entry, rows.filter(named(wiki, some)))


def type_of(page: Page) -> str:
    """What its front matter says it is, else what its kind is called."""
    said = page.front_matter.get("type")
    return said if isinstance(said, str) and said else _TYPES[Kind(page.kind)]


def _entry(page: Page) -> Entry:
    described = page.front_matter.get("description")
    return Entry(
        page_id=page_id(page.kind, page.name),
        title=page.title,
        type=type_of(page),
        rel_path=places.below(page.path),
        text=page.content,
        description=described if isinstance(described, str) else "",
    )


_TYPES = {Kind.ENTITY: "entity", Kind.NOTE: "note", Kind.MEMORY: "memory", Kind.WIKI: "page"}


def wiki_edges(wiki: str, ids: Collection[str] | None = None) -> dict[str, list[str]]:
    """The pages that each page links to, by ids; of all pages, or of these, each of which has a
    list then. Links of pages, and to pages, that may not be served are left out."""
    found: dict[str, list[str]] = defaultdict(list)
    if ids is None:
        of_wiki = Q(source__wiki=None if wiki == BANK else wiki)
        for source, target in _links(of_wiki):
            found[source].append(target)
        return found
    for some in chunks(ids, _CHUNK):
        found.update({one: [] for one in some})
        sources = list(pages(wiki).filter(named(wiki, some)).values_list("pk", flat=True))
        for source, target in _links(Q(source__in=sources)):
            found[source].append(target)
    return found


def _links(which: Q) -> Iterator[tuple[str, str]]:
    """The ids of both ends of these links, of those between pages that may be served."""
    # By columns: subqueries of pages take seconds in a wiki of some thousand.
    ends = {"quarantined": False, "archived_at": None}
    served = {f"{end}__{name}": value for end in ("source", "to") for name, value in ends.items()}
    columns = ("source__kind", "source__name", "to__kind", "to__name")
    rows = Link.objects.filter(which, **served).values_list(*columns)
    return ((page_id(*row[:2]), page_id(*row[2:])) for row in rows.iterator(2_000))


def wiki_sources(wiki: str) -> Iterator[Source]:
    """The files that were given to a wiki, as its index tells them."""
    rows = WikiSource.objects.filter(wiki=wiki).order_by("filename")
    for row in rows.iterator(_CHUNK):
        at = row.given_at.timestamp()
        yield Source(row.filename, row.sha256, row.size, row.status, None, at, row.error)


# Catching up


def index_file(wiki: str) -> IndexFile:
    """Where the index of a wiki lies, and which it must be."""
    return IndexFile(places.index_of(wiki), wiki, str(clock.database_uuid()))


def catch_up(wiki: str, *, wait: bool = False) -> State:
    """Bring the index of a wiki to what the record says; how it stands then.

    With `wait` it is built here however large it is. Raises NotFound for a wiki that there is
    not, Unavailable when the file cannot be reached.
    """
    wikis.get(wiki)
    file = index_file(wiki)
    try:
        with pool.shared().reader(file) as reader:
            held = reader.stamp().seq
    except NeedsRebuild as needed:
        return _anew(file, str(needed), None, wait=wait)
    try:
        return _caught_up(file, held)
    except _TooFarBehind as behind:
        return _anew(file, str(behind), held, wait=wait)
    except NeedsRebuild as needed:
        return _anew(file, str(needed), None, wait=wait)


class _TooFarBehind(Exception):
    """The index is behind by more than is worth being applied, or can be told."""


_untouched: dict[str, tuple[int, int]] = {}  # By wiki: from, up to; nothing changed in between.


def _caught_up(file: IndexFile, held: int) -> State:
    now = clock.current_seq()
    since, upto = _untouched.get(file.wiki, (0, 0))
    start = upto if since <= held < upto else held
    if start == now:  # So it is with nearly every search: two queries less.
        return State(file, "ready", False, now)
    # Each once: a page may have changed many times, and all that changed are to be among them.
    changes = dict.fromkeys(changed_pages(file.wiki, start, now))
    changed = set(islice(changes, APPLIED_AT_ONCE + 1))
    # Asked after the rows: what was pruned meanwhile is noticed too.
    if start < clock.pruned_seq():
        raise _TooFarBehind("changes that it has not seen are not kept any more")
    if len(changed) > APPLIED_AT_ONCE:
        raise _TooFarBehind(f"more than {APPLIED_AT_ONCE} pages changed")
    touched = 0
    if changed or now - held > SEALED_EVERY:
        touched = _apply(file, changed, held, now)
    else:
        _untouched[file.wiki] = (held, now)
    return State(file, "ready", False, now, touched=touched)


def changed_pages(wiki: str, since: int, upto: int) -> Iterator[str]:
    """The ids of the pages that changed after `since`."""
    rows = Change.objects.filter(seq__gt=since, seq__lte=upto)
    if wiki == BANK:
        rows = rows.filter(collection=queries.COLLECTION)
    else:
        rows = rows.filter(collection=wikis.COLLECTION, document__startswith=f"{Kind.WIKI}/{wiki}/")
    for document in rows.order_by("seq").values_list("document", flat=True):
        kind, _, name = document.partition("/")
        if one := page_id(kind, name):
            yield one


def _apply(file: IndexFile, changed: Collection[str], held: int, now: int) -> int:
    there = {entry.page_id: entry for entry in wiki_entries(file.wiki, changed)}
    entries: Mapping[str, Entry | None] = {one: there.get(one) for one in changed}
    sources = {*changed, *_led(file, changed), *_leading(file.wiki, changed)}
    return index.apply(file, entries, wiki_edges(file.wiki, sources), now, since=held)


def _led(file: IndexFile, changed: Collection[str]) -> set[str]:
    """The pages that the index knows to have led to these."""
    with pool.shared().reader(file) as reader:
        around = reader.neighbours(changed, structural=True)
    return {other for links in around.values() for other, direction in links if direction != "out"}


def _leading(wiki: str, changed: Collection[str]) -> set[str]:
    """The pages that link to these by now."""
    found: set[str] = set()
    for some in chunks(changed, _CHUNK):
        to = list(pages(wiki).filter(named(wiki, some)).values_list("pk", flat=True))
        rows = Link.objects.filter(to__in=to).values_list("source__kind", "source__name")
        found |= {page_id(*row) for row in rows.distinct()}
    return found


# Building


_building: dict[str, threading.Thread] = {}
_failed: dict[str, tuple[float, str]] = {}
_lock = threading.Lock()


def _anew(file: IndexFile, cause: str, held: int | None, *, wait: bool) -> State:
    """Build the index, at once where that is soon done. `held` is what the old one, which can be
    trusted, holds."""
    stale, seq = held is not None, held or 0
    when, why = _failed.get(file.wiki, (0.0, ""))
    if why and time.monotonic() - when < RETRY_AFTER:
        return State(file, "failed", stale, seq, why)
    if wait or pages(file.wiki)[: BUILT_AT_ONCE + 1].count() <= BUILT_AT_ONCE:
        return _built(file) or State(file, "failed", stale, seq, _failed[file.wiki][1])
    with _lock:
        if file.wiki not in _building:
            thread = threading.Thread(target=_build_aside, args=(file,), daemon=True)
            _building[file.wiki] = thread
            thread.start()
    return State(file, "building", stale, seq, cause)


def _build_aside(file: IndexFile) -> None:
    try:
        _built(file)
    finally:
        connection.close()
        with _lock:
            _building.pop(file.wiki, None)


def _built(file: IndexFile) -> State | None:
    """The state after the index was built; None, with the cause noted, when it could not be."""
    try:
        now = clock.current_seq()  # Before the rows: what changes meanwhile is read again.
        entries, edges = wiki_entries(file.wiki), wiki_edges(file.wiki)
        index.rebuild(file, entries, edges, now, wiki_sources(file.wiki))
    except BuildFailed as failed:
        logger.exception("the index of %s", file.wiki)
        _failed[file.wiki] = (time.monotonic(), str(failed))
        return None
    _failed.pop(file.wiki, None)
    return State(file, "ready", False, now)
