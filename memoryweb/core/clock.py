"""The change clock: one counter orders all writes, so a reader knows what it has not seen.

Every writing transaction ends by advancing the counter row and writing one change row for each
document it touched. The counter is taken last and held to the commit: no transaction with a lower
number can become visible after one with a higher number, on PostgreSQL too, where serial ids can.
"""

import hashlib
import json
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Literal

from django.db import connection, transaction
from django.db.models import Subquery
from django.utils import timezone

from memoryweb.core import idempotency
from memoryweb.core.actor import Actor
from memoryweb.core.errors import Gone
from memoryweb.core.models import AuditEntry, Change, Clock

Op = Literal["put", "delete"]
CHANGES_KEPT = 100_000


@dataclass
class Noted:
    """What one request committed: the last number, and the documents it changed.

    `documents` are those too of which it tells what they say, and `seqs` all of its numbers.
    """

    seq: int = 0
    documents: list[tuple[str, str]] = field(default_factory=list)
    seqs: set[int] = field(default_factory=set)


_noting: ContextVar[Noted | None] = ContextVar("noting", default=None)


class Writing:
    """One transaction being written: what it changed and what the audit shall say of it."""

    def __init__(self, actor: Actor) -> None:
        self.actor = actor
        self.seq = 0
        self._changes: list[tuple[str, str, Op]] = []
        self._audit: list[tuple[str, str, dict[str, Any]]] = []

    def changed(self, collection: str, document: str, op: Op = "put") -> None:
        self._changes.append((collection, document, op))

    def audited(self, action: str, target: str, **facts: Any) -> None:
        """Note for the audit. Facts are hashes, counts and names, never memory text."""
        self._audit.append((action, target, facts))

    def _finish(self) -> None:
        if not self._changes and not self._audit:
            self.seq = current_seq()
            return
        self.seq, audit_head = _advance(max(1, len(self._changes)))
        first = self.seq - len(self._changes) + 1
        rows = [(seq, *change) for seq, change in enumerate(self._changes, first)]
        with connection.cursor() as cursor:
            cursor.executemany(_INSERT_CHANGE, rows)
        deleted = [(collection, doc) for collection, doc, op in self._changes if op == "delete"]
        if deleted:
            idempotency.forget(deleted)
        self._write_audit(audit_head)

    def _committed(self) -> None:
        if (noted := _noting.get()) is not None:
            noted.seq = self.seq
            noted.seqs.update(range(self.seq - len(self._changes) + 1, self.seq + 1))
            noted.documents += [(collection, document) for collection, document, _ in self._changes]

    def _write_audit(self, previous: str) -> None:
        if not self._audit:
            return
        for action, target, facts in self._audit:
            entry = AuditEntry(
                at=timezone.now(),
                actor=str(self.actor)[:250],
                via=self.actor.via,
                action=action,
                target=target[:500],
                facts=facts,
                seq=self.seq,
                previous_hash=previous,
            )
            previous = entry.hash = entry_hash(entry)
            entry.save(force_insert=True)
        with connection.cursor() as cursor:
            cursor.execute("UPDATE core_clock SET audit_head = %s WHERE id = 1", [previous])


@contextmanager
def writing(actor: Actor) -> Iterator[Writing]:
    """One atomic write by `actor`. Its `seq` holds after the block; on an error nothing does.

    Never inside another transaction: that could undo a number which an index has seen.
    """
    with transaction.atomic(durable=True):
        tx = Writing(actor)
        yield tx
        tx._finish()
    tx._committed()


@contextmanager
def noting() -> Iterator[Noted]:
    """What this thread commits inside the block, for whoever answers for it."""
    noted = Noted()
    token = _noting.set(noted)
    try:
        yield noted
    finally:
        _noting.reset(token)


def told(collection: str, document: str) -> None:
    """Note that the answer to this request may hold what a document says."""
    if (noted := _noting.get()) is not None:
        noted.documents.append((collection, document))


def current_seq() -> int:
    """The number of the last committed change, 0 before the first."""
    return Clock.objects.filter(pk=1).values_list("seq", flat=True).first() or 0


def database_uuid() -> uuid.UUID:
    """The identity of this database; a restore renews it, so no index outlives its database."""
    return _clock().database


def changes_since(seq: int, limit: int = 10_000) -> list[Change]:
    """The changes after `seq`, in order. Raises Gone when some of them are not kept any more."""
    changes = list(Change.objects.filter(seq__gt=seq).order_by("seq")[:limit])
    pruned = pruned_seq()  # Asked after the rows: what was pruned meanwhile is noticed too.
    if seq < pruned:
        raise Gone(
            "changes that old are not kept; read everything again, then follow from the present",
            oldest_seq=pruned + 1,
        )
    return changes


def prune(kept: int = CHANGES_KEPT) -> int:
    """Remove all but the last `kept` change rows, a few thousand at a time; how many it removed.

    A process or a follower that is further behind than that has to read everything again.
    """
    floor, removed = current_seq() - kept, 0
    while (pruned := pruned_seq()) < floor:
        upto = min(pruned + 5_000, floor)
        with transaction.atomic(durable=True):
            removed += Change.objects.filter(seq__lte=upto).delete()[0]
            Clock.objects.filter(pk=1).update(pruned=upto)
    return removed


def first_broken_entry() -> str:
    """Where the audit is not as it was written: an entry, its end, or "" when it is whole."""
    heads = Clock.objects.filter(pk=1).values_list("audit_head", flat=True)
    previous, head = "", heads.first() or ""
    # The head with the entries, in one statement: others write while this reads.
    for entry in AuditEntry.objects.annotate(head=Subquery(heads)).order_by("id").iterator():
        if entry.previous_hash != previous or entry.hash != entry_hash(entry):
            return f"entry {entry.pk} ({entry.action} {entry.target})"
        previous, head = entry.hash, entry.head
    return "" if head == previous else "the end: entries after the last one are missing"


def entry_hash(entry: AuditEntry) -> str:
    """SHA-256 over the entry and the hash before it: an altered row breaks the chain there."""
    fields = [
        entry.previous_hash,
        entry.at.isoformat(),
        entry.actor,
        entry.via,
        entry.action,
        entry.target,
        json.dumps(entry.facts, sort_keys=True, ensure_ascii=False),
        entry.seq,
    ]
    return hashlib.sha256(json.dumps(fields, ensure_ascii=False).encode()).hexdigest()


def pruned_seq() -> int:
    """The last change whose row is not kept. Ask it after reading rows, not before."""
    return Clock.objects.filter(pk=1).values_list("pruned", flat=True).first() or 0


def _clock() -> Clock:
    clock, _ = Clock.objects.get_or_create(pk=1, defaults={"database": uuid.uuid4()})
    return clock


# In SQL: these run with every write, and the ORM takes longer to word them than they take.
_ADVANCE = "UPDATE core_clock SET seq = seq + %s WHERE id = 1 RETURNING seq, audit_head"
_INSERT_CHANGE = "INSERT INTO core_change (seq, collection, document, op) VALUES (%s, %s, %s, %s)"


def _advance(steps: int) -> tuple[int, str]:
    """The clock's new number, and the hash of the newest audit entry."""
    with connection.cursor() as cursor:
        cursor.execute(_ADVANCE, [steps])
        if not (rows := cursor.fetchall()):
            _clock()
            cursor.execute(_ADVANCE, [steps])
            rows = cursor.fetchall()
    seq, head = rows[0]
    return seq, head
