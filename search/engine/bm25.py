"""BM25 as small pure functions.

The Okapi weighting of Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and
Beyond" (2009), with the idf that adds one inside the logarithm and so never falls below zero:

    score(q, d) = sum over query terms t of
        idf(t) * tf * (k1 + 1) / (tf + k1 * (1 - b + b * len(d) / average length))
"""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from search.engine.growing import FloatArray

K1 = 1.2
B = 0.75
# A best score below this counts as no match at all, so that nothing is divided by noise.
NOTHING = 1e-10


def idf(documents: int, document_frequency: int) -> float:
    """The weight of a term that `document_frequency` of `documents` live documents hold."""
    share = (documents - document_frequency + 0.5) / (document_frequency + 0.5)
    return math.log(share + 1.0)


def saturation(
    counts: npt.NDArray[Any], lengths: npt.NDArray[Any], average: float, k1: float, b: float
) -> FloatArray:
    """tf * (k1 + 1) / (tf + k1 * norm) for postings with these counts and document lengths.

    Where every document is empty of counted terms the average is 0 and so are all lengths.
    """
    relative = lengths / average if average > 0 else np.zeros(len(lengths))
    shares: FloatArray = counts * (k1 + 1.0) / (counts + k1 * (1.0 - b + b * relative))
    return shares
