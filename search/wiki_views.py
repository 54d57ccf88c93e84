"""The pages of wikis: their list, one wiki with its search, its lint and the files given to it."""

from dataclasses import dataclass, replace
from hashlib import sha1
from http import HTTPStatus
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET
from django.views.decorators.vary import vary_on_headers

from bank import wiki_pages, wikis, withholding
from bank.addresses import address_of
from bank.models import Wiki
from bank.upkeep_views import lint_context
from memoryweb.core import paging
from memoryweb.core.access import actor_of, may_write
from memoryweb.core.actor import Role
from memoryweb.core.parts import is_part
from search.wiki import feeding, service
from search.wiki.searching import Query, Result
from search.wiki.snippet import Highlight
from search.wiki_forms import WikiSearchForm


def page_url(wiki: str, ref: str) -> str:
    """Where a page that is there is read."""
    return address_of(*wiki_pages.known(wiki, ref))


def trail(wiki: Wiki, here: str) -> list[tuple[str, str | None]]:
    """The way to a page about a wiki."""
    return [
        ("Wikis", reverse("wikis")),
        (wiki.name, reverse("wiki", args=[wiki.pk])),
        (here, None),
    ]


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
    counts |= {wikis.BANK: wiki_pages.pages_of(wikis.BANK).count()}
    context = {
        "page": found,
        "rows": [(wiki, counts[wiki.pk]) for wiki in shown],
        "deleted": wikis.deleted() if actor_of(request).role >= Role.ADMINISTRATOR else [],
        "may_write": may_write(request),
        "json_url": reverse("api:list_wikis"),
    }
    return render(request, "wikis/list.html", context)


# One wiki


@require_GET
@vary_on_headers("HX-Request")
def wiki_page(request: HttpRequest, wiki: str) -> HttpResponse:
    """A wiki's pages, or what a search finds in it; htmx asks for the part that changes."""
    found, form = wikis.get(wiki), WikiSearchForm.of(request.GET)
    valid, part = form.is_valid(), is_part(request)
    context = {
        "wiki": found,
        "form": form,
        "part": part,
        "may_write": may_write(request),
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
    return {
        "answer": found.answer,
        "state": found.state,
        "rows": rows,
        "decay": asked["decay"],
        "most": asked["limit"],
    }


def _pages(request: HttpRequest, wiki: Wiki) -> dict[str, Any]:
    rows = wiki_pages.pages_of(wiki.pk).defer("content")
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


@require_GET
def sources(request: HttpRequest, wiki: str) -> HttpResponse:
    """The files that were given to a wiki, and what became of each."""
    found = wikis.get(wiki)
    page = paging.page(
        wikis.sources(wiki), ("filename", "id"), cursor=request.GET.get("cursor", "")
    )
    context = {
        "wiki": found,
        "page": page,
        "trail": trail(found, "Files given"),
        "json_url": reverse("api:list_sources", args=[wiki]),
    }
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
        "trail": trail(found, "Lint"),
        "json_url": reverse("api:list_wiki_findings", args=[found.pk, context["check"].name]),
    }
    return render(request, "wikis/lint.html", {**context, **own})
