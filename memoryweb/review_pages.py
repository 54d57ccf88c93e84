"""The pages of Review: what the guard held back, one item whole, and deciding."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from bank import findings, withholding
from bank import queries as bank_queries
from bank.addresses import address_of
from bank.findings import Shown
from bank.models import Kind, Page
from bank.showing import Changes, changes
from episodes.models import Episode
from episodes.queries import COLLECTION as EPISODES
from episodes.sessions import COLLECTION as MEMORIES
from episodes.sessions import context_of
from memoryweb import rereading, review
from memoryweb.core import paging
from memoryweb.core.access import actor_of, curator_page
from memoryweb.core.actor import Actor
from memoryweb.core.errors import Conflict, DomainError, Invalid
from memoryweb.core.forms import Text
from memoryweb.core.guard import RULES_VERSION
from memoryweb.core.models import QuarantineItem
from search.sources import title_of

State = QuarantineItem.State
ON_A_PAGE = 20
MOST_AT_ONCE = 100
WORDS = {
    Kind.ENTITY: "Page",
    Kind.NOTE: "Daily note",
    Kind.MEMORY: "Long-term memory",
    Kind.WIKI: "Wiki page",
}


class DecisionForm(forms.Form):
    """A decision; `base` is the revision of the page that it was compared with."""

    reason = forms.CharField(
        max_length=review.REASON_LENGTH,
        widget=forms.TextInput({"autocomplete": "off", "placeholder": "Why"}),
    )
    base = forms.IntegerField(required=False, min_value=1, widget=forms.HiddenInput)
    decision = forms.ChoiceField(choices=[(name, name) for name in ("approve", "edit", "reject")])
    text = Text(required=False)  # What a curator made of it; sent with the decision "edit".
    seen = forms.CharField(required=False)  # Of which edited text the findings were shown.

    @property
    def edit(self) -> str | None:
        """The edited text, if the decision is about one."""
        sent = self.cleaned_data
        return sent["text"] if sent["decision"] == "edit" else None


class ManyForm(DecisionForm):
    """A decision on several items, none of which was edited."""

    decision = forms.ChoiceField(choices=[(name, name) for name in ("approve", "reject")])


@dataclass(frozen=True)
class Held:
    """An item as it is shown: of what it is a text, where that is, and what was found in it.

    `page` is the page as it is now, for a text that would replace it; `own` says that what waits
    is what the page or episode itself holds, not a proposal.
    """

    item: QuarantineItem
    what: str
    title: str
    url: str
    page: Page | None
    own: bool
    findings: list[Shown]
    form: DecisionForm = field(default_factory=DecisionForm)

    @property
    def cleared(self) -> bool:
        """Whether the present rules object to it no longer, as far as they have read it."""
        return self.item.state == State.WAITING and self.item.cleared_by == RULES_VERSION

    @property
    def replaces(self) -> Page | None:
        """The page whose text an approval replaces."""
        return None if self.own else self.page


@require_GET
def review_list(request: HttpRequest) -> HttpResponse:
    """What waits for a decision, the latest first; or what was decided."""
    decided = request.GET.get("state") == "decided"
    rows = QuarantineItem.objects.select_related("token")
    waiting = rows.filter(state=State.WAITING)
    shown = rows.exclude(state=State.WAITING) if decided else waiting
    page = paging.page(shown, ("-id",), limit=ON_A_PAGE, cursor=request.GET.get("cursor", ""))
    context = {
        "held": _held(page.items, actor_of(request)),
        "page": page,
        "decided": decided,
        "waiting_count": page.total if not decided else waiting.count(),
        "rereading": rereading.progress(),
        "conflicts": [
            withholding.as_read(actor_of(request), page)
            for page in bank_queries.in_conflict().defer("content")
        ],
        "may_decide": actor_of(request).may_decide,
    }
    return render(request, "review/list.html", context)


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
    return form.cleaned_data["seen"] != _digest(form.edit) and bool(review.inspect(item, form.edit))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()


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
    """One decision, with one reason, on all items that were ticked; each counts by itself."""
    review.require(actor_of(request))
    sent = request.POST.dict()
    items = QuarantineItem.objects.filter(pk__in=_numbers(request.POST.getlist("id")))
    ticked = {
        item: ManyForm({**sent, "base": sent.get(f"base-{item.pk}")})
        for item in items.order_by("pk")
    }
    if not all(form.is_valid() for form in ticked.values()):
        messages.error(request, "Nothing was decided: it needs a reason.")
        return redirect("review")
    decided, problems = 0, Counter[str]()
    for item, form in ticked.items():
        try:
            _decide(actor_of(request), item, form)
            decided += 1
        except DomainError as error:
            problems[error.detail] += 1
    if decided:
        messages.success(request, f"{decided:,} decided. {OUTCOMES[sent['decision']]}")
    for detail, count in problems.items():
        messages.error(request, f"{count:,} not decided: {detail}.")
    return redirect("review")


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
    [held] = _held([item], actor, form)
    held.form.initial["reason"] = request.POST.get("reason", "")
    edited = _edited(request)
    of_page = item.collection == bank_queries.COLLECTION
    found = review.inspect(item, edited) if edited and of_page else []
    context: dict[str, Any] = {
        "held": held,
        "text": findings.marked(item.text, findings.stored(item.findings)),
        "changes": _changes(held),
        "edited": edited,
        "still": findings.shown(edited, found),
        "seen": _digest(edited) if found else "",
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


# What the items are texts of


def _held(
    items: Sequence[QuarantineItem], reader: Actor, form: DecisionForm | None = None
) -> list[Held]:
    """The items as the reader is shown them: to those who do not decide nothing that they say."""
    held = _whole(items, form)
    return held if reader.may_decide else [_held_back(one) for one in held]


def _held_back(held: Held) -> Held:
    name = held.item.document.partition("/")[2] or held.item.document
    return replace(held, title=name, page=None, findings=[])


def _whole(items: Sequence[QuarantineItem], form: DecisionForm | None) -> list[Held]:
    episodes = Episode.objects.in_bulk(_documents(items, EPISODES))
    pages = _pages(_documents(items, bank_queries.COLLECTION))
    return [
        _of_episode(item, episodes.get(item.document), form)
        if item.collection == EPISODES
        else _of_session(item, form)
        if item.collection == MEMORIES
        else _of_page(item, pages, form)
        for item in items
    ]


def _documents(items: Iterable[QuarantineItem], collection: str) -> list[str]:
    return [item.document for item in items if item.collection == collection]


def _pages(documents: Iterable[str]) -> dict[str, Page]:
    names = {document.partition("/")[2] for document in documents}
    found = Page.objects.filter(name__in=names, archived_at=None)
    return {page.document: page for page in found}


def _of_episode(item: QuarantineItem, episode: Episode | None, form: DecisionForm | None) -> Held:
    return Held(
        item,
        what="Episode",
        title=(title_of(episode.summary) if episode else "") or item.document,
        url=episode.get_absolute_url() if episode else "",
        page=None,
        own=True,
        findings=findings.shown(item.text, findings.stored(item.findings)),
        form=form or DecisionForm(auto_id=f"id_{item.pk}_%s"),
    )


def _of_session(item: QuarantineItem, form: DecisionForm | None) -> Held:
    """A text of a session: a memory that is new or was there, or what the session is about."""
    context = context_of(item)
    return Held(
        item,
        what="Session memory",
        title=title_of(item.text) or item.document,
        url=context.get_absolute_url() if context else "",
        page=None,
        own=item.document.startswith("memory/"),
        findings=findings.shown(item.text, findings.stored(item.findings)),
        form=form or DecisionForm(auto_id=f"id_{item.pk}_%s"),
    )


def _of_page(item: QuarantineItem, pages: dict[str, Page], form: DecisionForm | None) -> Held:
    added = item.document.endswith(bank_queries.APPENDED)
    kind, _, name = item.document.removesuffix(bank_queries.APPENDED).partition("/")
    page = pages.get(f"{kind}/{name}")
    own = page is not None and page.quarantined and page.content == item.text
    base = page.revision if page is not None and not own and not added else None
    return Held(
        item,
        what=f"Addition to the {WORDS[Kind(kind)].lower()}" if added else WORDS[Kind(kind)],
        title=page.title if page else name,
        url=address_of(kind, name) if page else "",
        page=None if added else page,
        own=own,
        findings=findings.shown(item.text, findings.stored(item.findings)),
        form=form or DecisionForm(initial={"base": base}, auto_id=f"id_{item.pk}_%s"),
    )
