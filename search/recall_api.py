"""Recall and context injection over HTTP, and searching code vectors.

These are routes of sessions and vectors; they lie here because recall is a matter of search.
"""

import time
from typing import Annotated, Any

from ninja import Router
from pydantic import AliasChoices, BaseModel, Field, FiniteFloat

from episodes.models import Memory
from episodes.schemas import Base64, Floats
from episodes.session_schemas import OptionalModel
from memoryweb.core.api_auth import ApiRequest, read
from memoryweb.core.errors import Invalid
from memoryweb.core.schemas import Strict
from memoryweb.core.times import Time
from memoryweb.core.vectors import Vector
from search import injection, recall
from search.schemas import QueryText

sessions_router = Router()
vectors_router = Router()

MOST_RECALLED = 20
MOST_SYMBOLS = 50
Cosine = Annotated[FiniteFloat, Field(ge=-1, le=1)]


Reasons = Annotated[
    list[str], Field(description="why words were compared and no vectors, as for a search")
]


class RecallIn(Strict):
    """By a vector made outside, or by `query`, a text."""

    query_embedding: Floats = None
    query_embedding_b64: Base64 = None
    query: QueryText = ""
    limit: Annotated[int, Field(ge=1, le=MOST_RECALLED)] = 5
    embedding_model: OptionalModel = None
    min_score: Cosine | None = None


class CodeSearchIn(Strict):
    query_embedding: Floats = None
    query_embedding_b64: Base64 = None
    query_text: Annotated[
        QueryText, Field(validation_alias=AliasChoices("query_text", "query"))
    ] = ""
    limit: Annotated[int, Field(ge=1, le=MOST_SYMBOLS)] = 10
    embedding_model: OptionalModel = None
    min_score: Cosine | None = None


class InjectionIn(Strict):
    query: QueryText = ""
    query_embedding: Floats = None
    query_embedding_b64: Base64 = None
    embedding_model: OptionalModel = None
    limit: Annotated[int, Field(ge=1, le=MOST_RECALLED)] = injection.MOST


class RecalledOut(BaseModel):
    id: str
    type: str
    content: str
    importance: float
    source: str
    created_at: Time
    score: float


class SkippedOut(BaseModel):
    no_vector: Annotated[int, Field(description="without a vector of its content as it is now")]
    dimension: Annotated[int, Field(description="whose vector has another width than the query")]
    model: Annotated[int, Field(description="with vectors of other models only")]


class RecallOut(BaseModel):
    memories: list[RecalledOut]
    skipped: SkippedOut
    method: recall.Method
    model: str | None
    reasons: Reasons
    took_ms: float


class SymbolOut(BaseModel):
    name: str
    file_path: str
    line_start: int | None
    similarity_score: float


class SymbolsOut(BaseModel):
    symbols: list[SymbolOut]
    skipped: SkippedOut
    model: str | None
    took_ms: float


class InjectionOut(BaseModel):
    environment: Annotated[
        dict[str, str], Field(description="DEVBASE_CONTEXT_MEMORIES and the two beside it")
    ]
    memories: list[dict[str, Any]]
    method: recall.Method
    reasons: Reasons
    skipped_by_guard: int
    shortened: int
    left_out: int


@sessions_router.post("/{session:context_id}/recall", response=RecallOut, auth=read)
def recall_memories(request: ApiRequest, context_id: str, body: RecallIn) -> RecallOut:
    """The memories of a context nearest to a vector (devkit_session_recall), ties newest first.

    `skipped` counts what could not be compared. With `query` and no vector, by the vector that the
    configured provider makes of it, else by BM25; `method` tells which, and `reasons` why.
    """
    started = time.perf_counter()
    vector, query = _vector(body), body.query
    if vector is None and not query.strip():
        raise Invalid.field("query_embedding", "give the vector of what to recall")
    wanted = body.model_dump(include={"limit", "embedding_model", "min_score"})
    found = (
        recall.by_text(context_id, query, **wanted)
        if vector is None
        else recall.recall(context_id, vector, **wanted)
    )
    return RecallOut(
        memories=[_recalled(memory, score) for memory, score in found.memories],
        skipped=SkippedOut(**vars(found.skipped)),
        method=found.method,
        model=found.model,
        reasons=list(found.reasons),
        took_ms=_milliseconds(started),
    )


@sessions_router.get("/{session:context_id}/environment", response=InjectionOut, auth=read)
def environment(request: ApiRequest, context_id: str, query: QueryText = "") -> InjectionOut:
    """What is put before an agent of this context, as environment variables."""
    return _injected(injection.inject(context_id, query=query))


@sessions_router.post("/{session:context_id}/environment", response=InjectionOut, auth=read)
def environment_for(request: ApiRequest, context_id: str, body: InjectionIn) -> InjectionOut:
    """The same for a query whose vector was made outside."""
    injected = injection.inject(
        context_id,
        query=body.query,
        query_embedding=_vector(body),
        embedding_model=body.embedding_model,
        limit=body.limit,
    )
    return _injected(injected)


@vectors_router.post("/{session:collection}/search", response=SymbolsOut, auth=read)
def search_code(request: ApiRequest, collection: str, body: CodeSearchIn) -> SymbolsOut:
    """The code symbols nearest to a vector (devkit_embedding_search), or to a text that the
    configured provider makes a vector of (devkit_semantic_search)."""
    started = time.perf_counter()
    found = recall.search_code(
        collection,
        _vector(body),
        text=body.query_text,
        limit=body.limit,
        embedding_model=body.embedding_model,
        min_score=body.min_score,
    )
    return SymbolsOut(
        symbols=[
            SymbolOut(
                name=row.symbol_name,
                file_path=row.file_path,
                line_start=row.line_start,
                similarity_score=score,
            )
            for row, score in found.symbols
        ],
        skipped=SkippedOut(**vars(found.skipped)),
        model=found.model,
        took_ms=_milliseconds(started),
    )


def _vector(body: RecallIn | CodeSearchIn | InjectionIn) -> Vector | None:
    return recall.given_vector(body.query_embedding, body.query_embedding_b64)


def _recalled(memory: Memory, score: float) -> RecalledOut:
    names = RecalledOut.model_fields.keys() - {"score"}
    return RecalledOut(**{name: getattr(memory, name) for name in names}, score=score)


def _injected(injected: injection.Injection) -> InjectionOut:
    return InjectionOut(
        environment=injected.environment,
        memories=injected.memories,
        method=injected.method,
        reasons=list(injected.reasons),
        skipped_by_guard=injected.skipped_by_guard,
        shortened=injected.shortened,
        left_out=injected.left_out,
    )


def _milliseconds(started: float) -> float:
    return round((time.perf_counter() - started) * 1000, 3)
