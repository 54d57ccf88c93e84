"""Texts in quarantine as they are shown: of what they are, what was found, what they replace."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from django import forms

from bank import findings
from bank import queries as bank_queries
from bank.addresses import address_of
from bank.diff import Segment
from bank.findings import Shown
from bank.models import Kind, Page
from episodes.models import Episode
from episodes.queries import COLLECTION as EPISODES
from episodes.session_decisions import context_of
from episodes.sessions import COLLECTION as MEMORIES
from memoryweb import review
from memoryweb.core.actor import Actor
from memoryweb.core.forms import Text
from memoryweb.core.guard import RULES_VERSION
from memoryweb.core.models import QuarantineItem
from memoryweb.core.quarantine import digest
from search.sources import title_of

State = QuarantineItem.State
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
    def text(self) -> Sequence[Segment]:
        """The whole text, with what was found marked in it."""
        return findings.marked(self.item.text, findings.stored(self.item.findings))

    @property
    def seen(self) -> str:
        """Tells this text from any that it becomes; who approves must have been shown it."""
        return digest(self.item.text)

    @property
    def replaces(self) -> Page | None:
        """The page whose text an approval replaces."""
        return None if self.own else self.page


def shown(
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
    found = bank_queries.living().filter(name__in=names)
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
    what = f"Addition to the {WORDS[Kind(kind)].lower()}" if added else WORDS[Kind(kind)]
    if page is None and review.deleted_wiki(item) is not None:
        what = "Page of a deleted wiki"
    return Held(
        item,
        what=what,
        title=page.title if page else name,
        url=address_of(kind, name) if page else "",
        page=None if added else page,
        own=own,
        findings=findings.shown(item.text, findings.stored(item.findings)),
        form=form or DecisionForm(initial={"base": base}, auto_id=f"id_{item.pk}_%s"),
    )
