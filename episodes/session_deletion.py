"""Deleting contexts and memories, in every index, with a receipt.

What the API deletes is gone for good at once; what a page deletes can be brought back for some
minutes: see `episodes.session_undo`.
"""

import uuid
from collections.abc import Iterable, Sequence

from episodes import session_undo
from episodes.deletion import BATCH, Receipt, still_found
from episodes.etags import refuse_stale
from episodes.models import Context, Memory, MemoryVector
from episodes.sessions import COLLECTION, CONTEXTS, EDITED, NEW, OF_CONTEXT
from memoryweb.core import clock, quarantine
from memoryweb.core.actor import Actor, Role
from memoryweb.core.chunks import chunks
from memoryweb.core.errors import NotFound


def delete_memory(actor: Actor, memory_id: str, *, if_match: str = "") -> Receipt:
    """Delete one memory for good. Raises NotFound, Forbidden, Conflict for a stale etag."""
    receipt = delete_memories(actor, [memory_id], if_match=if_match)
    if not receipt.rows:
        raise NotFound("there is no such memory")
    return receipt


def delete_memories(
    actor: Actor, ids: Iterable[str], *, undoable: bool = False, if_match: str = ""
) -> Receipt:
    """Delete memories with their vectors; ids that are not there are passed over. Raises Conflict
    for one that is not in the state that `if_match`, an etag, names."""
    actor.require(Role.CURATOR)
    receipt = Receipt(seq=clock.current_seq(), batch=_batch(undoable))
    gone: list[str] = []
    for batch in chunks(sorted(set(ids)), BATCH):
        with clock.writing(actor) as tx:
            rows = Memory.objects.filter(pk__in=batch)
            for memory in rows if if_match else ():
                refuse_stale(memory, if_match, undone="deleted")
            found = list(rows.values_list("pk", flat=True))
            receipt.vectors += _delete_rows(tx, found, receipt.batch)
            if found:
                target = f"memories/{found[0]}" if len(found) == 1 else COLLECTION
                tx.audited("memory.delete", target, count=len(found), undoable=undoable)
        receipt.seq = tx.seq
        gone += found
    return _verified(receipt, gone)


def delete_context(actor: Actor, context_id: str, *, if_match: str = "") -> Receipt:
    """Delete a context with all its memories, in one transaction. Raises NotFound, Forbidden,
    Conflict for a stale etag."""
    deleted, receipt = delete_contexts(actor, [context_id], if_match=if_match)
    if not deleted:
        raise NotFound("there is no such context")
    return receipt


def delete_contexts(
    actor: Actor, ids: Iterable[str], *, undoable: bool = False, if_match: str = ""
) -> tuple[int, Receipt]:
    """Delete contexts with all their memories, each in one transaction: how many, and what went
    with them. Ids that are not there are passed over; Conflict is raised for one that is not in
    the state that `if_match`, an etag, names."""
    actor.require(Role.CURATOR)
    receipt = Receipt(seq=clock.current_seq(), batch=_batch(undoable))
    deleted = 0
    gone: list[str] = []
    for context_id in Context.objects.filter(pk__in=list(ids)).values_list("pk", flat=True):
        with clock.writing(actor) as tx:
            context = Context.objects.filter(pk=context_id).first()
            if context:
                refuse_stale(context, if_match, undone="deleted")
            gone += _delete_context(tx, context, receipt) if context else []
        receipt.seq = tx.seq
        deleted += context is not None
    return deleted, _verified(receipt, gone)


def _delete_context(tx: clock.Writing, context: Context, receipt: Receipt) -> list[str]:
    """Remove a context and all that is of it; the ids of its memories."""
    ids = list(Memory.objects.filter(context=context.pk).values_list("pk", flat=True))
    if receipt.batch:
        session_undo.keep_context(tx, context, receipt.batch)
    receipt.vectors += _delete_rows(tx, ids, receipt.batch)
    Context.objects.filter(pk=context.pk).delete()
    tx.changed(CONTEXTS, context.pk, "delete")
    quarantine.forget(COLLECTION, held_of(context.pk))
    facts = {"memories": len(ids), "undoable": bool(receipt.batch)}
    tx.audited("context.delete", f"contexts/{context.pk}", **facts)
    return ids


def held_of(context_id: str) -> list[str]:
    """The documents of what the guard may hold of a context, those of its memories left out."""
    proposed = [f"{NEW}/{kind}/{context_id}" for kind in Memory.Type.values]
    return [f"{OF_CONTEXT}/{context_id}", *proposed]


def _batch(undoable: bool) -> str:
    return str(uuid.uuid4()) if undoable else ""


def _delete_rows(tx: clock.Writing, ids: Sequence[str], kept_as: str) -> int:
    """Remove memories, their vectors and what was held of them; how many vectors."""
    vectors = 0
    for batch in chunks(ids, BATCH):
        if kept_as:
            session_undo.keep_memories(tx, batch, kept_as)
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
    for batch in chunks(ids, BATCH):
        left += Memory.objects.filter(pk__in=batch).count()
        left += MemoryVector.objects.filter(memory__in=batch).count()
    found = still_found(COLLECTION, ids)
    if found is not None:
        receipt.index = len(ids) - len(found)
        left += len(found)
    receipt.verified = not left
    return receipt
