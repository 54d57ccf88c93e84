"""Exact cosine over all vectors of one owner: dense matrices, one of each width, and the rest.

Values in, values out: no rows, no clock. What `search.warm` keeps of a context or a collection.
"""

import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from memoryweb.core.vectors import BLOB_DTYPE, EPSILON, Vector
from search.engine import FloatArray, best_first, shortlist

DIGITS = 7  # to which scores are rounded: parallel vectors score alike
BLOCK = 1024  # vectors made wider at once
PLACE_BYTES = 300  # about what an id and where its vector lies take


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


class Matrix:
    """Unit vectors of one width, dense: what is dropped is replaced by the last.

    A vector is a column: a product with all of them then reads the memory as one stream, in two
    thirds of the time that it takes over rows.
    """

    def __init__(self, width: int) -> None:
        self._units: npt.NDArray[np.float32] = np.empty((width, 16), np.float32)
        self._created: npt.NDArray[np.float64] = np.empty(16, np.float64)
        self._ids: list[str] = []
        self._columns: dict[str, int] = {}
        # A float32 sum of n products of unit vectors lies within n halves of its epsilon of the
        # exact one (Higham 2002, 3.1); the border of a shortlist can be off by as much again.
        self._margin = 2 * (width * 2.0**-24 + 10.0**-DIGITS)

    def __len__(self) -> int:
        return len(self._ids)

    @property
    def nbytes(self) -> int:
        return self._units.nbytes

    def extend(self, ids: Sequence[str], created: Sequence[float], units: FloatArray) -> None:
        """Add unit vectors, a row each; none of the ids is in it."""
        start, end = len(self._ids), len(self._ids) + len(ids)
        if end > len(self._created):
            size = max(end, len(self._created) * 3 // 2)
            self._units = _widened(self._units, start, size)
            self._created = _widened(self._created, start, size)
        self._units[:, start:end] = units.T
        self._created[start:end] = created
        self._ids.extend(ids)
        self._columns.update(zip(ids, range(start, end), strict=True))

    def drop(self, one: str) -> None:
        """Take out an id that is in it."""
        column, last = self._columns.pop(one), len(self._ids) - 1
        if column != last:
            self._units[:, column] = self._units[:, last]
            self._created[column] = self._created[last]
            self._ids[column] = self._ids[last]
            self._columns[self._ids[column]] = column
        self._ids.pop()

    def nearest(self, unit: Vector, limit: int, floor: float | None) -> dict[str, float]:
        """The best ids with their cosines, in order: ties newest first, then by id."""
        rough = (unit @ self._units[:, : len(self._ids)]).astype(np.float64)
        chosen = shortlist(rough, rough, limit, None, self._margin)
        scores = self._cosines(unit, chosen)
        if floor is not None:
            chosen, scores = chosen[scores >= floor], scores[scores >= floor]
        order = best_first(
            scores, self._created[chosen], lambda place: (self._ids[int(chosen[place])],)
        )
        return {self._ids[int(chosen[at])]: float(scores[at]) for at in order[:limit]}

    def _cosines(self, unit: Vector, columns: npt.NDArray[np.int64]) -> FloatArray:
        """In float64, in blocks: equal vectors are all on the shortlist, however many."""
        query, exact = unit.astype(np.float64), np.empty(len(columns), np.float64)
        for start in range(0, len(columns), BLOCK):
            some = self._units[:, columns[start : start + BLOCK]]
            exact[start : start + BLOCK] = query @ some.astype(np.float64)
        rounded: FloatArray = np.asarray(np.clip(exact, -1.0, 1.0).round(DIGITS), np.float64)
        return rounded + 0.0  # There is no negative zero.


def _widened(array: npt.NDArray[Any], used: int, size: int) -> npt.NDArray[Any]:
    """The same with room for `size` in its last axis, of which `used` are in use."""
    wider = np.empty((*array.shape[:-1], size), array.dtype)
    wider[..., :used] = array[..., :used]
    return wider


@dataclass
class Pool:
    """All that can be recalled of one owner by one model: matrices by width, and the rest."""

    matrices: dict[int, Matrix] = field(default_factory=dict)
    places: dict[str, int | str] = field(default_factory=dict)  # a width, or why it has none
    without: Counter[str] = field(default_factory=Counter)  # how many have none, by why
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def nbytes(self) -> int:
        matrices = sum(matrix.nbytes for matrix in self.matrices.values())
        return matrices + len(self.places) * PLACE_BYTES

    def put(self, rows: Sequence[Row]) -> None:
        """Add rows that are not in it."""
        by_length: dict[int, list[Row]] = {}
        for row in rows:
            if row.blob and len(row.blob) % BLOB_DTYPE.itemsize == 0:
                by_length.setdefault(len(row.blob), []).append(row)
            else:
                self._put_without(row.id, "model" if row.other_model else "no_vector")
        for length, some in by_length.items():
            self._put_of_one_width(some, length // BLOB_DTYPE.itemsize)

    def drop(self, one: str) -> None:
        """Take out an id, if it is in it."""
        place = self.places.pop(one, None)
        if isinstance(place, int):
            self.matrices[place].drop(one)
        elif place is not None:
            self.without[place] -= 1

    def nearest(
        self, unit: Vector, limit: int, floor: float | None
    ) -> tuple[dict[str, float], Skipped]:
        """The best ids with their cosines, in order, and what was left out."""
        with self.lock:
            matrix = self.matrices.get(unit.size)
            found = matrix.nearest(unit, limit, floor) if matrix else {}
            widths = sum(len(m) for width, m in self.matrices.items() if width != unit.size)
            return found, Skipped(self.without["no_vector"], widths, self.without["model"])

    def _put_without(self, one: str, why: str) -> None:
        self.places[one] = why
        self.without[why] += 1

    def _put_of_one_width(self, rows: Sequence[Row], width: int) -> None:
        """Many at once: each blob by itself would cost more than the matrix."""
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
