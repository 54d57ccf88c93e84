"""Deleting contexts and memories, for good and in every index, with a receipt."""

from collections.abc import Iterable, Sequence

from episodes.deletion import BATCH, Receipt, still_found
from episodes.models import Context, Memory, MemoryVector
from episodes.sessions import COLLECTION, CONTEXTS, EDITED, NEW, OF_CONTEXT
from memoryweb.core import clock, quarantine
from memoryweb.core.actor import Actor, Role
from memoryweb.core.errors import NotFound


def delete_memory(actor: Actor, memory_id: str) -> Receipt:
    """Delete one memory for good. Raises NotFound, Forbidden."""
    receipt = delete_memories(actor, [memory_id])
    if not receipt.rows:
        raise NotFound("there is no such memory")
    return receipt


def delete_memories(actor: Actor, ids: Iterable[str]) -> Receipt:
    """Delete memories with their vectors, for good; ids that are not there are passed over."""
    actor.require(Role.CURATOR)
    receipt = Receipt(seq=clock.current_seq())
    gone: list[str] = []
    wanted = sorted(set(ids))
    for start in range(0, len(wanted), BATCH):
        with clock.writing(actor) as tx:
            rows = Memory.objects.filter(pk__in=wanted[start : start + BATCH])
            found = list(rows.values_list("pk", flat=True))
            receipt.vectors += _delete_rows(tx, found)
            if found:
                target = f"memories/{found[0]}" if len(found) == 1 else COLLECTION
                tx.audited("memory.delete", target, count=len(found))
        receipt.seq = tx.seq
        gone += found
    return _verified(receipt, gone)


def delete_context(actor: Actor, context_id: str) -> Receipt:
    """Delete a context with all its memories, in one transaction. Raises NotFound, Forbidden."""
    actor.require(Role.CURATOR)
    receipt = Receipt()
    with clock.writing(actor) as tx:
        if not Context.objects.filter(pk=context_id).exists():
            raise NotFound("there is no such context")
        ids = list(Memory.objects.filter(context=context_id).values_list("pk", flat=True))
        receipt.vectors = _delete_rows(tx, ids)
        Context.objects.filter(pk=context_id).delete()
        tx.changed(CONTEXTS, context_id, "delete")
        proposed = [f"{NEW}/{kind}/{context_id}" for kind in Memory.Type.values]
        quarantine.forget(COLLECTION, [f"{OF_CONTEXT}/{context_id}", *proposed])
        tx.audited("context.delete", f"contexts/{context_id}", memories=len(ids))
    receipt.seq = tx.seq
    return _verified(receipt, ids)


def _delete_rows(tx: clock.Writing, ids: Sequence[str]) -> int:
    """Remove memories, their vectors and what was held of them; how many vectors."""
    vectors = 0
    for start in range(0, len(ids), BATCH):
        batch = ids[start : start + BATCH]
        vectors += MemoryVector.objects.filter(memory__in=batch).delete()[0]
        Memory.objects.filter(pk__in=batch).delete()
        quarantine.forget(COLLECTION, [f"{EDITED}/{one}" for one in batch])
    for one in ids:
        tx.changed(COLLECTION, one, "delete")
    return vectors


def _verified(receipt: Receipt, ids: Sequence[str]) -> Receipt:
    """The receipt after looking again, in the tables and in the indexes."""
    receipt.rows = len(ids)
    left = 0
    for start in range(0, len(ids), BATCH):
        batch = ids[start : start + BATCH]
        left += Memory.objects.filter(pk__in=batch).count()
        left += MemoryVector.objects.filter(memory__in=batch).count()
    found = still_found(COLLECTION, ids)
    if found is not None:
        receipt.index = len(ids) - len(found)
        left += len(found)
    receipt.verified = not left
    return receipt
