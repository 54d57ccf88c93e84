"""Tools for what agents know: pages of the bank, daily notes, and the context to begin with."""

from typing import Annotated

from django.http import HttpResponse
from ninja import Status
from pydantic import Field

from bank import api, gate, queries
from bank.models import Kind
from bank.schemas import AppendIn, EntityOut, EntityWritten, NoteWritten, PageIn
from memoryweb.core.api_auth import ApiRequest
from memoryweb.core.errors import Invalid, Moved, NotFound
from memoryweb.core.schemas import Strict
from memoryweb.mcp.tool import Json, tool
from search import api as search_api
from search import context_api
from search.context_api import ContextIn, ContextOut
from search.schemas import QUERY_CHARACTERS, SearchIn, SearchOut

MOST_NAMED = 200  # pages that a miss names
PART = 20_000  # characters of a page that is read in parts
RESULTS = 10  # of one page of results
MOST_PAGES = 20  # the search gives 200 results at most

PageName = Annotated[str, Field(min_length=1, max_length=1_000)]
NAME = "What the page is about, such as `order-worker`. One page a subject; spaces become `-`."
CONTENT = (
    "The whole new text in Markdown. The first line is a heading, `# Order worker`; the next is a "
    "summary of one line, by which agents decide whether to read the page."
)


class SaveIn(PageIn):
    name: PageName


class SaveMemoryIn(Strict):
    name: PageName
    content: str


class RecallIn(Strict):
    name: PageName | None = None
    query: Annotated[str | None, Field(min_length=1, max_length=QUERY_CHARACTERS)] = None
    page: Annotated[int | None, Field(ge=1, le=10_000)] = None


class Recalled(EntityOut):
    """A page. Read in parts, `content` is one of them, and there are `parts` in all."""

    part: int = 1
    parts: int = 1


class ForgetIn(Strict):
    name: PageName


class Forgotten(Strict):
    archived: bool
    name: str
    change_seq: int


def _merge(answer: Json) -> str:
    """What a save did, and what its writer has to see to."""
    name, previous = answer["entity"]["name"], answer["previous"]
    if answer["created"]:
        return f"Created the page {name!r}."
    if not answer["changed"]:
        return f"The page {name!r} says this already; nothing was changed."
    done = f"Updated the page {name!r} to revision {answer['entity']['revision']}."
    if previous is None or previous["held_back"]:
        return done
    return (
        f"{done} Its previous text is in previous.content: if it holds facts that the new text "
        "lacks and that still hold, merge them and save again, so that nothing is lost."
    )


@tool(
    "Save a page",
    SaveIn,
    EntityWritten,
    writes=True,
    destructive=True,
    idempotent=True,
    note=_merge,
    fields={
        "name": NAME,
        "content": CONTENT,
        "message": "Why it is changed, for the page's history.",
        "base": "The revision you read. If the page changed since, the save is refused, and the "
        "error holds both texts and, where they fit together, their merge.",
    },
)
def memory_save(request: ApiRequest, wanted: SaveIn) -> Status[EntityWritten]:
    """Save what is known about one subject as a page of the memory bank, in place of its former
    text. Recall the page first, and keep what still holds. The answer carries the text that was
    replaced, and every former text stays in the history. Text that tries to instruct its later
    readers is refused, and waits for a person's decision under a quarantine_id.
    """
    body = PageIn(content=wanted.content, message=wanted.message, base=wanted.base)
    return api.put_entity(request, HttpResponse(), wanted.name, body)


@tool(
    "Save a memory",
    SaveMemoryIn,
    EntityWritten,
    writes=True,
    destructive=True,
    idempotent=True,
    note=_merge,
    fields={"name": NAME, "content": CONTENT},
)
def save_memory(request: ApiRequest, wanted: SaveMemoryIn) -> Status[EntityWritten]:
    """Create or update the page of an entity in the memory bank. The content starts with a
    heading and a summary of one line. For an update the answer holds the previous content: merge
    from it, so that no fact is lost.
    """
    return api.put_entity(request, HttpResponse(), wanted.name, PageIn(content=wanted.content))


def _what_exists(answer: Json) -> str:
    """After a query that found nothing."""
    if answer.get("results") != []:
        return ""
    return f"Nothing was found. Pages there are: {', '.join(_names()) or 'none yet'}."


RECALL: Json = {
    "note": _what_exists,
    "fields": {
        "name": "The name of the page to read.",
        "query": "Instead of a name: words that the page is about.",
        "page": "With a query, which ten results, from 1. With a name, which part of a long page.",
    },
}


@tool("Read a page", RecallIn, EntityOut | Recalled | SearchOut, **RECALL)
def memory_recall(request: ApiRequest, wanted: RecallIn) -> EntityOut | SearchOut:
    """Read one page of the memory bank by its name, whole, or find pages by a query. The summary
    in memory_context names the pages; read one before you rely on it or save it anew. When there
    is no such page, the answer names those that there are.
    """
    return _recalled(request, wanted)


@tool("Recall a memory", RecallIn, EntityOut | Recalled | SearchOut, **RECALL)
def recall_memory(request: ApiRequest, wanted: RecallIn) -> EntityOut | SearchOut:
    """Load the full page of an entity of the memory bank by its name, or find pages by a query.
    A miss lists what exists.
    """
    return _recalled(request, wanted)


@tool(
    "Forget a page",
    ForgetIn,
    Forgotten,
    writes=True,
    destructive=True,
    idempotent=False,
    fields={"name": "The name of the page to archive."},
)
def memory_forget(request: ApiRequest, wanted: ForgetIn) -> Forgotten:
    """Archive a page that no longer holds: no search, recall or context gives it any more, and its
    name is free. A person can restore it.
    """
    response = HttpResponse()
    api.archive_entity(request, response, wanted.name)
    seq = int(response["X-Change-Seq"])
    return Forgotten(archived=True, name=wanted.name, change_seq=seq)


@tool(
    "Add to a day's note",
    AppendIn,
    NoteWritten,
    writes=True,
    fields={
        "text": "A paragraph in Markdown: what happened, what was decided, what is left to do.",
        "date": "The day, such as 2026-03-01; today when it is left out.",
    },
)
def memory_note(request: ApiRequest, wanted: AppendIn) -> Status[NoteWritten]:
    """Add a paragraph to the note of a day. Nothing that is there already is lost, whoever else
    writes at the same time. Use it for what is worth knowing for some days; what stays true
    belongs on a page.
    """
    return api.append_note(request, HttpResponse(), wanted)


@tool(
    "What is remembered",
    ContextIn,
    ContextOut,
    omit_none=True,
    fields={
        "max_tokens": "The text never has more; a token is four ASCII characters or one other.",
        "query": "What you are about to do: adds past experiences that fit it.",
        "query_embedding": "A vector of the query, made elsewhere.",
        "query_embedding_b64": "The same as base64 of little-endian float32.",
        "embedding_model": "The model that made the vector.",
        "prefer_working_dir": "Experiences of this directory come first.",
    },
)
def memory_context(request: ApiRequest, wanted: ContextIn) -> ContextOut:
    """What to know before you begin: long-term memory, the notes of the last days, one row for
    each page, and with a query the past experiences that fit it. Call it once at the start of a
    task; then read the pages that matter with memory_recall. The last line says what was left out.
    """
    return context_api.post_context(request, wanted)


def _recalled(request: ApiRequest, wanted: RecallIn) -> EntityOut | SearchOut:
    if (wanted.name is None) == (wanted.query is None):
        raise Invalid("give either the name of a page, or a query")
    if wanted.name is not None:
        found = _named(request, wanted.name)
        return found if wanted.page is None else _part(found, wanted.page)
    page = wanted.page or 1
    if page > MOST_PAGES:
        raise Invalid.field("page", f"there are at most {MOST_PAGES} pages of results")
    asked = SearchIn(query=wanted.query or "", collections=["pages"], limit=page * RESULTS)
    answer = search_api.search(request, asked)
    answer.results = answer.results[(page - 1) * RESULTS :]
    return answer


def _named(request: ApiRequest, name: str) -> EntityOut:
    """The page, also by a name that it had before. What hits a rule now is held back."""
    try:
        found = api.get_entity(request, HttpResponse(), name)
    except Moved as moved:
        found = api.get_entity(request, HttpResponse(), moved.name)
    except NotFound as missing:
        names = _names()
        there = f"; there are: {', '.join(names)}" if names else "; there are none yet"
        raise NotFound(missing.detail + there, existing=names) from None
    if not request.actor.may_decide and gate.findings(found.content):
        held = {"content": "", "abstract": "", "title": found.name, "front_matter": {}}
        return found.model_copy(update={**held, "tags": [], "aliases": [], "held_back": True})
    return found


def _part(found: EntityOut, number: int) -> Recalled:
    parts = max(1, -(-len(found.content) // PART))
    if number > parts:
        raise Invalid.field("page", f"this page has {parts} parts")
    content = found.content[(number - 1) * PART : number * PART]
    return Recalled(**{**dict(found), "content": content}, part=number, parts=parts)


def _names() -> list[str]:
    """The first of the pages that agents may read."""
    rows = queries.servable().filter(kind=Kind.ENTITY).order_by("name")
    return list(rows.values_list("name", flat=True)[:MOST_NAMED])
