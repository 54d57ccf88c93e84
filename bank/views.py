"""The pages of the bank: its list, one page, the daily notes, and what was archived."""

import calendar
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from http import HTTPStatus
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST
from django.views.decorators.vary import vary_on_headers

from bank import findings, names, problems, queries, refs, rewriting, services, withholding
from bank.addresses import resolver, trail
from bank.forms import ORDERS, AppendForm, BaseForm, ListForm
from bank.markdown import split
from bank.models import Kind, Page
from bank.publishing import Blocked
from bank.rendering import Rendered
from bank.showing import prose
from memoryweb.core import paging
from memoryweb.core.access import actor_of, curator_page, may_write
from memoryweb.core.actor import Actor, Role
from memoryweb.core.chunks import chunks
from memoryweb.core.errors import Conflict, Invalid, Moved, NotFound, Refused
from memoryweb.core.forms import add_errors
from memoryweb.core.parts import is_part

MOST_TAGS = 24
BACKLINKS = 100  # Pages named that link to a page; all are counted.
HELD = 5  # Texts shown of those that wait for a page; an agent may propose any number.
WINDOW = 7  # Days before today whose notes agents are given with today's.


def may_erase(request: HttpRequest) -> bool:
    return actor_of(request).role >= Role.ADMINISTRATOR


# The list


@require_GET
@vary_on_headers("HX-Request")
def entity_list(request: HttpRequest) -> HttpResponse:
    """All pages, searched and by tag; htmx asks for the part that changes."""
    form = ListForm(request.GET)
    wanted = {k: v for k, v in form.cleaned_data.items() if v} if form.is_valid() else {}
    order = wanted.pop("order", "name")
    reader = actor_of(request)
    rows = queries.entities(**wanted, reader=reader)
    described = queries.with_link_counts
    found = paging.page(
        described(rows) if order == "links" else rows,
        ORDERS[order],
        cursor=request.GET.get("cursor", ""),
        described=described if order != "links" else lambda rows: rows,
    )
    part = is_part(request)
    context = {
        "page": _as_read(reader, found),
        "q": wanted.get("q", ""),
        "tag": wanted.get("tag", ""),
        "order": order,
        "orders": {name: _with(request.GET, order=name) for name in ORDERS},
        "tags": _tags(request.GET, wanted.get("tag", ""), reader),
        "json_url": f"{reverse('api:list_entities')}?{urlencode(wanted)}",
        "may_write": may_write(request),
        "untaken": 0 if part else problems.listed().count(),
        "missing": [] if part else problems.missing(),
        "part": part,
    }
    return render(request, "bank/_list.html" if part else "bank/list.html", context)


def _as_read(reader: Actor, found: paging.Page[Page]) -> paging.Page[Page]:
    return replace(found, items=[withholding.as_read(reader, page) for page in found.items])


def _tags(query: QueryDict, chosen: str, reader: Actor) -> list[dict[str, Any]]:
    """The most used tags, each with the address of the list it filters or is taken off of."""
    counts = Counter(queries.tags(reader)).most_common(MOST_TAGS)
    shown = dict(counts) if not chosen or chosen in dict(counts) else {chosen: None, **dict(counts)}
    return [
        {
            "name": tag,
            "count": count,
            "on": tag == chosen,
            "url": _with(query, tag="" if tag == chosen else tag),
        }
        for tag, count in shown.items()
    ]


def _with(query: QueryDict, **values: str) -> str:
    """The address of the list with these values in place of its own, "" for none."""
    changed = query.copy()
    changed.pop("cursor", None)
    for name, value in values.items():
        changed.pop(name, None)
        if value:
            changed[name] = value
    return f"?{changed.urlencode()}"


# One page


@require_GET
def page(request: HttpRequest, kind: Kind, name: str) -> HttpResponse:
    """A page as it reads, with what links to it and what it links to."""
    try:
        found = queries.read(kind, name)
    except Moved:
        raise
    except NotFound:
        return _missing(request, kind, name)
    if found.name != name:
        return redirect(found)
    reader = actor_of(request)
    shown = withholding.as_read(reader, found)
    backlinks, held = queries.backlinks(found, reader), _held(found, reader)
    named, outgoing = list(backlinks[:BACKLINKS]), queries.outgoing(found, reader)
    context = {
        "page": shown,
        "prose": _prose(shown, found),
        "front": split(shown.content).raw.strip("\ufeff\r\n"),
        "backlinks": named,
        "backlinks_count": backlinks.count(),
        "outgoing": outgoing,
        "twins": _twins([found, *named, *(link.to for link in outgoing if link.to)]),
        "last": queries.revision(found, found.revision),
        "other": queries.revision(found, found.conflict) if found.conflict else None,
        "held": held[:HELD],
        "more_held": len(held) > HELD,
        "may_write": may_write(request),
        "may_erase": may_erase(request),
        "json_url": api_address(kind, found.name),
        "trail": trail(kind, shown),
        "near": _neighbours(found) if kind == Kind.NOTE else None,
        "append": AppendForm(initial={"day": found.name}) if kind == Kind.NOTE else None,
        "following": [(one, rewriting.waiting(one).count()) for one in found.rewritings.all()],
    }
    return render(request, "bank/page.html", context)


def _prose(shown: Page, page: Page) -> Rendered:
    address = resolver(shown.content, shown.wiki_id or "", page)
    return prose(shown.content, address, shown.title)


def _twins(pages: Iterable[Page]) -> set[str]:
    """The titles that more than one of these pages has."""
    counts = Counter(title for title, _ in {(page.title, page.pk) for page in pages})
    return {title for title, count in counts.items() if count > 1}


def _missing(request: HttpRequest, kind: Kind, name: str) -> HttpResponse:
    """No such page: offer to begin it, where the name can be a page's."""
    refusal, slug = "", name
    called = name.partition("/")[2] if kind == Kind.WIKI else name
    if kind == Kind.ENTITY:
        try:
            slug = names.slug(name)
        except names.NameRefused as refused:
            refusal = refused.reason
    context = {
        "kind": kind,
        "name": called,
        "slug": slug,
        "refusal": refusal,
        "archived": queries.archived().filter(kind=kind, key=queries.key_of(kind, name)).first(),
        "may_write": may_write(request),
        "trail": trail(kind, None, called, name),
    }
    return render(request, "bank/missing.html", context, status=HTTPStatus.NOT_FOUND)


def _held(page: Page, reader: Actor) -> list[dict[str, Any]]:
    """The latest that waits in Review of this page, one more than is shown, with the guard's
    findings for those who decide."""
    items = queries.held(page)[: HELD + 1]
    if not reader.may_decide:
        return [{"item": item} for item in items]
    return [
        {"item": item, "findings": findings.shown(item.text, findings.stored(item.findings))}
        for item in items
    ]


def _neighbours(note: Page) -> dict[str, Page | None]:
    """The notes before and after this one."""
    return {
        "before": queries.notes().filter(name__lt=note.name).first(),
        "after": queries.notes().filter(name__gt=note.name).order_by("name").first(),
    }


def api_address(kind: Kind | str, name: str) -> str:
    """The page's JSON twin."""
    if kind == Kind.MEMORY:
        return reverse("api:get_memory")
    if kind == Kind.WIKI:
        wiki, ref = refs.split(name)
        return f"{reverse('api:get_wiki_page', args=[wiki])}?{urlencode({'ref': ref})}"
    return reverse("api:get_note" if kind == Kind.NOTE else "api:get_entity", args=[name])


# Archive


@curator_page
def archive(request: HttpRequest, kind: Kind, name: str) -> HttpResponse:
    """Ask whether to archive a page; do it once that is confirmed."""
    found = queries.find(kind, name)
    form = BaseForm(request.POST or None, initial={"base": found.revision})
    stale = False
    if form.is_valid():
        try:
            services.archive(actor_of(request), kind, name, base=form.cleaned_data["base"])
        except Blocked:
            raise  # Nobody saved; the file itself is odd, which the error says.
        except Conflict:
            stale, form = True, BaseForm(initial={"base": found.revision})
        else:
            messages.success(request, f"“{found.title}” is archived; it can be restored here.")
            return redirect("archived_pages")
    context = {
        "page": found,
        "form": form,
        "stale": stale,
        "backlinks": queries.backlinks(found, actor_of(request)),
        "may_erase": may_erase(request),
        "trail": trail(kind, found, "Archive"),
    }
    status = HTTPStatus.CONFLICT if stale else HTTPStatus.OK
    return render(request, "bank/archive.html", context, status=status)


@require_GET
def archived(request: HttpRequest) -> HttpResponse:
    """What was archived, the latest first."""
    found = paging.page(
        queries.archived().filter(wiki=None).defer("content"),
        ("-archived_at", "id"),
        cursor=request.GET.get("cursor", ""),
    )
    context = {
        "page": _as_read(actor_of(request), found),
        "may_write": may_write(request),
        "may_erase": may_erase(request),
        "json_url": reverse("api:list_archived"),
        "trail": trail("", None, "Archived"),
    }
    return render(request, "bank/archived.html", context)


@require_POST
@curator_page
def restore(request: HttpRequest, pk: int) -> HttpResponse:
    """Bring an archived page back."""
    saved = services.restore(actor_of(request), pk)
    messages.success(request, f"“{saved.page.title}” is back.")
    return redirect(saved.page)


# Notes


@dataclass(frozen=True)
class Square:
    """One day in the month: its note, if there is one, and how it is drawn."""

    day: date | None = None
    note: Page | None = None
    classes: str = "outside"


def notes(request: HttpRequest) -> HttpResponse:
    """The notes of a month, and a box to add to today's."""
    if request.method == "POST":
        return _append(request)
    return _notes(request, AppendForm(initial={"day": timezone.localdate()}))


@curator_page
def _append(request: HttpRequest) -> HttpResponse:
    form = AppendForm(request.POST)
    refused: list[findings.Shown] = []
    if form.is_valid():
        text = form.cleaned_data["text"]
        try:
            day = form.cleaned_data["day"]
            saved = services.append_note(actor_of(request), text, day)
        except Refused as refusal:
            refused = findings.shown(text, refusal.findings)
        except Invalid as error:
            add_errors(form, error)
        else:
            messages.success(request, f"Added to the note of {saved.page.name}.")
            return redirect(saved.page)
    return _notes(request, form, refused, HTTPStatus.UNPROCESSABLE_ENTITY)


def _notes(
    request: HttpRequest,
    form: AppendForm,
    refused: Sequence[findings.Shown] = (),
    status: int = HTTPStatus.OK,
) -> HttpResponse:
    today = timezone.localdate()
    month = _month(request.GET.get("month", ""), today)
    of_month = queries.notes().filter(name__startswith=month.isoformat()[:7]).defer("content")
    context = {
        "form": form,
        "refused": refused,
        "today": today,
        "month": month,
        "weeks": _weeks(month, today),
        "notes": [withholding.as_read(actor_of(request), note) for note in of_month],
        "earlier": _months(month, -1),
        "later": _months(month, 1),
        "any_notes": queries.notes().exists(),
        "may_write": may_write(request),
        "json_url": reverse("api:list_notes"),
    }
    return render(request, "bank/notes.html", context, status=status)


def _month(text: str, today: date) -> date:
    """The first day of the month that was asked for, of this month when that is none."""
    try:
        return date.fromisoformat(f"{text}-01")
    except ValueError:
        return today.replace(day=1)


def _months(month: date, step: int) -> date | None:
    """The first day of the nearest month before or after that has notes."""
    if step < 0:
        found = queries.notes().filter(name__lt=month.isoformat()).first()
    else:
        last = month.replace(day=calendar.monthrange(month.year, month.month)[1])
        found = queries.notes().filter(name__gt=last.isoformat()).order_by("name").first()
    return date.fromisoformat(found.name).replace(day=1) if found else None


def _weeks(month: date, today: date) -> list[list[Square]]:
    """The weeks that the month touches, Monday first; the last one of all ends in no day."""
    days = [
        date(year, number, day) if year <= date.max.year else None
        for year, number, day in calendar.Calendar().itermonthdays3(month.year, month.month)
    ]
    names = [day.isoformat() for day in days if day]
    noted = {note.name: note for note in queries.notes().filter(name__in=names).defer("content")}
    squares = [_square(day, month, today, noted) if day else Square() for day in days]
    return list(chunks(squares, 7))


def _square(day: date, month: date, today: date, noted: dict[str, Page]) -> Square:
    classes = {
        "outside": day.month != month.month,
        "today": day == today,
        "in-window": today - timedelta(days=WINDOW) <= day <= today,
    }
    drawn = " ".join(name for name, holds in classes.items() if holds)
    return Square(day, noted.get(day.isoformat()), drawn)
