"""Wikis over HTTP: each operation parses, calls the writer or a search, and answers."""

from dataclasses import asdict
from typing import Annotated, Any

from django.http import HttpResponse
from ninja import File, Path, Query, Router, Status
from ninja.files import UploadedFile

from bank import erasing_wikis, lint, upkeep_api, uploads, wiki_pages, wikis, withholding
from bank.importing import Outcome
from bank.models import Page, Wiki, WikiSource
from bank.schemas import LintCounts, LintRow
from memoryweb.core import clock
from memoryweb.core.actor import Role
from memoryweb.core.api_auth import ApiRequest, admin, write
from memoryweb.core.paging import Listed, Paging, page
from search.wiki import feeding, searching, service
from search.wiki.feeding import State
from search.wiki_schemas import (
    GraphOut,
    RemovedOut,
    SourceOut,
    UploadOut,
    WikiErased,
    WikiFound,
    WikiIn,
    WikiOut,
    WikiPageIn,
    WikiPageOut,
    WikiPageRow,
    WikiPageWritten,
    WikiPatch,
    WikiWithIndex,
)

router = Router()

WikiId = Annotated[str, Path(max_length=200)]
Ref = Annotated[str, Query(min_length=1, max_length=1_000, description="the path without `.md`")]
SearchLimit = Annotated[int, Query(ge=searching.LIMIT_LEAST, le=searching.LIMIT_MOST)]
Hop = Annotated[int, Query(ge=0, le=searching.HOP_MOST)]


# Wikis


@router.get("", response=Listed[WikiOut])
def list_wikis(
    request: ApiRequest,
    paging: Query[Paging],
    team_id: Annotated[str | None, Query(max_length=200)] = None,
    q: Annotated[str, Query(max_length=200)] = "",
    deleted: bool = False,
) -> dict[str, Any]:
    """The wikis, newest first; `bank` is reached by its id. `deleted`: those instead."""
    if deleted:
        rows, order = wikis.deleted(), ("-deleted_at", "id")
    else:
        rows, order = wikis.listed(team_id=team_id, q=q), wikis.ORDER
    found = page(rows, order, limit=paging.limit, cursor=paging.cursor)
    counts = wikis.page_counts([wiki.pk for wiki in found.items])
    items = [_wiki(wiki, counts[wiki.pk]) for wiki in found.items]
    return {"items": items, "next_cursor": found.next_cursor, "total": found.total}


@router.post("", auth=write, response={201: WikiOut})
def create_wiki(request: ApiRequest, body: WikiIn) -> Status[dict[str, Any]]:
    return Status(201, _wiki(wikis.create(request.actor, **body.model_dump()), 0))


@router.get("/{wiki}", response=WikiWithIndex)
def get_wiki(request: ApiRequest, wiki: WikiId) -> dict[str, Any]:
    found = wikis.get(wiki)
    count = wiki_pages.pages_of(found.pk).count()
    return {**_wiki(found, count), "index": _index(feeding.catch_up(found.pk))}


@router.patch("/{wiki}", auth=write, response=WikiOut)
def edit_wiki(request: ApiRequest, wiki: WikiId, body: WikiPatch) -> dict[str, Any]:
    changed = wikis.update(request.actor, wiki, **body.model_dump())
    return _wiki(changed, wiki_pages.pages_of(wiki).count())


@router.delete("/{wiki}", auth=write, response={204: None, 200: WikiErased})
def delete_wiki(
    request: ApiRequest,
    response: HttpResponse,
    wiki: WikiId,
    erase: Annotated[bool, Query(description="for good, deleted or not; admin only")] = False,
    reason: Annotated[str, Query(max_length=200, description="stays in the audit")] = "",
) -> Status[WikiErased | None]:
    """It leaves every list and index at once; an administrator can restore it, or erase it."""
    if not erase:
        wikis.delete(request.actor, wiki)
        return Status(204, None)
    request.actor.require(Role.ADMINISTRATOR)
    if not wikis.deleted().filter(pk=wiki).exists():
        wikis.delete(request.actor, wiki)
    gone = erasing_wikis.erase(request.actor, wiki, reason=reason)
    response["X-Change-Seq"] = str(gone.seq)
    return Status(200, WikiErased(**asdict(gone), detail=gone.detail))


@router.post("/{wiki}/restore", auth=admin, response=WikiOut)
def restore_wiki(request: ApiRequest, wiki: WikiId) -> dict[str, Any]:
    back = wikis.undelete(request.actor, wiki)
    return _wiki(back, wiki_pages.pages_of(wiki).count())


@router.post("/{wiki}/upload", auth=write, response=UploadOut)
def upload_to_wiki(request: ApiRequest, wiki: WikiId, file: File[UploadedFile]) -> dict[str, Any]:
    """Take in the Markdown of a zip; what became of each file is under `sources` too."""
    assert file.file is not None  # noqa: S101 - a file that was sent is open
    upload = uploads.from_zip(wiki, file.file)
    outcomes = list(uploads.carry_out(request.actor, upload))
    counts: dict[str, int] = {}
    for one in outcomes:
        counts[one.status] = counts.get(one.status, 0) + 1
    odd = [
        _outcome(request, one)
        for one in outcomes
        if one.status == "left" or one.quarantined or one.detail or one.why
    ]
    return {"counts": counts, "files": odd[:1_000], "change_seq": clock.current_seq()}


@router.get("/{wiki}/sources", response=Listed[SourceOut])
def list_sources(request: ApiRequest, wiki: WikiId, paging: Query[Paging]) -> dict[str, Any]:
    """The files that were given, and what became of each."""
    found = page(wikis.sources(wiki), ("filename", "id"), limit=paging.limit, cursor=paging.cursor)
    items = [_source(request, one) for one in found.items]
    return {"items": items, "next_cursor": found.next_cursor, "total": found.total}


@router.get("/{wiki}/lint", response=LintCounts)
def count_wiki_findings(request: ApiRequest, wiki: WikiId) -> LintCounts:
    """How much each check finds in a wiki."""
    return LintCounts(counts=lint.counts(request.actor, _linted(wiki)))


@router.get("/{wiki}/lint/{check}", response=Listed[LintRow])
def list_wiki_findings(
    request: ApiRequest, wiki: WikiId, check: lint.Name, paging: Query[Paging]
) -> dict[str, Any]:
    """What one check finds; pages are called `<wiki>/<ref>`."""
    return upkeep_api.findings(request, lint.CHECKS[check], paging, _linted(wiki))


def _linted(wiki: str) -> str | None:
    """The wiki as bank.lint takes it. Raises NotFound."""
    found = wikis.get(wiki).pk
    return None if found == wikis.BANK else found


# Pages; refs hold slashes, so they are a query and not a part of the path


@router.get("/{wiki}/pages", response=Listed[WikiPageRow])
def list_wiki_pages(request: ApiRequest, wiki: WikiId, paging: Query[Paging]) -> dict[str, Any]:
    rows = wiki_pages.pages_of(wikis.get(wiki).pk).defer("content")
    found = page(rows, ("name", "id"), limit=paging.limit, cursor=paging.cursor)
    items = [_page(request, one) for one in found.items]
    return {"items": items, "next_cursor": found.next_cursor, "total": found.total}


@router.get("/{wiki}/page", response=WikiPageOut)
def get_wiki_page(
    request: ApiRequest, response: HttpResponse, wiki: WikiId, ref: Ref
) -> dict[str, Any]:
    found = wiki_pages.find(wiki, ref)
    response["ETag"] = found.etag
    return _whole(request, found)


@router.put("/{wiki}/page", auth=write, response={200: WikiPageWritten, 201: WikiPageWritten})
def put_wiki_page(
    request: ApiRequest, response: HttpResponse, wiki: WikiId, ref: Ref, body: WikiPageIn
) -> Status[dict[str, Any]]:
    """As PUT /bank/entities/{name}: guarded, 409 for a stale `base`, every text a revision."""
    saved = wiki_pages.write_page(
        request.actor, wiki, ref, body.content, base=body.base, message=body.message
    )
    response["ETag"] = saved.page.etag
    told = {"created": saved.created, "changed": saved.changed, "change_seq": saved.seq}
    status = 201 if saved.created else 200
    return Status(status, {"page": _whole(request, saved.page), **told})


@router.delete("/{wiki}/page", auth=write, response=RemovedOut)
def remove_wiki_page(
    request: ApiRequest,
    wiki: WikiId,
    ref: Ref,
    unlink: Annotated[bool, Query(description="links to it become words")] = False,
    dry_run: Annotated[bool, Query(description="only name the pages that link to it")] = False,
) -> dict[str, Any]:
    """Archive a page; its history stays, and its name is free."""
    links = wiki_pages.links_to(wiki, ref)
    linked = sorted(
        {withholding.told(request.actor, wiki_pages.called(link.source)) for link in links}
    )
    told: dict[str, Any] = {
        "removed": not dry_run,
        "linked_from": linked,
        "unlinked": [],
        "left": {},
    }
    if not dry_run:
        gone = wiki_pages.remove_page(request.actor, wiki, ref, unlink=unlink)
        unlinked = [withholding.told(request.actor, name) for name in gone.unlinked]
        left = {withholding.told(request.actor, name): why for name, why in gone.left}
        told |= {"unlinked": unlinked, "left": left}
    return {**told, "change_seq": clock.current_seq()}


@router.post("/{wiki}/page/lock", auth=write, response=WikiPageOut)
def lock_wiki_page(request: ApiRequest, wiki: WikiId, ref: Ref) -> dict[str, Any]:
    """Nobody writes the page until it is unlocked: that is 409, and names who locked it."""
    return _whole(request, wiki_pages.lock(request.actor, *wiki_pages.address(wiki, ref)))


@router.post("/{wiki}/page/unlock", auth=write, response=WikiPageOut)
def unlock_wiki_page(request: ApiRequest, wiki: WikiId, ref: Ref) -> dict[str, Any]:
    return _whole(request, wiki_pages.unlock(request.actor, *wiki_pages.address(wiki, ref)))


# What is found


@router.get("/{wiki}/search", response=WikiFound)
def search_in_wiki(
    request: ApiRequest,
    wiki: WikiId,
    q: Annotated[str, Query(min_length=1, max_length=100_000)],
    limit: SearchLimit = searching.LIMIT,
    hop: Hop = searching.HOP,
    decay: Annotated[float, Query(ge=0, le=1)] = searching.DECAY,
    min_score: Annotated[float | None, Query(ge=0, allow_inf_nan=False)] = None,
    include_structural: bool = False,
) -> dict[str, Any]:
    """The best pages by words and, with `hop` over 0, those that their links lead to.

    `way` is the path from the page whose words matched, with the score at each step.
    """
    query = searching.Query(q, limit, hop, decay, min_score, include_structural)
    found = service.search_wiki(wiki, query)
    return {
        "results": [service.told(one) for one in found.answer.results],
        "links": [
            {"source": one.source, "target": one.target, "weight": one.weight}
            for one in found.answer.links
        ],
        "count": found.answer.count,
        "index": _index(found.state),
    }


@router.get("/{wiki}/graph", response=GraphOut)
def wiki_graph(
    request: ApiRequest,
    wiki: WikiId,
    ref: Annotated[str, Query(max_length=1_000)] = "",
    hop: Hop = 2,
    limit: Annotated[int, Query(ge=1, le=service.GRAPH_MOST)] = service.GRAPH_MOST,
) -> dict[str, Any]:
    """The pages around one, or without `ref` those with the most links, and the links of these."""
    centre = wiki_pages.called(wiki_pages.find(wiki, ref)) if ref else ""
    drawn = service.graph(wiki, centre, hop=hop, most=limit)
    return {**service.told_graph(drawn), "index": _index(drawn.state)}


# Shapes


def _wiki(wiki: Wiki, count: int) -> dict[str, Any]:
    fields = ("name", "team_id", "description", "folder", "created_at", "updated_at", "deleted_at")
    told = {name: getattr(wiki, name) for name in fields}
    return {"id": wiki.pk, **told, "meta": wiki.meta or {}, "pages": count}


def _index(state: State) -> dict[str, Any]:
    return {"status": state.status, "stale": state.stale, "seq": state.seq, "cause": state.cause}


def _page(request: ApiRequest, found: Page) -> dict[str, Any]:
    shown = withholding.as_read(request.actor, found)
    fields = ("title", "revision", "sha256", "flags", "locked_by", "locked_at", "updated_at")
    told = {name: getattr(shown, name) for name in fields}
    held_back = withholding.is_withheld(request.actor, found)
    return {
        "ref": wiki_pages.called(shown),
        "path": wiki_pages.path_of(shown),
        "held_back": held_back,
        **told,
    }


def _whole(request: ApiRequest, found: Page) -> dict[str, Any]:
    return {**_page(request, found), "content": withholding.content(request.actor, found)}


def _source(request: ApiRequest, one: WikiSource) -> dict[str, Any]:
    fields = ("sha256", "size", "status", "given_at")
    told = {name: withholding.told(request.actor, getattr(one, name)) for name in _WORDED}
    return {**told, **{name: getattr(one, name) for name in fields}}


_WORDED = ("filename", "error")  # By whoever gave the file.


def _outcome(request: ApiRequest, one: Outcome) -> dict[str, Any]:
    told = {
        field: withholding.told(request.actor, getattr(one, field))
        for field in ("file", "name", "why", "detail")
    }
    return {**told, "status": one.status, "quarantined": one.quarantined}
