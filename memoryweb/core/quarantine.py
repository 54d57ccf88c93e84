"""Texts the guard held back: kept whole for a curator, served to nobody else."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import QuerySet

from memoryweb.core import clock, idempotency
from memoryweb.core.actor import Actor
from memoryweb.core.guard import RULES_VERSION, Finding
from memoryweb.core.models import QuarantineItem


@dataclass(frozen=True)
class Held:
    """The text of a document, and what the guard found in it."""

    document: str
    text: str
    findings: Sequence[Finding]


ITEMS = "quarantine"  # What answers that tell of an item are filed under.


def told(item: QuarantineItem) -> None:
    """Note that the answer to this request holds the text of an item."""
    clock.told(ITEMS, str(item.pk))


def hold(
    actor: Actor, collection: str, document: str, text: str, findings: Sequence[Finding]
) -> QuarantineItem:
    """Keep a refused or flagged text for review; call it inside `clock.writing`."""
    return hold_many(actor, collection, [Held(document, text, findings)])[0]


def hold_many(actor: Actor, collection: str, texts: Sequence[Held]) -> list[QuarantineItem]:
    """Keep several texts for review, in one query; call it inside `clock.writing`."""
    return QuarantineItem.objects.bulk_create(
        QuarantineItem(
            collection=collection,
            document=held.document,
            text=held.text,
            findings=[finding.as_json() for finding in held.findings],
            rules_version=RULES_VERSION,
            actor=str(actor)[:250],
            via=actor.via,
            token_id=actor.token_id,
        )
        for held in texts
    )


def withdraw(collection: str, documents: Sequence[str]) -> None:
    """Take back what waits of documents whose text is another now; inside `clock.writing`."""
    waiting = QuarantineItem.objects.filter(state=QuarantineItem.State.WAITING)
    waiting.filter(collection=collection, document__in=documents).delete()


def forget(collection: str, documents: Sequence[str]) -> None:
    """Remove every text of deleted documents, decided ones too; inside `clock.writing`."""
    remove(QuarantineItem.objects.filter(collection=collection, document__in=documents))


def remove(items: QuerySet[QuarantineItem]) -> None:
    """Remove these texts, and what was answered of them; inside `clock.writing`."""
    idempotency.forget((ITEMS, str(pk)) for pk in items.values_list("pk", flat=True))
    items.delete()


@dataclass(frozen=True)
class Approval:
    """A text that a curator let pass, in spite of what these rules say of it.

    `text` is as it was held; the approved one has another hash if the curator edited it.
    """

    text: str
    sha256: str
    rules: frozenset[str]


def approvals(collection: str, documents: Sequence[str]) -> dict[str, list[Approval]]:
    """What curators let pass of these documents, and of what was added to them."""
    of = {document + end: document for document in documents for end in ("", ADDED)}
    rows = QuarantineItem.objects.filter(
        collection=collection, document__in=of, state=QuarantineItem.State.APPROVED
    )
    found: dict[str, list[Approval]] = {}
    for row in rows:
        approval = Approval(row.text, row.approved_sha256, frozenset(row.approved_rules))
        found.setdefault(of[row.document], []).append(approval)
    return found


ADDED = "+"  # Ends the document of a text that is to be added to another.


def unapproved(
    text: str, findings: Sequence[Finding], approved: Sequence[Approval]
) -> list[Finding]:
    """The findings that no curator let pass: by another rule, or in what came to the text since."""
    return [one for one in findings if not any(_covers(it, text, one) for it in approved)]


def _covers(approval: Approval, text: str, finding: Finding) -> bool:
    if finding.rule not in approval.rules:
        return False
    if approval.sha256 == digest(text):
        return True
    if approval.sha256 != digest(approval.text):
        return False
    start = text.find(approval.text)
    if start < 0 or finding.span is None:
        return start >= 0
    return start <= finding.span[0] and finding.span[1] <= start + len(approval.text)


def digest(text: str) -> str:
    """The SHA-256 by which an approved text is known."""
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()


def waiting_count() -> int:
    return QuarantineItem.objects.filter(state=QuarantineItem.State.WAITING).count()
