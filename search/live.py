"""The warm index of this process: built once, then kept exact by the change clock.

Every search first asks the clock row, one indexed read. When it moved, the settings in force and
the documents of the new change rows are read again, and those put, or removed. A search waits up
to five seconds for this and then answers with what there is, and says so.
"""

import logging
import math
import threading
import time
import uuid
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from django.db import connection

from memoryweb.core import active_model, clock
from memoryweb.core.analysis import ANALYZERS
from memoryweb.core.errors import Gone, Unavailable
from memoryweb.core.models import ActiveModel, Change, Clock
from search import defaults
from search.defaults import Defaults
from search.embedding import configured
from search.embedding.configured import Configured
from search.embedding.querying import prepare
from search.engine import Index
from search.models import Run
from search.sources import SOURCES, Source

logger = logging.getLogger(__name__)

PATIENCE = 5.0  # seconds a search waits to catch up
# A search looks at its patience after so many changes: a thousand long pages take ten seconds on
# a machine that has much else to do.
CHANGES_AT_ONCE = 100
QUIET = 5.0  # seconds without a change, before a graph is built
LONGEST_UNREST = 60.0  # seconds that a graph waits for that
RETRY_AFTER = 5.0  # seconds between two tries to build an index that failed


@dataclass(frozen=True)
class State:
    """What the database says at one moment: its clock, and what is in force by then."""

    seq: int
    database: uuid.UUID | None
    saved: Defaults
    active: ActiveModel | None
    provider: Configured | None = None  # that a page named
    rebuild: int = 0  # the last run that had every index built anew

    @property
    def stamp(self) -> "Stamp":
        return Stamp(
            database=self.database,
            analyzer=self.saved.analyzer,
            model=self.active.model if self.active else None,
            dimension=self.active.dimension if self.active else None,
        )


@dataclass(frozen=True)
class Stamp:
    """What an index was built from and for; an index with another stamp is never asked."""

    database: uuid.UUID | None
    analyzer: str
    model: str | None
    dimension: int | None


@dataclass
class Built:
    """A usable index, the number of the last change it holds, and the settings it goes by."""

    stamp: Stamp
    seq: int
    indexes: Mapping[str, Index]
    saved: Defaults
    rebuild: int = 0
    changed_at: float = -math.inf  # When a document was last put or removed.


@dataclass(frozen=True)
class View:
    """What a search gets: the indexes, or None when there are none, and what to say about it;
    the settings and the model that were in force when it began."""

    indexes: Mapping[str, Index] | None
    seq: int
    lag: int
    saved: Defaults
    active: ActiveModel | None
    reasons: tuple[str, ...] = ()
    provider: Configured | None = None


class LiveIndex:
    """One per process. Threads share the index; one of them at a time catches up."""

    def __init__(self, sources: Mapping[str, Source]) -> None:
        self._sources = sources
        self._built: Built | None = None
        self._known: State | None = None
        self._catching_up = threading.Lock()
        self._builder: threading.Thread | None = None
        self._failed_at: float | None = None
        self._grapher: threading.Thread | None = None
        self._graphing = threading.Lock()
        self._graphs_due = self._builds_graphs = False

    def view(self, min_seq: int = 0, patience: float | None = None) -> View:
        """The index as fresh as it gets within `patience` seconds, by default PATIENCE.

        Raises Unavailable when `min_seq` is not reached by then.
        """
        deadline = time.monotonic() + (PATIENCE if patience is None else patience)
        now = self.state()
        self._catch_up(now, deadline)
        view = self._view(now)
        if view.seq < min_seq:
            raise Unavailable(
                f"the index has reached change {view.seq}, not yet {min_seq}; try again shortly"
            )
        return view

    def holding(self, collection: str, ids: Collection[str]) -> set[str]:
        """Which of these documents this process would still answer with; none without an index."""
        if self._built is None:
            return set()
        index = (self.view().indexes or {}).get(collection)
        return {one for one in ids if index is not None and one in index}

    def warm(self) -> None:
        """Start building before the first search asks."""
        self._start_building()

    def forget(self) -> None:
        """Drop the index; the next search builds it from the rows."""
        with self._catching_up:
            self._built = self._known = None
            self._failed_at = None

    def state(self) -> State:
        """What holds now. Whatever is in force changes with the clock, so one row tells whether
        what was read last still holds."""
        seq, database = _clock()
        known = self._known
        if known is None or database is None or (known.seq, known.database) != (seq, database):
            # Read after the clock: it may be newer than that, and never older.
            known = self._known = _read(seq, database)
        return known

    def _view(self, now: State) -> View:
        built = self._built
        if built is None:
            reason = "index_failed" if self._failed_at is not None else "index_building"
            return View(None, now.seq, 0, now.saved, now.active, (reason,), now.provider)
        lag = max(0, now.seq - built.seq)
        reasons = ("index_behind",) if lag else ()
        return View(built.indexes, built.seq, lag, now.saved, now.active, reasons, now.provider)

    def _catch_up(self, now: State, deadline: float) -> None:
        """Build where there is no index, then apply what was written since, builds included."""
        while not self._holds(now):
            if self._built is None:
                self._wait_for_build(deadline)
            if self._built is None or not self._advanced(deadline):
                return

    def _holds(self, now: State) -> bool:
        built = self._built
        return built is not None and built.seq >= now.seq and built.stamp.database == now.database

    def _advanced(self, deadline: float) -> bool:
        """Apply the changes, or drop an outdated index; False when the time is up."""
        if not self._catching_up.acquire(timeout=max(0.0, deadline - time.monotonic())):
            return False
        try:
            now = self.state()
            self._forget_when_outdated(now.stamp)
            if self._built is not None:
                self._tune(self._built, now.saved)
                self._rebuild_aside(now)
                self._apply_changes(self._built, deadline)
        except Gone:
            self._built = None  # So far behind that the changes are not kept any more.
        finally:
            self._catching_up.release()
        return time.monotonic() < deadline

    def _forget_when_outdated(self, stamp: Stamp) -> None:
        """An index of another database, analyzer or model is never asked again."""
        built = self._built
        if built is None or built.stamp == stamp:
            return
        vectors_begin = built.stamp.model is None and _like_but_for_model(built.stamp, stamp)
        if vectors_begin:
            # The first vector has fixed the model; until now the index held no vector.
            built.stamp = stamp
        else:
            self._built = None

    def _rebuild_aside(self, now: State) -> None:
        """Build another index when a run asks for that; this one answers until it is there."""
        if self._built is None or self._built.rebuild == now.rebuild or self._builds_or_rests():
            return
        self._builder = threading.Thread(target=self._build, name="index build", daemon=True)
        self._builder.start()

    def _builds_or_rests(self) -> bool:
        building = self._builder is not None and self._builder.is_alive()
        failed = self._failed_at
        return building or (failed is not None and time.monotonic() - failed < RETRY_AFTER)

    def _tune(self, built: Built, saved: Defaults) -> None:
        """Go by settings that were saved since and need nothing built again but a graph."""
        if built.saved == saved:
            return
        for index in built.indexes.values():
            index.tune(
                k1=saved.k1,
                b=saved.b,
                exact_threshold=saved.exact_threshold,
                capacity=saved.capacity,
            )
        built.saved = saved
        self._build_graphs()

    def _apply_changes(self, built: Built, deadline: float) -> None:
        while True:
            wanted, _ = _clock()
            changes = clock.changes_since(built.seq, CHANGES_AT_ONCE)
            for name, source in self._sources.items():
                if _apply(built.indexes[name], source, changes):
                    built.changed_at = time.monotonic()
            if len(changes) < CHANGES_AT_ONCE:
                # Writes that changed no document move the clock as well.
                built.seq = max(wanted, changes[-1].seq if changes else 0, built.seq)
                if changes:
                    self._build_graphs()
                return
            built.seq = changes[-1].seq
            if time.monotonic() > deadline:
                return

    def _wait_for_build(self, deadline: float) -> None:
        builder = self._start_building()
        if builder is not None:
            builder.join(max(0.0, deadline - time.monotonic()))

    def _start_building(self) -> threading.Thread | None:
        with self._catching_up:
            if self._built is not None:
                return None
            if self._builder is not None and self._builder.is_alive():
                return self._builder
            if self._failed_at is not None and time.monotonic() - self._failed_at < RETRY_AFTER:
                return None
            self._builder = threading.Thread(target=self._build, name="index build", daemon=True)
            self._builder.start()
            return self._builder

    def _build(self) -> None:
        """Read every row once. What is written meanwhile has a later number and is caught up."""
        try:
            started = time.monotonic()
            now = self.state()
            prepare(now.provider)
            indexes = {name: _filled(source, now) for name, source in self._sources.items()}
            built = Built(now.stamp, now.seq, indexes, now.saved, now.rebuild)
        except Exception:
            logger.exception("the index could not be built; searches scan the database")
            self._failed_at = time.monotonic()
        else:
            self._built, self._failed_at = built, None
            count = sum(map(len, indexes.values()))
            seconds = time.monotonic() - started
            logger.info("index of %d documents built in %.1f s", count, seconds)
        finally:
            connection.close()
        self._build_graphs()

    def _build_graphs(self) -> None:
        """Build what graphs are due in a thread of their own; searches are exact until then."""
        with self._graphing:
            self._graphs_due = True
            if not (self._builds_graphs and self._grapher and self._grapher.is_alive()):
                self._builds_graphs = True
                self._grapher = threading.Thread(
                    target=self._graph, name="graph build", daemon=True
                )
                self._grapher.start()

    def _graph(self) -> None:
        while self._takes_due_graphs():
            built, deadline = self._built, time.monotonic() + LONGEST_UNREST
            # While a reindex fills in vectors, a graph is outgrown as soon as it is built.
            while built and time.monotonic() < min(built.changed_at + QUIET, deadline):
                time.sleep(QUIET / 10)
            for index in built.indexes.values() if built else ():
                index.build_graph()

    def _takes_due_graphs(self) -> bool:
        """Whether a build was called for since the last one began; if not, the thread ends."""
        with self._graphing:
            due, self._graphs_due = self._graphs_due, False
            self._builds_graphs = due
            return due


def tried_build(name: str) -> int:
    """Build the index of one collection from its rows, for nobody; how many documents it has."""
    return len(_filled(SOURCES[name], live.state()))


def _filled(source: Source, now: State) -> Index:
    index = Index(
        ANALYZERS[now.saved.analyzer],
        k1=now.saved.k1,
        b=now.saved.b,
        dimension=now.stamp.dimension,
        exact_threshold=now.saved.exact_threshold,
        capacity=now.saved.capacity,
        auto_graph=False,
    )
    index.put(source.documents(None))
    return index


def _apply(index: Index, source: Source, changes: list[Change]) -> bool:
    """Bring the changed documents of one collection to what their rows say now; if there are."""
    ids = {change.document for change in changes if change.collection == source.name}
    if not ids:
        return False
    documents = list(source.documents(ids))
    if gone := ids - {document.id for document in documents}:
        index.remove(gone)
    index.put(documents)
    return True


def _read(seq: int, database: uuid.UUID | None) -> State:
    return State(
        seq=seq,
        database=database,
        saved=defaults.current()[1],
        active=active_model.active(),
        provider=configured.named_on_page(),
        rebuild=_last_rebuild(),
    )


def _last_rebuild() -> int:
    done = Run.objects.filter(kind=Run.Kind.REBUILD, state=Run.State.DONE)
    return done.order_by("-id").values_list("pk", flat=True).first() or 0


def _clock() -> tuple[int, uuid.UUID | None]:
    row = Clock.objects.filter(pk=1).values_list("seq", "database").first()
    return row or (0, None)


def _like_but_for_model(one: Stamp, other: Stamp) -> bool:
    return replace(one, model=other.model, dimension=other.dimension) == other


live = LiveIndex(SOURCES)
