"""The thread-safe face of one collection."""

import math
import threading
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Any, Literal

from memoryweb.core.analysis import Analyzer
from memoryweb.core.vectors import Vector, VectorRefused, unit_vector
from search.engine import bm25, graph
from search.engine.collection import Analysed, Collection
from search.engine.model import Document, QueryError, Statistics, VectorRefusal
from search.engine.vectors import EXACT_THRESHOLD, Vectors

CAPACITY = 10_000
# So many documents become visible together while a long batch is put.
CHUNK = 512
# Rows and vectors that were dropped are cleared away above this number and share.
COMPACT_AT_LEAST = 1024
COMPACT_SHARE = 0.25


class Index:
    """Documents of one collection, findable by text and by vector.

    Writers wait for each other and change a successor of the collection, which then takes its
    place: a search goes by one reference, waits for nobody, and sees every document wholly before
    or wholly after a change. The first vector that is accepted fixes the width when `dimension`
    is None. `auto_graph` builds the HNSW graph inside the `put` that makes it due, while searches
    go on; without it, `build_graph` does.
    """

    def __init__(
        self,
        analyzer: Analyzer,
        k1: float = bm25.K1,
        b: float = bm25.B,
        dimension: int | None = None,
        exact_threshold: int = EXACT_THRESHOLD,
        capacity: int = CAPACITY,
        auto_graph: bool = True,
    ) -> None:
        _check(k1, b)
        self.analyzer = analyzer
        self.capacity = capacity
        self.auto_graph = auto_graph
        self.dimension = dimension
        self._collection = Collection(k1, b, Vectors(dimension, exact_threshold))
        self._writing = threading.RLock()
        self._building = threading.Lock()

    def __len__(self) -> int:
        return len(self._collection)

    def __contains__(self, document_id: str) -> bool:
        return self._collection.row_of(document_id) is not None

    @property
    def ids(self) -> list[str]:
        return self._collection.ids

    @property
    def collection(self) -> Collection:
        """The collection as it stands. It is never changed, only replaced: hold on to one."""
        return self._collection

    def vector(self, document_id: str) -> Vector | None:
        """The unit vector of a document, None when it has none or is not here."""
        collection = self._collection
        row = collection.row_of(document_id)
        return None if row is None else collection.vectors.of(row)

    def put(self, documents: Iterable[Document]) -> list[VectorRefusal]:
        """Add documents, or replace those with the same ids; the last of one id wins.

        A document whose vector is refused is put without it and named in the answer. Where nothing
        but the vector is another, the text is neither analysed nor stored again.
        """
        refusals: list[VectorRefusal] = []
        remaining = iter(documents)
        with self._writing:
            while chunk := list(islice(remaining, CHUNK)):
                with self._changing() as successor:
                    for document in chunk:
                        self._put(successor, document, refusals)
            self._tidy()
        return refusals

    def remove(self, document_ids: Iterable[str]) -> int:
        """Take documents out of every count at once; how many there were."""
        with self._writing:
            with self._changing() as successor:
                removed = sum(successor.drop(one) for one in list(document_ids))
            self._tidy()
        return removed

    def tune(self, *, k1: float, b: float, exact_threshold: int, capacity: int) -> None:
        """Go by other settings from the next search on; none of these needs anything built again.

        A lower threshold can make a graph due: `build_graph` builds it.
        """
        _check(k1, b)
        self.capacity = capacity
        with self._writing, self._changing() as successor:
            successor.k1, successor.b = k1, b
            successor.vectors.exact_threshold = exact_threshold

    def compact(self) -> None:
        """Clear away what was dropped, in a copy that then takes the place of the original."""
        with self._writing:
            self._collection = self._collection.compacted()

    def build_graph(self) -> None:
        """Build the HNSW graph anew, aside, and publish it; nothing when there is no cause.

        Called outside of `put`, neither searches nor writes wait for it.
        """
        if not self._building.acquire(blocking=False):
            return
        try:
            vectors = self._collection.vectors
            if not vectors.wants_graph():
                return
            source = vectors.for_graph()
            built = graph.Graph(source.matrix)
            with self._writing:
                # A compaction meanwhile has renamed the slots: the next call builds again.
                if self._collection.vectors.numbering is vectors.numbering:
                    with self._changing() as successor:
                        successor.vectors.publish(built, source)
        finally:
            self._building.release()

    @property
    def statistics(self) -> Statistics:
        collection = self._collection
        vectors, postings = collection.vectors, collection.postings
        used = vectors.usable_graph is not None
        return Statistics(
            total=len(collection),
            vectorized=vectors.live,
            deletions=collection.dropped + vectors.dropped,
            terms=postings.vocabulary_size,
            average_length=postings.average_length,
            dimension=vectors.dimension,
            mode="hnsw" if used else "exact",
            hnsw_available=graph.available(),
            graph=vectors.live_in_graph,
            unindexed=vectors.live - vectors.live_in_graph,
            capacity=self.capacity,
            warning=_capacity_warning(vectors.live, self.capacity),
            nbytes=collection.nbytes,
        )

    def recall_at_10(self, sample: int = 100) -> float | None:
        """The share of the true ten nearest that a search finds, over a sample of own vectors.

        1.0 while searches are exact, None without vectors.
        """
        vectors = self._collection.vectors
        if not vectors.live:
            return None
        if vectors.usable_graph is None:
            return 1.0
        shares = [vectors.recall(query, 10) for query in vectors.sample(sample)]
        return sum(shares) / len(shares)

    @contextmanager
    def _changing(self) -> Iterator[Collection]:
        """A successor of the collection, which takes its place when the block ends well."""
        successor = self._collection.successor()
        yield successor
        self._collection = successor

    def _put(
        self, successor: Collection, document: Document, refusals: list[VectorRefusal]
    ) -> None:
        unit = None
        if document.vector is not None:
            try:
                unit = self._unit(document.vector)
            except VectorRefused as refusal:
                refusals.append(VectorRefusal(document.id, refusal.reason))
        fingerprint = _fingerprint(document)
        if successor.holds(document.id, fingerprint):
            successor.set_vector(document.id, unit)
            return
        tokens, stopped = self.analyzer.analyse(document.text)
        counts = Counter(tokens)
        counts.update(stopped)
        successor.put(
            Analysed(
                document.id,
                document.created_at,
                document.attributes,
                counts,
                len(tokens),
                unit,
                fingerprint,
            )
        )

    def _unit(self, values: Any) -> Vector:
        unit = unit_vector(values, self.dimension)
        self.dimension = len(unit)
        return unit

    def _tidy(self) -> None:
        collection = self._collection
        dropped = max(collection.dropped, collection.vectors.dropped)
        if dropped > max(COMPACT_AT_LEAST, COMPACT_SHARE * len(collection)):
            self.compact()
        if self._collection.postings.wants_consolidation:
            with self._changing() as successor:
                successor.postings.consolidate()
        if self.auto_graph:
            self.build_graph()


def _fingerprint(document: Document) -> int:
    """64 bits that stand for the text, the time and the attributes, in this process alone."""
    return hash((document.text, document.created_at, frozenset(document.attributes.items())))


def _check(k1: float, b: float) -> None:
    if not (math.isfinite(k1) and k1 >= 0):
        raise QueryError("k1", "must be a finite number, 0 or more")
    if not 0 <= b <= 1:
        raise QueryError("b", "must be 0 to 1")


def _capacity_warning(used: int, capacity: int) -> Literal[80, 100] | None:
    if used >= capacity:
        return 100
    return 80 if used >= 0.8 * capacity else None
