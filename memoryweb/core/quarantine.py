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


def waiting_count() -> int:
    return QuarantineItem.objects.filter(state=QuarantineItem.State.WAITING).count()
