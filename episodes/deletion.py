"""Deleting episodes: row, vectors and quarantined texts in one transaction, with a receipt.

What the API deletes is gone at once. What a page deletes is kept aside for some minutes, in no
index, and can be brought back.
"""

import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, TypeVar

from django.conf import settings
from django.db.models import (
    AutoField,
    BinaryField,
    Count,
    DateTimeField,
    Max,
    Model,
    QuerySet,
)
from django.utils import timezone

from episodes import queries
from episodes.etags import refuse_stale
from episodes.models import DeletedEpisode, Episode, EpisodeVector, RefusedVector
from episodes.queries import COLLECTION
from episodes.schemas import EpisodeFilter
from episodes.texts import recalled_text
from memoryweb.core import clock, quarantine
from memoryweb.core.actor import Actor, Role
from memoryweb.core.chunks import chunks
from memoryweb.core.errors import Conflict, Forbidden, Invalid, NotFound
from memoryweb.core.guard import scan
from memoryweb.core.models import Rereading

BATCH = 500
R = TypeVar("R", bound=Model)

# Which of these ids of a collection the indexes of this process still answer with. Search, which
# lies to the right of episodes, gives it when the product is put together.
IndexCheck = Callable[[str, Sequence[str]], set[str]]
_index_check: IndexCheck | None = None


def register_index_check(check: IndexCheck | None) -> None:
    global _index_check
    _index_check = check


def still_found(collection: str, ids: Sequence[str]) -> set[str] | None:
    """Those of the ids that an index still answers with; None where there is no index."""
    if _index_check is None:
        return None
    return _index_check(collection, ids) if ids else set()


@dataclass
class Receipt:
    """What a deletion removed, and whether looking again found nothing left of it.

    `index` counts the ids that no index answers with any more; None where there is no index.
    `batch` names what can be brought back, "" when nothing can.
    """

    rows: int = 0
    vectors: int = 0
    index: int | None = None
    verified: bool = False
    seq: int = 0
    batch: str = ""


def delete(actor: Actor, episode_id: str, *, if_match: str = "") -> Receipt:
    """Delete one episode for good. Raises NotFound, Forbidden, Conflict for a stale etag."""
    receipt = delete_many(actor, ids=[episode_id], if_match=if_match)
    if not receipt.rows:
        raise NotFound("there is no such episode")
    return receipt


def delete_many(
    actor: Actor,
    *,
    ids: Sequence[str] | None = None,
    wanted: EpisodeFilter | None = None,
    undoable: bool = False,
    if_match: str = "",
) -> Receipt:
    """Delete the named episodes, or those that match; ids that are not there are passed over.

    Each 500 are one transaction. Raises Forbidden, with nothing deleted, when a token that is
    bound to an agent would delete another agent's episodes, Invalid for an empty filter, and
    Conflict for one that is not in the state that `if_match`, an etag, names.
    """
    actor.require(Role.CURATOR)
    found = _found(ids, wanted)
    _refuse_foreign(actor, found)
    receipt = Receipt(batch=str(uuid.uuid4()) if undoable else "", seq=clock.current_seq())
    gone = [
        one
        for batch in chunks(found, BATCH)
        for one in _delete_batch(actor, batch, wanted, receipt, if_match)
    ]
    _verify(receipt, gone)
    return receipt


def preview(
    actor: Actor, *, ids: Sequence[str] | None = None, wanted: EpisodeFilter | None = None
) -> Receipt:
    """What `delete_many` would remove now; nothing is changed. Raises as it does."""
    actor.require(Role.CURATOR)
    found = _found(ids, wanted)
    _refuse_foreign(actor, found)
    vectors = sum(
        EpisodeVector.objects.filter(episode__in=batch).count() for batch in chunks(found, BATCH)
    )
    return Receipt(rows=len(found), vectors=vectors, seq=clock.current_seq())


def undo(actor: Actor, batch: str) -> tuple[list[str], list[str]]:
    """Bring back what a page deleted: the ids restored, and those whose id is used again.

    Raises NotFound when the time is over, Conflict when every id is used again.
    """
    actor.require(Role.CURATOR)
    with clock.writing(actor) as tx:
        kept = list(undoable(batch))
        if not kept:
            raise NotFound("the time to undo this has passed")
        taken = set(Episode.objects.in_bulk([one.episode_id for one in kept]))
        back = [one for one in kept if one.episode_id not in taken]
        if not back:
            raise Conflict("the id is used again since; nothing was restored", ids=sorted(taken))
        for one in back:
            _restore(tx, one)
        tx.audited("episode.undelete", "episodes", count=len(back), batch=batch)
        DeletedEpisode.objects.filter(pk__in=[one.pk for one in back]).delete()
    return [one.episode_id for one in back], sorted(taken)


def undoable(batch: str) -> QuerySet[DeletedEpisode]:
    """What of a page's deletion can still be brought back."""
    return DeletedEpisode.objects.filter(batch=batch, deleted_at__gt=oldest_kept())


def lately() -> list[dict[str, Any]]:
    """The deletions of pages that can still be undone, newest first: batch, count, when, by."""
    kept = DeletedEpisode.objects.filter(deleted_at__gt=oldest_kept())
    rows = kept.values("batch", "deleted_by").annotate(count=Count("pk"), at=Max("deleted_at"))
    return [row | {"by": row["deleted_by"].removeprefix("person ")} for row in rows.order_by("-at")]


def lately_with(episode_id: str) -> dict[str, Any] | None:
    """The deletion that took this episode and can still be undone."""
    kept = DeletedEpisode.objects.filter(episode_id=episode_id).order_by("-deleted_at").first()
    return next((one for one in lately() if kept and one["batch"] == kept.batch), None)


def purge() -> int:
    """Remove for good what can no longer be brought back; how many there were."""
    removed, _ = DeletedEpisode.objects.filter(deleted_at__lte=oldest_kept()).delete()
    return removed


def oldest_kept() -> datetime:
    """What pages deleted before this can no longer be brought back."""
    return timezone.now() - timedelta(minutes=settings.MEMORYWEB_TRASH_MINUTES)


def _found(ids: Sequence[str] | None, wanted: EpisodeFilter | None) -> list[str]:
    """The ids of the episodes that are there."""
    if wanted is not None:
        if not wanted.given:
            raise Invalid("an empty filter would delete everything; name at least one field")
        return list(queries.matching(wanted).values_list("pk", flat=True))
    batches = chunks(sorted(set(ids or ())), BATCH)
    rows = (Episode.objects.filter(pk__in=batch) for batch in batches)
    return [pk for found in rows for pk in found.values_list("pk", flat=True)]


def _refuse_foreign(actor: Actor, ids: Sequence[str]) -> None:
    if not actor.agent_id:
        return
    for batch in chunks(ids, BATCH):
        rows = Episode.objects.filter(pk__in=batch)
        if rows.exclude(agent_id=actor.agent_id).exists():
            raise Forbidden(
                f"this token writes only as agent {actor.agent_id!r}, and episodes of others are "
                "among these; nothing was deleted"
            )


def _delete_batch(
    actor: Actor,
    ids: Sequence[str],
    wanted: EpisodeFilter | None,
    receipt: Receipt,
    if_match: str,
) -> list[str]:
    """Delete those of the ids that still match; the ids that were deleted."""
    with clock.writing(actor) as tx:
        # Read again: an episode that matches no more since it was chosen is left alone.
        rows = queries.matching(wanted) if wanted is not None else Episode.objects.all()
        ids = list(rows.filter(pk__in=ids).values_list("pk", flat=True))
        _refuse_foreign(actor, ids)
        for episode in Episode.objects.filter(pk__in=ids) if if_match else ():
            refuse_stale(episode, if_match, what="this episode", undone="deleted")
        if receipt.batch:
            _keep(tx, ids, receipt.batch)
        receipt.vectors += EpisodeVector.objects.filter(episode__in=ids).count()
        Episode.objects.filter(pk__in=ids).delete()
        quarantine.forget(COLLECTION, ids)
        for episode_id in ids:
            tx.changed(COLLECTION, episode_id, "delete")
        if ids:
            target = f"episodes/{ids[0]}" if len(ids) == 1 else "episodes"
            tx.audited("episode.delete", target, count=len(ids), undoable=bool(receipt.batch))
    receipt.rows += len(ids)
    receipt.seq = tx.seq
    return ids


def _verify(receipt: Receipt, ids: Sequence[str]) -> None:
    """Look again, in the tables and in the index, for what was just removed."""
    left = 0
    for batch in chunks(ids, BATCH):
        left += Episode.objects.filter(pk__in=batch).count()
        left += EpisodeVector.objects.filter(episode__in=batch).count()
    found = still_found(COLLECTION, ids)
    if found is not None:
        receipt.index = len(ids) - len(found)
        left += len(found)
    receipt.verified = not left


def _keep(tx: clock.Writing, ids: Sequence[str], batch: str) -> None:
    now = timezone.now()
    rows = Episode.objects.filter(pk__in=ids).prefetch_related("vectors", "refused_vectors")
    DeletedEpisode.objects.bulk_create(
        DeletedEpisode(
            batch=batch,
            episode_id=episode.pk,
            record=_whole(episode),
            deleted_at=now,
            deleted_by=str(tx.actor)[:250],
        )
        for episode in rows
    )


def _whole(episode: Episode) -> dict[str, Any]:
    """An episode with its vectors, and why others of it were refused."""
    return columns_of(episode) | {
        "vectors": [columns_of(one) for one in episode.vectors.all()],
        "refused_vectors": [columns_of(one) for one in episode.refused_vectors.all()],
    }


def _restore(tx: clock.Writing, kept: DeletedEpisode) -> None:
    record = dict(kept.record)
    vectors, refused = record.pop("vectors"), record.pop("refused_vectors", [])
    episode = row_of(Episode, record)
    episode.save(force_insert=True)
    EpisodeVector.objects.bulk_create(row_of(EpisodeVector, vector) for vector in vectors)
    RefusedVector.objects.bulk_create(row_of(RefusedVector, one) for one in refused)
    text = recalled_text(vars(episode))
    judged = Rereading.judged_by_present_rules(kept.deleted_at)
    findings = scan(text, posture="recalled") if episode.quarantined or not judged else []
    if findings and not episode.quarantined:
        episode.quarantined = True
        episode.save(update_fields=["quarantined"])
    if episode.quarantined:
        quarantine.hold(tx.actor, COLLECTION, episode.pk, text, findings)
    tx.changed(COLLECTION, episode.pk)


def columns_of(row: Model) -> dict[str, Any]:
    """Every column of a row as JSON, its own number left out."""
    return {
        field.attname: field.value_to_string(row)
        if isinstance(field, DateTimeField | BinaryField)
        else getattr(row, field.attname)
        for field in row._meta.concrete_fields
        if not isinstance(field, AutoField)
    }


def row_of(model: type[R], columns: dict[str, Any]) -> R:
    """The row that `columns_of` read."""
    fields = {field.attname: field for field in model._meta.concrete_fields}
    return model(**{
        name: fields[name].to_python(value)
        if isinstance(fields[name], DateTimeField | BinaryField)
        else value
        for name, value in columns.items()
    })  # fmt: skip
