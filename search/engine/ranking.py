"""Order and cut: best first, ties newest first and then by id, so that a list repeats itself."""

from collections.abc import Callable

import numpy as np

from search.engine.growing import FloatArray, IntArray


def best_first(
    scores: FloatArray, created: FloatArray, id_of: Callable[[int], tuple[str, ...]]
) -> IntArray:
    """The positions by falling score, then falling time, then rising `id_of(position)`."""
    order = np.lexsort((-created, -scores))
    scores, created = scores[order], created[order]
    same = (scores[1:] == scores[:-1]) & (created[1:] == created[:-1])
    if same.any():
        for start, end in _runs(same):
            order[start:end] = sorted(order[start:end].tolist(), key=id_of)
    return order


def _runs(same: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> list[tuple[int, int]]:
    """Spans of neighbours that are equal: same[i] says that i and i + 1 are."""
    edges = np.diff(np.concatenate([[False], same, [False]]).astype(np.int8))
    starts, ends = np.flatnonzero(edges == 1), np.flatnonzero(edges == -1)
    return [(int(start), int(end) + 1) for start, end in zip(starts, ends, strict=True)]


def shortlist(
    values: FloatArray, order: FloatArray, size: int, floor: float | None, margin: float = 0.0
) -> IntArray:
    """Every position that can be among the `size` best by `order`, ties at the border included.

    With a floor also every position whose value reaches it. `margin` is by how much values and
    order may be off.
    """
    if len(order) <= size:
        return np.arange(len(order))
    border = np.partition(order, len(order) - size)[len(order) - size]
    chosen = order >= border - margin
    if floor is not None:
        chosen |= values >= floor - margin
    return np.flatnonzero(chosen)
