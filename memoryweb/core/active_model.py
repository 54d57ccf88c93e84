"""The one embedding model whose vectors are compared, and its width."""

from typing import TypeVar, cast

from django.db.models import BinaryField, F, FilteredRelation, Model, Q, QuerySet, Value
from django.utils import timezone

from memoryweb.core import clock
from memoryweb.core.models import ActiveModel

M = TypeVar("M", bound=Model)


def active() -> ActiveModel | None:
    return ActiveModel.objects.first()


def with_comparable(rows: QuerySet[M], text_sha: str) -> QuerySet[M]:
    """Annotate `comparable`, what a search compares: the current vector of the active model.

    `text_sha` names the column with the hash of the row's text; a vector of another is stale.
    """
    chosen = active()
    if chosen is None:
        return cast(QuerySet[M], rows.annotate(comparable=Value(None, BinaryField())))
    current = Q(
        vectors__model=chosen.model,
        vectors__dimension=chosen.dimension,
        vectors__text_sha=F(text_sha),
    )
    joined = rows.annotate(current_vector=FilteredRelation("vectors", condition=current))
    return cast(QuerySet[M], joined.annotate(comparable=F("current_vector__vector")))


def accept(tx: clock.Writing, model: str, dimension: int) -> ActiveModel:
    """The active model; the first vector ever accepted fixes it, and the audit says so."""
    chosen = active()
    if chosen is None:
        chosen = ActiveModel.objects.create(
            model=model,
            dimension=dimension,
            chosen_at=timezone.now(),
            chosen_by=f"the first accepted vector, from {tx.actor}",
        )
        tx.audited("model.activate", f"models/{model}", dimension=dimension, by="first vector")
    return chosen


def switch(tx: clock.Writing, model: str, dimension: int) -> None:
    """Make another stored model the active one, in the caller's transaction."""
    before = active()
    ActiveModel.objects.all().delete()
    ActiveModel.objects.create(
        model=model, dimension=dimension, chosen_at=timezone.now(), chosen_by=str(tx.actor)
    )
    earlier = f"{before.model} ({before.dimension})" if before else ""
    tx.audited("model.activate", f"models/{model}", dimension=dimension, before=earlier)
