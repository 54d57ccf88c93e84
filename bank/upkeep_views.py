"""Pages for looking after the bank: what lint finds, and a page's new name."""

from http import HTTPStatus
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET

from bank import findings, lint, queries, renaming
from bank.addresses import trail
from bank.forms import LintForm, RenameForm
from bank.models import Kind, Page
from bank.renaming import Renamed
from memoryweb.core import paging
from memoryweb.core.access import actor_of, curator_page, may_write
from memoryweb.core.errors import Conflict, Invalid, Refused
from memoryweb.core.forms import add_errors

SHOWN = 5  # Pages named in a message; of the others it says how many.


@require_GET
def lint_list(request: HttpRequest) -> HttpResponse:
    """How much each check finds, and the findings of one of them."""
    context = lint_context(request)
    json_url = reverse("api:list_findings", args=[context["check"].name])
    return render(request, "bank/lint.html", {**context, "json_url": json_url})


def lint_context(request: HttpRequest, wiki: str | None = None) -> dict[str, Any]:
    """What bank/_findings.html draws of a wiki, None for the bank."""
    actor = actor_of(request)
    counts = lint.counts(actor, wiki)
    form = LintForm(request.GET)
    check = lint.CHECKS[form.cleaned_data["check"] if form.is_valid() else _first(counts)]
    rows = check.readable(actor, wiki)
    found = paging.page(rows, check.order, cursor=request.GET.get("cursor", ""))
    return {
        "checks": [(one, counts[one.name]) for one in lint.CHECKS.values()],
        "check": check,
        "found": found,
        "items": lint.items(check, found.items, wiki),
        "may_write": may_write(request),
    }


def _first(counts: dict[lint.Name, int]) -> lint.Name:
    """The first check that finds anything."""
    return next((name for name, count in counts.items() if count), next(iter(counts)))


@curator_page
def rename(request: HttpRequest, name: str) -> HttpResponse:
    """Ask for a page's new name, and give it."""
    page = queries.find(Kind.ENTITY, name)
    asked = {"to": page.name, "update_links": True, "base": page.revision}
    form = RenameForm(request.POST or None, initial=asked)
    refused: list[findings.Shown] = []
    if form.is_valid():
        given = form.cleaned_data
        try:
            renamed = renaming.rename(actor_of(request), page.name, **given)
        except Invalid as error:
            add_errors(form, error)
        except Conflict as conflict:
            form.add_error(None, conflict.detail)
        except Refused as refusal:
            refused = findings.shown(page.content, refusal.findings)
        else:
            _tell(request, renamed)
            return redirect(renamed.page)
    return _rename(request, page, form, refused)


def _rename(
    request: HttpRequest, page: Page, form: RenameForm, refused: list[findings.Shown]
) -> HttpResponse:
    context = {
        "page": page,
        "form": form,
        "refused": refused,
        "backlinks": queries.backlinks(page, actor_of(request)),
        "trail": trail(Kind.ENTITY, page, "Rename"),
    }
    status = HTTPStatus.UNPROCESSABLE_ENTITY if form.is_bound else HTTPStatus.OK
    return render(request, "bank/rename.html", context, status=status)


def _tell(request: HttpRequest, renamed: Renamed) -> None:
    count = len(renamed.rewritten) + renamed.pending
    how = ", one after the other" if renamed.pending else ""
    links = f" The links of {count:,} page{'s' * (count != 1)} follow it{how}." if count else ""
    messages.success(request, f"“{renamed.old}” is called “{renamed.page.name}” now.{links}")
    if renamed.left:
        some = [f"“{name}” ({why})" for name, why in [*renamed.left.items()][:SHOWN]]
        more = len(renamed.left) - len(some)
        messages.warning(
            request,
            f"These pages keep the old name in their links, which lead here all the same: "
            f"{', '.join(some)}{f' and {more:,} more' if more else ''}.",
        )
