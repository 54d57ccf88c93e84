"""How good a ranking is by judgements, and how sure one can be of it: pure functions.

Recall and nDCG as trec_eval has them (`recall`, `ndcg_cut`): the gain of a document is its
judgement, the discount log2(1 + rank), after Järvelin and Kekäläinen, "Cumulated Gain-Based
Evaluation of IR Techniques" (2002). Intervals by the percentile bootstrap over queries, after Efron
and Tibshirani, "An Introduction to the Bootstrap" (1993).
"""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from search.engine import FloatArray

RESAMPLES = 2000
SEED = 20_090_719  # Any number: the same values always give the same interval.
CONFIDENCE = 0.95

Judgements = Mapping[str, float]  # Of one query: document -> grade; 0 and below is not relevant.


class Interval(NamedTuple):
    """A mean over queries, and between which values it lies with 95 % confidence."""

    mean: float
    low: float
    high: float


def recall(ranked: Sequence[str], judged: Judgements, k: int) -> float:
    """The share of the relevant documents that are among the first `k`."""
    relevant = {one for one, grade in judged.items() if grade > 0}
    return len(relevant.intersection(ranked[:k])) / len(relevant) if relevant else 0.0


def ndcg(ranked: Sequence[str], judged: Judgements, k: int) -> float:
    """Discounted gain of the first `k`, over that of the best order there can be."""
    ideal = _discounted(sorted(judged.values(), reverse=True)[:k])
    return _discounted([judged.get(one, 0) for one in ranked[:k]]) / ideal if ideal else 0.0


def reciprocal_rank(ranked: Sequence[str], judged: Judgements, k: int | None = None) -> float:
    """1 over the rank of the first relevant document of the first `k`, None for all; else 0."""
    ranks = (rank for rank, one in enumerate(ranked[:k], start=1) if judged.get(one, 0) > 0)
    return 1.0 / next(ranks, math.inf)


def bootstrap(values: npt.ArrayLike) -> list[Interval]:
    """The interval of each column's mean; `values` has a row for each query.

    All columns are drawn together, so a column of differences is compared query by query.
    """
    matrix: FloatArray = np.asarray(values, np.float64)
    random = np.random.default_rng(SEED)
    count = len(matrix)
    means = np.empty((RESAMPLES, matrix.shape[1]))
    for number in range(RESAMPLES):
        # How often each query is drawn says as much as the draws, and sums as one product.
        drawn = np.bincount(random.integers(0, count, count), minlength=count)
        means[number] = drawn @ matrix / count
    outside = (1 - CONFIDENCE) / 2
    low, high = np.quantile(means, [outside, 1 - outside], axis=0)
    rows = zip(matrix.mean(axis=0), low, high, strict=True)
    return [Interval(float(mean), float(a), float(b)) for mean, a, b in rows]


def _discounted(grades: Sequence[float]) -> float:
    ranked = enumerate(grades, start=1)
    return sum(grade / math.log2(1 + rank) for rank, grade in ranked if grade > 0)
