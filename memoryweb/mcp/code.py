"""devbase's tools for vectors of code symbols."""

from typing import Annotated

from django.http import HttpResponse
from pydantic import Field, FiniteFloat

from episodes import vectors_api as api
from episodes.schemas import Base64, Floats, Name
from episodes.session_schemas import CodeVectorIn, CodeVectorStored
from memoryweb.core.api_auth import ApiRequest
from memoryweb.core.schemas import Strict
from memoryweb.mcp.tool import tool
from search import recall_api
from search.recall_api import MOST_SYMBOLS, CodeSearchIn, SymbolsOut

REPOSITORY = "The id of the repository whose symbols are searched."
SEARCHED = {
    "repo_id": REPOSITORY,
    "query_embedding": "The vector of what to look for, made elsewhere.",
    "query_embedding_b64": "The same as base64 of little-endian float32.",
    "limit": "How many, at most 50.",
    "embedding_model": "Whose vectors to compare with; by default the one that was stored last.",
    "min_score": "Leave out what is less alike.",
}


class StoreIn(CodeVectorIn):
    repo_id: Name


class NearestIn(Strict):
    repo_id: Name
    query_embedding: Floats = None
    query_embedding_b64: Base64 = None
    limit: Annotated[int, Field(ge=1, le=MOST_SYMBOLS)] = 10
    embedding_model: Name | None = None
    min_score: Annotated[FiniteFloat | None, Field(ge=-1, le=1)] = None


class SemanticIn(CodeSearchIn):
    repo_id: Name


@tool(
    "Store a code vector",
    StoreIn,
    CodeVectorStored,
    writes=True,
    destructive=True,
    idempotent=True,
    fields={
        "repo_id": "The id of the repository.",
        "symbol_name": "The function, class or method.",
        "file_path": "The file it stands in.",
        "line_start": "Its first line.",
        "embedding": "The vector of the symbol, made elsewhere.",
        "embedding_b64": "The same as base64 of little-endian float32.",
        "embedding_model": "The model that made the vector.",
    },
)
def devkit_embedding_store(request: ApiRequest, wanted: StoreIn) -> CodeVectorStored:
    """Store the vector of one code symbol, in place of the one that it had by this model."""
    return api.store_vector(request, HttpResponse(), wanted.repo_id, wanted)


@tool("Search code by vector", NearestIn, SymbolsOut, fields=SEARCHED)
def devkit_embedding_search(request: ApiRequest, wanted: NearestIn) -> SymbolsOut:
    """The code symbols of a repository that are nearest to a vector."""
    body = CodeSearchIn(**wanted.model_dump(exclude={"repo_id"}))
    return recall_api.search_code(request, wanted.repo_id, body)


@tool(
    "Search code by meaning",
    SemanticIn,
    SymbolsOut,
    fields={**SEARCHED, "query_text": "What to look for; it takes an embedding provider."},
)
def devkit_semantic_search(request: ApiRequest, wanted: SemanticIn) -> SymbolsOut:
    """The code symbols of a repository nearest to a vector, or to a text that the configured
    embedding provider makes a vector of. Without a provider a text alone is refused, and the error
    says what to send instead.
    """
    return recall_api.search_code(request, wanted.repo_id, wanted)
