"""The textbook, written out in loops: what the engine must agree with, sharing none of its code."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field


@dataclass
class Paper:
    """A document as the textbook sees it. `hidden` are words that do not add to its length."""

    id: str
    words: Sequence[str]
    hidden: Sequence[str] = ()
    created: float = 0.0
    vector: Sequence[float] | None = None
    attributes: Mapping[str, str] = field(default_factory=dict)


def bm25(
    papers: Iterable[Paper], query: Sequence[str], k1: float = 1.2, b: float = 0.75
) -> dict[str, float]:
    """The score of every paper that holds a word of the query, the sum over the query's words
    as they come, repeats and all."""
    papers = list(papers)
    n = len(papers)
    average = sum(len(paper.words) for paper in papers) / n if n else 0.0
    scores: dict[str, float] = {}
    for word in query:
        df = sum(1 for paper in papers if word in [*paper.words, *paper.hidden])
        for paper in papers:
            tf = [*paper.words, *paper.hidden].count(word)
            if tf == 0:
                continue
            idf = math.log((n - df + 0.5) / (df + 0.5) + 1)
            relative = len(paper.words) / average if average else 0.0
            share = tf * (k1 + 1) / (tf + k1 * (1 - b + b * relative))
            scores[paper.id] = scores.get(paper.id, 0.0) + idf * share
    return scores


def cosine(a: Sequence[float], b: Sequence[float]) -> float:
    dot = sum(x * y for x, y in zip(a, b, strict=True))
    return dot / math.sqrt(sum(x * x for x in a)) / math.sqrt(sum(y * y for y in b))


def similarities(papers: Iterable[Paper], query: Sequence[float]) -> dict[str, float]:
    return {
        paper.id: max(0.0, cosine(paper.vector, query))
        for paper in papers
        if paper.vector is not None
    }


def normalised(scores: Mapping[str, float]) -> dict[str, float]:
    best = max(scores.values(), default=0.0)
    return {} if best < 1e-10 else {one: score / best for one, score in scores.items()}


def ranking(papers: Iterable[Paper], scores: Mapping[str, float]) -> list[str]:
    """Best first, ties newest first and then by id."""
    created = {paper.id: paper.created for paper in papers}
    return sorted(scores, key=lambda one: (-scores[one], -created[one], one))


def candidates(
    papers: Iterable[Paper], scores: Mapping[str, float], limit: int
) -> dict[str, float]:
    return {one: scores[one] for one in ranking(papers, scores)[: limit * 4]}


def linear(
    vector: Mapping[str, float], text: Mapping[str, float], weights: tuple[float, float]
) -> dict[str, float]:
    if not vector:
        return dict(text)
    total = sum(weights)
    return {
        one: (weights[0] * vector.get(one, 0.0) + weights[1] * text.get(one, 0.0)) / total
        for one in {*vector, *text}
    }


def reciprocal(
    vector: Sequence[str], text: Sequence[str], weights: tuple[float, float]
) -> dict[str, float]:
    """From two rankings."""
    sums: dict[str, float] = {}
    for ranked, weight in ((vector, weights[0]), (text, weights[1])):
        for rank, one in enumerate(ranked, start=1):
            sums[one] = sums.get(one, 0.0) + weight / (60 + rank)
    best = max(sums.values())
    return {one: value / best for one, value in sums.items()}
