"""What the pages of episodes and of sessions have in common: filters in the address, counts, and
how a form tells what the writer refuses."""

from collections.abc import Callable, Sequence
from http import HTTPStatus
from operator import attrgetter
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render

from episodes.deletion import Receipt
from episodes.forms import Filters
from memoryweb.core.errors import Conflict, Invalid, Refused
from memoryweb.core.forms import add_errors


def taken_off(query: QueryDict, form: Filters) -> list[dict[str, str]]:
    """Each filter that is on, with the address of the list without it."""
    return [
        {"label": label, "value": value, "url": f"?{without(query, name, 'cursor')}"}
        for name, label, value in form.active()
    ]


def without(query: QueryDict, *names: str) -> str:
    rest = query.copy()
    for name in names:
        rest.pop(name, None)
    return rest.urlencode()


def back_to(request: HttpRequest, address: str) -> str:
    """This address with the filters that a form was sent from, as its field `back` has them."""
    back = QueryDict(request.POST.get("back", "")[:4000])
    return address + (f"?{back.urlencode()}" if back else "")


def form_page(
    request: HttpRequest,
    template: str,
    context: dict[str, Any],
    save: Callable[[], HttpResponse],
    *,
    stale: Callable[[], dict[str, Any]] | None = None,
    findings: Callable[[Refused], Sequence[Any]] = attrgetter("findings"),
) -> HttpResponse:
    """The page of the form in `context`, or what `save` answers once the form is sent and valid.

    What the writer refuses is told beside what was typed: with 422, and `findings` when the guard
    objects, or with 409 and what `stale` adds. A step back to the form (`step` is edit) is no save.
    """
    form, status = context["form"], HTTPStatus.OK
    if request.method == "POST" and request.POST.get("step") != "edit":
        status = HTTPStatus.UNPROCESSABLE_ENTITY
        try:
            if form.is_valid():
                return save()
        except Invalid as error:
            add_errors(form, error)
        except Refused as refusal:
            context["findings"] = findings(refusal)
        except Conflict:
            if stale is None:
                raise
            status = HTTPStatus.CONFLICT
            context |= stale()
    return render(request, template, context, status=status)


def counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def counted_memories(number: int) -> str:
    return f"{number:,} {'memory' if number == 1 else 'memories'}"


def tell_deleted(request: HttpRequest, what: str, receipt: Receipt) -> None:
    """Say what was deleted, and whether it was looked for again and not found."""
    removed = f"{what} and {counted(receipt.vectors, 'vector')}"
    if receipt.verified:
        looked = "Looked again: nothing of them is left in a list or an index."
        messages.success(request, f"Deleted {removed}. {looked}")
    else:
        behind = "but an index of this process still answers with some of them."
        messages.error(request, f"Deleted {removed}, {behind}")
