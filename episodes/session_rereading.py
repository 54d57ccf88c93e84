"""The memories that are served, for the guard to read again when its rules changed."""

from collections.abc import Sequence
from functools import partial

from episodes import session_queries
from episodes.models import Memory
from episodes.sessions import COLLECTION, EDITED
from memoryweb.core import clock, quarantine
from memoryweb.core.guard import Finding, scan
from memoryweb.core.rereading import Source, Stored

AT_ONCE = 50


def _after(position: str) -> list[Stored]:
    rows = session_queries.served().filter(pk__gt=position).order_by("pk")[:AT_ONCE]
    return [
        Stored(
            memory.pk,
            f"{EDITED}/{memory.pk}",
            memory.content,
            partial(scan, memory.content, posture="recalled"),
        )
        for memory in rows
    ]


def _settle(tx: clock.Writing, stored: Stored, findings: Sequence[Finding]) -> bool:
    """Hold the memory back if it is still the one that was read."""
    if not findings:
        return True
    memory = session_queries.served().filter(pk=stored.position).first()
    if memory is None:  # Deleted, or held back by another.
        return True
    if memory.content != stored.text:
        return False
    Memory.objects.filter(pk=memory.pk).update(quarantined=True)
    quarantine.hold(tx.actor, COLLECTION, stored.document, stored.text, findings)
    tx.changed(COLLECTION, memory.pk)
    rules = sorted({finding.rule for finding in findings})
    tx.audited("memory.hold", f"memories/{memory.pk}", rules=rules)
    return True


SOURCE = Source(COLLECTION, lambda: session_queries.served().count(), _after, _settle)
