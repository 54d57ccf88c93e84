"""The only writer of episodes: pages, API, MCP, imports and commands all come through here.

An episode is never refused because it has no vector, or a bad one: it is findable by its text
at once, and a vector upgrades it later. What the guard finds in it does not refuse it either: it
is kept, marked as quarantined, and served to no agent until a curator decides.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from django.utils import timezone

from episodes import queries
from episodes.etags import refuse_stale
from episodes.incoming import Outcome, store_batch
from episodes.models import Episode, RefusedVector
from episodes.queries import COLLECTION
from episodes.schemas import EpisodeIn, EpisodePatch, read
from episodes.texts import recalled_text, same, text_sha
from memoryweb.core import clock, quarantine
from memoryweb.core.actor import Actor, Role
from memoryweb.core.chunks import chunks
from memoryweb.core.errors import Conflict, DomainError, Invalid, NotFound, Refused
from memoryweb.core.guard import Finding, scan

BATCH = 500  # rows a transaction


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
        [outcome] = store_batch(actor, [given], replace=replace)
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
        yield from store_batch(actor, batch, replace=replace, dry_run=dry_run)


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
        changes = {k: v for k, v in patch.sent.items() if not same(getattr(stored, k), v)}
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
