"""Does the right memory come back: the product's own search, asked what a retrieval set asks.

Every way of ranking is asked every query, so any two can be compared query by query. Vectors are
compared exactly, whatever the size: how much a graph loses is on the coverage page.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from memoryweb.core.analysis import DEFAULT, analyzer
from memoryweb.core.chunks import chunks
from memoryweb.core.vectors import Vector
from memoryweb.evaluating.sets import RetrievalSet, Text
from memoryweb.evaluating.vectors import KeptVectors
from search.engine import Document, Filters, Fusion, Index, Query, Weights, search
from search.measures import Interval, bootstrap, ndcg, recall, reciprocal_rank

MEASURES = ("recall", "ndcg", "mrr")
DEPTH = 10  # of nDCG, and the least that a search is asked for
BATCH = 64  # texts that a provider is asked for at once
WEIGHTS = tuple(Weights(tenths / 10, (10 - tenths) / 10) for tenths in (9, 7, 5, 3, 1))
BM25, VECTOR, BOTH = Weights(0.0, 1.0), Weights(1.0, 0.0), Weights()
NEVER = 2**62  # vectors, above which a graph would be built


@dataclass(frozen=True, slots=True)
class Way:
    """One way of ranking. A weight of 0 leaves its leg out altogether."""

    analyzer: str = DEFAULT
    fusion: Fusion = "linear"
    weights: Weights = BOTH

    @property
    def label(self) -> str:
        if not self.weights.vector:
            return "bm25"
        if not self.weights.bm25:
            return "vector"
        shares = self.weights.shares()
        given = f"{self.fusion} {shares.vector:.2f}/{shares.bm25:.2f}"
        return "auto" if self.fusion == "auto" and self.weights == BOTH else given


class Settings(NamedTuple):
    """What is the same for all ways: the depth of recall and MRR, and BM25's parameters."""

    k: int = 10
    k1: float = 1.2
    b: float = 0.75


@dataclass(frozen=True, slots=True)
class Row:
    """What one way reached: an interval for each of MEASURES, and one for what it has more than
    the baseline, query by query."""

    way: Way
    reached: dict[str, Interval]
    difference: dict[str, Interval]


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The ways on one set, and the one that the others are compared with."""

    name: str
    documents: int
    queries: int
    model: str | None
    baseline: Way
    rows: tuple[Row, ...]
    problems: tuple[str, ...]
    left_out: int


def ways(
    analyzers: Sequence[str],
    fusions: Sequence[Fusion],
    weights: Sequence[Weights] | None,
    *,
    with_vectors: bool,
) -> list[Way]:
    """Both legs alone and every fusion of them, for each analyzer; of weights that are not given
    a row for `linear`, and the defaults for the others."""
    texts = [Way(name, weights=BM25) for name in analyzers]
    if not with_vectors:
        return texts
    fused = [
        Way(name, fusion, one)
        for name in analyzers
        for fusion in fusions
        for one in weights or (WEIGHTS if fusion == "linear" else (BOTH,))
    ]
    alone = Way(analyzers[0], weights=VECTOR)
    return list(dict.fromkeys([*texts, alone, *fused]))


def evaluate(
    asked: RetrievalSet,
    compared: Sequence[Way],
    settings: Settings,
    vectors: KeptVectors | None = None,
    told: Callable[[int], None] = lambda texts: None,
) -> Evaluation:
    """Rank by every way. `told` hears how many texts were read. Raises ProviderError.

    Memory holds one index at a time, without the texts, and three numbers a query and way.
    """
    reached = np.zeros((len(asked.queries), len(compared), len(MEASURES)))
    for name in dict.fromkeys(way.analyzer for way in compared):
        own = [number for number, way in enumerate(compared) if way.analyzer == name]
        index = _index(asked, name, settings, vectors, told)
        for at, (query, vector) in enumerate(_with_vectors(asked.queries, vectors, told)):
            for number in own:
                ranked = _ranked(index, compared[number], settings, query, vector)
                reached[at, number] = _measured(ranked, asked.judged[query.id], settings.k)
    baseline = _baseline(compared)
    refused = Counter(vectors.refused.values()) if vectors else {}
    return Evaluation(
        name=asked.name,
        documents=asked.size,
        queries=len(asked.queries),
        model=vectors.model if vectors else None,
        baseline=compared[baseline],
        rows=_rows(compared, reached, baseline),
        problems=(*asked.problems.told, *map(_refusal, refused.items())),
        left_out=asked.problems.count,
    )


def _refusal(reason: tuple[str, int]) -> str:
    why, count = reason
    return f"{count} texts have no vector: {why}"


def _index(
    asked: RetrievalSet,
    name: str,
    settings: Settings,
    vectors: KeptVectors | None,
    told: Callable[[int], None],
) -> Index:
    index = Index(analyzer(name), settings.k1, settings.b, exact_threshold=NEVER)
    index.put(
        Document(one.id, one.text, one.created_at, {"context_id": one.scope}, vector)
        for one, vector in _with_vectors(asked.documents(), vectors, told)
    )
    return index


def _with_vectors(
    texts: Iterable[Text], vectors: KeptVectors | None, told: Callable[[int], None]
) -> Iterator[tuple[Text, Vector | None]]:
    for batch in chunks(texts, BATCH):
        made = vectors.of([one.text for one in batch]) if vectors else [None] * len(batch)
        yield from zip(batch, made, strict=True)
        told(len(batch))


def _ranked(
    index: Index, way: Way, settings: Settings, query: Text, vector: Vector | None
) -> list[str]:
    """The ids that a search answers, best first."""
    shares = way.weights
    answer = search(
        {"documents": index},
        Query(
            text=query.text if shares.bm25 else "",
            vector=vector if shares.vector else None,
            now=0.0,
            limit=max(settings.k, DEPTH),
            weights=shares,
            fusion=way.fusion,
            filters=Filters(context_id=query.scope or None),
        ),
    )
    return [hit.id for hit in answer.hits]


def _measured(ranked: Sequence[str], judged: dict[str, int], k: int) -> tuple[float, ...]:
    """In the order of MEASURES."""
    return (
        recall(ranked, judged, k),
        ndcg(ranked, judged, DEPTH),
        reciprocal_rank(ranked, judged, max(k, DEPTH)),
    )


def _baseline(compared: Sequence[Way]) -> int:
    """What the product does by default where that is compared, else the first."""
    return compared.index(Way()) if Way() in compared else 0


def _rows(
    compared: Sequence[Way], reached: npt.NDArray[np.float64], baseline: int
) -> tuple[Row, ...]:
    more = reached - reached[:, baseline : baseline + 1]
    shape = (len(compared), len(MEASURES))
    columns = np.concatenate([reached, more], axis=1).reshape(len(reached), -1)
    intervals = bootstrap(columns)
    half, width = shape[0] * shape[1], shape[1]

    def of(start: int) -> dict[str, Interval]:
        return dict(zip(MEASURES, intervals[start : start + width], strict=True))

    return tuple(Row(way, of(n * width), of(half + n * width)) for n, way in enumerate(compared))
