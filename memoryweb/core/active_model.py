"""The one embedding model whose vectors are compared, and its width."""

from django.utils import timezone

from memoryweb.core import clock
from memoryweb.core.models import ActiveModel


def active() -> ActiveModel | None:
    return ActiveModel.objects.first()


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
