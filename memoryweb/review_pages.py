"""The pages of Review: what is in quarantine, one text whole, deciding, and conflicts."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from http import HTTPStatus
from typing import Any

from django import forms
from django.contrib import messages
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from bank import findings, withholding
from bank import queries as bank_queries
from bank.models import Kind
from bank.showing import Changes, changes
from memoryweb import rereading, review
from memoryweb.core import paging
from memoryweb.core.access import actor_of, curator_page
from memoryweb.core.actor import Actor
from memoryweb.core.errors import Conflict, DomainError, Invalid
from memoryweb.core.forms import Text
from memoryweb.core.models import QuarantineItem
from memoryweb.core.quarantine import digest
from memoryweb.held import DecisionForm, Held, shown

State = QuarantineItem.State
ON_A_PAGE = 20
MANY = ("approve", "reject")  # What can be decided of several at once.
MOST_AT_ONCE = 100


class ManyForm(DecisionForm):
    """A decision on several items, none of which was edited."""

    decision = forms.ChoiceField(choices=[(name, name) for name in MANY])


@require_GET
def review_list(request: HttpRequest) -> HttpResponse:
    """What waits for a decision, the latest first; or what was decided."""
    decided = request.GET.get("state") == "decided"
    rows = QuarantineItem.objects.select_related("token")
    waiting = Q(state=State.WAITING)
    rows = rows.exclude(waiting) if decided else rows.filter(waiting)
    page = paging.page(rows, ("-id",), limit=ON_A_PAGE, cursor=request.GET.get("cursor", ""))
    context = {
        "held": shown(page.items, actor_of(request)),
        "page": page,
        "decided": decided,
        "rereading": rereading.progress(),
        "may_decide": actor_of(request).may_decide,
    }
    return render(request, "review/list.html", context)


@require_GET
def conflicts(request: HttpRequest) -> HttpResponse:
    """The pages of which two texts compete, the latest first."""
    actor = actor_of(request)
    rows = bank_queries.in_conflict().defer("content")
    page = paging.page(rows, ("-updated_at", "id"), cursor=request.GET.get("cursor", ""))
    read = [withholding.as_read(actor, one) for one in page.items]
    context = {"page": replace(page, items=read), "may_decide": actor.may_decide}
    return render(request, "review/conflicts.html", context)


class KeptForm(forms.Form):
    """A page's text as its editor holds it; `document` is its kind and name."""

    document = forms.RegexField(rf"^({'|'.join(Kind.values)})/")
    name = forms.CharField(required=False)  # as it is typed, for a page that is new
    content = Text()


@require_POST
@curator_page
def keep_for_review(request: HttpRequest) -> HttpResponse:
    """Have a text wait that the guard refused to save."""
    form = KeptForm(request.POST)
    if not form.is_valid():
        raise Invalid("there is no text to keep")
    kind, _, name = form.cleaned_data["document"].partition("/")
    item = review.keep(
        actor_of(request),
        Kind(kind),
        form.cleaned_data["name"] or name,
        form.cleaned_data["content"],
    )
    messages.success(request, "It waits here, and the page is as it was. Say why it is harmless.")
    return redirect("review_item", item.pk)


@require_GET
def how_far(request: HttpRequest) -> HttpResponse:
    """How far the reading by new rules is; nothing once it is done."""
    return render(request, "review/_rereading.html", {"rereading": rereading.progress()})


def review_item(request: HttpRequest, pk: int) -> HttpResponse:
    """One item with its whole text; a POST decides it, for a reason that must be given."""
    item = get_object_or_404(QuarantineItem.objects.select_related("token"), pk=pk)
    if request.method != "POST":
        return _item(request, item)
    review.require(actor_of(request))
    form = DecisionForm(request.POST)
    if not form.is_valid():
        return _item(request, item, form, HTTPStatus.UNPROCESSABLE_ENTITY)
    if _to_confirm(item, form):
        return _item(request, item, form, HTTPStatus.UNPROCESSABLE_ENTITY)
    try:
        _decide(actor_of(request), item, form)
    except Invalid as error:
        form.add_error(None, error.detail)
        return _item(request, item, form, HTTPStatus.UNPROCESSABLE_ENTITY)
    except Conflict as error:
        # The form is made anew: it carries the page's revision as it is shown now.
        item.refresh_from_db()
        messages.error(request, f"Nothing was decided: {error.detail}.")
        return _item(request, item, status=HTTPStatus.CONFLICT)
    messages.success(request, OUTCOMES[form.cleaned_data["decision"]])
    return redirect("review")


def _to_confirm(item: QuarantineItem, form: DecisionForm) -> bool:
    """Whether the guard still finds something in the edited text that the curator has not seen."""
    if form.edit is None or item.collection != bank_queries.COLLECTION:
        return False
    return form.cleaned_data["seen"] != digest(form.edit) and bool(review.inspect(item, form.edit))


@require_POST
def check_edit(request: HttpRequest, pk: int) -> HttpResponse:
    """What the guard finds in the edited text as it is typed."""
    review.require(actor_of(request))
    item = get_object_or_404(QuarantineItem, pk=pk, collection=bank_queries.COLLECTION)
    text = request.POST.get("text", "").replace("\r\n", "\n")
    context = {"findings": findings.shown(text, review.inspect(item, text))}
    return render(request, "review/_checks.html", context)


OUTCOMES = {
    "approve": "Approved: searches find it and agents are served it from now on.",
    "edit": "Approved as edited: searches find it and agents are served it from now on.",
    "reject": "Rejected: no search finds this text and no agent is given it.",
}


@require_POST
def decide_many(request: HttpRequest) -> HttpResponse:
    """One decision, with one reason, on all items that were ticked; each counts by itself.

    Without a reason, or to approve texts of which one was not shown whole, it is asked first.
    """
    review.require(actor_of(request))
    sent = request.POST.dict()
    items = QuarantineItem.objects.select_related("token").order_by("pk")
    ticked = list(items.filter(pk__in=_numbers(request.POST.getlist("id"))))
    decision = sent.get("decision", "")
    if ticked and decision in MANY and not (_reasoned(sent) and _read(sent, decision, ticked)):
        return _asked(request, ticked, decision)
    forms = {item: ManyForm({**sent, "base": sent.get(f"base-{item.pk}")}) for item in ticked}
    if not all(form.is_valid() for form in forms.values()):
        messages.error(request, "Nothing was decided.")
        return redirect("review")
    decided, problems = 0, Counter[str]()
    for item, form in forms.items():
        try:
            _decide(actor_of(request), item, form)
            decided += 1
        except DomainError as error:
            problems[error.detail] += 1
    if decided:
        messages.success(request, f"{decided:,} decided. {OUTCOMES[decision]}")
    for detail, count in problems.items():
        messages.error(request, f"{count:,} not decided: {detail}.")
    return redirect("review")


def _reasoned(sent: dict[str, str]) -> bool:
    return bool(sent.get("reason", "").strip())


def _read(sent: dict[str, str], decision: str, items: Sequence[QuarantineItem]) -> bool:
    """Whether whoever decides was shown the texts as they are; to reject, they need not be."""
    if decision != "approve":
        return True
    return all(sent.get(f"seen-{item.pk}") == digest(item.text) for item in items)


def _asked(request: HttpRequest, items: list[QuarantineItem], decision: str) -> HttpResponse:
    """The whole texts that are to be decided on, and the question why."""
    again = "reason" in request.POST and not _reasoned(request.POST.dict())
    context = {
        "ticked": shown(items, actor_of(request)),
        "decision": decision,
        "unreasoned": again,
        "trail": [("Review", reverse("review")), ("Decide on several", None)],
    }
    status = HTTPStatus.UNPROCESSABLE_ENTITY if again else HTTPStatus.OK
    return render(request, "review/many.html", context, status=status)


def _numbers(texts: Sequence[str]) -> list[int]:
    """The numbers that items can have, of what a form sent."""
    return [int(text) for text in texts[:MOST_AT_ONCE] if text.isdecimal() and len(text) < 19]


def _decide(actor: Actor, item: QuarantineItem, form: DecisionForm) -> None:
    sent = form.cleaned_data
    if sent["decision"] == "reject":
        review.reject(actor, item.pk, sent["reason"])
        return
    review.approve(actor, item.pk, sent["reason"], text=form.edit, base=sent["base"])


def _item(
    request: HttpRequest,
    item: QuarantineItem,
    form: DecisionForm | None = None,
    status: int = HTTPStatus.OK,
) -> HttpResponse:
    actor = actor_of(request)
    [held] = shown([item], actor, form)
    held.form.initial["reason"] = request.POST.get("reason", "")
    edited = _edited(request)
    of_page = item.collection == bank_queries.COLLECTION
    found = review.inspect(item, edited) if edited and of_page else []
    context: dict[str, Any] = {
        "held": held,
        "changes": _changes(held),
        "edited": edited,
        "still": findings.shown(edited, found),
        "seen": digest(edited) if found else "",
        "may_decide": actor.may_decide,
        "trail": [("Review", reverse("review")), (held.what, None)],
    }
    return render(request, "review/item.html", context, status=status)


def _edited(request: HttpRequest) -> str:
    if request.POST.get("decision") != "edit":
        return ""
    return request.POST.get("text", "").replace("\r\n", "\n")


def _changes(held: Held) -> Changes | None:
    """What an approval would change of the page, as it is now."""
    if held.replaces is None or held.item.state != State.WAITING:
        return None
    return changes(held.replaces.content, held.item.text)
