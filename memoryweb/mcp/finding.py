"""Tools that find: the search of the API, and `search` and `fetch` in the shape of ChatGPT."""

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import BaseModel, Field

from bank import gate
from bank.models import Page
from episodes.models import Episode
from episodes.schemas import Storable
from memoryweb.core.api_auth import ApiRequest
from memoryweb.core.errors import NotFound
from memoryweb.core.schemas import Strict
from memoryweb.mcp.tool import tool
from search import api
from search.schemas import QUERY_CHARACTERS, SearchIn, SearchOut
from search.sources import SOURCES, Shown


class WordsIn(Strict):
    query: Annotated[str, Field(min_length=1, max_length=QUERY_CHARACTERS), Storable]


class IdIn(Strict):
    id: Annotated[str, Field(min_length=1, max_length=4_200)]


class LinkOut(BaseModel):
    id: str
    title: str
    url: str


class LinksOut(BaseModel):
    results: list[LinkOut]


class DocumentOut(BaseModel):
    id: str
    title: str
    text: str
    url: str
    metadata: dict[str, Any]


@tool(
    "Search the memory",
    SearchIn,
    SearchOut,
    fields={
        "query": "What to look for, in words of any language. Empty only with a vector.",
        "query_embedding": "A vector to compare with, made elsewhere by `embedding_model`.",
        "query_embedding_b64": "The same as base64 of little-endian float32.",
        "limit": "How many results, at most 200.",
        "weights": "How much the two scores count: vector by meaning, bm25 by words.",
        "fusion": "How the scores are put together; leave it out.",
        "prefer_working_dir": "Results of this directory and below come first.",
        "filters": "Each given field must hold.",
        "collections": "episodes: what agents did. memories: what sessions found out. pages: what "
        "is known, and daily notes.",
        "min_score": "Leave out what scores less, from 0 to 1.",
        "recency_half_life_days": "After so many days a result counts half; 0 is never.",
        "explain": "Tell for each result why it is there.",
        "min_seq": "Answer only with this change included: a change_seq that a write gave.",
    },
)
def memory_search(request: ApiRequest, wanted: SearchIn) -> SearchOut:
    """Search everything that is remembered: what agents did (episodes), what sessions found out
    (memories), and what is known (pages). Ask before you solve a problem, decide, or ask a person.
    `mode` and `reasons` say how the answer was found, and what was missing for a better one.
    """
    return api.search(request, wanted)


@tool("Search", WordsIn, LinksOut, fields={"query": "What to look for, in words."})
def search(request: ApiRequest, wanted: WordsIn) -> LinksOut:
    """Search everything that is remembered. Gives ids, titles and addresses; `fetch` reads one."""
    found = api.search(request, SearchIn(query=wanted.query))
    return LinksOut(
        results=[
            LinkOut(
                id=f"{result.collection}/{result.id}",
                title=result.title,
                url=request.build_absolute_uri(result.url),
            )
            for result in found.results
        ]
    )


@tool("Fetch", IdIn, DocumentOut, fields={"id": "An id that `search` gave."})
def fetch(request: ApiRequest, wanted: IdIn) -> DocumentOut:
    """Read one document whole, by an id that `search` gave."""
    collection, _, document = wanted.id.partition("/")
    source = SOURCES.get(collection)
    shown = source.shown([document]).get(document) if source else None
    text = _text(collection, document, shown) if shown else ""
    if shown is None or gate.findings(text, "injected" if collection == "pages" else "recalled"):
        raise NotFound("there is no such document, or it is not served")
    return DocumentOut(
        id=wanted.id,
        title=shown.title,
        text=text,
        url=request.build_absolute_uri(shown.url),
        metadata={"created_at": shown.created_at.isoformat(), **shown.facts},
    )


def _text(collection: str, document: str, shown: Shown) -> str:
    """All that a document says; a search shows only the beginning of a page."""
    if collection == "pages":
        kind, _, name = document.partition("/")
        pages = Page.objects.filter(kind=kind, name=name, archived_at=None, quarantined=False)
        return pages.values_list("content", flat=True).first() or ""
    if collection == "episodes":
        columns = ("key_decisions", "files_modified")
        lists = Episode.objects.filter(pk=document).values_list(*columns).first() or ((), ())
        named = zip(("Decisions", "Files"), lists, strict=True)
        parts = [_listed(name, some) for name, some in named if some]
        return "\n\n".join([shown.summary, *parts])
    return shown.summary


def _listed(name: str, items: Sequence[str]) -> str:
    return f"{name}:\n" + "\n".join(f"- {one}" for one in items)
