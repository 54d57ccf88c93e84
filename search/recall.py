"""Recall by vector: exact cosine over the memories of one context, or the symbols of one
collection of code, from matrices that this process keeps warm.

Every recall first asks the clock row. What changed since is read again and put in its place, so
an answer is that of the rows as they are. A row that cannot be compared with the query (another
width, another model, no vector, a damaged blob) is left out and counted, and hides no other.
"""

import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from django.db import connection
from django.db.models import Exists, OuterRef

from episodes import code_vectors, session_queries
from episodes.models import CodeVector, Memory
from episodes.sessions import COLLECTION as MEMORIES
from episodes.vectors import received, refusal_error
from memoryweb.core import active_model, clock
from memoryweb.core.errors import Invalid
from memoryweb.core.models import Change
from memoryweb.core.vectors import BLOB_DTYPE, EPSILON, Vector, VectorRefused, unit_vector
from search.embedding.querying import vector_for
from search.engine import FloatArray, best_first, shortlist

CHUNK = 1000
MOST_CHANGES = 5000  # Above this, what was kept is dropped and read anew.
MOST_BYTES = 1024**3  # of matrices kept; the one used longest ago goes first
MARGIN = 4e-6  # how far a float32 product can lie beside the exact cosine
DIGITS = 7  # to which scores are rounded: parallel vectors score alike


class Row(NamedTuple):
    """What can be recalled: `blob` is None where there is no vector to compare."""

    id: str
    created_at: float
    blob: bytes | None
    other_model: bool


@dataclass(frozen=True)
class Skipped:
    """What was left out: without a current vector, of another width, by another model only."""

    no_vector: int = 0
    dimension: int = 0
    model: int = 0


@dataclass(frozen=True)
class Recalled:
    """Memories with their scores, best first. `model` is the one whose vectors were compared."""

    memories: list[tuple[Memory, float]]
    skipped: Skipped
    model: str | None


@dataclass(frozen=True)
class Symbols:
    """Code symbols with their scores, best first."""

    symbols: list[tuple[CodeVector, float]]
    skipped: Skipped
    model: str | None


def recall(
    context_id: str,
    query: Vector,
    *,
    limit: int = 5,
    embedding_model: str | None = None,
    min_score: float | None = None,
) -> Recalled:
    """The memories of a context nearest to a query by cosine, ties newest first.

    Compares with the vectors of `embedding_model`, by default the active one, made from the
    content as it is now. Raises NotFound for an unknown context.
    """
    key = Key("memories", context_id, embedding_model)
    scores, skipped, model = warm.nearest(key, query, limit, min_score)
    if not (scores or any(vars(skipped).values())):
        session_queries.require_context(context_id)
    rows = session_queries.searchable().filter(context=context_id).in_bulk(list(scores))
    found = [(rows[one], score) for one, score in scores.items() if one in rows]
    return Recalled(found, skipped, model)


def search_code(
    collection: str,
    query: Vector | None,
    *,
    text: str = "",
    limit: int = 10,
    embedding_model: str | None = None,
    min_score: float | None = None,
) -> Symbols:
    """The symbols of a collection nearest to a query by cosine.

    Compares with the vectors of `embedding_model`, by default the one that was stored last.
    Raises Unavailable for a text alone, which it takes a provider to make a vector of.
    """
    model = embedding_model or code_vectors.newest_model(collection)
    if query is None:
        if not text.strip():
            raise Invalid.field("query_embedding", "give a query_embedding, or a query_text")
        query = vector_for(text, model)
    key = Key("code", collection, model)
    scores, skipped, model = warm.nearest(key, query, limit, min_score)
    rows = CodeVector.objects.defer("vector").in_bulk([int(one) for one in scores])
    found = [(rows[int(one)], score) for one, score in scores.items() if int(one) in rows]
    return Symbols(found, skipped, model)


def given_vector(embedding: Any, embedding_b64: Any = None) -> Vector | None:
    """The query vector that was sent, None when none was. Raises Invalid with the reason."""
    try:
        return received(embedding, embedding_b64)
    except VectorRefused as refusal:
        raise refusal_error(refusal, "query_embedding") from refusal


# The warm matrices


class Key(NamedTuple):
    """Of what kind, of which context or collection, by which model; None is the active one."""

    kind: Literal["memories", "code"]
    owner: str
    model: str | None


class Matrix:
    """Unit vectors of one width, dense: what is dropped is replaced by the last."""

    def __init__(self, width: int) -> None:
        self._units: npt.NDArray[np.float32] = np.empty((16, width), np.float32)
        self._created: npt.NDArray[np.float64] = np.empty(16, np.float64)
        self._ids: list[str] = []
        self._rows: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._ids)

    @property
    def nbytes(self) -> int:
        return self._units.nbytes

    def extend(self, ids: Sequence[str], created: Sequence[float], units: Any) -> None:
        start, end = len(self._ids), len(self._ids) + len(ids)
        if end > len(self._created):
            size = max(end, len(self._created) * 3 // 2)
            self._units = _grown(self._units, size)
            self._created = _grown(self._created, size)
        self._units[start:end] = units
        self._created[start:end] = created
        self._ids.extend(ids)
        self._rows.update(zip(ids, range(start, end), strict=True))

    def drop(self, one: str) -> None:
        row, last = self._rows.pop(one), len(self._ids) - 1
        if row != last:
            self._units[row] = self._units[last]
            self._created[row] = self._created[last]
            self._ids[row] = self._ids[last]
            self._rows[self._ids[row]] = row
        self._ids.pop()

    def nearest(self, unit: Vector, limit: int, floor: float | None) -> dict[str, float]:
        """The best ids with their cosines, in order: ties newest first, then by id."""
        size = len(self._ids)
        rough = self._units[:size] @ unit
        chosen = shortlist(rough, rough, limit, None, MARGIN)  # type: ignore[arg-type]
        exact = self._units[chosen].astype(np.float64) @ unit.astype(np.float64)
        scores = _rounded(exact)
        if floor is not None:
            chosen, scores = chosen[scores >= floor], scores[scores >= floor]
        order = best_first(
            scores, self._created[chosen], lambda place: (self._ids[int(chosen[place])],)
        )
        return {self._ids[int(chosen[at])]: float(scores[at]) for at in order[:limit]}


def _rounded(cosines: FloatArray) -> FloatArray:
    rounded: FloatArray = np.asarray(np.clip(cosines, -1.0, 1.0).round(DIGITS), np.float64)
    return rounded + 0.0  # There is no negative zero.


def _grown(array: npt.NDArray[Any], size: int) -> npt.NDArray[Any]:
    larger = np.empty((size, *array.shape[1:]), array.dtype)
    larger[: len(array)] = array
    return larger


@dataclass
class Pool:
    """All that can be recalled of one context by one model: matrices by width, and the rest."""

    matrices: dict[int, Matrix] = field(default_factory=dict)
    places: dict[str, int | str] = field(default_factory=dict)  # a width, or why it has none
    without: Counter[str] = field(default_factory=Counter)  # how many have none, by why
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def nbytes(self) -> int:
        return sum(matrix.nbytes for matrix in self.matrices.values())

    def put(self, rows: Sequence[Row]) -> None:
        """Add rows that are not in it."""
        by_length: dict[int, list[Row]] = {}
        for row in rows:
            if row.blob:
                by_length.setdefault(len(row.blob), []).append(row)
            else:
                self._put_without(row.id, "model" if row.other_model else "no_vector")
        for length, some in by_length.items():
            self._put_of_one_length(some, length)

    def drop(self, one: str) -> None:
        place = self.places.pop(one, None)
        if isinstance(place, int):
            self.matrices[place].drop(one)
        elif place is not None:
            self.without[place] -= 1

    def nearest(
        self, unit: Vector, limit: int, floor: float | None
    ) -> tuple[dict[str, float], Skipped]:
        with self.lock:
            matrix = self.matrices.get(unit.size)
            found = matrix.nearest(unit, limit, floor) if matrix else {}
            widths = sum(len(m) for width, m in self.matrices.items() if width != unit.size)
            return found, Skipped(self.without["no_vector"], widths, self.without["model"])

    def _put_without(self, one: str, why: str) -> None:
        self.places[one] = why
        self.without[why] += 1

    def _put_of_one_length(self, rows: Sequence[Row], length: int) -> None:
        """Many at once: each blob by itself would cost more than the matrix."""
        if length % BLOB_DTYPE.itemsize:
            for row in rows:
                self._put_without(row.id, "no_vector")
            return
        width = length // BLOB_DTYPE.itemsize
        values = np.frombuffer(b"".join(row.blob or b"" for row in rows), BLOB_DTYPE)
        wide = values.reshape(len(rows), width).astype(np.float64)
        with np.errstate(invalid="ignore"):
            norms = np.sqrt(np.einsum("ij,ij->i", wide, wide))
            good = np.isfinite(norms) & (norms >= EPSILON)
        kept = [row for row, ok in zip(rows, good, strict=True) if ok]
        self.places.update((row.id, width) for row in kept)
        for row, ok in zip(rows, good, strict=True):
            if not ok:
                self._put_without(row.id, "no_vector")
        matrix = self.matrices.setdefault(width, Matrix(width))
        units = wide[good] / norms[good, None]
        matrix.extend([row.id for row in kept], [row.created_at for row in kept], units)


class Warm:
    """The pools of this process. One thread at a time catches up; recalls of two contexts do not
    wait for each other."""

    def __init__(self) -> None:
        self._pools: OrderedDict[Key, Pool] = OrderedDict()
        self._seq = 0
        self._database: object = None
        self._active: str | None = None  # the model in force at `_seq`
        self._lock = threading.Lock()

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
            pool = self._pools.get(key)
            if pool is None:
                pool = self._pools[key] = Pool()
                for rows in _chunked(_ROWS[key.kind](key, None)):
                    pool.put(rows)
                self._make_room()
            self._pools.move_to_end(key)
            return key, pool

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
            self._follow(self._seq, seq)
        self._seq, self._database = seq, database

    def _follow(self, before: int, seq: int) -> None:
        """Bring the pools from one number of the clock to a later one."""
        changes = Change.objects.filter(seq__gt=before, seq__lte=seq)
        changed = changes.filter(collection__in=[MEMORIES, code_vectors.COLLECTION])
        found = list(changed.values_list("collection", "document")[: MOST_CHANGES + 1])
        if len(found) > MOST_CHANGES or before < clock.pruned_seq():
            self._pools.clear()
            return
        self._renew({document for name, document in found if name == MEMORIES})
        collections = {document for name, document in found if name != MEMORIES}
        for key in [k for k in self._pools if k.kind == "code" and k.owner in collections]:
            del self._pools[key]

    def _renew(self, ids: set[str]) -> None:
        """Bring changed memories to what their rows say now, in every pool."""
        for key, pool in self._pools.items() if ids else ():
            if key.kind != "memories":
                continue
            rows = list(_memory_rows(key, ids))
            with pool.lock:
                for one in ids:
                    pool.drop(one)
                pool.put(rows)

    def _make_room(self) -> None:
        while len(self._pools) > 1 and sum(p.nbytes for p in self._pools.values()) > MOST_BYTES:
            self._pools.popitem(last=False)


def _clock() -> tuple[int, object]:
    """The number of the last change and the database it is of. Asked with every recall, so in
    SQL: the ORM takes longer to word the question than the database to answer it."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT seq, database FROM core_clock WHERE id = 1")
        return cursor.fetchone() or (0, None)


def _memory_rows(key: Key, ids: Iterable[str] | None) -> Iterator[Row]:
    """The memories of a context as `key` wants them; None means all."""
    rows = session_queries.searchable().filter(context=key.owner)
    if ids is not None:
        rows = rows.filter(pk__in=list(ids))
    found = session_queries.with_vector_of(rows, key.model)
    columns = ("pk", "created_at", "comparable", "other_model")
    for pk, created_at, blob, other_model in found.values_list(*columns).iterator(CHUNK):
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


def _chunked(rows: Iterator[Row]) -> Iterator[list[Row]]:
    chunk: list[Row] = []
    for row in rows:
        chunk.append(row)
        if len(chunk) == CHUNK:
            yield chunk
            chunk = []
    if chunk:
        yield chunk


_ROWS: dict[str, Callable[[Key, Iterable[str] | None], Iterator[Row]]] = {
    "memories": _memory_rows,
    "code": _code_rows,
}

warm = Warm()
