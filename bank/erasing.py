"""Erasing a page for good: a leaked secret, say. Nothing of it is kept but that it was erased.

It goes as a save does, under the page's lock. One transaction takes the page from every reader:
its texts, its history, what the guard held back of it, its names and its links. A FileOperation
of that transaction has the file go, then what lies beside it, then the deleted bytes in the
database, and last the row that was left of the page. Killed anywhere, the page is there as it
was, or it is gone for every reader and the next start finishes the rest.
"""

from collections.abc import Collection
from dataclasses import dataclass, field, replace

from django.conf import settings
from django.db.models import BinaryField, QuerySet
from django.db.models.functions import Cast, Length
from django.utils import timezone

from bank import (
    backups,
    copies,
    file_operations,
    linking,
    places,
    publishing,
    queries,
    record,
    saving,
    withholding,
)
from bank.files import sha256
from bank.models import FileOperation, Kind, Page
from episodes.deletion import still_found
from memoryweb.core import clock, idempotency, quarantine
from memoryweb.core.actor import Actor, Role
from memoryweb.core.errors import Conflict
from memoryweb.core.models import QuarantineItem

REASON_LENGTH = 200


@dataclass(frozen=True)
class Receipt:
    """What was erased: how many revisions, texts in quarantine and links of its own.

    `file` says that no file is left, `index` that the index of this process does not hold the
    page; None where there is no index. `files_left` are files of no page that say the same, are
    backups of its file or have its name in another spelling. `backups` still hold it,
    `backups_unread` may.
    """

    document: str
    revisions: int
    quarantine: int
    links: int
    seq: int = 0
    file: bool = False
    index: bool | None = None
    files_left: list[str] = field(default_factory=list)
    backups: list[str] = field(default_factory=list)
    backups_unread: list[str] = field(default_factory=list)
    cleared: bool = False  # Of what is the page's own nothing was found.

    @property
    def verified(self) -> bool:
        """Looking again found nothing, in the files of the database neither."""
        return self.cleared and not self.files_left

    @property
    def detail(self) -> str:
        """What remains to be known, in words."""
        said = ["The page is erased for good."]
        if self.files_left:
            said.append(
                "Files that are not the page's say the same, are backups of its file or have its "
                "name in another spelling. They are named here and not altered: delete them, "
                "or they keep its text and may bring it back."
            )
        if not self.cleared:
            said.append(
                "Something of it may be left: in the database's own files, in a file that cannot "
                "be deleted, or in the index. Look at the log, and erase it again if it is there."
            )
        if self.backups or self.backups_unread:
            said.append(
                "Backups are named here and not altered: delete those that hold it, or they "
                "bring it back."
            )
        said.append("Other pages that say the same are as they were.")
        return " ".join(said)


def erase(
    actor: Actor, kind: Kind, name: str, *, base: int | None = None, reason: str = ""
) -> Receipt:
    """Erase the page of this name. `reason` stays in the audit.

    Raises Forbidden, NotFound, Conflict for a stale base; Unavailable when the disk fails, and
    with the member `erased` the texts are gone then and the file follows.
    """
    actor.require(Role.ADMINISTRATOR)
    known = queries.find(kind, name)
    with publishing.hold(kind, known.name, *known.former_names):
        page = saving.settled(kind, known.name) or queries.find(kind, name)
        withholding.require_free(actor, page)
        if base is not None and base != page.revision:
            raise saving.stale(page, base, None)
        return _erase(actor, page, reason)


def erase_archived(actor: Actor, pk: int, *, reason: str = "") -> Receipt:
    """Erase an archived page. Raises as erase."""
    actor.require(Role.ADMINISTRATOR)
    known = queries.archived_page(pk)
    kind = Kind(known.kind)
    with publishing.hold(kind, known.name, *known.former_names):
        saving.settled(kind, known.name)
        page = queries.archived_page(pk)
        withholding.require_free(actor, page)
        return _erase(actor, page, reason)


@dataclass(frozen=True)
class Extent:
    """What goes with a page, as it is now."""

    revisions: int
    quarantine: int
    links: int


def extent(page: Page) -> Extent:
    """How much an erasure would take."""
    return Extent(page.revisions.count(), len(_held(page)), page.links.count())


def files_left(page: Page) -> list[str]:
    """The files that an erasure would leave, though they may hold the page or bring it back."""
    with publishing.explained("nothing was erased"):
        return Traces.of(page).copies()


# Steps


def _erase(actor: Actor, page: Page, reason: str) -> Receipt:
    traces = Traces.of(page)
    with publishing.explained("nothing was erased"):
        _clear_beside(page, traces.sizes)
    with clock.writing(actor) as tx:
        receipt, op = _take_away(tx, page, reason)
    with publishing.explained("its texts are erased, and its file follows", erased=True):
        clean = publishing.erase(op)
        places.drop_index(traces.wiki)
    with publishing.explained(
        "it is erased, but what files say the same is not known", erased=True
    ):
        return _looked_at_again(replace(receipt, seq=tx.seq), traces, clean=clean)


@dataclass(frozen=True)
class Traces:
    """By what a page is known once it is gone. `namesake`: another page has its name now."""

    pk: int
    kind: Kind
    wiki: str
    path: str
    keys: list[str]
    sizes: dict[str, int]  # Of its texts in bytes, by their hashes.
    namesake: bool

    @classmethod
    def of(cls, page: Page) -> "Traces":
        kind = Kind(page.kind)
        names = {queries.key_of(kind, one) for one in (page.name, *page.former_names)}
        size = Length(Cast("content", BinaryField()))  # In bytes, not in characters.
        sizes = dict(page.revisions.annotate(size=size).values_list("sha256", "size"))
        taken = _namesake(page).exists()
        return cls(page.pk, kind, page.wiki_id or "bank", page.path, sorted(names), sizes, taken)

    def copies(self) -> list[str]:
        # Where another page has the name, a file of that name is to be that one's.
        keys = [] if self.namesake else self.keys
        return copies.files(self.path, self.kind, keys, self.sizes)


def _clear_beside(page: Page, shas: Collection[str]) -> None:
    """Delete what killed saves left of the page beside any file that it ever had."""
    former = [record.path_of(Kind(page.kind), name) for name in page.former_names]
    paths = {page.path, *former, *page.file_operations.values_list("path", flat=True)}
    for leftover in places.beside(paths):
        # What was never put in place is a revision already, of whichever page.
        if leftover.kind == "new" or places.read_leftover(leftover).sha256 in shas:
            places.discard(leftover.path)


def _take_away(tx: clock.Writing, page: Page, reason: str) -> tuple[Receipt, FileOperation]:
    """The page for every reader: what is left is a row without a text, and what the file awaits."""
    sha, living, items = page.sha256, page.archived_at is None, _held(page)
    revisions, links = page.revisions.count(), page.links.count()
    _mark_archived(page)
    quarantine.remove(QuarantineItem.objects.filter(pk__in=items))
    page.revisions.all().delete()
    page.file_operations.all().delete()
    op = file_operations.note(page, FileOperation.Op.ERASE, sha, timezone.now())
    if living or not _namesake(page).exists():
        tx.changed(page.collection, page.document, "delete")
    # Of an archived page too, whose end was told when another page had its name already.
    idempotency.forget([(page.collection, page.document)])
    tx.audited(
        "page.erase",
        f"pages/{page.document}",
        sha256=sha,
        revisions=revisions,
        quarantine=len(items),
        links=links,
        reason=reason[:REASON_LENGTH],
    )
    return Receipt(page.document, revisions, len(items), links), op


def _mark_archived(page: Page) -> None:
    """Empty the row and free its name, if nobody saved the page since it was read."""
    as_read = Page.objects.filter(pk=page.pk, revision=page.revision, archived_at=page.archived_at)
    emptied = as_read.update(
        archived_at=page.archived_at or timezone.now(),
        **dict.fromkeys(("content", "sha256", "abstract", "author", "origin"), ""),
        **{name: [] for name in ("tags", "aliases", "flags")},
        title=page.name,
        front_matter={},
        conflict=None,
        quarantined=False,
    )
    if not emptied:
        raise Conflict("somebody else saved this page in this moment; nothing was erased")
    linking.settle([(page, set(), [])])
    record.leave_name(page)


def _held(page: Page) -> list[int]:
    """What was ever held back for the page, proposals too. Where another page has its name now,
    what came since it was archived is that one's, but for texts that it had itself."""
    rows = queries.ever_held(page).values_list("pk", "text", "created_at")
    until = page.archived_at
    if until is None or not _namesake(page).exists():
        return [pk for pk, _, _ in rows]
    shas = set(page.revisions.values_list("sha256", flat=True))
    return [pk for pk, text, at in rows if at <= until or sha256(text.encode()) in shas]


def _namesake(page: Page) -> QuerySet[Page]:
    """The page that has the name now, where this one is archived."""
    same = Page.objects.filter(kind=page.kind, key=page.key, archived_at=None)
    return same.exclude(pk=page.pk)


def _index_is_rid_of(traces: Traces, document: str) -> bool | None:
    """Whether no index answers with the page; None where there is none to ask."""
    if traces.kind == Kind.WIKI:
        return not places.index_of(traces.wiki).exists()
    held = still_found(queries.COLLECTION, [document])
    return None if held is None else not held


def _looked_at_again(receipt: Receipt, traces: Traces, *, clean: bool) -> Receipt:
    """The receipt, with what there is after the erasure."""
    index, file = None, True
    if not traces.namesake:
        index = _index_is_rid_of(traces, receipt.document)
        file = places.stamp(traces.path) is None
    row = Page.objects.filter(pk=traces.pk).exists()
    found = backups.search(
        settings.MEMORYWEB_HOME / "backups", traces.kind, traces.keys, sorted(traces.sizes)
    )
    return replace(
        receipt,
        file=file,
        index=index,
        files_left=traces.copies(),
        backups=found.holding,
        backups_unread=found.unread,
        cleared=clean and file and not row and index is not False,
    )
