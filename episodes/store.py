"""The only writer of episodes: pages, API, MCP, imports and commands all come through here.

An episode is never refused because it has no vector, or a bad one: it is findable by its text
at once, and a vector upgrades it later. What the guard finds in it does not refuse it either: it
is kept, marked as quarantined, and served to no agent until a curator decides.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from django.utils import timezone

from episodes import queries, vectors
from episodes.etags import refuse_stale
from episodes.identifiers import new_id
from episodes.models import Episode, RefusedVector
from episodes.queries import COLLECTION
from episodes.schemas import EpisodeIn, EpisodePatch, read
from memoryweb.core import clock, quarantine
from memoryweb.core.actor import Actor, Role
from memoryweb.core.chunks import chunks
from memoryweb.core.errors import Conflict, DomainError, Invalid, NotFound, Refused
from memoryweb.core.guard import Finding, scan
from memoryweb.core.vectors import Vector, VectorRefused

BATCH = 500  # rows a transaction

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


def parse(raw: object, defaults: Mapping[str, Any] | None = None) -> EpisodeIn:
    """The episode in a JSON object; `defaults` fill what it lacks and count as not sent.

    Raises Invalid, each thing that is wrong named by its place, and the id if there is one.
    """
    lacking = {}
    if isinstance(raw, dict) and defaults:
        lacking = {name: value for name, value in defaults.items() if raw.get(name) is None}
    try:
        given = read(EpisodeIn, {**raw, **lacking} if isinstance(raw, dict) else raw)
    except Invalid as error:
        if isinstance(raw, dict) and isinstance(raw.get("id"), str):
            error.members["id"] = sayable(raw["id"])
        raise
    given.model_fields_set.difference_update(lacking)
    return given


def sayable(episode_id: str) -> str:
    """A refused id as an answer can name it: cut, and without half characters."""
    return episode_id[:200].encode("utf-8", "replace").decode()


def store(actor: Actor, given: EpisodeIn, *, replace: bool = False) -> tuple[Episode, Outcome]:
    """Store one episode; what is stored now, described, and what became of it.

    The same id with the same content changes nothing: only fields that were sent are compared.
    Raises Conflict when the content is another and `replace` is not asked for, and Forbidden.
    """
    actor.require(Role.CURATOR)
    for _ in range(5):
        [outcome] = _store_batch(actor, [given], replace=replace)
        if outcome.error is not None:
            raise outcome.error
        stored = outcome.episode or queries.described(Episode.objects.filter(pk=outcome.id)).first()
        if stored is not None:
            return stored, outcome
        # It was there unchanged, and somebody deleted it before it was read: it is new now.
    raise Conflict("others keep storing and deleting this episode; try again")


def store_many(
    actor: Actor,
    rows: Iterable[EpisodeIn | DomainError],
    *,
    replace: bool = False,
    dry_run: bool = False,
) -> Iterator[Outcome]:
    """Store rows as they come, 500 a transaction; one outcome for each row, in order.

    A row that is an error already, such as a line that is no JSON, fails with it.
    """
    actor.require(Role.CURATOR)
    for batch in chunks(rows, BATCH):
        yield from _store_batch(actor, batch, replace=replace, dry_run=dry_run)


def edit(
    actor: Actor, episode_id: str, patch: EpisodePatch, *, if_match: str = ""
) -> tuple[Episode, int]:
    """Change the fields that were sent; the episode, described, and the seq.

    With `if_match`, an etag, a stale edit is refused. Raises NotFound, Forbidden, Conflict, and
    Refused when the guard objects to a person's text; an agent's is kept in quarantine.
    An episode that is in quarantine stays there, whatever its text says now, until a decision.
    """
    actor.require(Role.CURATOR)
    for _ in range(5):  # Without an etag, somebody else's edit in between is no conflict.
        stored = _for_edit(actor, episode_id, if_match)
        changes = {k: v for k, v in patch.sent.items() if not _same(getattr(stored, k), v)}
        if not changes:
            return queries.find(episode_id), clock.current_seq()
        edited = _apply(actor, stored, changes)
        if edited is not None:
            return edited
    raise Conflict("others keep changing this episode; read it again")


def release(tx: clock.Writing, episode_id: str) -> bool:
    """Let a quarantined episode be searched and served; called in the transaction that decides."""
    released = Episode.objects.filter(pk=episode_id, quarantined=True).update(quarantined=False)
    if released:
        tx.changed(COLLECTION, episode_id)
    return bool(released)


def reindex(actor: Actor, ids: Iterable[str]) -> int:
    """Have every process read these episodes into its index again; how many there are."""
    actor.require(Role.ADMINISTRATOR)
    count = 0
    for batch in chunks(ids, BATCH):
        with clock.writing(actor) as tx:
            for episode_id in Episode.objects.filter(pk__in=batch).values_list("pk", flat=True):
                tx.changed(COLLECTION, episode_id)
                count += 1
            tx.audited("episode.reindex", COLLECTION, rows=len(batch))
    return count


def recalled_text(content: Mapping[str, Any]) -> str:
    """Every text of an episode that agents are served, its names too: an attack fits in an id.

    `extra` is left out: it is scanned when it is rendered.
    """
    lines = [content["summary"], *content["key_decisions"], *content["files_modified"]]
    return "\n".join([*lines, *(content[name] for name in _NAMES)])


_NAMES = ("working_dir", "agent_id", "task_id", "id")


def text_sha(summary: str) -> str:
    """The SHA-256 of the text that is embedded: the summary as it is."""
    return hashlib.sha256(summary.encode()).hexdigest()


def _for_edit(actor: Actor, episode_id: str, if_match: str) -> Episode:
    stored = Episode.objects.filter(pk=episode_id).first()
    if stored is None:
        raise NotFound("there is no such episode")
    actor.may_write_as(stored.agent_id)
    refuse_stale(stored, if_match, what="this episode", undone="saved")
    return stored


def _apply(actor: Actor, stored: Episode, changes: dict[str, Any]) -> tuple[Episode, int] | None:
    """Write an edit if the episode is still the one that was read; what it is now, or None."""
    actor.may_write_as(changes.get("agent_id", stored.agent_id))
    before = recalled_text(vars(stored))
    after = recalled_text(vars(stored) | changes)
    findings = scan(after, posture="recalled") if after != before else []
    if findings and actor.via == "page":
        raise Refused("the guard objects to this text; nothing was saved", findings)
    columns = changes | {"updated_at": timezone.now()}
    if "summary" in changes:
        columns["summary_sha"] = text_sha(changes["summary"])
    if findings:
        columns["quarantined"] = True
    with clock.writing(actor) as tx:
        # A decision of Review leaves updated_at alone.
        as_read = {"updated_at": stored.updated_at, "quarantined": stored.quarantined}
        if not Episode.objects.filter(pk=stored.pk, **as_read).update(**columns):
            return None
        if after != before:
            _quarantine(tx, stored.pk, after, findings, stored.quarantined or bool(findings))
        if "summary" in changes:
            RefusedVector.objects.filter(episode=stored).delete()
        tx.changed(COLLECTION, stored.pk)
        sha = columns.get("summary_sha", stored.summary_sha)
        facts = {"fields": sorted(changes), "summary_sha": sha, "findings": len(findings)}
        tx.audited("episode.edit", f"episodes/{stored.pk}", **facts)
        edited = queries.find(stored.pk)
    return edited, tx.seq


def _quarantine(
    tx: clock.Writing, episode_id: str, text: str, findings: Sequence[Finding], quarantined: bool
) -> None:
    """Let the curator see the text as it is now: one waiting item for a quarantined episode."""
    quarantine.withdraw(COLLECTION, [episode_id])
    if quarantined:
        quarantine.hold(tx.actor, COLLECTION, episode_id, text, findings)


def _same(stored: Any, sent: Any) -> bool:
    """Equal as JSON, where true is not 1."""
    if isinstance(sent, dict | list):
        return json.dumps(stored, sort_keys=True) == json.dumps(sent, sort_keys=True)
    return bool(stored == sent)


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
        found = [name for name in sent if not _same(getattr(stored, name), sent[name])]
        missing = object()
        return found + [
            f"extra.{name}"
            for name, value in self.given.extra.items()
            if not _same(stored.extra.get(name, missing), value)
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
        """Let the curator see the texts as they are now, as `_quarantine` does it for one."""
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


def _store_batch(
    actor: Actor,
    rows: Sequence[EpisodeIn | DomainError],
    *,
    replace: bool,
    dry_run: bool = False,
) -> list[Outcome]:
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
