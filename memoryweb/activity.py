"""The page of who did what, each entry with a way to the thing it was done to."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import reduce
from operator import or_
from typing import Any

from django import forms
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone

from bank import queries as bank
from bank.models import Kind, Page, Revision
from episodes.models import Context, Episode, Memory
from memoryweb.core import audit, paging
from memoryweb.core.forms import YEARS
from memoryweb.core.models import AuditEntry

PAGES = f"{bank.COLLECTION}/"
REVISION = ("page", "number", "sha256")
HASH_LENGTH = 64
HASH_SHOWN = 8
# Of what is done without being asked for: why, and what to do instead.
ADVICE = {
    "page.file_rewritten": (
        "The file was gone, and is back: a deleted file takes no page away. Archive the page, "
        "and its file goes with it."
    )
}


class ActivityFilter(forms.Form):
    actor = forms.ChoiceField(required=False, label="Who")
    action = forms.ChoiceField(required=False, label="What")
    since = forms.DateField(
        required=False, widget=forms.DateInput({"type": "date"}), validators=YEARS
    )

    def __init__(self, data: object) -> None:
        super().__init__(data)  # type: ignore[arg-type]
        for name, values in (("actor", audit.actors()), ("action", audit.actions())):
            field = self.fields[name]
            assert isinstance(field, forms.ChoiceField)  # noqa: S101 - for the type checker
            field.choices = [("", "any"), *((value, value) for value in values)]


@dataclass(frozen=True)
class Fact:
    """One fact of an entry; of a hash its first digits are shown, and all of it on hover."""

    name: str
    value: str

    @property
    def short(self) -> str:
        return self.value[:HASH_SHOWN] if len(self.value) == HASH_LENGTH else ""

    @classmethod
    def of(cls, name: str, value: Any) -> "Fact":
        values = value if isinstance(value, list) else [value]
        said = ", ".join(
            {True: "yes", False: "no"}[one] if isinstance(one, bool) else str(one) for one in values
        )
        return cls(name.replace("_", " "), said)


@dataclass(frozen=True)
class Shown:
    """An entry, and where its thing is now; `changes` is what a save changed in a page's text.

    Both are "" when the thing is not there any more, or has no page.
    """

    entry: AuditEntry
    url: str
    changes: str

    @property
    def advice(self) -> str:
        return ADVICE.get(self.entry.action, "")

    @property
    def facts(self) -> list[Fact]:
        return [Fact.of(name, value) for name, value in self.entry.facts.items()]


def activity(request: HttpRequest) -> HttpResponse:
    """Who did what, newest first."""
    form = ActivityFilter(request.GET)
    wanted = form.cleaned_data if form.is_valid() else {}
    since = wanted.get("since")
    rows = audit.entries(
        actor=wanted.get("actor", ""),
        action=wanted.get("action", ""),
        since=timezone.make_aware(datetime.combine(since, datetime.min.time())) if since else None,
    )
    page = paging.page(rows, ("-id",), cursor=request.GET.get("cursor", ""))
    context = {
        "form": form,
        "page": page,
        "shown": _shown(page.items),
        "filtered": any(wanted.values()),
    }
    status = 200 if form.is_valid() else 422
    return render(request, "activity.html", context, status=status)


def _shown(entries: Sequence[AuditEntry]) -> list[Shown]:
    pages = pages_of(entry.target for entry in entries)
    found = addresses(entry.target for entry in entries)
    found |= {target: page.get_absolute_url() for target, page in pages.items()}
    changes = _changes(entries, pages)
    return [
        Shown(entry, found.get(entry.target, ""), changes.get(entry.pk, "")) for entry in entries
    ]


def addresses(targets: Iterable[str]) -> dict[str, str]:
    """Where the things are that these targets name, of those that are still there."""
    named: dict[str, dict[str, str]] = {"episodes": {}, "contexts": {}, "memories": {}}
    for target in targets:
        collection, _, document = target.partition("/")
        if document and collection in named:
            named[collection][document] = target
    episodes = Episode.objects.filter(pk__in=named["episodes"]).only("pk")
    contexts = Context.objects.filter(pk__in=named["contexts"]).only("pk")
    memories = Memory.objects.filter(pk__in=named["memories"]).only("pk")
    return {
        **{named["episodes"][one.pk]: one.get_absolute_url() for one in episodes},
        **{named["contexts"][one.pk]: one.get_absolute_url() for one in contexts},
        **{named["memories"][one.pk]: one.get_absolute_url() for one in memories},
    }


def pages_of(targets: Iterable[str]) -> dict[str, Page]:
    """The pages that these targets name, those too that have another name by now."""
    documents = {target.removeprefix(PAGES) for target in targets if target.startswith(PAGES)}
    rows = bank.living().defer("content")
    names = {document.partition("/")[2] for document in documents}
    now = {page.document: page for page in rows.filter(name__in=names)}
    before = _renamed(documents - now.keys())
    return {f"{PAGES}{document}": page for document, page in {**before, **now}.items()}


def _renamed(documents: Collection[str]) -> dict[str, Page]:
    """The pages that had these names before."""
    parts = (document.partition("/") for document in documents)
    pages = bank.formerly((Kind(kind), name) for kind, _, name in parts if kind in Kind.values)
    former = {f"{page.kind}/{name}": page for page in pages for name in page.former_names}
    return {document: page for document, page in former.items() if document in documents}


def _changes(entries: Iterable[AuditEntry], pages: dict[str, Page]) -> dict[int, str]:
    """Where it is shown what each of these entries changed in a page's text."""
    saved = {
        entry.pk: (pages[entry.target], entry.facts["revision"], entry.facts.get("sha256"))
        for entry in entries
        if entry.target in pages and "revision" in entry.facts
    }
    wanted = [Q(page=page, number=number) for page, number, _ in saved.values()]
    rows = bank.with_before(Revision.objects.filter(reduce(or_, wanted, Q(pk=None))))
    found = {tuple(key): before for *key, before in rows.values_list(*REVISION, "before")}
    return {
        pk: _difference(page, number, before)
        for pk, (page, number, sha256) in saved.items()
        if (before := found.get((page.pk, number, sha256)))
    }


def _difference(page: Page, number: int, before: int) -> str:
    place = {"kind": page.kind, "name": page.name, "number": number}
    return f"{reverse('page_revision', kwargs=place)}?against={before}"
