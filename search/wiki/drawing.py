"""Where the pages of a graph stand in its picture: a layout by springs, the same every time."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

ROUNDS = 50
_GOLDEN = np.pi * (3 - np.sqrt(5))


def layout(count: int, edges: Sequence[tuple[int, int]]) -> NDArray[np.float64]:
    """Points (count, 2) from 0 to 1. The first page stays in the middle.

    Pages push each other away and links pull theirs together (Fruchterman and Reingold, 1991).
    They start on a spiral in their order, nearest first, so nothing is left to chance. Each round
    costs count squared.
    """
    if count == 0:
        return np.empty((0, 2))
    order = np.arange(count)
    angle, radius = order * _GOLDEN, np.sqrt(order / count)
    points = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    ends = np.array(edges, dtype=np.intp).reshape(-1, 2)
    ideal = 1.6 / np.sqrt(count)
    for at in range(ROUNDS):
        moves = _pushes(points, ideal) + _pulls(points, ends, ideal)
        length = np.maximum(np.hypot(moves[:, 0], moves[:, 1]), 1e-9)
        heat = 0.15 * (1 - at / ROUNDS)
        points += moves / length[:, None] * np.minimum(length, heat)[:, None]
        points -= points[0]
    return _fitted(points)


def _pushes(points: NDArray[np.float64], ideal: float) -> NDArray[np.float64]:
    # Two products instead of every difference: (p - q) summed over q, each divided by distance².
    squares = np.einsum("ij,ij->i", points, points)
    distances = squares[:, None] + squares[None, :] - 2 * points @ points.T
    weights = ideal**2 / np.maximum(distances, 1e-4)
    np.fill_diagonal(weights, 0.0)
    pushes: NDArray[np.float64] = weights.sum(axis=1)[:, None] * points - weights @ points
    # What stands alone is drawn to the middle a little, or it would drift away.
    return pushes - 1.5 * points


def _pulls(
    points: NDArray[np.float64], ends: NDArray[np.intp], ideal: float
) -> NDArray[np.float64]:
    pulls = np.zeros_like(points)
    between = points[ends[:, 1]] - points[ends[:, 0]]
    force = between * (np.hypot(between[:, 0], between[:, 1]) / ideal)[:, None]
    np.add.at(pulls, ends[:, 0], force)
    np.add.at(pulls, ends[:, 1], -force)
    return pulls


def _fitted(points: NDArray[np.float64]) -> NDArray[np.float64]:
    low, high = points.min(axis=0), points.max(axis=0)
    size = np.where(high > low, high - low, 1.0)
    fitted: NDArray[np.float64] = np.where(high > low, (points - low) / size, 0.5)
    return fitted
