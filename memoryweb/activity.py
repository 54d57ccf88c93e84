"""The page of who did what, each entry with a way to the thing it was done to."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from bank.models import Page
from episodes.models import Episode
from memoryweb.core import audit, paging
from memoryweb.core.forms import YEARS
from memoryweb.core.models import AuditEntry


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
class Shown:
    entry: AuditEntry
    url: str  # "" when the thing is not there any more, or has no page


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
    found = addresses(entry.target for entry in page.items)
    shown = [Shown(entry, found.get(entry.target, "")) for entry in page.items]
    context = {"form": form, "page": page, "shown": shown, "filtered": any(wanted.values())}
    status = 200 if form.is_valid() else 422
    return render(request, "activity.html", context, status=status)


def addresses(targets: Iterable[str]) -> dict[str, str]:
    """Where the things are that these targets name, of those that are still there."""
    named: dict[str, dict[str, str]] = {"episodes": {}, "pages": {}}
    for target in targets:
        collection, _, document = target.partition("/")
        if document and collection in named:
            named[collection][document] = target
    found = {
        named["episodes"][episode.pk]: episode.get_absolute_url()
        for episode in Episode.objects.filter(pk__in=named["episodes"]).only("pk")
    }
    names = [document.partition("/")[2] for document in named["pages"]]
    for page in Page.objects.filter(name__in=names, archived_at=None).only("kind", "name"):
        if page.document in named["pages"]:
            found[named["pages"][page.document]] = page.get_absolute_url()
    return found
