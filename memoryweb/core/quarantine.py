"""Texts the guard held back: kept whole for a curator, served to nobody else."""

from collections.abc import Sequence

from memoryweb.core.actor import Actor
from memoryweb.core.guard import RULES_VERSION, Finding
from memoryweb.core.models import QuarantineItem


def hold(
    actor: Actor, collection: str, document: str, text: str, findings: Sequence[Finding]
) -> QuarantineItem:
    """Keep a refused or flagged text for review; call it inside `clock.writing`."""
    return QuarantineItem.objects.create(
        collection=collection,
        document=document,
        text=text,
        findings=[finding.as_json() for finding in findings],
        rules_version=RULES_VERSION,
        actor=str(actor)[:250],
        via=actor.via,
        token_id=actor.token_id,
    )


def withdraw(collection: str, document: str) -> None:
    """Take back what waits of a document, whose text is another now; inside `clock.writing`."""
    waiting = QuarantineItem.objects.filter(state=QuarantineItem.State.WAITING)
    waiting.filter(collection=collection, document=document).delete()


def move(collection: str, old: str, new: str) -> None:
    """Note that a document goes by another name now; inside `clock.writing`."""
    QuarantineItem.objects.filter(collection=collection, document=old).update(document=new)


def forget(collection: str, documents: Sequence[str]) -> None:
    """Remove every text of deleted documents, decided ones too; inside `clock.writing`."""
    QuarantineItem.objects.filter(collection=collection, document__in=documents).delete()


def waiting_count() -> int:
    return QuarantineItem.objects.filter(state=QuarantineItem.State.WAITING).count()
