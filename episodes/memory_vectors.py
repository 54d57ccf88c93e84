"""The only writer of the vectors of memories: each is taken, or refused with its reason."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.utils import timezone

from episodes.models import Memory, MemoryVector
from episodes.sessions import COLLECTION
from episodes.vectors import received, refusal_error
from memoryweb.core import active_model, clock
from memoryweb.core.actor import Actor, Role
from memoryweb.core.chunks import chunks
from memoryweb.core.errors import DomainError, Invalid, NotFound
from memoryweb.core.models import ActiveModel
from memoryweb.core.vectors import Vector, VectorRefused, encode_blob

BATCH = 500


@dataclass(frozen=True)
class Sent:
    """A vector as a sender gave it. `text_sha` names the text it was made from; "" is today's."""

    memory_id: str
    embedding: Any = None
    embedding_b64: Any = None
    model: str = ""
    text_sha: str = ""


@dataclass(frozen=True)
class Stored:
    """What became of a batch: errors by position, and how many were stored in which state."""

    stored: int
    states: dict[str, int]
    failed: dict[int, DomainError]
    seq: int
    rows: list[MemoryVector]


def index(actor: Actor, sent: Sent) -> tuple[str, MemoryVector, int]:
    """Store the vector of one memory; its state, the row, and the seq.

    Raises NotFound, Forbidden, Invalid without a model or with the reason of a refusal.
    """
    result = index_many(actor, [sent])
    for error in result.failed.values():
        raise error
    [row] = result.rows
    return next(iter(result.states)), row, result.seq


def index_many(actor: Actor, sent: Sequence[Sent | DomainError]) -> Stored:
    """Store what can be stored, in transactions of 500; the rest is named with its error.

    The first vector that is ever accepted fixes the active model.
    """
    actor.require(Role.CURATOR)
    failed: dict[int, DomainError] = {}
    vectors: dict[int, Vector] = {}
    for place, one in enumerate(sent):
        try:
            vectors[place] = _decoded(one)
        except DomainError as error:
            failed[place] = error
    states: Counter[str] = Counter()
    rows: list[MemoryVector] = []
    seq = 0
    for places in chunks(vectors, BATCH):
        batch = {at: (sent[at], vectors[at]) for at in places}
        seq = _write(actor, batch, failed, states, rows)  # type: ignore[arg-type]
    return Stored(states.total(), dict(states), failed, seq or clock.current_seq(), rows)


def _decoded(one: Sent | DomainError) -> Vector:
    """The vector that was sent. Raises what is wrong with it."""
    if isinstance(one, DomainError):
        raise one
    if not one.model:
        raise Invalid.field("embedding_model", "name the model that made the vector")
    try:
        vector = received(one.embedding, one.embedding_b64)
    except VectorRefused as refusal:
        raise refusal_error(refusal) from refusal
    if vector is None:
        raise Invalid.field("embedding", "give embedding or embedding_b64")
    return vector


def _write(
    actor: Actor,
    batch: dict[int, tuple[Sent, Vector]],
    failed: dict[int, DomainError],
    states: Counter[str],
    rows: list[MemoryVector],
) -> int:
    """One transaction of vectors; the seq."""
    ids = {one.memory_id for one, _ in batch.values()}
    with clock.writing(actor) as tx:
        known = Memory.objects.only("id", "context_id", "content_sha").in_bulk(ids)
        for place in [at for at, (one, _) in batch.items() if one.memory_id not in known]:
            del batch[place]
            failed[place] = NotFound("there is no such memory")
        rows += put(tx, list(batch.values()), known, states)
        stored = sorted(one.memory_id for one, _ in batch.values())
        if stored:
            target = f"memories/{stored[0]}" if len({*stored}) == 1 else COLLECTION
            tx.audited("memory.vectors", target, count=len({*stored}))
    return tx.seq


def put(
    tx: clock.Writing,
    sent: Sequence[tuple[Sent, Vector]],
    known: dict[str, Memory],
    states: Counter[str],
) -> list[MemoryVector]:
    """Store vectors of memories that are `known`, in the caller's transaction; of two for one
    memory and model, the last. `states` counts what they are worth."""
    if not sent:
        return []
    chosen = active_model.accept(tx, sent[0][0].model, sent[0][1].size)
    rows: dict[tuple[str, str], MemoryVector] = {}
    for one, vector in sent:
        memory = known[one.memory_id]
        row = rows[memory.pk, one.model] = _row(memory, one, vector)
        states[_state(row, memory, chosen)] += 1
    MemoryVector.objects.bulk_create(
        rows.values(),
        update_conflicts=True,
        unique_fields=["memory", "model"],
        update_fields=["dimension", "text_sha", "indexed_at", "vector"],
    )
    for memory_id in sorted({memory_id for memory_id, _ in rows}):
        tx.changed(COLLECTION, memory_id)
    return list(rows.values())


def _row(memory: Memory, one: Sent, vector: Vector) -> MemoryVector:
    return MemoryVector(
        memory_id=memory.pk,
        context_id=memory.context_id,
        model=one.model,
        dimension=vector.size,
        text_sha=one.text_sha or memory.content_sha,
        indexed_at=timezone.now(),
        vector=encode_blob(vector),
    )


def _state(row: MemoryVector, memory: Memory, chosen: ActiveModel) -> str:
    """What this vector alone is worth, as for episodes."""
    if row.dimension != chosen.dimension:
        return "wrong_width"
    if row.model != chosen.model:
        return "other_model"
    return "current" if row.text_sha == memory.content_sha else "stale"
