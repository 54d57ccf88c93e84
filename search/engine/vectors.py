"""The vectors of one collection: exact below a threshold, by graph and exactly beside it above.

A vector lies in a slot; slots are only ever appended, and dropping a vector masks its slot. A
graph covers the slots up to a border; what was added later is compared exactly, and what was
dropped since is fetched in excess and left out.
"""

from copy import copy
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from memoryweb.core.vectors import Vector
from search.engine import graph as graphs
from search.engine.graph import Graph
from search.engine.growing import BoolArray, FloatArray, Growing, IntArray
from search.engine.ranking import shortlist

EXACT_THRESHOLD = 10_000
# Above these shares of a graph's size, vectors beside it or dropped from it call for a new one.
FRESH_SHARE = 0.2
DROPPED_SHARE = 0.25
FRESH_AT_LEAST = 256
# How far a float32 matrix product over unit vectors can lie beside the exact cosine.
MARGIN = 4e-6
NO_SLOT = -1
_BLOCK = 1024


class Pool(NamedTuple):
    """How many candidates a leg is to give: the `size` best, and all that reach the floor.

    With `boost` (a factor for every row) the best are those by boosted score.
    """

    size: int
    floor: float | None = None
    boost: FloatArray | None = None


class Neighbours(NamedTuple):
    """Rows and their cosines with the query, in no particular order."""

    rows: IntArray
    cosines: FloatArray


class ForGraph(NamedTuple):
    """Vectors to build a graph of, their slots, and the slot at which later ones begin."""

    matrix: npt.NDArray[np.float32]
    slots: IntArray
    border: int


NO_NEIGHBOURS = Neighbours(np.empty(0, np.int64), np.empty(0, np.float64))


class Vectors:
    """Unit vectors by row, of one width. `numbering` is the same object for as long as slots keep
    their numbers."""

    def __init__(self, dimension: int | None, exact_threshold: int) -> None:
        self.dimension = dimension
        self.exact_threshold = exact_threshold
        self._matrix = Growing(np.float32, dimension or 0)
        self._rows = Growing(np.int64)
        self._alive = Growing(np.bool_)
        self._slots = Growing(np.int64)  # By row; rows past its end have no vector.
        self._slots_are_own = True  # Or shared with those who read, and appended to alone.
        self.numbering = object()
        self.live = 0
        self._graph: Graph | None = None
        self._graph_slots: IntArray = np.empty(0, np.int64)
        self._border = 0

    def successor(self) -> "Vectors":
        """The same, to be changed; this one stays as it is."""
        fresh = copy(self)
        fresh._matrix = self._matrix.successor()
        fresh._rows = self._rows.successor()
        fresh._slots, fresh._slots_are_own = self._slots.successor(), False
        fresh._alive = self._alive.copied()
        return fresh

    @property
    def usable_graph(self) -> Graph | None:
        """The graph that searches go by now: enough vectors, and not too many of it dropped."""
        if self._graph is None or self.live <= self.exact_threshold:
            return None
        return None if self._is_worn(self._graph) else self._graph

    @property
    def live_in_graph(self) -> int:
        return int(np.count_nonzero(self._alive.view[: self._border]))

    @property
    def dropped(self) -> int:
        return len(self._alive) - self.live

    @property
    def nbytes(self) -> int:
        parts = (self._rows, self._alive, self._slots)
        return self._matrix.nbytes + sum(part.nbytes for part in parts)

    def add(self, row: int, unit: Vector) -> None:
        """Give a row beyond all with a vector its own; the first fixes the width if none is."""
        while len(self._slots) < row:
            self._slots.append(NO_SLOT)
        self._slots.append(self._taken(row, unit))

    def replace(self, row: int, unit: Vector | None) -> None:
        """Give a live row this vector, or none, in place of what it has."""
        self.drop(row)
        if row >= len(self._slots):
            if unit is not None:
                self.add(row, unit)
            return
        if not self._slots_are_own:
            self._slots, self._slots_are_own = self._slots.copied(), True
        self._slots.view[row] = NO_SLOT if unit is None else self._taken(row, unit)

    def _taken(self, row: int, unit: Vector) -> int:
        """The slot that the vector of a row now lies in."""
        if self.dimension is None:
            self.dimension = len(unit)
            self._matrix = Growing(np.float32, self.dimension)
        self._matrix.append(unit)
        self._rows.append(row)
        self._alive.append(True)
        self.live += 1
        return len(self._rows) - 1

    def drop(self, row: int) -> None:
        """Take the vector of a live row, if it has one, out of every search."""
        slot = self._slot(row)
        if slot != NO_SLOT:
            self._alive.view[slot] = False
            self.live -= 1

    def of(self, row: int) -> Vector | None:
        """The unit vector of a live row, if it has one."""
        slot = self._slot(row)
        return None if slot == NO_SLOT else self._matrix.view[slot].copy()

    def cosines(self, rows: IntArray, unit: Vector) -> FloatArray:
        """The cosines of live rows' vectors with a query, NaN for rows without one and where the
        query has another width."""
        found = np.full(len(rows), np.nan)
        if self.dimension == len(unit):
            slots = np.array([self._slot(row) for row in rows.tolist()], np.int64)
            known = slots != NO_SLOT
            found[known] = self._cosines(unit, slots[known])
        return found

    def nearest(self, unit: Vector, pool: Pool, wanted: BoolArray | None = None) -> Neighbours:
        """The candidates for a query among the wanted rows (None: all).

        By the graph only where that asks for no more than the graph knows: whatever is filtered
        or boosted is compared exactly.
        """
        if not self.live:
            return NO_NEIGHBOURS
        slots = None
        if wanted is None and pool.boost is None and (graph := self.usable_graph):
            slots = self._by_graph(graph, unit, pool)
        if slots is None:
            slots = self._exactly(unit, pool, wanted)
        return Neighbours(self._rows.view[slots], self._cosines(unit, slots))

    def sample(self, count: int) -> list[Vector]:
        """About `count` of the live vectors, evenly spread."""
        slots = np.flatnonzero(self._alive.view)
        chosen = slots[:: max(1, len(slots) // count)][:count]
        return [self._matrix.view[slot].copy() for slot in chosen]

    def recall(self, unit: Vector, count: int) -> float:
        """The share of the true `count` nearest, or their equals, that `nearest` finds."""
        true = np.sort(self._cosines(unit, self._exactly(unit, Pool(count), None)))[-count:]
        found = np.sort(self.nearest(unit, Pool(count)).cosines)[-count:]
        return float(np.count_nonzero(found >= true[0]) / len(true))

    def wants_graph(self) -> bool:
        """Whether enough has changed for a graph to be built."""
        if self.live <= self.exact_threshold or not graphs.available():
            return False
        if self._graph is None:
            return True
        fresh = self.live - self.live_in_graph
        many = fresh > max(FRESH_AT_LEAST, FRESH_SHARE * self._graph.size)
        return many or self._is_worn(self._graph)

    def for_graph(self) -> ForGraph:
        """A copy of the live vectors, from which a graph can be built while these change."""
        slots = np.flatnonzero(self._alive.view)
        return ForGraph(self._matrix.view[slots], slots, len(self._rows))

    def publish(self, graph: Graph, source: ForGraph) -> None:
        """Search by `graph` from now on; what was put or dropped since `source` is made up for."""
        self._graph, self._graph_slots, self._border = graph, source.slots, source.border

    def compacted(self, alive_rows: BoolArray) -> "Vectors":
        """The live vectors of the live rows, renumbered; a graph stays good, its slots renamed."""
        fresh = Vectors(self.dimension, self.exact_threshold)
        alive, row_numbers = self._alive.view, np.cumsum(alive_rows) - 1
        slot_numbers = np.where(alive, np.cumsum(alive) - 1, NO_SLOT)
        slots = self._slots.view[alive_rows[: len(self._slots)]]
        fresh._matrix = Growing.of(self._matrix.view[alive])
        fresh._rows = Growing.of(row_numbers[self._rows.view[alive]])
        fresh._alive = Growing.of(np.ones(self.live, np.bool_))
        fresh._slots = Growing.of(_renamed(slots, slot_numbers))
        fresh.live = self.live
        fresh._graph = self._graph
        fresh._graph_slots = _renamed(self._graph_slots, slot_numbers)
        fresh._border = self.live_in_graph
        return fresh

    def _is_worn(self, graph: Graph) -> bool:
        return graph.size - self.live_in_graph > DROPPED_SHARE * graph.size

    def _slot(self, row: int) -> int:
        return int(self._slots.view[row]) if row < len(self._slots) else NO_SLOT

    def _exactly(self, unit: Vector, pool: Pool, wanted: BoolArray | None) -> IntArray:
        """The shortlist of slots by one matrix product over the wanted ones."""
        eligible = self._alive.view
        if wanted is not None:
            eligible = eligible & wanted[self._rows.view]
        slots = np.flatnonzero(eligible)
        if len(slots) * 2 < len(eligible):  # Copying the rows out is cheaper than comparing all.
            similarity = self._matrix.view[slots] @ unit
        else:
            similarity = (self._matrix.view @ unit)[slots]
        values = np.maximum(similarity, 0.0).astype(np.float64)
        order = values if pool.boost is None else values * pool.boost[self._rows.view[slots]]
        return slots[shortlist(values, order, pool.size, pool.floor, MARGIN)]

    def _by_graph(self, graph: Graph, unit: Vector, pool: Pool) -> IntArray | None:
        """The shortlist of slots by the graph and, for what it does not hold, exactly.

        None where the graph cannot promise enough: too few found, or all of them at the floor
        or above it, so that more may be.
        """
        live_share = self.live_in_graph / graph.size
        found = graph.nearest(unit, int(pool.size / live_share) + 16)
        if found is None:
            return None
        slots = self._graph_slots[found]
        slots = slots[(slots != NO_SLOT) & self._alive.view[slots]]
        if len(slots) < min(pool.size, self.live_in_graph):
            return None
        if pool.floor is not None and self._reaches(unit, slots[-1], pool.floor):
            return None
        fresh = np.flatnonzero(self._alive.view[self._border :]) + self._border
        both = np.concatenate([slots, fresh])
        values = np.maximum(self._matrix.view[both] @ unit, 0.0).astype(np.float64)
        return both[shortlist(values, values, pool.size, pool.floor, MARGIN)]

    def _reaches(self, unit: Vector, slot: int, floor: float) -> bool:
        return bool(self._cosines(unit, np.array([slot]))[0] >= floor - MARGIN)

    def _cosines(self, unit: Vector, slots: IntArray) -> FloatArray:
        """Cosines in float64, each summed in the same order: equal vectors get equal scores."""
        query = unit.astype(np.float64)
        norm = np.sqrt((query * query).sum())
        cosines = np.empty(len(slots))
        for start in range(0, len(slots), _BLOCK):
            block = self._matrix.view[slots[start : start + _BLOCK]].astype(np.float64)
            norms = np.sqrt((block * block).sum(axis=1)) * norm
            cosines[start : start + _BLOCK] = (block * query).sum(axis=1) / norms
        return np.clip(cosines, -1.0, 1.0)


def _renamed(slots: IntArray, numbers: IntArray) -> IntArray:
    """What each slot is called by `numbers`; no slot stays no slot."""
    renamed = np.full(len(slots), NO_SLOT, np.int64)
    known = slots != NO_SLOT
    renamed[known] = numbers[slots[known]]
    return renamed
