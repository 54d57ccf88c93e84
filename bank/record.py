"""The rows of a page, written inside `clock.writing`: its text, revisions, names and links.

A step of bank.services, which decides what is stored, and of bank.publishing, which sees to the
files; nothing else writes these rows.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date as Date
from datetime import datetime
from functools import cached_property

from django.db.models import Max, Q, QuerySet
from django.utils import timezone

from bank import layout, links, markdown, names, queries
from bank.files import sha256
from bank.models import FileOperation, Kind, Label, Link, Page, Revision
from memoryweb.core import clock, quarantine
from memoryweb.core.actor import Actor
from memoryweb.core.errors import Conflict
from memoryweb.core.guard import Finding
from memoryweb.core.models import QuarantineItem

LINKS_LIMIT = 1_000  # Different targets of one page that are kept as links.
KEY_LENGTH = 400
_VIA = {"admin": "page", "command": "import"}  # Doors that history does not tell apart.
# What a page holds itself, not what somebody proposed for it, is held back by these doors.
_OWN_TEXT = ("file", "import")


@dataclass(frozen=True)
class Origin:
    """Whom a revision is by, how it came and what they said about it."""

    author: str
    via: str
    message: str = ""
    at: datetime = field(default_factory=timezone.now)

    @classmethod
    def of(cls, actor: Actor, message: str = "", via: str = "") -> "Origin":
        author = "" if actor.via == "file" else actor.agent_id or actor.name
        return cls(author[:200], via or _VIA.get(actor.via, actor.via), message[:500])


@dataclass(frozen=True)
class Text:
    """A page's text with what is read from it; the sha is of its bytes in the file."""

    kind: Kind
    name: str
    content: str

    @cached_property
    def data(self) -> bytes:
        return self.content.encode()

    @cached_property
    def sha256(self) -> str:
        return sha256(self.data)

    @cached_property
    def read(self) -> markdown.PageText:
        return markdown.read(self.content, self.name)

    @cached_property
    def links(self) -> list[Link]:
        """One unsaved Link for each different target, in the order of the text."""
        targets = dict.fromkeys(link.target for link in links.extract(self.read.front.body))
        return [
            Link(target=target, name_key=_base_name(target), words_key=_words(target))
            for target in [*targets][: LINKS_LIMIT + 1]
        ]

    @cached_property
    def labels(self) -> set[tuple[str, str, str]]:
        """(role, key, text) of everything that the page is found by."""
        found = {(Label.Role.NAME, _base_name(self.name), self.name)}
        found.add((Label.Role.TITLE, _words(self.read.title), self.read.title))
        found |= {(Label.Role.ALIAS, _words(alias), alias) for alias in self.read.aliases}
        found |= {(Label.Role.TAG, _words(tag), tag) for tag in self.read.tags}
        return {(role.value, key, text[:200]) for role, key, text in found}

    @cached_property
    def flags(self) -> list[str]:
        shape = () if self.kind == Kind.ENTITY else ("no_title", "no_summary")
        flags = [flag for flag in self.read.flags if flag not in shape]
        return flags + ["too_many_links"] * (len(self.links) > LINKS_LIMIT)

    def columns(self) -> dict[str, object]:
        return {
            "content": self.content,
            "sha256": self.sha256,
            "title": self.read.title,
            "abstract": self.read.abstract,
            "tags": list(self.read.tags),
            "aliases": list(self.read.aliases),
            "front_matter": self.read.front.data or {},
        }


def path_of(kind: Kind, name: str) -> str:
    """Where memoryweb keeps the file of a page that it makes."""
    if kind == Kind.ENTITY:
        return layout.entity_path(name)
    return layout.MEMORY if kind == Kind.MEMORY else layout.note_path(Date.fromisoformat(name))


def create(
    tx: clock.Writing, text: Text, origin: Origin, path: str, findings: Sequence[Finding]
) -> tuple[Page, Revision]:
    """A new page; with findings it is in quarantine."""
    page = Page(
        kind=text.kind,
        name=text.name,
        key=queries.key_of(text.kind, text.name),
        path=path,
        revision=1,
        quarantined=bool(findings),
        flags=_flags(text, quarantined=bool(findings), conflict=None),
        author=origin.author,
        created_at=origin.at,
        updated_at=origin.at,
        **text.columns(),
    )
    page.save(force_insert=True)
    revision = _add_revision(page, text, origin, 1)
    _settle_names(page, text)
    _note(tx, page, text, findings, "page.create")
    return page, revision


def revise(
    tx: clock.Writing,
    page: Page,
    text: Text,
    origin: Origin,
    findings: Sequence[Finding],
    *,
    conflict: int | None,
) -> Revision:
    """Give the page a new current text, if nobody else did since it was read.

    `conflict` is the revision that waits for a decision afterwards. Raises Conflict.
    """
    number = _next_number(page)
    quarantined = bool(findings)
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
    page.refresh_from_db()
    _settle_names(page, text)
    _note(tx, page, text, findings, "page.edit")
    return revision


def set_aside(tx: clock.Writing, page: Page, text: Text, origin: Origin) -> Revision:
    """Keep a text that was found in the file and is not the current one: a conflict to decide."""
    revision = _add_revision(page, text, origin, _next_number(page))
    page.conflict = revision.number
    _save_state(page)
    tx.changed(queries.COLLECTION, page.document)
    tx.audited("page.conflict", f"pages/{page.document}", sha256=text.sha256)
    return revision


def decide(tx: clock.Writing, page: Page, *, settled: bool, released: bool) -> None:
    """The current text stands as it is: the conflict is settled, the quarantine is lifted."""
    page.conflict = None if settled else page.conflict
    page.quarantined = page.quarantined and not released
    _save_state(page)
    if released:
        own_text_held(page).delete()
    tx.changed(queries.COLLECTION, page.document)
    action = "page.release" if released else "page.settle"
    tx.audited(action, f"pages/{page.document}", sha256=page.sha256, revision=page.revision)


def archive(tx: clock.Writing, page: Page) -> None:
    """Take the page away and free its name. Raises Conflict."""
    current = Page.objects.filter(pk=page.pk, revision=page.revision, archived_at=None)
    if not current.update(archived_at=timezone.now()):
        raise Conflict("somebody else saved this page in this moment; it was not archived")
    page.refresh_from_db()
    own_text_held(page).delete()
    page.links.all().delete()
    _rename(page, set())
    tx.changed(queries.COLLECTION, page.document, "delete")
    tx.audited("page.archive", f"pages/{page.document}", sha256=page.sha256)


def unarchive(tx: clock.Writing, page: Page, text: Text, findings: Sequence[Finding]) -> None:
    """Bring an archived page back as it was; what the guard now finds puts it in quarantine."""
    page.archived_at = None
    page.quarantined = bool(findings)
    page.file_stamp = ""
    page.flags = _flags(text, quarantined=page.quarantined, conflict=page.conflict)
    page.save(force_update=True)
    _settle_names(page, text)
    _note(tx, page, text, findings, "page.restore")


def operation(
    page: Page, op: FileOperation.Op, expected: str | None, at: datetime
) -> FileOperation:
    """Note what has to happen to the page's file."""
    return FileOperation.objects.create(
        page=page,
        op=op,
        path=page.path,
        revision=page.revision,
        new_sha=page.sha256 if op == FileOperation.Op.WRITE else "",
        expected_sha=expected,
        created_at=at,
    )


def done(op: FileOperation) -> None:
    """The file is as the operation asked, or another decision took its place."""
    FileOperation.objects.filter(page=op.page_id, pk__lt=op.pk).exclude(done_at=None).delete()
    FileOperation.objects.filter(pk=op.pk).update(done_at=timezone.now())


def _add_revision(page: Page, text: Text, origin: Origin, number: int) -> Revision:
    return Revision.objects.create(
        page=page,
        number=number,
        content=text.content,
        sha256=text.sha256,
        author=origin.author,
        via=origin.via,
        message=origin.message,
        created_at=origin.at,
    )


def _next_number(page: Page) -> int:
    """Not the current revision's successor: texts that were set aside have numbers too."""
    return int(page.revisions.aggregate(last=Max("number"))["last"] or 0) + 1


def _flags(text: Text, *, quarantined: bool, conflict: int | None) -> list[str]:
    state = {"quarantined": quarantined, "conflict": conflict is not None}
    return [*text.flags, *(flag for flag, raised in state.items() if raised)]


def _save_state(page: Page) -> None:
    text = Text(Kind(page.kind), page.name, page.content)
    page.flags = _flags(text, quarantined=page.quarantined, conflict=page.conflict)
    page.save(update_fields=["conflict", "quarantined", "flags"])


def _note(
    tx: clock.Writing, page: Page, text: Text, findings: Sequence[Finding], action: str
) -> None:
    """What readers, reviewers and the audit are told of the page's text."""
    own_text_held(page).delete()
    if findings:
        quarantine.hold(tx.actor, queries.COLLECTION, page.document, text.content, findings)
    tx.changed(queries.COLLECTION, page.document)
    facts = {"sha256": page.sha256, "revision": page.revision}
    tx.audited(action, f"pages/{page.document}", **facts)


def own_text_held(page: Page) -> QuerySet[QuarantineItem]:
    """What waits for review because the page holds it, proposals for the page left out."""
    return queries.held(page).filter(via__in=_OWN_TEXT)


# Names and links


def _base_name(target: str) -> str:
    return links.name_key(target).rpartition("/")[2][:KEY_LENGTH]


def _words(target: str) -> str:
    return names.key(target.strip())[:KEY_LENGTH]


def _settle_names(page: Page, text: Text) -> None:
    """Bring what the page is called and what it links to up to date, and links to it."""
    renamed = _relabel(page, text.labels)
    _relink(page, text.links[:LINKS_LIMIT])
    if renamed:
        _resolve_again(renamed)


def _rename(page: Page, labels: set[tuple[str, str, str]]) -> None:
    if renamed := _relabel(page, labels):
        _resolve_again(renamed)


def _relabel(page: Page, wanted: set[tuple[str, str, str]]) -> set[str]:
    """Make these the page's labels; the keys by which it is newly found, or no more."""
    stored = {(label.role, label.key, label.text): label.pk for label in page.labels.all()}
    gone = stored.keys() - wanted
    new = wanted - stored.keys()
    page.labels.filter(pk__in=[stored[label] for label in gone]).delete()
    Label.objects.bulk_create(
        Label(page=page, role=role, key=key, text=text) for role, key, text in sorted(new)
    )
    return {key for role, key, _ in gone | new if role != Label.Role.TAG}


def _relink(page: Page, wanted: list[Link]) -> None:
    stored = list(page.links.order_by("pk").values_list("target", flat=True))
    if stored == [link.target for link in wanted]:
        return
    page.links.all().delete()
    found = _resolve({(link.name_key, link.words_key) for link in wanted})
    for link in wanted:
        link.source, link.to_id = page, found.get((link.name_key, link.words_key))
    Link.objects.bulk_create(wanted, batch_size=500)


def _resolve_again(keys: Collection[str]) -> None:
    """Point links that any of these keys may concern to where they lead now."""
    concerned = Link.objects.filter(Q(name_key__in=keys) | Q(words_key__in=keys))
    pairs = set(concerned.values_list("name_key", "words_key").distinct())
    found = _resolve(pairs)
    for name_key, words_key in pairs:
        to = found.get((name_key, words_key))
        rows = Link.objects.filter(name_key=name_key, words_key=words_key)
        elsewhere = Q(to=None) | ~Q(to=to) if to is not None else ~Q(to=None)
        rows.filter(elsewhere).update(to=to)


_RULES = (Label.Role.NAME, Label.Role.TITLE, Label.Role.ALIAS)


def _resolve(pairs: Iterable[tuple[str, str]]) -> dict[tuple[str, str], int]:
    """The page that each (name, words) of a link leads to: by name, by title, by alias.

    Of several that fit one rule an entity comes first, then the shortest name, as
    bank.links.Resolver has it.
    """
    pairs = list(pairs)
    keys = sorted({key for pair in pairs for key in pair})
    best: dict[tuple[str, str], tuple[bool, int, str, int]] = {}
    for at in range(0, len(keys), 500):
        rows = Label.objects.filter(key__in=keys[at : at + 500], role__in=_RULES)
        columns = ("role", "key", "page__kind", "page__name", "page_id")
        for role, key, kind, name, page in rows.values_list(*columns):
            rank = (kind != Kind.ENTITY, len(name), name, page)
            best[role, key] = min(best.get((role, key), rank), rank)
    found = {}
    for name_key, words_key in pairs:
        tried = zip(_RULES, (name_key, words_key, words_key), strict=True)
        hit = next((best[rule, key] for rule, key in tried if (rule, key) in best), None)
        if hit is not None:
            found[name_key, words_key] = hit[3]
    return found
