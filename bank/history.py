"""A page's history: its versions, the difference of any two, going back, and two that compete."""

from http import HTTPStatus
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET

from bank import findings, queries, services, withholding
from bank.addresses import trail
from bank.forms import AgainstForm, BaseForm, PickedForm
from bank.models import Kind, Page, Revision
from bank.showing import changes
from memoryweb.core import paging
from memoryweb.core.access import actor_of, curator_page, may_write
from memoryweb.core.errors import Conflict, Refused


@require_GET
def history(request: HttpRequest, kind: Kind, name: str) -> HttpResponse:
    """Every version of a page, the latest first."""
    page = withholding.as_read(actor_of(request), queries.find(kind, name))
    picked = PickedForm(request.GET)
    if picked.is_valid():
        return redirect(_difference(page, **picked.cleaned_data))
    cursor = request.GET.get("cursor", "")
    context = {
        "page": page,
        "revisions": paging.page(queries.revisions(page), ("-number",), cursor=cursor),
        "first": queries.first_number(page),
        "may_write": may_write(request),
        "json_url": _twin("list_{}revisions", page),
        "trail": trail(kind, page, "History"),
    }
    return render(request, "bank/history.html", context)


@require_GET
def revision(request: HttpRequest, kind: Kind, name: str, number: int) -> HttpResponse:
    """One version: its text, or how it differs from another one."""
    reader = actor_of(request)
    page = withholding.as_read(reader, queries.find(kind, name))
    shown = queries.revision(page, number)
    form = AgainstForm(request.GET)
    against = form.cleaned_data["against"] if form.is_valid() else None
    other = queries.revision(page, against) if against is not None else shown
    context: dict[str, Any] = {
        "page": page,
        "revision": shown,
        "against": against,
        "before": queries.before(page, number),
        "split": request.GET.get("view") != "unified",
        "may_write": may_write(request),
        "json_url": _twin("get_{}revision", page, number),
        "trail": _trail(page, f"Revision {number}"),
    }
    if withholding.is_withheld(reader, shown) or withholding.is_withheld(reader, other):
        context["held_back"] = True
    elif against is None:
        context["text"] = findings.marked(shown.content, [])
    else:
        context["sides"] = (other, shown)
        context["changes"] = changes(other.content, shown.content, split=context["split"])
    return render(request, "bank/revision.html", context)


@curator_page
def restore(request: HttpRequest, kind: Kind, name: str, number: int) -> HttpResponse:
    """Show what going back to a version changes; do it, as a new version, once confirmed."""
    page = queries.find(kind, name)
    earlier = queries.revision(page, number)
    form = BaseForm(request.POST or None, initial={"base": page.revision})
    if not form.is_valid():
        return _restoring(request, page, earlier)
    try:
        saved = services.revert(
            actor_of(request), kind, name, number, base=form.cleaned_data["base"]
        )
    except Conflict:
        page = queries.find(kind, name)
        return _restoring(request, page, earlier, status=HTTPStatus.CONFLICT, stale=True)
    except Refused as refusal:
        shown = findings.shown(earlier.content, refusal.findings)
        status = HTTPStatus.UNPROCESSABLE_ENTITY
        return _restoring(request, page, earlier, status=status, refused=shown)
    messages.success(request, f"Revision {number} is back, as revision {saved.revision.number}.")
    return redirect(saved.page)


def _restoring(
    request: HttpRequest,
    page: Page,
    earlier: Revision,
    *,
    status: int = HTTPStatus.OK,
    **more: Any,
) -> HttpResponse:
    split = request.GET.get("view") != "unified"
    context = {
        "page": page,
        "revision": earlier,
        "form": BaseForm(initial={"base": page.revision}),
        "changes": changes(page.content, earlier.content, split=split),
        "trail": _trail(page, f"Restore revision {earlier.number}"),
    } | more
    return render(request, "bank/restore.html", context, status=status)


@curator_page
def settle(request: HttpRequest, kind: Kind, name: str) -> HttpResponse:
    """Two texts compete, because the file was changed during a save: choose the one that stays."""
    page = queries.find(kind, name)
    if page.conflict is None:
        raise Http404
    other = queries.revision(page, page.conflict)
    form = BaseForm(request.POST or None)
    stale = False
    if form.is_valid():
        chosen = other.content if request.POST.get("keep") == "other" else page.content
        try:
            services.save(
                actor_of(request),
                kind,
                name,
                chosen,
                base=form.cleaned_data["base"],
                message=f"Settled against revision {other.number}",
                settles=other.number,
            )
        except Conflict:
            stale, page = True, queries.find(kind, name)
        else:
            messages.success(request, "Settled. The other text stays in the history.")
            return redirect(page)
    context = {
        "page": page,
        "other": other,
        "last": queries.revision(page, page.revision),
        "form": BaseForm(initial={"base": page.revision}),
        "stale": stale,
        "changes": changes(page.content, other.content, split=request.GET.get("view") != "unified"),
        "trail": trail(kind, page, "Two texts"),
    }
    status = HTTPStatus.CONFLICT if stale else HTTPStatus.OK
    return render(request, "bank/settle.html", context, status=status)


def _difference(page: Page, old: int, new: int) -> str:
    """Where it is shown how one revision became another."""
    number = {"kind": page.kind, "name": page.name, "number": new}
    return f"{reverse('page_revision', kwargs=number)}?against={old}"


def _trail(page: Page, here: str) -> list[tuple[str, str | None]]:
    above = trail(page.kind, page, here)
    address = reverse("page_history", kwargs={"kind": page.kind, "name": page.name})
    return [*above[:-1], ("History", address), above[-1]]


def _twin(operation: str, page: Page, *arguments: int) -> str:
    """The JSON twin; {} in the operation's name stands for the kind of page."""
    if page.kind == Kind.WIKI:
        return ""
    of = {Kind.ENTITY: "", Kind.NOTE: "note_", Kind.MEMORY: "memory_"}[Kind(page.kind)]
    name = [] if page.kind == Kind.MEMORY else [page.name]
    return reverse(f"api:{operation.format(of)}", args=[*name, *arguments])
