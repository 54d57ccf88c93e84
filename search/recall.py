"""Recall: the memories of one context, or the symbols of one collection of code, for a query.

By exact cosine where there is a vector, sent or made by the configured provider; by words where
there is none. A row that cannot be compared with the query (another width, another model, no
vector, a damaged blob) is left out and counted, and hides no other.
"""

from dataclasses import dataclass, field
from typing import Any, Literal

from episodes import code_vectors, session_queries
from episodes.models import CodeVector, Memory
from episodes.vectors import received, refusal_error
from memoryweb.core import active_model
from memoryweb.core.errors import Invalid
from memoryweb.core.vectors import Vector, VectorRefused
from search import services
from search.embedding import configured
from search.embedding.querying import query_vector, vector_for
from search.matrices import Skipped
from search.schemas import FiltersIn, SearchIn, WeightsIn
from search.warm import Key, warm

Method = Literal["semantic", "keyword"]
# Why words were compared and no vectors.
NO_VECTOR = services.VECTOR_REASONS | {"no_query_vector"}


@dataclass(frozen=True)
class Recalled:
    """Memories with their scores, best first: cosines, or BM25 with the best scoring 1.

    `model` is the one whose vectors were compared, with a query of that `width`. `reasons` tell
    why words were compared and no vectors, and what else made the answer less than it could be.
    """

    memories: list[tuple[Memory, float]]
    method: Method = "semantic"
    skipped: Skipped = field(default_factory=Skipped)
    model: str | None = None
    width: int = 0
    reasons: tuple[str, ...] = ()
    lag: int = 0


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
    found = session_queries.scored(context_id, scores)
    return Recalled(found, "semantic", skipped, model, query.size)


def by_text(
    context_id: str,
    text: str,
    *,
    limit: int = 5,
    embedding_model: str | None = None,
    min_score: float | None = None,
) -> Recalled:
    """The memories of a context for a typed text: by the vector that the configured provider
    makes of it, or by its words and why. Raises NotFound for an unknown context."""
    session_queries.require_context(context_id)
    vector, reasons = _vector_of(text, embedding_model)
    if vector is not None:
        found = recall(context_id, vector, limit=limit, min_score=min_score)
        # What lies under the floor was compared, too.
        if found.memories or recall(context_id, vector, limit=1).memories:
            return found
        reasons = ("no_vectors",)
    return by_words(context_id, text, limit=limit, min_score=min_score, reasons=reasons)


def by_words(
    context_id: str,
    text: str,
    *,
    limit: int = 5,
    min_score: float | None = None,
    reasons: tuple[str, ...] = (),
) -> Recalled:
    """The memories of a context by BM25; `reasons` say why so. Raises NotFound."""
    session_queries.require_context(context_id)
    request = SearchIn(
        query=text,
        collections=["memories"],
        filters=FiltersIn(context_id=context_id),
        limit=limit,
        min_score=None if min_score is None else max(0.0, min_score),
        weights=WeightsIn(vector=0.0, bm25=1.0),
        fusion="linear",
        recency_half_life_days=0.0,
    )
    found = services.search(request)
    scores = {result.hit.id: result.hit.score for result in found.results}
    limits = tuple(one for one in found.reasons if one not in NO_VECTOR)
    return Recalled(
        session_queries.scored(context_id, scores),
        "keyword",
        reasons=reasons + limits,
        lag=found.lag,
    )


def _vector_of(text: str, model: str | None) -> tuple[Vector | None, tuple[str, ...]]:
    """The text's vector by the active model, which is the one a search compares; or why not."""
    active, on_page = active_model.active(), configured.named_on_page()
    if model is not None and (active is None or model != active.model):
        return None, ("unknown_model",)
    vector, reasons = query_vector(text, active, on_page)
    return vector, reasons if vector is not None or reasons else ("no_query_vector",)


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
