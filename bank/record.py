"""The rows of a page, written inside `clock.writing`: its text, revisions, names and links.

A step of bank.services, which decides what is stored, of bank.publishing, which sees to the
files, and of bank.erasing, which takes the rows away; nothing else writes them.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import date as Date
from datetime import datetime

from django.db.models import Q, QuerySet
from django.utils import timezone

from bank import layout, linking, queries, refs
from bank.models import Kind, Label, Page, Revision, UsedName, Wiki
from bank.texts import Text
from memoryweb.core import clock, quarantine
from memoryweb.core.actor import Actor
from memoryweb.core.errors import Conflict, NotFound
from memoryweb.core.guard import Finding, scan
from memoryweb.core.models import QuarantineItem

_VIA = {"admin": "page", "command": "import"}  # Doors that history does not tell apart.
# What a page holds itself, not what somebody proposed for it, is held back by these doors.
_OWN_TEXT = ("file", "import", "rules")


@dataclass(frozen=True)
class Origin:
    """Whom a revision is by, how it came and what they said about it."""

    author: str
    via: str
    message: str = ""
    at: datetime = field(default_factory=timezone.now)

    @classmethod
    def of(cls, actor: Actor, message: str = "", via: str = "") -> "Origin":
        return cls(
            (actor.agent_id or actor.name)[:200],
            via or _VIA.get(actor.via, actor.via),
            message[:500],
        )


def path_of(kind: Kind, name: str) -> str:
    """Where memoryweb keeps the file of a page that it makes."""
    if kind == Kind.ENTITY:
        return layout.entity_path(name)
    if kind == Kind.WIKI:
        wiki, ref = refs.split(name)
        return f"@{wiki}/{refs.below(wiki, ref)}"
    return layout.MEMORY if kind == Kind.MEMORY else layout.note_path(Date.fromisoformat(name))


@dataclass(frozen=True)
class New:
    """A page that is to be made; with findings it is in quarantine."""

    text: Text
    origin: Origin
    path: str
    findings: Sequence[Finding] = ()

    @property
    def key(self) -> str:
        return queries.key_of(self.text.kind, self.text.name)

    def page(self, number: int) -> Page:
        """The page, its revision being the one of this number."""
        text, origin = self.text, self.origin
        return Page(
            kind=text.kind,
            name=text.name,
            key=self.key,
            wiki_id=text.wiki or None,
            path=self.path,
            origin=text.origin,
            revision=number,
            quarantined=bool(self.findings),
            flags=_flags(text, quarantined=bool(self.findings), conflict=None),
            author=origin.author,
            created_at=origin.at,
            updated_at=origin.at,
            **text.columns(),
        )


def create(tx: clock.Writing, new: New) -> tuple[Page, Revision]:
    """A new page."""
    return create_many(tx, [new])[0]


def create_many(tx: clock.Writing, news: Sequence[New]) -> list[tuple[Page, Revision]]:
    """New pages, in a number of queries that does not grow with theirs. Raises NotFound where
    their wiki was deleted in this moment."""
    _require_wikis({new.text.wiki for new in news if new.text.wiki})
    used = _used_numbers(news)
    pages = Page.objects.bulk_create(
        [new.page(used.get((new.text.kind, new.key), 0) + 1) for new in news]
    )
    pairs = list(zip(pages, news, strict=True))
    revisions = [_revision(page, new.text, new.origin, page.revision) for page, new in pairs]
    for revision, new in zip(revisions, news, strict=True):
        revision.quarantined = bool(new.findings)
    Revision.objects.bulk_create(revisions)
    _settle_names([(page, new.text) for page, new in pairs])
    own_text_held(*pages).delete()
    for page, new in pairs:
        _note(tx, page, new.text, new.findings, "page.create")
    return list(zip(pages, revisions, strict=True))


def revise(
    tx: clock.Writing,
    page: Page,
    text: Text,
    origin: Origin,
    findings: Sequence[Finding],
    *,
    conflict: int | None,
    waits: bool | None = None,
) -> Revision:
    """Give the page a new current text, if nobody else did since it was read.

    `conflict` is the revision that waits for a decision afterwards; the text itself does if it
    `waits`, by default when there are findings. Raises Conflict.
    """
    text, number = text.of(page), page.next_number
    quarantined = bool(findings) if waits is None else waits
    held, lifted = own_text_held(page), page.quarantined and not quarantined
    updated = Page.objects.filter(pk=page.pk, revision=page.revision, archived_at=None).update(
        revision=number,
        quarantined=quarantined,
        conflict=conflict,
        flags=_flags(text, quarantined=quarantined, conflict=conflict),
        author=origin.author,
        updated_at=origin.at,
        **text.columns(),
    )
    if not updated:
        raise Conflict("somebody else saved this page in this moment; nothing was saved")
    revision = _add_revision(page, text, origin, number)
    held.delete()
    page.refresh_from_db()
    _mark_revisions(page)
    text = text.of(page)  # Another page may have taken over a name that this one had.
    _settle_names([(page, text)])
    more = {"lifts_quarantine": True} if lifted else {}
    _note(tx, page, text, findings, "page.edit", **more)
    return revision


def set_aside(
    tx: clock.Writing, page: Page, text: Text, origin: Origin, findings: Sequence[Finding]
) -> Revision:
    """Keep a text that was found in the file and is not the current one: a conflict to decide."""
    revision = _add_revision(page, text, origin, page.next_number, bool(findings))
    page.refresh_from_db()  # The guard, with other rules, asks for no lock.
    page.conflict = revision.number
    _save_state(page)
    tx.changed(page.collection, page.document)
    tx.audited("page.conflict", f"pages/{page.document}", sha256=text.sha256)
    return revision


def decide(tx: clock.Writing, page: Page, *, settled: bool, released: bool) -> None:
    """The current text stands as it is: the conflict is settled, the quarantine is lifted."""
    page.refresh_from_db()
    held = own_text_held(page)
    page.conflict = None if settled else page.conflict
    page.quarantined = page.quarantined and not released
    _save_state(page)
    if released:
        held.delete()
        _mark_revisions(page)
    tx.changed(page.collection, page.document)
    action = "page.release" if released else "page.settle"
    tx.audited(action, f"pages/{page.document}", sha256=page.sha256, revision=page.revision)


def hold_back(tx: clock.Writing, page: Page, findings: Sequence[Finding]) -> None:
    """The current text waits for a decision: the guard objects to it by now."""
    page.quarantined = True
    _save_state(page)
    _mark_revisions(page)
    if page.archived_at is None:
        quarantine.hold(tx.actor, queries.COLLECTION, page.document, page.content, findings)
        tx.changed(page.collection, page.document)
    rules = sorted({finding.rule for finding in findings})
    tx.audited("page.hold", f"pages/{page.document}", sha256=page.sha256, rules=rules)


def archive(tx: clock.Writing, page: Page) -> None:
    """Take the page away and free its name. Raises Conflict."""
    current = Page.objects.filter(pk=page.pk, revision=page.revision, archived_at=None)
    if not current.update(archived_at=timezone.now()):
        raise Conflict("somebody else saved this page in this moment; it was not archived")
    page.refresh_from_db()
    own_text_held(page).delete()
    linking.settle([(page, set(), [])])
    leave_name(page)
    tx.changed(page.collection, page.document, "delete")
    tx.audited("page.archive", f"pages/{page.document}", sha256=page.sha256)


def rename(tx: clock.Writing, page: Page, name: str, *, renamed_file: str = "") -> None:
    """Give the page another name, which leads to it as the old one does. Raises Conflict.

    `renamed_file` is the path that somebody gave its file outside: the history says that too.
    """
    old, document, held = page.name, page.document, _held_since_named(page)
    leave_name(page)
    former = [*(one for one in page.former_names if one not in (old, name)), old]
    text = replace(Text(Kind(page.kind), name, page.content).of(page), former_names=tuple(former))
    current = Page.objects.filter(pk=page.pk, name=old, revision=page.revision, archived_at=None)
    updated = current.update(
        name=name,
        key=queries.key_of(Kind(page.kind), name),
        path=renamed_file or path_of(Kind(page.kind), name),
        former_names=former,
        **text.columns(),
    )
    if not updated:
        raise Conflict("somebody else saved this page in this moment; it was not renamed")
    page.refresh_from_db()
    was = "" if scan(old) else f" from “{old}”"  # Agents read it in the page's history.
    origin = Origin.of(tx.actor, f"Renamed{was}")
    if renamed_file:  # By whoever edits files, whom nobody knows.
        origin = Origin("", "file", f"Renamed outside{was}")
    _count_on(page, text, origin, always=bool(renamed_file))
    _take_over(page, old)
    _settle_names([(page, text)])
    QuarantineItem.objects.filter(pk__in=held).update(document=page.document)
    tx.changed(page.collection, document, "delete")
    tx.changed(page.collection, page.document)
    tx.audited("page.rename", f"pages/{page.document}", sha256=page.sha256, renamed_from=old)


def _held_since_named(page: Page) -> list[int]:
    """What was held back for the page, and not for those that had its name before."""
    items, before = queries.ever_held(page), queries.archived_before(page)
    since = items.filter(created_at__gt=before) if before else items
    return list(since.values_list("pk", flat=True))


def leave_name(page: Page) -> None:
    """Note the page's highest revision number: it may not have its name any longer."""
    UsedName.objects.update_or_create(
        kind=page.kind, key=page.key, defaults={"number": page.next_number - 1, "page": page}
    )


def _count_on(page: Page, text: Text, origin: Origin, *, always: bool) -> None:
    """Where pages before it had its new name, number the page's current text after theirs."""
    before = UsedName.objects.filter(kind=page.kind, key=page.key).exclude(page=page)
    if always or before.filter(number__gte=page.revision).exists():
        number = page.next_number
        _add_revision(page, text, origin, number, page.quarantined)
        page.revision = number
        page.save(update_fields=["revision"])


def _take_over(page: Page, name: str) -> None:
    """A name that several pages had leads to the one that had it last."""
    kind = Kind(page.kind)
    key = queries.key_of(kind, name)
    former = Label.objects.filter(role=Label.Role.FORMER, key=queries.former_key(kind, name))
    others = Page.objects.filter(kind=kind, pk__in=former.exclude(page=page).values("page"))
    for other in others.defer("content"):
        kept = [one for one in other.former_names if queries.key_of(kind, one) != key]
        if kept != other.former_names:
            other.former_names = kept
            other.save(update_fields=["former_names"])
            ends = linking.file_keys(refs.split(name)[1], other.wiki_id) if other.wiki_id else [key]
            other.labels.filter(role=Label.Role.FORMER, key__in=ends).delete()


def unarchive(tx: clock.Writing, page: Page, text: Text, findings: Sequence[Finding]) -> None:
    """Bring an archived page back as it was; what the guard now finds puts it in quarantine.

    Raises Conflict when it is not as it was read any more.
    """
    text, quarantined = text.of(page), bool(findings)
    as_read = Page.objects.filter(
        pk=page.pk, archived_at=page.archived_at, quarantined=page.quarantined
    )
    updated = as_read.exclude(archived_at=None).update(
        archived_at=None,
        quarantined=quarantined,
        file_stamp="",
        flags=_flags(text, quarantined=quarantined, conflict=page.conflict),
    )
    if not updated:
        raise Conflict("somebody else changed this page in this moment; it was not restored")
    page.refresh_from_db()
    text = text.of(page)  # Another may have taken over a name that it had.
    _mark_revisions(page)
    _settle_names([(page, text)])
    own_text_held(page).delete()
    _note(tx, page, text, findings, "page.restore")


def _add_revision(
    page: Page, text: Text, origin: Origin, number: int, quarantined: bool = False
) -> Revision:
    revision = _revision(page, text, origin, number)
    revision.quarantined = quarantined
    revision.save(force_insert=True)
    return revision


def _revision(page: Page, text: Text, origin: Origin, number: int) -> Revision:
    return Revision(
        page=page,
        number=number,
        content=text.content,
        sha256=text.sha256,
        author=origin.author,
        via=origin.via,
        message=origin.message,
        created_at=origin.at,
    )


def _require_wikis(wikis: set[str]) -> None:
    # Asked within the transaction: an erasure waits for the saves of pages that it sees.
    if wikis and Wiki.objects.filter(pk__in=wikis, deleted_at=None).count() < len(wikis):
        raise NotFound("there is no such wiki any more; nothing was saved")


def _used_numbers(news: Sequence[New]) -> dict[tuple[str, str], int]:
    """The highest revision number of each name that was used before."""
    rows = UsedName.objects.filter(key__in={new.key for new in news})
    return {(kind, key): number for kind, key, number in rows.values_list("kind", "key", "number")}


def _mark_revisions(page: Page) -> None:
    """Revisions that say what the page says wait if it waits, and are let pass with it."""
    same = page.revisions.filter(sha256=page.sha256)
    same.exclude(quarantined=page.quarantined).update(quarantined=page.quarantined)


def withhold(document: str, sha: str) -> None:
    """Mark the revisions of a page whose very text the guard objects to by now."""
    kind, _, name = document.partition("/")
    Revision.objects.filter(page__kind=kind, page__name=name, sha256=sha).update(quarantined=True)


def _flags(text: Text, *, quarantined: bool, conflict: int | None) -> list[str]:
    state = {"quarantined": quarantined, "conflict": conflict is not None}
    return [*text.flags, *(flag for flag, raised in state.items() if raised)]


def _save_state(page: Page) -> None:
    text = Text(Kind(page.kind), page.name, page.content).of(page)
    page.flags = _flags(text, quarantined=page.quarantined, conflict=page.conflict)
    page.save(update_fields=["conflict", "quarantined", "flags"])


def _note(
    tx: clock.Writing,
    page: Page,
    text: Text,
    findings: Sequence[Finding],
    action: str,
    **more: object,
) -> None:
    """What readers, reviewers and the audit are told of the page's text."""
    if page.quarantined:
        quarantine.hold(tx.actor, queries.COLLECTION, page.document, text.content, findings)
    tx.changed(page.collection, page.document)
    facts = {"sha256": page.sha256, "revision": page.revision}
    tx.audited(action, f"pages/{page.document}", **facts, **more)


def own_text_held(*pages: Page) -> QuerySet[QuarantineItem]:
    """What waits for review because a page holds it, proposals for the page left out."""
    # An agent's addition to a note in quarantine made that text the note's, by another door.
    texts = [page.content for page in pages if page.quarantined]
    return queries.held(*pages).filter(Q(via__in=_OWN_TEXT) | Q(text__in=texts))


def _settle_names(pages: Iterable[tuple[Page, Text]]) -> None:
    """Bring what these pages are called and what they link to up to date, and links to them."""
    linking.settle([(page, text.labels, text.kept_links) for page, text in pages])
