"""The matrices that this process keeps warm, as the rows are now.

Every recall first asks the clock row. What changed since is read again and put in its place, so
an answer is that of the rows as they are. What was used longest ago makes room.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping
from typing import Literal, NamedTuple

from django.db import connection
from django.db.models import Exists, OuterRef

from episodes import code_vectors, session_queries
from episodes.models import CodeVector
from episodes.sessions import COLLECTION as MEMORIES
from memoryweb.core import active_model, clock
from memoryweb.core.chunks import chunks
from memoryweb.core.models import Change
from memoryweb.core.vectors import Vector, unit_vector
from search.matrices import Pool, Row, Skipped

CHUNK = 1000
MOST_CHANGES = 5000  # Above this, what was kept is dropped and read anew.
MOST_BYTES = 1024**3  # of pools kept; the one used longest ago goes first
MOST_POOLS = 200  # Whoever asks names the model, so there may be any number of them.
READERS = 4  # pools that are read in at once, at most


class Key(NamedTuple):
    """Of what kind, of which context or collection, by which model; None is the active one."""

    kind: Literal["memories", "code"]
    owner: str
    model: str | None


class Warm:
    """The pools of this process. One thread at a time catches up; recalls of two contexts do not
    wait for each other, nor for a large one that is read in for the first time."""

    def __init__(self) -> None:
        self._pools: OrderedDict[Key, Pool] = OrderedDict()
        self._seq = 0
        self._database: object = None
        self._active: str | None = None  # the model in force at `_seq`
        self._lock = threading.Lock()
        # Taken before `_lock`. One for each key in turn, so nothing is read in twice at once.
        self._reading = [threading.Lock() for _ in range(READERS)]

    def nearest(
        self, key: Key, query: Vector, limit: int, floor: float | None
    ) -> tuple[dict[str, float], Skipped, str | None]:
        """The best ids with their scores, what was skipped, and the model compared with."""
        unit = unit_vector(query)
        key, pool = self._pool(key)
        return *pool.nearest(unit, limit, floor), key.model

    def forget(self) -> None:
        with self._lock:
            self._pools.clear()

    def _pool(self, key: Key) -> tuple[Key, Pool]:
        """The pool of what is asked for, and its key with the model named."""
        with self._lock:
            self._catch_up()
            key = key._replace(model=key.model or self._active)
            pool = self._kept(key)
        if pool is None:
            with self._reading[hash(key) % READERS]:
                pool = self._read(key)
        return key, pool

    def _kept(self, key: Key) -> Pool | None:
        if key in self._pools:
            self._pools.move_to_end(key)
        return self._pools.get(key)

    def _read(self, key: Key) -> Pool:
        """Read a pool in, while others recall. It is kept if it can be brought to the present."""
        with self._lock:
            self._catch_up()  # It may have been read in while this waited.
            if (pool := self._kept(key)) is not None:
                return pool
            database, before = self._database, self._seq
        fresh = {key: (pool := _filled(key))}
        with self._lock:
            self._catch_up()
            if database == self._database and pool.places:
                _follow(fresh, before, self._seq)
                self._pools.update(fresh)
                self._make_room()
        return pool

    def _catch_up(self) -> None:
        seq, database = _clock()
        if database == self._database and seq == self._seq:
            return
        if database != self._database or seq < self._seq:
            self._pools.clear()
        # Choosing another model moves the clock as well.
        active = active_model.active()
        self._active = active.model if active else None
        if self._pools:
            _follow(self._pools, self._seq, seq)
        self._seq, self._database = seq, database

    def _make_room(self) -> None:
        while len(self._pools) > 1 and (
            len(self._pools) > MOST_POOLS
            or sum(pool.nbytes for pool in self._pools.values()) > MOST_BYTES
        ):
            self._pools.popitem(last=False)


def _follow(pools: MutableMapping[Key, Pool], before: int, seq: int) -> None:
    """Bring the pools from one number of the clock to a later one; those that cannot be are
    taken out."""
    changes = Change.objects.filter(seq__gt=before, seq__lte=seq)
    changed = changes.filter(collection__in=[MEMORIES, code_vectors.COLLECTION])
    found = list(changed.values_list("collection", "document")[: MOST_CHANGES + 1])
    if len(found) > MOST_CHANGES or before < clock.pruned_seq():
        pools.clear()
        return
    _renew(pools, {document for name, document in found if name == MEMORIES})
    collections = {document for name, document in found if name != MEMORIES}
    for key in [k for k in pools if k.kind == "code" and k.owner in collections]:
        del pools[key]


def _renew(pools: Mapping[Key, Pool], ids: set[str]) -> None:
    """Bring changed memories to what their rows say now, in every pool."""
    for key, pool in pools.items() if ids else ():
        if key.kind != "memories":
            continue
        rows = list(_memory_rows(key, ids))
        with pool.lock:
            for one in ids:
                pool.drop(one)
            pool.put(rows)


def _filled(key: Key) -> Pool:
    pool = Pool()
    for rows in chunks(_ROWS[key.kind](key, None), CHUNK):
        pool.put(rows)
    return pool


def _clock() -> tuple[int, object]:
    """The number of the last change and the database it is of. Asked with every recall, so in
    SQL: the ORM takes longer to word the question than the database to answer it."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT seq, database FROM core_clock WHERE id = 1")
        return cursor.fetchone() or (0, None)


def _memory_rows(key: Key, ids: Iterable[str] | None) -> Iterator[Row]:
    """The memories of a context as `key` wants them; None means all.

    Named ones are looked up by their ids alone: SQLite, given the choice, reads the whole context.
    """
    rows = session_queries.searchable()
    rows = rows.filter(context=key.owner) if ids is None else rows.filter(pk__in=list(ids))
    found = session_queries.with_vector_of(rows, key.model)
    columns = ("context", "pk", "created_at", "comparable", "other_model")
    for owner, pk, created_at, blob, other_model in found.values_list(*columns).iterator(CHUNK):
        if owner == key.owner:
            yield Row(pk, created_at.timestamp(), _bytes(blob), other_model)


def _code_rows(key: Key, ids: Iterable[str] | None) -> Iterator[Row]:
    """The symbols of a collection; those that only other models have vectors of are counted."""
    rows = CodeVector.objects.filter(collection=key.owner)
    own = rows.filter(model=key.model).values_list("pk", "indexed_at", "vector")
    for pk, indexed_at, blob in own.iterator(CHUNK):
        yield Row(str(pk), indexed_at.timestamp(), _bytes(blob), False)
    same = rows.filter(
        model=key.model, file_path=OuterRef("file_path"), symbol_name=OuterRef("symbol_name")
    )
    others = rows.exclude(model=key.model).exclude(Exists(same))
    for pk, indexed_at in others.values_list("pk", "indexed_at").iterator(CHUNK):
        yield Row(str(pk), indexed_at.timestamp(), None, True)


def _bytes(blob: object) -> bytes | None:
    """What is no blob in a row that somebody wrote by hand is no vector."""
    return bytes(blob) if isinstance(blob, bytes | memoryview) else None


_ROWS: dict[str, Callable[[Key, Iterable[str] | None], Iterator[Row]]] = {
    "memories": _memory_rows,
    "code": _code_rows,
}

warm = Warm()
