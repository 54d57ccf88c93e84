"""The search engine: documents in, ranked and explained hits out. Pure; knows no Django.

    index = Index(analyzer("cjk"))
    index.put([Document("a1", "Fixed the parser", created_at=0.0)])
    answer = search({"episodes": index}, Query(text="parser", now=60.0))

BM25 and cosine, fused; exact counts after every change; one consistent state for each search.
"""

from memoryweb.core.vectors import VectorRefused, decode_blob
from search.engine.index import Index
from search.engine.model import (
    Answer,
    Document,
    Explanation,
    Filters,
    Hit,
    Query,
    QueryError,
    Statistics,
    TermShare,
    VectorRefusal,
    Weights,
)
from search.engine.scanning import scan
from search.engine.searching import search

__all__ = [
    "Answer",
    "Document",
    "Explanation",
    "Filters",
    "Hit",
    "Index",
    "Query",
    "QueryError",
    "Statistics",
    "TermShare",
    "VectorRefusal",
    "VectorRefused",
    "Weights",
    "decode_blob",
    "scan",
    "search",
]
