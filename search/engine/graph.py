"""The HNSW graph, a published one never changed; without hnswlib there simply is none.

M 16 and ef_construction 200 as octos-memory has them; its max_layer 16 has no counterpart in
hnswlib, which derives the number of layers from M and the size.
"""

import os
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
import numpy.typing as npt

from memoryweb.core.vectors import Vector
from search.engine.growing import IntArray

M = 16
EF_CONSTRUCTION = 200
EF_SEARCH = 200


def available() -> bool:
    return find_spec("hnswlib") is not None


class Graph:
    """Approximate nearest neighbours over a fixed set of unit vectors, by their position in it."""

    def __init__(self, vectors: npt.NDArray[np.float32]) -> None:
        self.size = len(vectors)
        self.dimension = int(vectors.shape[1])
        self._graph: Any = import_module("hnswlib").Index(space="ip", dim=self.dimension)
        self._graph.init_index(self.size, M=M, ef_construction=EF_CONSTRUCTION)
        # One core is left to those who search meanwhile.
        threads = max(1, (os.cpu_count() or 1) - 1)
        self._graph.add_items(vectors, np.arange(self.size), num_threads=threads)
        self._graph.set_ef(EF_SEARCH)

    def nearest(self, unit: Vector, count: int) -> IntArray | None:
        """The positions of about the `count` nearest, or None when the graph cannot give so many.

        hnswlib crashes the process on a query of the wrong width, so that is checked here.
        """
        if unit.shape != (self.dimension,):
            raise ValueError(f"a query of width {unit.shape} for a graph of {self.dimension}")
        try:
            labels, _ = self._graph.knn_query(unit, k=min(count, self.size), num_threads=1)
        except RuntimeError:  # Parts of the graph can be out of reach of the entry point.
            return None
        return np.asarray(labels[0], np.int64)
