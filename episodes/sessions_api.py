"""Session contexts and their memories over HTTP; recall and injection are routes of search."""

from typing import Annotated, Any

from django.http import HttpResponse
from ninja import Header, Query, Router, Status

from episodes import memory_vectors, session_deletion, session_queries, sessions
from episodes.api import failure
from episodes.deletion import Receipt as Deletion
from episodes.etags import etag
from episodes.models import Context, Memory
from episodes.queries import ORDERS
from episodes.schemas import Receipt, read
from episodes.session_schemas import (
    BulkVectorIn,
    BulkVectorsIn,
    BulkVectorsOut,
    ContextFilter,
    ContextOrder,
    ContextOut,
    ContextPatch,
    ContextWritten,
    Deleted,
    MemoryFilter,
    MemoryOut,
    MemoryPatch,
    MemoryType,
    MemoryWritten,
    Resumed,
    SessionIn,
    SessionSaved,
    VectorIn,
    VectorStored,
)
from memoryweb.core import clock
from memoryweb.core.api_auth import ApiRequest, write
from memoryweb.core.errors import DomainError, Invalid
from memoryweb.core.paging import MAX_LIMIT, Listed, Paging, page

router = Router()
IfMatch = Annotated[str, Header(alias="If-Match")]


class ResumePaging(Paging):
    limit: Annotated[int, Query(ge=1, le=MAX_LIMIT)] = MAX_LIMIT


@router.post("", auth=write, response={201: SessionSaved, 200: SessionSaved})
def save_session(
    request: ApiRequest, response: HttpResponse, session: SessionIn
) -> Status[SessionSaved]:
    """Save a context and add memories to it: 201 when the context is new (devkit_session_save).

    A field that is left out is left alone. What the guard objects to is refused with 422 and
    waits for a curator under its `quarantine_id`; nothing else of the request is saved then.
    """
    saved = sessions.save(
        request.actor,
        context_id=session.context_id,
        name=session.name,
        intent=session.intent,
        status=session.status,
        memories=session.memories,
    )
    written = _context_written(response, saved.context, saved.seq)
    answer = SessionSaved(**dict(written), memories_added=saved.added, memory_ids=saved.ids)
    return Status(201 if saved.is_new else 200, answer)


@router.get("", response=Listed[ContextOut])
def list_sessions(
    request: ApiRequest,
    filters: Query[ContextFilter],
    paging: Query[Paging],
    order: ContextOrder = "-created_at",
) -> dict[str, Any]:
    """Contexts, newest first unless `order` says otherwise (devkit_session_list)."""
    found = page(
        session_queries.contexts(filters),
        ORDERS[order],
        limit=paging.limit,
        cursor=paging.cursor,
        described=session_queries.counted,
    )
    items = [session_queries.shown_context(context) for context in found.items]
    return {"items": items, "next_cursor": found.next_cursor, "total": found.total}


@router.get("/memories", response=Listed[MemoryOut])
def list_memories(
    request: ApiRequest, filters: Query[MemoryFilter], paging: Query[Paging]
) -> dict[str, Any]:
    """Memories of all contexts, newest first: with `needs_vector` an indexer's work list."""
    return _memories(filters, paging, None)


@router.post("/memories/embeddings", auth=write, response=BulkVectorsOut)
def index_many(request: ApiRequest, response: HttpResponse, bulk: BulkVectorsIn) -> BulkVectorsOut:
    """Store the vectors of up to 1,000 memories; each that fails is named with its reason."""
    sent = [_sent(item, bulk.embedding_model or "") for item in bulk.items]
    result = memory_vectors.index_many(request.actor, sent)
    response["X-Change-Seq"] = str(result.seq)
    return BulkVectorsOut(
        stored=result.stored,
        states=result.states,
        failed=[failure(at, _id_in(bulk.items[at]), e) for at, e in sorted(result.failed.items())],
        change_seq=result.seq,
    )


@router.put("/memories/{session:memory_id}/embedding", auth=write, response=VectorStored)
def index_memory(
    request: ApiRequest, response: HttpResponse, memory_id: str, vector: VectorIn
) -> VectorStored:
    """Give a memory its vector by a model (devkit_session_index)."""
    sent = memory_vectors.Sent(
        memory_id, vector.embedding, vector.embedding_b64, vector.embedding_model
    )
    state, row, seq = memory_vectors.index(request.actor, sent)
    response["X-Change-Seq"] = str(seq)
    return VectorStored(state=state, indexed_at=row.indexed_at, change_seq=seq)  # type: ignore[arg-type]


@router.get("/memories/{session:memory_id}", response=MemoryOut)
def get_memory(request: ApiRequest, response: HttpResponse, memory_id: str) -> MemoryOut:
    """One memory; its ETag is what If-Match takes."""
    memory = session_queries.find_memory(memory_id)
    response["ETag"] = etag(memory)
    return session_queries.shown(memory)


@router.patch("/memories/{session:memory_id}", auth=write, response=MemoryWritten)
def edit_memory(
    request: ApiRequest,
    response: HttpResponse,
    memory_id: str,
    patch: MemoryPatch,
    if_match: IfMatch = "",
) -> MemoryWritten:
    """Change the fields that are sent, `archived` included, and leave the others alone."""
    memory, seq = sessions.edit_memory(request.actor, memory_id, patch, if_match=if_match)
    _headers(response, memory, seq)
    return MemoryWritten(**dict(session_queries.shown(memory)), change_seq=seq)


@router.delete("/memories/{session:memory_id}", auth=write, response=Deleted)
def delete_memory(
    request: ApiRequest, response: HttpResponse, memory_id: str, if_match: IfMatch = ""
) -> Deleted:
    """Delete a memory with its vectors, in every index, for good."""
    receipt = session_deletion.delete_memory(request.actor, memory_id, if_match=if_match)
    return _deleted(response, receipt)


@router.get("/{session:context_id}/memories", response=Listed[MemoryOut])
def list_memories_of(
    request: ApiRequest, context_id: str, filters: Query[MemoryFilter], paging: Query[Paging]
) -> dict[str, Any]:
    """The memories of one context, newest first."""
    session_queries.require_context(context_id)
    return _memories(filters, paging, context_id)


@router.get("/{session:context_id}", response=Resumed)
def resume_session(
    request: ApiRequest,
    response: HttpResponse,
    context_id: str,
    paging: Query[ResumePaging],
    memory_types: Annotated[list[MemoryType], Query()] = [],  # noqa: B006 - ninja's way
) -> Resumed:
    """A context with its memories, newest first, of all types or some (devkit_session_resume)."""
    context = session_queries.find_context(context_id)
    rows = session_queries.matching(MemoryFilter(), context_id)
    found = page(
        session_queries.of_types(rows, memory_types),
        session_queries.NEWEST_FIRST,
        limit=paging.limit,
        cursor=paging.cursor,
        described=session_queries.described,
    )
    response["ETag"] = etag(context)
    return Resumed(
        context=session_queries.shown_context(context),
        memories=[session_queries.shown(memory) for memory in found.items],
        next_cursor=found.next_cursor,
        total=found.total,
    )


@router.patch("/{session:context_id}", auth=write, response=ContextWritten)
def edit_session(
    request: ApiRequest,
    response: HttpResponse,
    context_id: str,
    patch: ContextPatch,
    if_match: IfMatch = "",
) -> ContextWritten:
    """Change name, intent or status: {"status": "archived"} archives the context."""
    context, seq = sessions.edit_context(request.actor, context_id, patch, if_match=if_match)
    return _context_written(response, context, seq)


@router.delete("/{session:context_id}", auth=write, response=Deleted)
def delete_session(
    request: ApiRequest, response: HttpResponse, context_id: str, if_match: IfMatch = ""
) -> Deleted:
    """Delete a context with all its memories, in every index, for good."""
    receipt = session_deletion.delete_context(request.actor, context_id, if_match=if_match)
    return _deleted(response, receipt)


def _memories(filters: MemoryFilter, paging: Paging, context_id: str | None) -> dict[str, Any]:
    found = page(
        session_queries.matching(filters, context_id),
        session_queries.NEWEST_FIRST,
        limit=paging.limit,
        cursor=paging.cursor,
        described=session_queries.described,
    )
    items = [session_queries.shown(memory) for memory in found.items]
    return {"items": items, "next_cursor": found.next_cursor, "total": found.total}


def _context_written(response: HttpResponse, context: Context, seq: int) -> ContextWritten:
    clock.told(sessions.CONTEXTS, context.id)  # Where nothing was changed, too.
    _headers(response, context, seq)
    return ContextWritten(**dict(session_queries.shown_context(context)), change_seq=seq)


def _headers(response: HttpResponse, row: Context | Memory, seq: int) -> None:
    response["ETag"] = etag(row)
    response["X-Change-Seq"] = str(seq)


def _deleted(response: HttpResponse, receipt: Deletion) -> Deleted:
    response["X-Change-Seq"] = str(receipt.seq)
    told = Receipt.model_validate(receipt, from_attributes=True)
    return Deleted(deleted=receipt.rows, receipt=told, change_seq=receipt.seq)


def _sent(item: Any, model: str) -> memory_vectors.Sent | DomainError:
    try:
        one = read(BulkVectorIn, item)
    except Invalid as error:
        return error
    return memory_vectors.Sent(
        one.memory_id, one.embedding, one.embedding_b64, one.embedding_model or model
    )


def _id_in(item: Any) -> str | None:
    found = item.get("memory_id", item.get("id")) if isinstance(item, dict) else None
    return found if isinstance(found, str) else None
