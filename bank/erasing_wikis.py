"""Erasing a deleted wiki for good: nothing of it is kept but that it was erased.

Saves that were begun before it was deleted are waited for. Then goes in one transaction all that
the database says of it but an empty row, then its folder, then the deleted bytes in the database's
files, and that row last. Killed anywhere, or where a file cannot be deleted, the wiki is still
deleted, and erasing it again does the rest; until then nobody makes another in its folder.
"""

from dataclasses import dataclass, field, replace

from django.conf import settings
from django.db import transaction

from bank import backups, places, problems, publishing, queries, wikis
from bank.erasing import REASON_LENGTH
from bank.models import Kind, Page, Revision, UsedName, Wiki
from memoryweb.core import clock, idempotency, quarantine
from memoryweb.core.actor import Actor, Role
from memoryweb.core.errors import NotFound
from memoryweb.core.models import AnsweredDocument, QuarantineItem
from memoryweb.core.sqlite.scrub import scrub


@dataclass(frozen=True)
class WikiReceipt:
    """What was erased. `folder` was pointed at and is as it was; `backups` still hold the wiki's
    pages, `backups_unread` may. `verified`: looking again found nothing, in the files of the
    database neither."""

    wiki: str
    pages: int
    revisions: int
    quarantine: int
    folder: str
    seq: int = 0
    backups: list[str] = field(default_factory=list)
    backups_unread: list[str] = field(default_factory=list)
    verified: bool = False

    @property
    def detail(self) -> str:
        """What remains to be known, in words."""
        said = ["The wiki is erased for good."]
        if not self.verified:
            said.append(
                "Something of it may be left on the disk. While it is among the deleted wikis, "
                "erase it again once its folder can be deleted."
            )
        if self.folder:
            said.append("The files in the folder that it pointed at are as they were.")
        if self.backups or self.backups_unread:
            said.append("Backups are named here and not altered: delete those that hold it.")
        return " ".join(said)


def erase(actor: Actor, wiki: str, *, reason: str = "") -> WikiReceipt:
    """Erase a deleted wiki; `reason` stays in the audit.

    Raises Forbidden, NotFound for one that is not deleted, Unavailable while it is saved to.
    """
    actor.require(Role.ADMINISTRATOR)
    found = wikis.find_deleted(wiki)
    keys = list(found.pages.values_list("key", flat=True))
    shas = Revision.objects.filter(page__wiki=wiki).values_list("sha256", flat=True)
    held = backups.search(settings.MEMORYWEB_HOME / "backups", Kind.WIKI, keys, sorted({*shas}))
    with publishing.hold(Kind.WIKI, *found.pages.values_list("name", flat=True)):
        with clock.writing(actor) as tx:
            receipt = _take_away(tx, found, reason)
        places.remove_home(wiki)
    clean = scrub()
    if not places.home_of(wiki).exists():
        with transaction.atomic():
            Wiki.objects.filter(pk=wiki).exclude(deleted_at=None).delete()
    return replace(
        receipt,
        seq=tx.seq,
        backups=held.holding,
        backups_unread=held.unread,
        verified=clean and not places.home_of(wiki).exists() and not _rows(wiki),
    )


def _take_away(tx: clock.Writing, wiki: Wiki, reason: str) -> WikiReceipt:
    """All that the database says of the wiki, but a row without a word. Raises NotFound."""
    emptied = dict.fromkeys(("description", "team_id", "service_id"), "")
    row = Wiki.objects.filter(pk=wiki.pk).exclude(deleted_at=None)
    if not row.update(name=wiki.pk, meta={}, **emptied):
        raise NotFound("somebody brought this wiki back in this moment; nothing was erased")
    within = f"{Kind.WIKI}/{wiki.pk}/"
    items = QuarantineItem.objects.filter(
        collection=queries.COLLECTION, document__startswith=within
    )
    told = AnsweredDocument.objects.filter(document__startswith=within)
    receipt = WikiReceipt(
        wiki.pk,
        wiki.pages.count(),
        Revision.objects.filter(page__wiki=wiki).count(),
        items.count(),
        wiki.folder,
    )
    idempotency.forget(list(told.values_list("collection", "document").distinct()))
    quarantine.remove(items)
    wiki.pages.all().delete()
    wiki.sources.all().delete()
    UsedName.objects.filter(kind=Kind.WIKI, key__startswith=f"{wiki.pk}/").delete()
    problems.forget(places.prefix_of(wiki.pk).rstrip("/"))
    tx.changed(wikis.COLLECTION, within, "delete")
    facts = {"pages": receipt.pages, "revisions": receipt.revisions, "held": receipt.quarantine}
    tx.audited("wiki.erase", f"wikis/{wiki.pk}", **facts, reason=reason[:REASON_LENGTH])
    return receipt


def _rows(wiki: str) -> bool:
    return Wiki.objects.filter(pk=wiki).exists() or Page.objects.filter(wiki=wiki).exists()
