"""What pages deleted of sessions, kept aside in no index, and bringing it back."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, Max, Q, QuerySet
from django.utils import timezone

from episodes.deletion import BATCH, columns_of, oldest_kept, row_of
from episodes.models import Context, DeletedSession, Memory, MemoryVector
from episodes.sessions import COLLECTION, CONTEXTS, EDITED
from memoryweb.core import clock, quarantine
from memoryweb.core.actor import Actor, Role
from memoryweb.core.chunks import chunks
from memoryweb.core.errors import Conflict, NotFound
from memoryweb.core.guard import scan
from memoryweb.core.models import Rereading


@dataclass(frozen=True)
class Restored:
    """The ids that came back, and those that did not: used again, or of a session that is gone."""

    contexts: list[str]
    memories: list[str]
    left: list[str]


def keep_context(tx: clock.Writing, context: Context, batch: str) -> None:
    """Keep a context that is about to be deleted, without its memories."""
    _keep(tx, batch, CONTEXTS, [(context.pk, columns_of(context))])


def keep_memories(tx: clock.Writing, ids: Sequence[str], batch: str) -> None:
    """Keep memories that are about to be deleted, with their vectors."""
    rows = Memory.objects.filter(pk__in=ids).prefetch_related("vectors")
    kept = (
        (row.pk, columns_of(row) | {"vectors": [columns_of(v) for v in row.vectors.all()]})
        for row in rows
    )
    _keep(tx, batch, COLLECTION, kept)


def undo(actor: Actor, batch: str) -> Restored:
    """Bring back what a page deleted.

    Raises NotFound when the time is over, Conflict when nothing of it can come back.
    """
    actor.require(Role.CURATOR)
    with clock.writing(actor) as tx:
        kept = list(_undoable().filter(batch=batch))
        if not kept:
            raise NotFound("the time to undo this has passed")
        contexts = _restore_contexts(tx, [one for one in kept if one.collection == CONTEXTS])
        memories = _restore_memories(tx, [one for one in kept if one.collection == COLLECTION])
        back = {(CONTEXTS, one) for one in contexts} | {(COLLECTION, one) for one in memories}
        left = [one.document for one in kept if (one.collection, one.document) not in back]
        if not back:
            raise Conflict(
                "the id is used again since, or its session is gone; nothing was restored",
                ids=left,
            )
        facts = {"contexts": len(contexts), "memories": len(memories), "batch": batch}
        tx.audited("session.undelete", COLLECTION, **facts)
        done = [one.pk for one in kept if (one.collection, one.document) in back]
        DeletedSession.objects.filter(pk__in=done).delete()
    return Restored(contexts, memories, left)


def lately() -> list[dict[str, Any]]:
    """The deletions of pages that can still be undone, newest first: batch, counts, when, by."""
    rows = _undoable().values("batch", "deleted_by")
    of_contexts = Count("pk", filter=Q(collection=CONTEXTS))
    counted = rows.annotate(count=Count("pk"), contexts=of_contexts, at=Max("deleted_at"))
    return [
        row
        | {
            "memories": row["count"] - row["contexts"],
            "by": row["deleted_by"].removeprefix("person "),
        }
        for row in counted.order_by("-at")
    ]


def lately_with(collection: str, document: str) -> dict[str, Any] | None:
    """The deletion that took this context or memory and can still be undone."""
    kept = _undoable().filter(collection=collection, document=document)
    found = kept.order_by("-deleted_at").first()
    return next((one for one in lately() if found and one["batch"] == found.batch), None)


def purge() -> int:
    """Remove for good what can no longer be brought back; how many rows there were."""
    removed, _ = DeletedSession.objects.filter(deleted_at__lte=oldest_kept()).delete()
    return removed


def _undoable() -> QuerySet[DeletedSession]:
    return DeletedSession.objects.filter(deleted_at__gt=oldest_kept())


def _keep(
    tx: clock.Writing, batch: str, collection: str, rows: Iterable[tuple[str, dict[str, Any]]]
) -> None:
    now = timezone.now()
    DeletedSession.objects.bulk_create(
        DeletedSession(
            batch=batch,
            collection=collection,
            document=document,
            record=record,
            deleted_at=now,
            deleted_by=str(tx.actor)[:250],
        )
        for document, record in rows
    )


def _restore_contexts(tx: clock.Writing, kept: Sequence[DeletedSession]) -> list[str]:
    taken = Context.objects.in_bulk([one.document for one in kept])
    back = [one for one in kept if one.document not in taken]
    Context.objects.bulk_create(row_of(Context, one.record) for one in back)
    for one in back:
        tx.changed(CONTEXTS, one.document)
    return [one.document for one in back]


def _restore_memories(tx: clock.Writing, kept: Sequence[DeletedSession]) -> list[str]:
    """Those whose id is free and whose context is there."""
    taken = Memory.objects.in_bulk([one.document for one in kept])
    contexts = Context.objects.in_bulk({one.record["context_id"] for one in kept})
    back = [
        one for one in kept if one.document not in taken and one.record["context_id"] in contexts
    ]
    for some in chunks(back, BATCH):
        _restore_batch(tx, some)
    return [one.document for one in back]


def _restore_batch(tx: clock.Writing, kept: Sequence[DeletedSession]) -> None:
    vectors, memories = [], []
    for one in kept:
        record = dict(one.record)
        vectors += [row_of(MemoryVector, vector) for vector in record.pop("vectors")]
        memories.append(_judged(tx, row_of(Memory, record), one.deleted_at))
    Memory.objects.bulk_create(memories)
    MemoryVector.objects.bulk_create(vectors)
    for memory in memories:
        tx.changed(COLLECTION, memory.pk)


def _judged(tx: clock.Writing, memory: Memory, deleted_at: datetime) -> Memory:
    """The memory, held back if it was, or if the rules that came since object to it."""
    judged = Rereading.judged_by_present_rules(deleted_at)
    read = memory.quarantined or not judged
    findings = scan(memory.content, posture="recalled") if read else []
    memory.quarantined = memory.quarantined or bool(findings)
    if memory.quarantined:
        document = f"{EDITED}/{memory.pk}"
        quarantine.hold(tx.actor, COLLECTION, document, memory.content, findings)
    return memory
