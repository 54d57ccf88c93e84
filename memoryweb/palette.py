"""The command palette: the pages of the product, what is recent, pages and sessions by name,
and actions."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_GET
from django.views.decorators.vary import vary_on_headers

from bank import queries as bank
from bank import withholding
from bank.models import Kind, Page
from episodes import session_queries
from episodes.models import Context, Episode
from memoryweb.context import ADMINISTRATION, BANK, SECTIONS, SETTINGS
from memoryweb.core.access import actor_of
from memoryweb.core.actor import Actor, Role
from search.sources import title_of

RECENT = 5
NAMED = 8
LOOKED_AT = 100
LONGEST = 200


@dataclass(frozen=True)
class Choice:
    """One line: where it leads, or what it copies."""

    label: str
    url: str = ""
    icon: str = "file"
    hint: str = ""
    copies: str = ""

    def fits(self, words: Iterable[str]) -> bool:
        said = f"{self.hint} {self.label}".casefold()
        return all(word in said for word in words)

    def begins(self, q: str) -> bool:
        return any(text.casefold().startswith(q.casefold()) for text in (self.label, self.hint))


@dataclass(frozen=True)
class Group:
    title: str
    choices: list[Choice]


@require_GET
@vary_on_headers("HX-Request")
def palette(request: HttpRequest) -> HttpResponse:
    """What can be gone to and done, by what is typed."""
    q = request.GET.get("q", "").strip()[:LONGEST]
    groups = list(_groups(actor_of(request), q, request.headers.get("HX-Current-URL", "")))
    context = {"q": q, "groups": groups, "count": sum(len(group.choices) for group in groups)}
    part = bool(request.htmx)  # type: ignore[attr-defined]
    return render(request, "palette/_list.html" if part else "palette/palette.html", context)


def _groups(actor: Actor, q: str, here: str) -> Iterator[Group]:
    """The groups that have a choice; with nothing typed what is recent, else what fits."""
    words = q.casefold().split()
    found = [
        Group("Pages of the bank", _named(actor, q) if q else _changed(actor)),
        Group("Sessions", _sessions(q)),
        Group("Latest episodes", [] if q else _episodes()),
        Group("Go to", [one for one in _places(actor) if one.fits(words)]),
        Group("Do", [one for one in _actions(actor, here) if one.fits(words)]),
        Group("Search", [_searched(q)] if q else []),
    ]
    yield from (group for group in found if group.choices)


def _named(actor: Actor, q: str) -> list[Choice]:
    """Pages that fit; those that are called so come before those that only speak of it."""
    rows = bank.entities(q=q, reader=actor).defer("content")[:LOOKED_AT]
    found = sorted((_page(actor, page) for page in rows), key=lambda one: not one.begins(q))
    return found[:NAMED]


def _changed(actor: Actor) -> list[Choice]:
    pages = bank.living().exclude(kind=Kind.WIKI).defer("content")
    return [_page(actor, page) for page in pages.order_by("-updated_at", "pk")[:RECENT]]


def _page(actor: Actor, page: Page) -> Choice:
    shown = withholding.as_read(actor, page)
    hint = shown.name if shown.name != shown.title else ""
    return Choice(shown.title, page.get_absolute_url(), "bank", hint)


def _sessions(q: str) -> list[Choice]:
    """Those whose id, name or intent has what is typed; else those that were saved last."""
    rows = Context.objects.filter(session_queries.speaking_of(q)) if q else Context.objects.all()
    return [
        Choice(one.name, one.get_absolute_url(), "sessions", one.pk if one.pk != one.name else "")
        for one in rows.order_by("-updated_at", "id")[: NAMED if q else RECENT]
    ]


def _episodes() -> list[Choice]:
    latest = Episode.objects.filter(quarantined=False).order_by("-created_at", "id")[:RECENT]
    return [
        Choice(title_of(one.summary) or one.pk, one.get_absolute_url(), "episodes")
        for one in latest
    ]


def _places(actor: Actor) -> Iterator[Choice]:
    """Every page of the navigation, and those that are reached from there."""
    below = {
        "bank": [(one.label, one.url) for one in BANK],
        "settings": [(one.label, one.url) for one in SETTINGS],
        "sessions": [("Memories", reverse("memories")), ("Code vectors", reverse("code_vectors"))],
        "review": [("Conflicts", "/review/conflicts/"), ("Decided", "/review/?state=decided")],
    }
    below["bank"] += [("Lint", reverse("bank_lint")), ("Archived pages", reverse("archived_pages"))]
    below["review"] += [("Try a text", reverse("guard")), ("Rules", reverse("guard_rules"))]
    if actor.role >= Role.ADMINISTRATOR:
        below["settings"] += [(one.label, one.url) for one in ADMINISTRATION]
    for section in SECTIONS:
        inside = below.get(section.section, [])
        if section.url not in {url for _, url in inside}:
            yield Choice(section.label, section.url, section.icon)
        for label, url in inside:
            yield Choice(label, url, section.icon, section.label)


def _actions(actor: Actor, here: str) -> Iterator[Choice]:
    if actor.role >= Role.CURATOR:
        yield Choice("New page", reverse("new_page"), "plus")
        yield Choice("Add to today’s note", f"{reverse('notes')}#id_text", "plus")
    if actor.role >= Role.ADMINISTRATOR:
        yield Choice("Make a token", reverse("tokens"), "key")
    if here:
        yield Choice("Copy the address of this page", icon="copy", copies=here)
    yield Choice("Change your password", reverse("account"), "person")


def _searched(q: str) -> Choice:
    return Choice(f"Search memories for “{q}”", reverse("search", query={"q": q}), "search")
