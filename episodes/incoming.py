"""Episodes on their way in: what becomes of each, decided in memory and written in one transaction.

`episodes.store` is the door; this is its step from rows to transactions.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from django.utils import timezone

from episodes import queries, vectors
from episodes.identifiers import new_id
from episodes.models import Episode, RefusedVector
from episodes.queries import COLLECTION
from episodes.schemas import EpisodeIn
from episodes.texts import recalled_text, same, text_sha
from memoryweb.core import clock, quarantine
from memoryweb.core.actor import Actor
from memoryweb.core.errors import Conflict, DomainError
from memoryweb.core.guard import Finding, scan
from memoryweb.core.vectors import Vector, VectorRefused

Status = Literal["created", "unchanged", "replaced", "failed"]


@dataclass
class Outcome:
    """What became of one episode on its way in."""

    id: str | None
    status: Status
    quarantined: bool = False
    error: DomainError | None = None
    seq: int = 0
    # What a write of one stored, described: nobody could delete it before it was read.
    episode: Episode | None = None


class _Draft:
    """One episode on its way in, with all that can be worked out before the transaction."""

    def __init__(self, given: EpisodeIn) -> None:
        self.given = given
        self.id = given.id or new_id()
        self.task_id = given.task_id or new_id()  # for an episode that has none yet
        self._read: str | None = None
        self._found: list[Finding] = []
        self.vector: Vector | None = None
        self.refused: VectorRefused | None = None
        self.sent_vector = vectors.Sent(
            self.id, given.embedding, given.embedding_b64, given.embedding_model or ""
        )
        try:
            self.vector = vectors.received(given.embedding, given.embedding_b64)
        except VectorRefused as refusal:
            self.refused = refusal

    def findings_in(self, text: str) -> list[Finding]:
        """What the guard finds in the text that the draft makes of its episode, read once."""
        if text != self._read:
            self._read, self._found = text, list(scan(text, posture="recalled"))
        return self._found

    def differing(self, stored: Episode) -> list[str]:
        """The names of the fields that were sent and are not as stored."""
        sent = self.given.sent
        found = [name for name in sent if not same(getattr(stored, name), sent[name])]
        missing = object()
        return found + [
            f"extra.{name}"
            for name, value in self.given.extra.items()
            if not same(stored.extra.get(name, missing), value)
        ]

    def write_into(self, episode: Episode, now: datetime) -> None:
        """Set every column. What we made when it was missing is kept when it is missing again."""
        given = self.given
        for name in (
            "schema_version", "agent_id", "working_dir", "summary", "outcome", "source",
            "key_decisions", "files_modified", "extra",
        ):  # fmt: skip
            setattr(episode, name, getattr(given, name))
        episode.task_id = given.task_id or episode.task_id or self.task_id
        episode.created_at = given.created_at or episode.created_at or now
        episode.updated_at = now
        episode.summary_sha = text_sha(given.summary)


@dataclass
class _Batch:
    """One transaction of episodes: `take` decides in memory, `write` writes what it decided."""

    actor: Actor
    replace: bool
    known: dict[str, Episode]
    now: datetime = field(default_factory=timezone.now)
    created: dict[str, Episode] = field(default_factory=dict)
    replaced: dict[str, Episode] = field(default_factory=dict)
    held: dict[str, _Draft] = field(default_factory=dict)
    with_vector: list[_Draft] = field(default_factory=list)

    def take(self, draft: _Draft) -> Outcome:
        """Decide what becomes of a draft. Raises Forbidden, Conflict."""
        self.actor.may_write_as(draft.given.agent_id)
        stored = self.known.get(draft.id)
        if stored is None:
            status = self._create(draft)
        elif differing := draft.differing(stored):
            status = self._replace(draft, stored, differing)
        else:
            status = "unchanged"
        if draft.vector is not None or draft.refused is not None:
            self.actor.may_write_as(self.known[draft.id].agent_id)
            self.with_vector.append(draft)
        return Outcome(draft.id, status, self.known[draft.id].quarantined)

    def _create(self, draft: _Draft) -> Status:
        episode = Episode(id=draft.id)
        draft.write_into(episode, self.now)
        episode.quarantined = bool(draft.findings_in(recalled_text(vars(episode))))
        self.known[draft.id] = self.created[draft.id] = episode
        if episode.quarantined:
            self.held[draft.id] = draft
        return "created"

    def _replace(self, draft: _Draft, stored: Episode, differing: list[str]) -> Status:
        if not self.replace:
            names = ", ".join(differing)
            raise Conflict(
                f"an episode with this id exists with other content ({names})",
                id=stored.id,
                differs=differing,
            )
        self.actor.may_write_as(stored.agent_id)
        before = recalled_text(vars(stored))
        draft.write_into(stored, self.now)
        if (after := recalled_text(vars(stored))) != before:
            stored.quarantined = stored.quarantined or bool(draft.findings_in(after))
            self.held[draft.id] = draft
        if draft.id not in self.created:
            self.replaced[draft.id] = stored
        return "replaced"

    @property
    def writes(self) -> bool:
        return bool(self.created or self.replaced or self.with_vector)

    def write(self, tx: clock.Writing) -> None:
        Episode.objects.bulk_create(self.created.values())
        for episode in self.replaced.values():
            episode.save(force_update=True)
        RefusedVector.objects.filter(episode__in=self.replaced).delete()
        self._hold(tx)
        for episode_id in (self.created | self.replaced).keys() - self._write_vectors(tx):
            tx.changed(COLLECTION, episode_id)
        self._audit(tx)

    def _hold(self, tx: clock.Writing) -> None:
        """Let the curator see the texts as they are now, as `episodes.store` does it for one."""
        quarantine.withdraw(COLLECTION, list(self.held))
        texts = []
        for episode_id, draft in self.held.items():
            if self.known[episode_id].quarantined:
                text = recalled_text(vars(self.known[episode_id]))
                texts.append(quarantine.Held(episode_id, text, draft.findings_in(text)))
        quarantine.hold_many(tx.actor, COLLECTION, texts)

    def _write_vectors(self, tx: clock.Writing) -> set[str]:
        """Store the vectors, note the refused; the ids of the episodes that got one."""
        vectors.record_refusals(
            [
                (draft.sent_vector, draft.refused)
                for draft in self.with_vector
                if draft.refused is not None
            ]
        )
        accepted = [
            vectors.Accepted(
                draft.id, draft.vector, draft.sent_vector.model, text_sha(draft.given.summary)
            )
            for draft in self.with_vector
            if draft.vector is not None
        ]
        vectors.put(tx, accepted)
        return {one.episode_id for one in accepted}

    def _audit(self, tx: clock.Writing) -> None:
        written = [*self.created.values(), *self.replaced.values()]
        if len(written) == 1:
            action = "episode.create" if self.created else "episode.replace"
            facts = {"summary_sha": written[0].summary_sha, "quarantined": written[0].quarantined}
            tx.audited(action, f"episodes/{written[0].id}", **facts)
        elif written:
            facts = {
                "created": len(self.created),
                "replaced": len(self.replaced),
                "quarantined": sum(episode.quarantined for episode in written),
            }
            tx.audited("episode.store", "episodes", **facts)


def store_batch(
    actor: Actor,
    rows: Sequence[EpisodeIn | DomainError],
    *,
    replace: bool,
    dry_run: bool = False,
) -> list[Outcome]:
    """One outcome for each row, in order; what was decided is written unless it is a dry run."""
    drafts = [_drafted(row) for row in rows]
    # The rehearsal decides on what is stored now; in doing so it has the guard read all new
    # text outside the transaction, which finds its findings made.
    batch = _Batch(actor, replace, _known(drafts))
    outcomes = [_taken(batch, draft) for draft in drafts]
    if dry_run:
        return outcomes
    if not batch.writes:
        seq = clock.current_seq()
    else:
        with clock.writing(actor) as tx:
            batch = _Batch(actor, replace, _known(drafts))
            outcomes = [_taken(batch, draft) for draft in drafts]
            batch.write(tx)
            if len(outcomes) == 1 and outcomes[0].id is not None and outcomes[0].error is None:
                outcomes[0].episode = queries.find(outcomes[0].id)
        seq = tx.seq
    for outcome in outcomes:
        outcome.seq = seq
    return outcomes


def _drafted(row: EpisodeIn | DomainError) -> _Draft | DomainError:
    if isinstance(row, DomainError):
        return row
    try:
        return _Draft(row)
    except DomainError as error:
        return error


def _known(drafts: Iterable[_Draft | DomainError]) -> dict[str, Episode]:
    ids = [d.id for d in drafts if isinstance(d, _Draft) and d.given.id is not None]
    return Episode.objects.in_bulk(ids) if ids else {}


def _taken(batch: _Batch, draft: _Draft | DomainError) -> Outcome:
    if isinstance(draft, DomainError):
        return Outcome(draft.members.get("id"), "failed", error=draft)
    try:
        return batch.take(draft)
    except DomainError as error:
        return Outcome(draft.id, "failed", error=error)
