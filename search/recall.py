"""Recall by vector: exact cosine over the memories of one context, or the symbols of one
collection of code.

A row that cannot be compared with the query (another width, another model, no vector, a damaged
blob) is left out and counted, and hides no other.
"""

from dataclasses import dataclass
from typing import Any

from episodes import code_vectors, session_queries
from episodes.models import CodeVector, Memory
from episodes.vectors import received, refusal_error
from memoryweb.core.errors import Invalid
from memoryweb.core.vectors import Vector, VectorRefused
from search.embedding.querying import vector_for
from search.matrices import Skipped
from search.warm import Key, warm


@dataclass(frozen=True)
class Recalled:
    """Memories with their scores, best first. `model` is the one whose vectors were compared."""

    memories: list[tuple[Memory, float]]
    skipped: Skipped
    model: str | None


@dataclass(frozen=True)
class Symbols:
    """Code symbols with their scores, best first."""

    symbols: list[tuple[CodeVector, float]]
    skipped: Skipped
    model: str | None


def recall(
    context_id: str,
    query: Vector,
    *,
    limit: int = 5,
    embedding_model: str | None = None,
    min_score: float | None = None,
) -> Recalled:
    """The memories of a context nearest to a query by cosine, ties newest first.

    Compares with the vectors of `embedding_model`, by default the active one, made from the
    content as it is now. Raises NotFound for an unknown context.
    """
    key = Key("memories", context_id, embedding_model)
    scores, skipped, model = warm.nearest(key, query, limit, min_score)
    if not (scores or any(vars(skipped).values())):
        session_queries.require_context(context_id)
    return Recalled(session_queries.scored(context_id, scores), skipped, model)


def search_code(
    collection: str,
    query: Vector | None,
    *,
    text: str = "",
    limit: int = 10,
    embedding_model: str | None = None,
    min_score: float | None = None,
) -> Symbols:
    """The symbols of a collection nearest to a query by cosine.

    Compares with the vectors of `embedding_model`, by default the one that was stored last.
    Raises Unavailable for a text alone, which it takes a provider to make a vector of.
    """
    model = embedding_model or code_vectors.newest_model(collection)
    if query is None:
        if not text.strip():
            raise Invalid.field("query_embedding", "give a query_embedding, or a query_text")
        query = vector_for(text, model)
    key = Key("code", collection, model)
    scores, skipped, model = warm.nearest(key, query, limit, min_score)
    rows = CodeVector.objects.defer("vector").in_bulk([int(one) for one in scores])
    found = [(rows[int(one)], score) for one, score in scores.items() if int(one) in rows]
    return Symbols(found, skipped, model)


def given_vector(embedding: Any, embedding_b64: Any = None) -> Vector | None:
    """The query vector that was sent, None when none was. Raises Invalid with the reason."""
    try:
        return received(embedding, embedding_b64)
    except VectorRefused as refusal:
        raise refusal_error(refusal, "query_embedding") from refusal
