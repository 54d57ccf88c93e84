"""Texts the guard held back: kept whole for a curator, served to nobody else."""

from collections.abc import Sequence
from dataclasses import dataclass

from memoryweb.core.actor import Actor
from memoryweb.core.guard import RULES_VERSION, Finding
from memoryweb.core.models import QuarantineItem


@dataclass(frozen=True)
class Held:
    """The text of a document, and what the guard found in it."""

    document: str
    text: str
    findings: Sequence[Finding]


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


def move(collection: str, old: str, new: str) -> None:
    """Note that a document goes by another name now; inside `clock.writing`."""
    QuarantineItem.objects.filter(collection=collection, document=old).update(document=new)


def forget(collection: str, documents: Sequence[str]) -> None:
    """Remove every text of deleted documents, decided ones too; inside `clock.writing`."""
    QuarantineItem.objects.filter(collection=collection, document__in=documents).delete()


def waiting_count() -> int:
    return QuarantineItem.objects.filter(state=QuarantineItem.State.WAITING).count()
