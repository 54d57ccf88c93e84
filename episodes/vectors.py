"""The only writer of episode vectors: taken or refused with a reason, and never compared unseen."""

import base64
import binascii
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils import timezone

from episodes.models import Episode, EpisodeVector, RefusedVector
from episodes.queries import COLLECTION
from episodes.schemas import VectorState
from memoryweb.core import active_model, clock
from memoryweb.core.actor import Actor, Role
from memoryweb.core.chunks import chunks
from memoryweb.core.errors import DomainError, FieldError, Invalid, NotFound
from memoryweb.core.models import ActiveModel
from memoryweb.core.vectors import Vector, VectorRefused, checked_vector, decode_blob, encode_blob

BATCH = 500
# The model's name where neither the sender nor an earlier vector gave one.
UNNAMED = "unnamed"


@dataclass(frozen=True)
class Sent:
    """A vector as a sender gave it. `text_sha` names the text it was made from; "" is today's."""

    episode_id: str
    embedding: Any = None
    embedding_b64: Any = None
    model: str = ""
    text_sha: str = ""


@dataclass(frozen=True)
class Accepted:
    """A vector that may be stored, made from the text with `text_sha`, which may be outdated."""

    episode_id: str
    vector: Vector
    model: str
    text_sha: str
    is_current: bool = True


@dataclass(frozen=True)
class Stored:
    """What became of a batch: errors by position, and how many were stored in which state."""

    stored: int
    states: dict[VectorState, int]
    failed: dict[int, DomainError]
    seq: int


def received(embedding: Any, embedding_b64: Any) -> Vector | None:
    """The vector in a JSON list or in base64 of little-endian float32; None when neither is given.

    Raises VectorRefused for one that cannot be compared, Invalid when both forms are given.
    """
    if embedding_b64 is None:
        return None if embedding is None else checked_vector(embedding)
    if embedding is not None:
        raise Invalid.field("embedding", "give either embedding or embedding_b64")
    if not isinstance(embedding_b64, str):
        raise VectorRefused("not_base64")
    try:
        return decode_blob(base64.b64decode(embedding_b64, validate=True))
    except (binascii.Error, ValueError) as error:
        raise error if isinstance(error, VectorRefused) else VectorRefused("not_base64") from error


def set_vector(actor: Actor, sent: Sent) -> tuple[VectorState, int]:
    """Store one vector; the state it is in, and the seq.

    Raises NotFound, Forbidden, Invalid with the reason of a refusal, which is recorded.
    """
    result = set_vectors(actor, [sent])
    for error in result.failed.values():
        raise error
    return next(iter(result.states)), result.seq


def set_vectors(actor: Actor, sent: Sequence[Sent | DomainError]) -> Stored:
    """Store what can be stored, in transactions of 500; the rest is named with its error.

    What is an error already, such as an item without an id, fails with it.
    """
    actor.require(Role.CURATOR)
    failed = {index: one for index, one in enumerate(sent) if isinstance(one, DomainError)}
    good = [(index, one) for index, one in enumerate(sent) if isinstance(one, Sent)]
    states: Counter[VectorState] = Counter()
    seq = clock.current_seq()
    for some in chunks(good, BATCH):
        batch = _Batch(actor, dict(some))
        seq = batch.write()
        failed |= batch.failed
        states.update(batch.states)
    return Stored(states.total(), dict(states), failed, seq)


class _Batch:
    """One transaction of vectors. What they are is worked out before it starts."""

    def __init__(self, actor: Actor, sent: dict[int, Sent]) -> None:
        self.actor = actor
        self.sent = sent
        self.vectors: dict[int, Vector] = {}
        self.refused: dict[int, VectorRefused] = {}
        self.failed: dict[int, DomainError] = {}
        self.to_note: list[tuple[Sent, VectorRefused]] = []
        self.accepted: list[Accepted] = []
        self.states: list[VectorState] = []
        for index, one in sent.items():
            self._decode(index, one)

    def _decode(self, index: int, one: Sent) -> None:
        try:
            vector = received(one.embedding, one.embedding_b64)
            if vector is None:
                raise Invalid.field("embedding", "give embedding or embedding_b64")
            self.vectors[index] = vector
        except VectorRefused as refusal:
            self.refused[index] = refusal
            self.failed[index] = refusal_error(refusal)
        except Invalid as error:
            self.failed[index] = error

    def write(self) -> int:
        with clock.writing(self.actor) as tx:
            episodes = self._episodes()
            for index, one in self.sent.items():
                self._take(index, one, episodes.get(one.episode_id))
            record_refusals(self.to_note)
            self.states = put(tx, self.accepted)
            self._audit(tx)
        return tx.seq

    def _episodes(self) -> dict[str, Episode]:
        ids = {one.episode_id for one in self.sent.values()}
        rows = Episode.objects.filter(pk__in=ids).only("id", "agent_id", "summary_sha")
        return {episode.id: episode for episode in rows}

    def _take(self, index: int, one: Sent, episode: Episode | None) -> None:
        if episode is None:
            self.failed[index] = NotFound("there is no such episode")
            return
        try:
            self.actor.may_write_as(episode.agent_id)
        except DomainError as error:
            self.failed[index] = error
            return
        if index in self.refused:
            self.to_note.append((one, self.refused[index]))
        elif index in self.vectors:
            text_sha = one.text_sha or episode.summary_sha
            is_current = text_sha == episode.summary_sha
            self.accepted.append(
                Accepted(episode.id, self.vectors[index], one.model, text_sha, is_current)
            )

    def _audit(self, tx: clock.Writing) -> None:
        ids = [accepted.episode_id for accepted in self.accepted]
        if ids:
            target = f"episodes/{ids[0]}" if len(ids) == 1 else "episodes"
            tx.audited("episode.vectors", target, count=len(ids))


def put(tx: clock.Writing, accepted: Sequence[Accepted]) -> list[VectorState]:
    """Store vectors in the caller's transaction; the state each of them is in.

    The first vector ever fixes the active model.
    """
    if not accepted:
        return []
    first = accepted[0]
    chosen = active_model.accept(tx, first.model or UNNAMED, first.vector.size)
    rows = {(row.episode_id, row.model): row for row in _rows(accepted, chosen)}
    EpisodeVector.objects.bulk_create(
        rows.values(),
        batch_size=BATCH,
        update_conflicts=True,
        unique_fields=["episode", "model"],
        update_fields=["dimension", "text_sha", "indexed_at", "vector"],
    )
    for model in {model for _, model in rows}:
        mended = [episode for episode, of in rows if of == model]
        RefusedVector.objects.filter(episode__in=mended, model=model).delete()
    for episode_id in {episode for episode, _ in rows}:
        tx.changed(COLLECTION, episode_id)
    return [_state(one, chosen) for one in accepted]


def _rows(accepted: Sequence[Accepted], chosen: ActiveModel) -> Iterator[EpisodeVector]:
    now = timezone.now()
    for one in accepted:
        yield EpisodeVector(
            episode_id=one.episode_id,
            model=one.model or chosen.model,
            dimension=one.vector.size,
            text_sha=one.text_sha,
            indexed_at=now,
            vector=encode_blob(one.vector),
        )


def _state(one: Accepted, chosen: ActiveModel) -> VectorState:
    """What this vector alone is worth, as `queries.with_vector_state` says of its episode."""
    if one.vector.size != chosen.dimension:
        return "wrong_width"
    if (one.model or chosen.model) != chosen.model:
        return "other_model"
    return "current" if one.is_current else "stale"


def record_refusals(refused: Sequence[tuple[Sent, VectorRefused]]) -> None:
    """Keep why vectors were refused, in the caller's transaction; a repetition is counted."""
    if not refused:
        return
    chosen = active_model.active()
    unnamed = chosen.model if chosen else UNNAMED
    stored = RefusedVector.objects.filter(episode__in={sent.episode_id for sent, _ in refused})
    counts = Counter({(row.episode_id, row.model): row.count for row in stored})
    rows: dict[tuple[str, str], RefusedVector] = {}
    for sent, refusal in refused:
        key = sent.episode_id, sent.model or unnamed
        counts[key] += 1
        rows[key] = RefusedVector(
            episode_id=key[0],
            model=key[1],
            reason=refusal.reason,
            dimension=_width(sent),
            count=counts[key],
            refused_at=timezone.now(),
        )
    RefusedVector.objects.bulk_create(
        rows.values(),
        update_conflicts=True,
        unique_fields=["episode", "model"],
        update_fields=["reason", "dimension", "count", "refused_at"],
    )


def refusal_error(refusal: VectorRefused, name: str = "embedding") -> Invalid:
    """What a sender is told of a refused vector, which was sent under `name`."""
    return Invalid(str(refusal), [FieldError((name,), str(refusal))], reason=refusal.reason)


def _width(sent: Sent) -> int:
    if isinstance(sent.embedding_b64, str):
        return len(sent.embedding_b64) * 3 // 16
    return len(sent.embedding) if isinstance(sent.embedding, list) else 0
