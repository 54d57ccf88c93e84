"""devbase's tools for session contexts and their memories."""

from typing import Annotated, Any

from django.http import HttpResponse
from ninja import Status
from pydantic import Field

from episodes import sessions_api as api
from episodes.schemas import Base64, Floats, Name
from episodes.session_schemas import (
    ContextFilter,
    ContextOut,
    ContextStatus,
    MemoryType,
    Resumed,
    SessionIn,
    SessionSaved,
    VectorIn,
    VectorStored,
)
from memoryweb.core.api_auth import ApiRequest
from memoryweb.core.paging import DEFAULT_LIMIT, MAX_LIMIT, Listed, Paging
from memoryweb.core.schemas import Strict
from memoryweb.mcp.tool import tool
from search import recall_api
from search.recall_api import RecallIn, RecallOut

CONTEXT = "The id of the session context."
CURSOR = "The next_cursor of an answer, for what comes after it."
VECTOR = {
    "embedding": "The vector of the memory's content, made elsewhere.",
    "embedding_b64": "The same as base64 of little-endian float32.",
    "embedding_model": "The model that made the vector.",
}

Limit = Annotated[int, Field(ge=1, le=MAX_LIMIT)]
Cursor = Annotated[str, Field(max_length=4_000)]


class ListIn(Strict):
    status: ContextStatus | None = None
    limit: Limit = DEFAULT_LIMIT
    cursor: Cursor = ""


class ResumeIn(Strict):
    context_id: Name
    memory_types: list[MemoryType] = []
    limit: Limit = MAX_LIMIT
    cursor: Cursor = ""


class IndexIn(Strict):
    memory_id: Name
    embedding: Floats = None
    embedding_b64: Base64 = None
    embedding_model: Name


class RecallOfIn(RecallIn):
    context_id: Name


@tool(
    "Save a session",
    SessionIn,
    SessionSaved,
    writes=True,
    fields={
        "context_id": "An id of your choice, such as the branch or the issue you work on.",
        "name": "What the session is about, in one line; needed when the context is new.",
        "intent": "What it is meant to reach.",
        "status": "active, or archived when it is done.",
        "memories": "What was found out since the last save; each is one fact.",
    },
)
def devkit_session_save(request: ApiRequest, wanted: SessionIn) -> Status[SessionSaved]:
    """Save the context of a piece of work, and add memories to it: decisions, constraints,
    discoveries, errors, actions, notes. Save as often as you like; what is left out stays as it is.
    """
    return api.save_session(request, HttpResponse(), wanted)


@tool(
    "List sessions",
    ListIn,
    Listed[ContextOut],
    fields={"status": "Only those.", "limit": "How many, at most 500.", "cursor": CURSOR},
)
def devkit_session_list(request: ApiRequest, wanted: ListIn) -> dict[str, Any]:
    """The session contexts, newest first."""
    filters = ContextFilter(status=wanted.status)
    return api.list_sessions(request, filters, Paging(limit=wanted.limit, cursor=wanted.cursor))


@tool(
    "Resume a session",
    ResumeIn,
    Resumed,
    fields={
        "context_id": CONTEXT,
        "memory_types": "Only memories of these types; all when it is empty.",
        "limit": "How many memories, at most 500.",
        "cursor": CURSOR,
    },
)
def devkit_session_resume(request: ApiRequest, wanted: ResumeIn) -> Resumed:
    """A session context with its memories, newest first: call it when you go on with a piece of
    work.
    """
    paging = api.ResumePaging(limit=wanted.limit, cursor=wanted.cursor)
    types = wanted.memory_types
    return api.resume_session(request, HttpResponse(), wanted.context_id, paging, types)


@tool(
    "Index a memory",
    IndexIn,
    VectorStored,
    writes=True,
    idempotent=True,
    fields={"memory_id": "The id of the memory.", **VECTOR},
)
def devkit_session_index(request: ApiRequest, wanted: IndexIn) -> VectorStored:
    """Give a memory the vector of its content, by a model; recall by vector then finds it."""
    vector = VectorIn(
        embedding=wanted.embedding,
        embedding_b64=wanted.embedding_b64,
        embedding_model=wanted.embedding_model,
    )
    return api.index_memory(request, HttpResponse(), wanted.memory_id, vector)


@tool(
    "Recall from a session",
    RecallOfIn,
    RecallOut,
    fields={
        "context_id": CONTEXT,
        "query_embedding": "The vector of what to recall, made elsewhere.",
        "query_embedding_b64": "The same as base64 of little-endian float32.",
        "query": "A text to recall by, where there is no vector.",
        "limit": "How many, at most 20.",
        "embedding_model": "Whose vectors to compare with; the active model by default.",
        "min_score": "Leave out what is less alike.",
    },
)
def devkit_session_recall(request: ApiRequest, wanted: RecallOfIn) -> RecallOut:
    """The memories of a session context that are nearest to a vector, or that fit a text.
    `skipped` counts those that could not be compared; `method` and `reasons` tell how a text was
    recalled by.
    """
    return recall_api.recall_memories(request, wanted.context_id, wanted)
