"""Vectors of code symbols over HTTP; searching them is a route of search."""

from typing import Any

from django.http import HttpResponse
from ninja import Query, Router

from episodes import code_vectors
from episodes.api import failure
from episodes.models import CodeVector
from episodes.schemas import Receipt, read
from episodes.session_schemas import (
    BulkCodeVectorsIn,
    BulkCodeVectorsOut,
    CodeVectorFilter,
    CodeVectorIn,
    CodeVectorOut,
    CodeVectorStored,
    CollectionsOut,
    Deleted,
)
from memoryweb.core.api_auth import ApiRequest, write
from memoryweb.core.errors import DomainError, Invalid
from memoryweb.core.paging import Listed, Paging, page

router = Router()
ORDER = ("file_path", "symbol_name", "id")


@router.get("", response=CollectionsOut)
def list_collections(request: ApiRequest) -> dict[str, Any]:
    """Every collection of code vectors, by model and width."""
    return {"items": code_vectors.collections()}


@router.post("/{session:collection}/embeddings", auth=write, response=BulkCodeVectorsOut)
def store_vectors(
    request: ApiRequest, response: HttpResponse, collection: str, bulk: BulkCodeVectorsIn
) -> BulkCodeVectorsOut:
    """Store the vectors of up to 1,000 symbols; each that fails is named with its reason."""
    given = [_read(item) for item in bulk.items]
    result = code_vectors.store_many(request.actor, collection, given, bulk.embedding_model or "")
    response["X-Change-Seq"] = str(result.seq)
    return BulkCodeVectorsOut(
        stored=result.stored,
        failed=[failure(at, None, error) for at, error in sorted(result.failed.items())],
        change_seq=result.seq,
    )


@router.post("/{session:collection}", auth=write, response=CodeVectorStored)
def store_vector(
    request: ApiRequest, response: HttpResponse, collection: str, vector: CodeVectorIn
) -> CodeVectorStored:
    """Store the vector of one symbol, in place of the one it had (devkit_embedding_store)."""
    row, seq = code_vectors.store(request.actor, collection, vector)
    response["X-Change-Seq"] = str(seq)
    return CodeVectorStored(**CodeVectorOut.model_validate(row).model_dump(), change_seq=seq)


@router.get("/{session:collection}", response=Listed[CodeVectorOut])
def list_vectors(
    request: ApiRequest,
    collection: str,
    filters: Query[CodeVectorFilter],
    paging: Query[Paging],
) -> dict[str, Any]:
    """The symbols of a collection that have a vector, by file and name."""
    found = page(
        code_vectors.matching(collection, filters),
        ORDER,
        limit=paging.limit,
        cursor=paging.cursor,
        described=lambda rows: rows.defer("vector"),
    )
    items = [CodeVectorOut.model_validate(row) for row in found.items]
    return {"items": items, "next_cursor": found.next_cursor, "total": found.total}


@router.delete("/{session:collection}", auth=write, response=Deleted)
def delete_vectors(
    request: ApiRequest, response: HttpResponse, collection: str, filters: Query[CodeVectorFilter]
) -> Deleted:
    """Delete a whole collection, or what of it the filter names, for good."""
    count, seq = code_vectors.delete(request.actor, collection, filters)
    response["X-Change-Seq"] = str(seq)
    left = CodeVector.objects.filter(collection=collection, **filters.given).exists()
    receipt = Receipt(rows=count, vectors=count, index=None, verified=not left)
    return Deleted(deleted=count, receipt=receipt, change_seq=seq)


def _read(item: Any) -> CodeVectorIn | DomainError:
    try:
        return read(CodeVectorIn, item)
    except Invalid as error:
        return error
