"""The search engine: documents in, ranked and explained hits out. Pure; knows no Django.

    index = Index(analyzer("cjk"))
    index.put([Document("a1", "Fixed the parser", created_at=0.0)])
    answer = search({"episodes": index}, Query(text="parser", now=60.0))

BM25 and cosine, fused; exact counts after every change; one consistent state for each search.
"""

from search.engine.fusion import RRF_K
from search.engine.growing import FloatArray
from search.engine.index import Index
from search.engine.model import (
    FUSIONS,
    MAX_LIMIT,
    Answer,
    Document,
    Explanation,
    Filters,
    Fusion,
    Hit,
    Mode,
    Query,
    QueryError,
    Stage,
    Trace,
    Weights,
)
from search.engine.ranking import best_first, shortlist
from search.engine.scanning import scan
from search.engine.searching import search
from search.engine.tracing import trace

__all__ = [
    "FUSIONS",
    "MAX_LIMIT",
    "RRF_K",
    "Answer",
    "Document",
    "Explanation",
    "Filters",
    "FloatArray",
    "Fusion",
    "Hit",
    "Index",
    "Mode",
    "Query",
    "QueryError",
    "Stage",
    "Trace",
    "Weights",
    "best_first",
    "scan",
    "search",
    "shortlist",
    "trace",
]
