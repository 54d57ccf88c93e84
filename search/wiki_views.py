"""The pages of wikis: their list, one wiki with its search, its graph, and what is done with it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import sha1
from http import HTTPStatus
from io import BytesIO
from typing import Any

import numpy as np
from django.contrib import messages
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST
from django.views.decorators.vary import vary_on_headers

from bank import erasing_wikis, refs, uploads, watching, wikis, withholding
from bank.addresses import address_of
from bank.layout import CONTENT_LIMIT
from bank.models import Kind, Page, Wiki
from bank.upkeep_views import lint_context
from bank.uploads import Given
from memoryweb.core import paging
from memoryweb.core.access import actor_of, administrator_page, curator_page
from memoryweb.core.actor import Role
from memoryweb.core.errors import Conflict, DomainError, Invalid, NotFound
from memoryweb.core.forms import add_errors
from search.wiki import feeding, service
from search.wiki.drawing import layout
from search.wiki.searching import Query, Result
from search.wiki.service import Graph, Node
from search.wiki.snippet import Highlight
from search.wiki_forms import (
    EraseWikiForm,
    GraphForm,
    NewWikiForm,
    RemoveForm,
    UploadForm,
    WikiForm,
    WikiSearchForm,
)

WIDTH, HEIGHT, MARGIN = 1000, 640, 60  # Of a graph's picture.
TOLD = 500  # Files of an upload that are listed, those that were left first.
CAPS = {  # What a browser is told of an upload's limits.
    "largest": CONTENT_LIMIT,
    "most": uploads.FILES_MOST,
    "total": uploads.TOTAL_MOST,
    "told": TOLD,
}


def _may_write(request: HttpRequest) -> bool:
    return actor_of(request).role >= Role.CURATOR


def _is_part(request: HttpRequest) -> bool:
    return bool(request.htmx) and not request.htmx.boosted  # type: ignore[attr-defined]


def page_url(wiki: str, ref: str) -> str:
    """Where a page that is there is read."""
    return address_of(*wikis.known(wiki, ref))


# The list


@require_GET
def wiki_list(request: HttpRequest) -> HttpResponse:
    """All wikis, the built-in ones first."""
    others = wikis.listed().exclude(pk=wikis.MEMORIES)
    found = paging.page(others, wikis.ORDER, cursor=request.GET.get("cursor", ""))
    shown = (
        [wikis.bank(), wikis.memories(), *found.items] if not found.previous_cursor else found.items
    )
    counts = wikis.page_counts([wiki.pk for wiki in shown])
    counts |= {wikis.BANK: wikis.pages_of(wikis.BANK).count()}
    context = {
        "page": found,
        "rows": [(wiki, counts[wiki.pk]) for wiki in shown],
        "deleted": wikis.deleted() if actor_of(request).role >= Role.ADMINISTRATOR else [],
        "may_write": _may_write(request),
        "json_url": reverse("api:list_wikis"),
    }
    return render(request, "wikis/list.html", context)


@curator_page
def new_wiki(request: HttpRequest) -> HttpResponse:
    """Make a wiki; only administrators point at folders."""
    form = NewWikiForm(request.POST or None)
    if form.is_valid():
        try:
            made = wikis.create(actor_of(request), **form.cleaned_data)
        except Invalid as error:
            add_errors(form, error)
        else:
            return redirect(_begin(request, made))
    status = HTTPStatus.UNPROCESSABLE_ENTITY if form.is_bound else HTTPStatus.OK
    trail = [("Wikis", reverse("wikis")), ("New", None)]
    return render(request, "wikis/new.html", {"form": form, "trail": trail}, status=status)


def _begin(request: HttpRequest, made: Wiki) -> str:
    if not made.folder:
        messages.success(request, f"“{made.name}” is made. Give it pages.")
        return reverse("upload_wiki", args=[made.pk])
    taken = watching.take_in(made.pk, seconds=5.0)
    more = " The rest follows by itself." if taken.more else ""
    messages.success(request, f"“{made.name}” is made, with {taken.settled:,} pages.{more}")
    return reverse("wiki", args=[made.pk])


# One wiki


@require_GET
@vary_on_headers("HX-Request")
def wiki_page(request: HttpRequest, wiki: str) -> HttpResponse:
    """A wiki's pages, or what a search finds in it; htmx asks for the part that changes."""
    found, form = wikis.get(wiki), WikiSearchForm.of(request.GET)
    valid, part = form.is_valid(), _is_part(request)
    context = {
        "wiki": found,
        "form": form,
        "part": part,
        "may_write": _may_write(request),
        "trail": [("Wikis", reverse("wikis")), (found.name, None)],
        "json_url": reverse("api:list_wiki_pages", args=[wiki]),
        **(_results(found, form) if valid and form.cleaned_data["q"].strip() else {}),
    }
    if "answer" not in context:
        context |= _pages(request, found)
    response = render(request, "wikis/_found.html" if part else "wikis/wiki.html", context)
    if not valid:
        response.status_code = HTTPStatus.UNPROCESSABLE_ENTITY
    return response


def _results(wiki: Wiki, form: WikiSearchForm) -> dict[str, Any]:
    asked = form.cleaned_data
    query = Query(
        asked["q"],
        asked["limit"],
        asked["hop"],
        asked["decay"],
        asked["min_score"],
        asked["structural"],
    )
    found = service.search_wiki(wiki.pk, query)
    best = max((one.score for one in found.answer.results), default=0.0)
    rows = [Row.of(wiki.pk, one, best) for one in found.answer.results]
    return {"answer": found.answer, "state": found.state, "rows": rows, "decay": asked["decay"]}


def _pages(request: HttpRequest, wiki: Wiki) -> dict[str, Any]:
    rows = wikis.pages_of(wiki.pk).defer("content")
    found = paging.page(rows, ("name", "id"), cursor=request.GET.get("cursor", ""))
    reader = actor_of(request)
    items = [withholding.as_read(reader, page) for page in found.items]
    return {"page": replace(found, items=items), "state": feeding.catch_up(wiki.pk)}


@dataclass(frozen=True)
class Row:
    """A result as it is drawn: `share` is its score in hundredths of the best one's."""

    result: Result
    anchor: str
    url: str
    share: int
    parts: list[dict[str, Any]]
    way: list[dict[str, Any]]
    related: list[dict[str, Any]]

    @classmethod
    def of(cls, wiki: str, one: Result, best: float) -> "Row":
        # The ids of related pages are not told; their paths are, and lead there as well.
        related = [{"link": o, "url": page_url(wiki, o.path)} for o in one.related]
        return cls(
            one,
            f"page-{sha1(one.page_id.encode(), usedforsecurity=False).hexdigest()[:12]}",
            page_url(wiki, one.page_id),
            round(100 * one.score / best) if best > 0 else 0,
            _marked(one.highlight),
            [{"step": step, "url": page_url(wiki, step.page_id)} for step in one.way],
            related,
        )


def _marked(highlight: Highlight | None) -> list[dict[str, Any]]:
    """The pieces of a text, and which of them are words that were asked for."""
    if highlight is None:
        return []
    parts, at = list[dict[str, Any]](), 0
    for start, end in highlight.spans:
        parts += [
            {"text": highlight.text[at:start], "marked": False},
            {"text": highlight.text[start:end], "marked": True},
        ]
        at = end
    return [*parts, {"text": highlight.text[at:], "marked": False}]


# Its graph


@require_GET
@vary_on_headers("HX-Request")
def graph_page(request: HttpRequest, wiki: str) -> HttpResponse:
    """The pages around one and their links as a picture, and as a list."""
    found, form = wikis.get(wiki), GraphForm.of(request.GET)
    valid, part = form.is_valid(), _is_part(request)
    context: dict[str, Any] = {
        "wiki": found,
        "form": form,
        "trail": [
            ("Wikis", reverse("wikis")),
            (found.name, reverse("wiki", args=[wiki])),
            ("Graph", None),
        ],
        "json_url": reverse("api:wiki_graph", args=[wiki]),
    }
    if valid:
        asked = form.cleaned_data
        context |= _picture(wiki, asked["page"].strip(), asked["hop"], asked["most"])
    template = "wikis/_graph.html" if part else "wikis/graph.html"
    status = HTTPStatus.OK if valid else HTTPStatus.UNPROCESSABLE_ENTITY
    return render(request, template, context, status=status)


def _picture(wiki: str, centre: str, hop: int, most: int) -> dict[str, Any]:
    try:
        drawn = service.graph(wiki, centre, hop=hop, most=most)
    except NotFound:
        return {"missing": centre}
    return {"graph": drawn, "centre": centre, "picture": _drawn(wiki, drawn)}


@dataclass(frozen=True)
class Dot:
    """A page in the picture; `label` is empty where there is no room for it."""

    node: Node
    x: float
    y: float
    size: float
    label: str
    url: str


@lru_cache(maxsize=64)
def _places(count: int, edges: tuple[tuple[int, int], ...]) -> list[tuple[float, float]]:
    points = layout(count, edges)
    return [(float(x), float(y)) for x, y in points]


def _drawn(wiki: str, graph: Graph) -> dict[str, Any]:
    at = {node.page.page_id: number for number, node in enumerate(graph.nodes)}
    edges = tuple((at[a], at[b]) for a, b in graph.edges if a in at and b in at)
    places = _places(len(graph.nodes), edges)
    dots = [_dot(wiki, node, *places[number]) for number, node in enumerate(graph.nodes)]
    lines = [(dots[a], dots[b]) for a, b in edges]
    return {"dots": _named(dots), "lines": lines, "width": WIDTH, "height": HEIGHT}


def _dot(wiki: str, node: Node, x: float, y: float) -> Dot:
    return Dot(
        node,
        round(MARGIN + x * (WIDTH - 2 * MARGIN), 1),
        round(MARGIN / 2 + y * (HEIGHT - MARGIN), 1),
        round(min(4 + node.degree**0.5 * 1.5, 16), 1),
        "",
        page_url(wiki, node.page.page_id),
    )


def _named(dots: Sequence[Dot]) -> list[Dot]:
    """The dots with the titles that there is room for, those with the most links first."""
    taken = np.empty((0, 4))
    named = list(dots)
    order = sorted(range(len(dots)), key=lambda at: (dots[at].node.hop, -dots[at].node.degree))
    for at in order:
        label, box = _label(dots[at])
        apart = (
            (taken[:, 0] > box[2])
            | (taken[:, 2] < box[0])
            | (taken[:, 1] > box[3])
            | (taken[:, 3] < box[1])
        )
        if apart.all():
            taken = np.vstack([taken, box])
            named[at] = replace(dots[at], label=label)
    return named


def _label(dot: Dot) -> tuple[str, tuple[float, float, float, float]]:
    """What stands above a dot, and the box that it fills: left, top, right, bottom."""
    title = dot.node.page.title
    label = title if len(title) <= 20 else f"{title[:19]}…"
    half = sum(13 if ord(character) > 0x2E7F else 7 for character in label) / 2
    return label, (dot.x - half, dot.y - dot.size - 16, dot.x + half, dot.y - dot.size)


# What is done with it


def _described(wiki: str, *others: str) -> Wiki:
    """A wiki that has such a page. Raises NotFound for the bank, and for these others."""
    if wiki in (wikis.BANK, *others):
        raise NotFound("this wiki is built in and has no such page")
    return wikis.get(wiki)


@curator_page
def edit_wiki(request: HttpRequest, wiki: str) -> HttpResponse:
    """Say something else of a wiki."""
    found = _described(wiki)
    initial = {"name": found.name, "description": found.description, "team_id": found.team_id}
    form = WikiForm(request.POST or None, initial=initial)
    if form.is_valid():
        try:
            wikis.update(actor_of(request), wiki, **form.cleaned_data)
        except Invalid as error:
            add_errors(form, error)
        else:
            messages.success(request, "Saved.")
            return redirect("wiki", wiki)
    status = HTTPStatus.UNPROCESSABLE_ENTITY if form.is_bound else HTTPStatus.OK
    context = {"wiki": found, "form": form, "trail": _trail(found, "Describe")}
    return render(request, "wikis/edit.html", context, status=status)


@curator_page
def upload_wiki(request: HttpRequest, wiki: str) -> HttpResponse:
    """Take the Markdown of a zip into a wiki; what became of each file."""
    found = _described(wiki)
    form = UploadForm(request.POST or None, request.FILES or None)
    context: dict[str, Any] = {
        "wiki": found,
        "form": form,
        "caps": CAPS,
        "trail": _trail(found, "Upload"),
    }
    if form.is_valid():
        try:
            upload = uploads.from_zip(wiki, form.cleaned_data["file"])
            outcomes = list(uploads.carry_out(actor_of(request), upload))
        except Invalid as error:
            add_errors(form, error)
        else:
            context |= _told(outcomes)
    status = HTTPStatus.UNPROCESSABLE_ENTITY if form.is_bound and form.errors else HTTPStatus.OK
    return render(request, "wikis/upload.html", context, status=status)


@require_POST
@curator_page
def upload_files(request: HttpRequest, wiki: str) -> JsonResponse:
    """Take some files of a folder into a wiki, called by their paths in it: what became of each.

    A script sends them; the rule and the report are those of a zip.
    """
    paths, files = request.POST.getlist("paths"), request.FILES.getlist("files")
    try:
        if len(paths) != len(files):
            raise Invalid.field("paths", "must name each file")
        given = [_given(path, file) for path, file in zip(paths, files, strict=True)]
        upload = uploads.from_files(wiki, given)
        outcomes = list(uploads.carry_out(actor_of(request), upload))
    except DomainError as error:
        return JsonResponse({"detail": error.detail}, status=error.status)
    told = _told([one for one in outcomes if one.status == "left" or one.quarantined or one.why])
    rows = render_to_string("wikis/_outcomes.html", told)
    return JsonResponse({"counts": _told(outcomes)["counts"], "rows": rows})


def _given(path: str, file: "UploadedFile[Any]") -> Given:
    return Given(path, file.size or 0, lambda: BytesIO(file.read()))


def _told(outcomes: Sequence[Any]) -> dict[str, Any]:
    counts: dict[str, int] = {}
    for one in outcomes:
        counts[one.status] = counts.get(one.status, 0) + 1
    odd = sorted(outcomes, key=lambda one: (one.status != "left", not one.detail))
    return {"outcomes": odd[:TOLD], "counts": counts, "total": len(outcomes)}


@curator_page
def delete_wiki(request: HttpRequest, wiki: str) -> HttpResponse:
    """Ask whether to delete a wiki; do it once that is confirmed."""
    found = _described(wiki, *wikis.BUILT_IN)
    if request.method == "POST":
        wikis.delete(actor_of(request), wiki)
        messages.success(request, f"“{found.name}” is deleted. An administrator can bring it back.")
        return redirect("wikis")
    count = feeding.pages(wiki).count()
    context = {"wiki": found, "count": count, "trail": _trail(found, "Delete")}
    return render(request, "wikis/delete.html", context)


@require_POST
@administrator_page
def undelete_wiki(request: HttpRequest, wiki: str) -> HttpResponse:
    """Bring a deleted wiki back."""
    back = wikis.undelete(actor_of(request), wiki)
    messages.success(request, f"“{back.name}” is back.")
    return redirect("wiki", wiki)


@administrator_page
def erase_wiki(request: HttpRequest, wiki: str) -> HttpResponse:
    """Ask whether to erase a deleted wiki for good; do it once its id is typed."""
    found = wikis.find_deleted(wiki)
    form = EraseWikiForm(wiki, request.POST if request.method == "POST" else None)
    context: dict[str, Any] = {
        "wiki": found,
        "form": form,
        "count": found.pages.count(),
        "trail": [("Wikis", reverse("wikis")), ("Erase for good", None)],
    }
    if form.is_valid():
        reason = form.cleaned_data["reason"]
        context["receipt"] = erasing_wikis.erase(actor_of(request), wiki, reason=reason)
    status = HTTPStatus.UNPROCESSABLE_ENTITY if form.errors else HTTPStatus.OK
    return render(request, "wikis/erase.html", context, status=status)


@curator_page
def remove_page(request: HttpRequest, name: str) -> HttpResponse:
    """Ask whether to archive a page, naming the links that break; do it once confirmed."""
    wiki, ref = refs.split(name)
    page = wikis.find(wiki, ref)
    form = RemoveForm(request.POST or None, initial={"base": page.revision})
    stale = False
    if form.is_valid():
        given = form.cleaned_data
        try:
            gone = wikis.remove_page(
                actor_of(request), wiki, ref, base=given["base"], unlink=given["unlink"]
            )
        except Conflict as error:
            stale = True
            form.add_error(None, f"{error.detail}.")
        else:
            unlinked = f" {len(gone.unlinked)} pages were changed." if gone.unlinked else ""
            messages.success(request, f"“{page.title}” is archived.{unlinked}")
            return redirect("wiki", wiki)
    context = {
        "wiki": wikis.get(wiki),
        "page": page,
        "form": form,
        "links": _linking(wiki, ref),
        "trail": _trail(wikis.get(wiki), "Remove a page"),
    }
    status = HTTPStatus.CONFLICT if stale else HTTPStatus.OK
    return render(request, "wikis/remove.html", context, status=status)


def _linking(wiki: str, ref: str) -> list[Page]:
    """The pages whose links to this one would lead nowhere, each once."""
    return list({link.source.pk: link.source for link in wikis.links_to(wiki, ref)}.values())


@require_POST
@curator_page
def lock_page(request: HttpRequest, name: str) -> HttpResponse:
    """Lock a page, or unlock one that is locked."""
    page = wikis.find(*refs.split(name))
    change = wikis.unlock if request.POST.get("unlock") else wikis.lock
    return redirect(change(actor_of(request), Kind(page.kind), page.name))


@require_GET
def sources(request: HttpRequest, wiki: str) -> HttpResponse:
    """The files that were given to a wiki, and what became of each."""
    found = wikis.get(wiki)
    page = paging.page(
        wikis.sources(wiki), ("filename", "id"), cursor=request.GET.get("cursor", "")
    )
    context = {"wiki": found, "page": page, "trail": _trail(found, "Files given")}
    return render(request, "wikis/sources.html", context)


@require_GET
def lint_page(request: HttpRequest, wiki: str) -> HttpResponse:
    """What of a wiki is worth mending; the bank has such a page of its own."""
    found = wikis.get(wiki)
    if found.pk == wikis.BANK:
        return redirect("bank_lint")
    context = lint_context(request, found.pk)
    own = {
        "wiki": found,
        "trail": _trail(found, "Lint"),
        "json_url": reverse("api:list_wiki_findings", args=[found.pk, context["check"].name]),
    }
    return render(request, "wikis/lint.html", {**context, **own})


def _trail(wiki: Wiki, here: str) -> list[tuple[str, str | None]]:
    return [
        ("Wikis", reverse("wikis")),
        (wiki.name, reverse("wiki", args=[wiki.pk])),
        (here, None),
    ]
