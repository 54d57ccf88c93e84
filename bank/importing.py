"""Folders of Markdown into the bank, by the plan of bank.vault; some hundred files at a time.

Texts are kept byte for byte: what a file was called is noted beside its page, not written into
it. An import never overwrites what was written here, or came from another folder: where a page
was edited here and its file elsewhere, both texts are kept and a person decides.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Literal

from bank import batch, publishing, queries, record, services
from bank.batch import Changed
from bank.files import TooLarge, reason_of
from bank.models import Kind, Page, Revision, without_mark
from bank.record import New, Origin
from bank.texts import Text
from bank.vault import Plan, Planned, Source
from memoryweb.core import clock
from memoryweb.core.actor import Actor
from memoryweb.core.chunks import chunks
from memoryweb.core.errors import Conflict
from memoryweb.core.guard import scan

Status = Literal["created", "updated", "unchanged", "competing", "left"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one file. `detail` says why it was left, or what its page is instead."""

    file: str
    status: Status
    name: str = ""
    why: str = ""
    detail: str = ""
    quarantined: bool = False


def carry_out(actor: Actor, plan: Plan, *, dry_run: bool = False) -> Iterator[Outcome]:
    """Store what was planned; what became of each file. With `dry_run` nothing is written.

    Raises Forbidden; Unavailable when the disk fails: what is stored by then stays, and running
    it again does the rest.
    """
    yield from (Outcome(file, "left", detail=why) for file, why in plan.left.items())
    waiting = iter(plan.pages)
    while some := list(islice(waiting, batch.LARGEST)):
        drafts = list(_drafts(plan, some))
        yield from map(_foretold, drafts) if dry_run else _stored(actor, drafts)


class _NoPage(ValueError):
    """Why a file can be no page."""


@dataclass(frozen=True, slots=True)
class _Draft:
    """What is to be done with a file: with its text, or why it is left."""

    planned: Planned
    status: Status
    text: Text
    page: Page | None = None
    detail: str = ""

    @property
    def stores(self) -> bool:
        return self.status in ("created", "updated")

    @property
    def message(self) -> str:
        told = f"Imported from {self.planned.source.file}"
        return "Imported" if scan(told) else told  # Agents read it in the page's history.


def _drafts(plan: Plan, some: Sequence[Planned]) -> Iterator[_Draft]:
    bank = _Bank(some)
    for planned in some:
        source = planned.source
        try:
            content = _content(plan, source)
        except _NoPage as problem:
            yield _Draft(planned, "left", Text(source.kind, planned.name, ""), None, str(problem))
            continue
        origin = "" if source.kind == Kind.WIKI else plan.origin(source)
        yield bank.judged(planned, Text(source.kind, planned.name, content, origin))


class _Bank:
    """What the bank holds of the pages that some files become."""

    def __init__(self, some: Sequence[Planned]) -> None:
        keys = {queries.key_of(planned.source.kind, planned.name) for planned in some}
        pages = list(Page.objects.filter(key__in=keys).defer("content"))
        self._living = {(page.kind, page.key): page for page in pages if not page.archived_at}
        self._archived = {page.pk: (page.kind, page.key) for page in pages if page.archived_at}
        self._texts: dict[int, set[str]] = {page.pk: set() for page in pages}
        self._via: dict[tuple[int, int], str] = {}
        rows = Revision.objects.filter(page__in=pages)
        for page, number, sha, via in rows.values_list("page_id", "number", "sha256", "via"):
            self._texts[page].add(sha)
            self._via[page, number] = via

    def judged(self, planned: Planned, text: Text) -> _Draft:
        key = (text.kind.value, queries.key_of(text.kind, text.name))
        page = self._living.get(key)
        if page is None:
            if self._was_archived(key, text.sha256):
                detail = "its page was archived here; it can be restored there"
                return _Draft(planned, "left", text, None, detail)
            return _Draft(planned, "created", text)
        if page.sha256 == text.sha256:
            return _Draft(planned, "unchanged", text, page)
        imported = self._via[page.pk, page.revision] == Revision.Via.IMPORT
        if imported and page.origin in (text.origin, without_mark(text.origin)):
            return _Draft(planned, "updated", text, page)
        # Of the page's texts the others are older ones; any that it never had competes.
        if text.sha256 in self._texts[page.pk]:
            return _Draft(planned, "unchanged", text, page)
        detail = "came from another folder" if imported else "was edited here since"
        return _Draft(planned, "competing", text, page, detail)

    def _was_archived(self, key: tuple[str, str], sha: str) -> bool:
        return any(its == key and sha in self._texts[pk] for pk, its in self._archived.items())


def _content(plan: Plan, source: Source) -> str:
    """The file's text as it is. Raises _NoPage."""
    try:
        data = plan.read(source)
    except OSError as error:
        raise _NoPage(f"it cannot be read: {reason_of(error)}") from error
    try:
        return publishing.decoded(data)
    except (publishing.Unreadable, TooLarge) as error:
        raise _NoPage(str(error)) from error


def _outcome(draft: _Draft, *, quarantined: bool = False) -> Outcome:
    planned = draft.planned
    name = draft.page.name if draft.page else draft.text.name
    file, why = planned.source.file, planned.why
    return Outcome(file, draft.status, name, why, draft.detail, quarantined)


def _foretold(draft: _Draft) -> Outcome:
    return _outcome(draft, quarantined=draft.stores and bool(publishing.inspect(draft.text)))


def _stored(actor: Actor, drafts: Sequence[_Draft]) -> Iterator[Outcome]:
    made = {(page.kind, page.name): page for page in _create(actor, drafts)}
    changed = {page.pk: page for page in _revise(actor, drafts)}
    for draft in drafts:
        if draft.page is not None and draft.page.pk in changed:
            yield _outcome(draft, quarantined=changed[draft.page.pk].quarantined)
        elif draft.status != "created":
            yield _store(actor, draft)
        elif page := made.get((draft.text.kind, draft.text.name)):
            yield _outcome(draft, quarantined=page.quarantined)
        else:
            detail = "a page of this name was made in this moment; run it again"
            yield _outcome(replace(draft, status="left", detail=detail))


def _create(actor: Actor, drafts: Sequence[_Draft]) -> Iterator[Page]:
    """Pages of one kind are made together."""
    for kind in Kind:
        news = [
            New(
                draft.text,
                Origin.of(actor, draft.message),
                record.path_of(kind, draft.text.name),
                publishing.inspect(draft.text),
            )
            for draft in drafts
            if draft.status == "created" and draft.text.kind == kind
        ]
        if news:
            yield from batch.create(actor, news)


def _revise(actor: Actor, drafts: Sequence[_Draft]) -> Iterator[Page]:
    """Pages of one kind are changed together; those that are left out are saved by themselves."""
    for kind in Kind:
        changes = (
            Changed(
                draft.page,
                draft.text,
                Origin.of(actor, draft.message),
                publishing.inspect(draft.text),
            )
            for draft in drafts
            if draft.status == "updated" and draft.page is not None and draft.text.kind == kind
        )
        for some in chunks(changes, batch.LARGEST_CHANGE):
            yield from batch.revise(actor, some)


def _store(actor: Actor, draft: _Draft) -> Outcome:
    text, page = draft.text, draft.page
    try:
        if draft.status == "updated" and page is not None:
            saved = services.save(
                actor,
                text.kind,
                text.name,
                text.content,
                base=page.revision,
                message=draft.message,
            )
            return _outcome(draft, quarantined=saved.page.quarantined)
        if draft.status == "competing":
            _set_aside(actor, draft)
    except Conflict as conflict:
        return _outcome(replace(draft, status="left", detail=conflict.detail))
    return _outcome(draft)


def _set_aside(actor: Actor, draft: _Draft) -> None:
    """Keep the file's text beside the page's, for a person to choose."""
    text = draft.text
    findings = publishing.inspect(text)
    with publishing.hold(text.kind, text.name), publishing.explained("nothing was saved"):
        page = publishing.settle(text.kind, text.name)
        if page is not None and not page.revisions.filter(sha256=text.sha256).exists():
            with clock.writing(actor) as tx:
                record.set_aside(tx, page, text, Origin.of(actor, draft.message), findings)
