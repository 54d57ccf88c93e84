"""Two legs to one score: linear, reciprocal rank, and weights by the kind of query.

Pure functions over arrays with one place per candidate; NaN is a leg that has no score for it.
"""

import re
from typing import NamedTuple

import numpy as np

from search.engine.growing import FloatArray
from search.engine.model import Fusion, QueryKind, Weights

# Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion" (2009).
RRF_K = 60
# A question leans on vectors no further than the default does: with more than 0.7, fewer of the
# right documents came back on each set that was tried (`manage.py evaluate`).
AUTO_WEIGHTS: dict[QueryKind, Weights] = {
    "identifier": Weights(vector=0.2, bm25=0.8),
    "question": Weights(vector=0.7, bm25=0.3),
}


class Parts(NamedTuple):
    """What each leg gives to each candidate's combined score."""

    vector: FloatArray
    bm25: FloatArray


def linear(vector: FloatArray, bm25: FloatArray, shares: Weights) -> Parts:
    """weight * score, a missing leg counting 0."""
    return Parts(
        shares.vector * np.nan_to_num(vector, nan=0.0), shares.bm25 * np.nan_to_num(bm25, nan=0.0)
    )


def reciprocal(rank_vector: FloatArray, rank_bm25: FloatArray, shares: Weights) -> Parts:
    """weight / (60 + rank), a missing leg counting 0, over the best candidate's sum."""
    vector = np.nan_to_num(shares.vector / (RRF_K + rank_vector), nan=0.0)
    bm25 = np.nan_to_num(shares.bm25 / (RRF_K + rank_bm25), nan=0.0)
    best = (vector + bm25).max(initial=0.0)
    return Parts(vector / best, bm25 / best) if best > 0 else Parts(vector, bm25)


def weights_for(text: str, fusion: Fusion, given: Weights) -> tuple[Weights, QueryKind | None]:
    """The shares to use, and for `auto` the kind of query they were chosen by.

    `auto` keeps the given weights for a query that is neither kind.
    """
    if fusion != "auto":
        return given.shares(), None
    kind = kind_of(text)
    return AUTO_WEIGHTS.get(kind, given).shares(), kind


_QUOTED = re.compile(r"\"[^\"]+\"|`[^`]+`|“[^”]+”|「[^」]+」|『[^』]+』|«[^»]+»|《[^》]+》")
# What people write in code and commands rather than in sentences.
_IDENTIFIER = re.compile(
    r"""
      \w_\w | \b__\w                             # snake_case, dunder
    | [a-z0-9][A-Z][a-z]                         # camelCase
    | \w(?:::|->)\w | \w\(\)                     # scope, call
    | (?:^|\s)--?[a-zA-Z]                        # --flag
    | (?:^|\s)[~.]{0,2}/\w | \w[/\\]\w+[/\\.]\w  # path
    | [A-Za-z]\w+\.[A-Za-z]\w+                   # dotted name, file name
    | \b(?=[a-fA-F]*\d)(?=\d*[a-fA-F])[0-9a-fA-F]{7,40}\b  # commit hash
    | \b[A-Z]+-\d+\b | \b[A-Z]+\d{2,}\b | \bv?\d+\.\d+ | \#\d  # error code, version, issue
    """,
    re.VERBOSE | re.ASCII,
)
_QUESTION = re.compile(
    r"[?？؟]\s*$"
    r"|^\s*(?:how|what|why|when|where|who|whom|whose|which|can|could|does|do|did|is|are|was|were"
    r"|should|would|will|has|have)\b"
    r"|怎么|怎样|如何|为什么|为何|什么|哪里|哪个|哪些|谁|是否|吗\s*$",
    re.IGNORECASE,
)


def kind_of(text: str) -> QueryKind:
    """Quoted or identifier-like text first, then a question in natural language."""
    if _QUOTED.search(text) or _IDENTIFIER.search(text):
        return "identifier"
    return "question" if _QUESTION.search(text) else "ordinary"
