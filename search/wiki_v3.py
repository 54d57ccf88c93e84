"""The wiki routes of TencentDB Agent Memory, for its clients as they are: POST /v3/wiki/….

Every answer is {code, message, request_id, data}: code 0 on success; on an error code is the HTTP
status, and data null. Lists stand under its name for them, `items`, and under ours; a wiki's
`summary` is our description. Fields that are not known are ignored, as its own server does.
"""

from typing import Annotated, Any

from django.http import HttpResponse
from ninja import Router
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from bank import wiki_pages, wikis, withholding
from bank.models import Page, Wiki
from memoryweb.core import clock
from memoryweb.core.api_auth import ApiRequest, read, write
from memoryweb.core.errors import DomainError, Invalid
from search.wiki import searching, service
from search.wiki.feeding import State, catch_up, pages, type_of
from search.wiki.searching import Query

router = Router()

SERVICE_HEADER = "x-tdai-service-id"
LIST_LIMIT, LIST_MOST = 20, 200
PAGES_LIMIT, PAGES_MOST = 200, 1_000
DELETED_AT_ONCE = 100

Limit = Annotated[int, Field(ge=1, le=LIST_MOST)]
Offset = Annotated[int, Field(ge=0, le=10_000_000)]


def _text(value: str) -> str:
    """A name that is told again must be text: half a character (a lone surrogate) is none."""
    if "\0" in value or value.encode(errors="replace").decode() != value:
        raise ValueError("holds a character that no text has")
    return value


Name = Annotated[str, AfterValidator(_text)]
WikiId = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(_text)]


class Known(BaseModel):
    """A body: its known fields are of their own types, others are let be."""

    model_config = ConfigDict(strict=True, extra="ignore")


class OfWiki(Known):
    wiki_id: WikiId


class SearchIn(OfWiki):
    """The bounds of the numbers are those of search.wiki.searching.Query."""

    query: Annotated[str, Field(min_length=1)]
    limit: int = searching.LIMIT
    hop: int = searching.HOP
    decay: float = searching.DECAY
    minScore: float | None = None
    include_structural: bool = False


class CreateIn(Known):
    name: str
    team_id: str = ""
    wiki_id: str = ""
    description: str = ""


class ListIn(Known):
    team_id: Name | None = None
    limit: Limit = LIST_LIMIT
    offset: Offset = 0


class UpdateIn(OfWiki):
    name: str | None = None
    team_id: str | None = None
    description: str | None = None
    summary: str | None = None
    meta: dict[str, Any] | None = None


class DeleteIn(Known):
    """One `wiki_id`, or many `wiki_ids`."""

    wiki_id: Name | None = None
    wiki_ids: Annotated[list[Name], Field(min_length=1, max_length=DELETED_AT_ONCE)] | None = None


class LsIn(OfWiki):
    limit: Annotated[int, Field(ge=1, le=PAGES_MOST)] = PAGES_LIMIT
    offset: Offset = 0


class ReadIn(OfWiki):
    refs: Annotated[list[Name], Field(min_length=1, max_length=wiki_pages.AT_ONCE)]


class PageIn(Known):
    ref: Name
    content: str
    base: Annotated[int | None, Field(ge=0, lt=2**31)] = None


class WriteIn(OfWiki):
    pages: Annotated[list[PageIn], Field(min_length=1, max_length=wiki_pages.AT_ONCE)]
    message: Annotated[str, Field(max_length=500)] = ""


class RemoveIn(ReadIn):
    unlink: bool = False
    dry_run: bool = False


class GraphIn(OfWiki):
    ref: Name = ""
    hop: Annotated[int, Field(ge=0, le=searching.HOP_MOST)] = 2
    limit: Annotated[int, Field(ge=1, le=service.GRAPH_MOST)] = service.GRAPH_MOST


# Wikis


@router.post("/create", auth=write)
def create(request: ApiRequest, response: HttpResponse, body: CreateIn) -> dict[str, Any]:
    made = wikis.create(
        request.actor,
        team_id=body.team_id,
        name=body.name,
        id=body.wiki_id,
        description=body.description,
    )
    return _done(request, response, {"wiki_id": made.pk, **_wiki(made, 0)})


@router.post("/get", auth=read)
def get(request: ApiRequest, body: OfWiki) -> dict[str, Any]:
    found = wikis.get(body.wiki_id)
    state = catch_up(found.pk)
    count = pages(found.pk).count()
    return _ok(request, {"wiki_id": found.pk, **_wiki(found, count), **_state(state)})


@router.post("/list", auth=read)
def list_wikis(request: ApiRequest, body: ListIn) -> dict[str, Any]:
    rows = wikis.listed(team_id=body.team_id)
    some = list(rows[body.offset : body.offset + body.limit])
    counts = wikis.page_counts([wiki.pk for wiki in some])
    told = [{"wiki_id": wiki.pk, **_wiki(wiki, counts[wiki.pk])} for wiki in some]
    bounds = {"limit": body.limit, "offset": body.offset}
    return _ok(request, {"items": told, "wikis": told, "total": rows.count(), **bounds})


@router.post("/update-meta", auth=write)
def update_meta(request: ApiRequest, response: HttpResponse, body: UpdateIn) -> dict[str, Any]:
    """What is left out stays; a `summary` of null is emptied."""
    given = body.model_dump(exclude={"wiki_id", "summary"})
    if "summary" in body.model_fields_set and body.description is None:
        given["description"] = body.summary or ""
    changed = wikis.update(request.actor, body.wiki_id, **given)
    count = pages(changed.pk).count()
    return _done(request, response, {"wiki_id": changed.pk, **_wiki(changed, count)})


@router.post("/delete", auth=write)
def delete(request: ApiRequest, response: HttpResponse, body: DeleteIn) -> dict[str, Any]:
    """A wiki leaves every list and index; an administrator can bring it back. Of many each goes by
    itself, and `failed` says which are left, and why."""
    if (body.wiki_id is None) == (body.wiki_ids is None):
        raise Invalid.field("wiki_ids", "give wiki_ids, or one wiki_id")
    if body.wiki_ids is None:
        gone = wikis.delete(request.actor, body.wiki_id or "")
        return _done(request, response, {"wiki_id": gone.pk, "deleted": True})
    deleted, failed = list[str](), list[dict[str, str]]()
    for wiki in body.wiki_ids:
        try:
            deleted.append(wikis.delete(request.actor, wiki).pk)
        except DomainError as error:
            failed.append({"id": wiki, "reason": error.detail})
    return _done(request, response, {"deleted_ids": deleted, "failed": failed})


# Pages


@router.post("/page/ls", auth=read)
def list_pages(request: ApiRequest, body: LsIn) -> dict[str, Any]:
    found = wikis.get(body.wiki_id)
    rows = wiki_pages.pages_of(found.pk).defer("content").order_by("name", "pk")
    some = rows[body.offset : body.offset + body.limit]
    told = [_page(withholding.as_read(request.actor, page)) for page in some]
    bounds = {"limit": body.limit, "offset": body.offset}
    return _ok(request, {"items": told, "pages": told, "total": rows.count(), **bounds})


@router.post("/page/read", auth=read)
def read_pages(request: ApiRequest, body: ReadIn) -> dict[str, Any]:
    """The pages of these refs, in their order; one that there is not has an `error`."""
    found = wiki_pages.read_pages(request.actor, body.wiki_id, body.refs)
    told = [
        {"ref": ref, "not_found": True, "error": "there is no page of this name"}
        if page is None
        else {**_page(page), "ref": ref, "content": page.content}
        for ref, page in found
    ]
    count = sum(page is not None for _, page in found)
    return _ok(request, {"items": told, "pages": told, "count": count})


@router.post("/page/write", auth=write)
def write_pages(request: ApiRequest, response: HttpResponse, body: WriteIn) -> dict[str, Any]:
    """Each page is saved by itself; what is wrong with one is its `error`, and keeps no other."""
    asked = [(page.ref, page.content, page.base) for page in body.pages]
    written = wiki_pages.write_pages(request.actor, body.wiki_id, asked, message=body.message)
    told = [_written(one) for one in written]
    stored = sum(one.saved is not None for one in written)
    state = _state(catch_up(body.wiki_id))
    counts = {"count": stored, "failed": len(told) - stored}
    data = {"items": told, "pages": told, **counts, **state}
    return _done(request, response, data)


@router.post("/page/rm", auth=write)
def remove_pages(request: ApiRequest, response: HttpResponse, body: RemoveIn) -> dict[str, Any]:
    """Archive pages. With `dry_run` nothing goes, and the links that would break are named; with
    `unlink` they become the words that they show."""
    told = [_removal(request, body, ref) for ref in body.refs]
    removed = [one for one in told if one.get("removed")]
    data = {
        "pages": told,
        "count": len(removed),
        "deleted_pages": [one["ref"] for one in removed],
        "rewritten_files": len({name for one in removed for name in one["unlinked"]}),
    }
    return _done(request, response, data)


def _removal(request: ApiRequest, body: RemoveIn, ref: str) -> dict[str, Any]:
    try:
        links = wiki_pages.links_to(body.wiki_id, ref)
        linked = sorted(
            {withholding.told(request.actor, wiki_pages.called(link.source)) for link in links}
        )
        if body.dry_run:
            return {"ref": ref, "removed": False, "linked_from": linked}
        gone = wiki_pages.remove_page(request.actor, body.wiki_id, ref, unlink=body.unlink)
    except DomainError as error:
        return {"ref": ref, "removed": False, **_error(error)}
    unlinked = [withholding.told(request.actor, name) for name in gone.unlinked]
    left = {"linked_from": linked, "unlinked": unlinked}
    return {"ref": ref, "removed": True, **left}


# What is found


@router.post("/search", auth=read)
def search(request: ApiRequest, body: SearchIn) -> dict[str, Any]:
    """The best pages for a query and, with `hop` over 0, those that their links lead to.

    `status` and `stale` say how the index stands: while it is built nothing found means nothing.
    """
    query = Query(
        body.query, body.limit, body.hop, body.decay, body.minScore, body.include_structural
    )
    wikis.note_service(body.wiki_id, request.headers.get(SERVICE_HEADER, ""))
    found = service.search_wiki(body.wiki_id, query)
    answer = found.answer
    data = {
        "results": [service.told(one) for one in answer.results],
        "links": [
            {"source": one.source, "target": one.target, "weight": one.weight}
            for one in answer.links
        ],
        "count": answer.count,
        **_state(found.state),
    }
    return _ok(request, data)


@router.post("/graph", auth=read)
def graph(request: ApiRequest, body: GraphIn) -> dict[str, Any]:
    """The pages around one, or without `ref` those with the most links, and the links of these."""
    centre = wiki_pages.called(wiki_pages.find(body.wiki_id, body.ref)) if body.ref else ""
    drawn = service.graph(body.wiki_id, centre, hop=body.hop, most=body.limit)
    return _ok(request, {**service.told_graph(drawn), **_state(drawn.state)})


# Shapes


def _ok(request: ApiRequest, data: dict[str, Any]) -> dict[str, Any]:
    request_id = getattr(request, "id", "")
    return {"code": 0, "message": "success", "request_id": request_id, "data": data}


def _done(request: ApiRequest, response: HttpResponse, data: dict[str, Any]) -> dict[str, Any]:
    """What a write answers: with the number of the last change."""
    response["X-Change-Seq"] = str(clock.current_seq())
    return _ok(request, data)


def _wiki(wiki: Wiki, count: int) -> dict[str, Any]:
    return {
        "name": wiki.name,
        "team_id": wiki.team_id,
        "description": wiki.description,
        "summary": wiki.description or None,
        "meta": wiki.meta or {},
        "page_count": count,
        "created_at": wiki.created_at,
        "updated_at": wiki.updated_at,
    }


def _state(state: State) -> dict[str, Any]:
    cause = {"cause": state.cause} if state.cause else {}
    return {"status": state.status, "stale": state.stale, **cause}


def _page(page: Page) -> dict[str, Any]:
    ref = wiki_pages.called(page)
    return {
        "id": ref,
        "ref": ref,
        "type": type_of(page),
        "path": wiki_pages.path_of(page),
        "title": page.title,
        "revision": page.revision,
        "sha256": page.sha256,
        "locked": page.locked_at is not None,
        "held_back": bool(getattr(page, "held_back", False)),
        "updated_at": page.updated_at,
    }


def _written(one: wiki_pages.Written) -> dict[str, Any]:
    if one.saved is None:
        return {"ref": one.ref, "ok": False, **(_error(one.error) if one.error else {})}
    saved = one.saved
    state = {"created": saved.created, "changed": saved.changed, "revision": saved.page.revision}
    return {
        "ref": wiki_pages.called(saved.page),
        "ok": True,
        "path": wiki_pages.path_of(saved.page),
        **state,
    }


def _error(error: DomainError) -> dict[str, Any]:
    named = {key: error.members[key] for key in ("quarantine_id",) if key in error.members}
    return {"code": int(error.status), "error": error.detail, **named}
