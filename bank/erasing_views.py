"""Erasing a page for good in the browser: what goes is shown, and the name has to be typed."""

from collections.abc import Callable
from http import HTTPStatus

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from bank import erasing, queries
from bank.addresses import trail
from bank.erasing import Receipt
from bank.forms import EraseForm
from bank.models import Kind, Page
from memoryweb.core.access import actor_of, administrator_page
from memoryweb.core.errors import Conflict


@administrator_page
def erase(request: HttpRequest, kind: Kind, name: str) -> HttpResponse:
    """Ask whether to erase a page for good; do it once that is confirmed."""
    page = queries.find(kind, name)

    def do(form: EraseForm) -> Receipt:
        sent = form.cleaned_data
        actor = actor_of(request)
        return erasing.erase(actor, kind, page.name, base=sent["base"], reason=sent["reason"])

    return _asked(request, page, do)


@administrator_page
def erase_archived(request: HttpRequest, pk: int) -> HttpResponse:
    """The same for a page that was archived."""
    page = queries.archived_page(pk)

    def do(form: EraseForm) -> Receipt:
        reason = form.cleaned_data["reason"]
        return erasing.erase_archived(actor_of(request), page.pk, reason=reason)

    return _asked(request, page, do)


def _asked(request: HttpRequest, page: Page, do: Callable[[EraseForm], Receipt]) -> HttpResponse:
    form = EraseForm(page, request.POST if request.method == "POST" else None)
    stale, status = False, HTTPStatus.OK
    if form.is_valid():
        try:
            return _erased(request, page, do(form))
        except Conflict:
            stale, status = True, HTTPStatus.CONFLICT
            page.refresh_from_db()
            form = EraseForm(page)
    elif form.is_bound:
        status = HTTPStatus.UNPROCESSABLE_ENTITY
    context = {
        "page": page,
        "form": form,
        "stale": stale,
        "extent": erasing.extent(page),
        "files_left": erasing.files_left(page),
        "backlinks": queries.backlinks(page, actor_of(request)),
        "namesakes": queries.archived().filter(kind=page.kind, key=page.key).exclude(pk=page.pk),
        "trail": trail(page.kind, page if page.archived_at is None else None, "Erase for good"),
    }
    return render(request, "bank/erase.html", context, status=status)


def _erased(request: HttpRequest, page: Page, receipt: Receipt) -> HttpResponse:
    kept = queries.archived().filter(kind=page.kind, name=receipt.document.partition("/")[2])
    context = {
        "receipt": receipt,
        "namesakes": kept,
        "trail": trail(page.kind, None, "Erased"),
    }
    return render(request, "bank/erased.html", context)
