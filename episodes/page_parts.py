"""What the pages of episodes and of sessions have in common: filters in the address, counts."""

from django.contrib import messages
from django.http import HttpRequest, QueryDict

from episodes.deletion import Receipt
from episodes.forms import Filters


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
