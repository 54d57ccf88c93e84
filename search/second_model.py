"""The provider's model beside the one that searches compare: how far it is, and what fills it.

A provider that is set to another model changes no search. New and changed text goes on getting
vectors of the model that searches compare. The other one is filled by a run that somebody begins;
from its end on the worker keeps both, and a switch loses nothing.
"""

from dataclasses import dataclass
from typing import Literal

from memoryweb.core import active_model
from search import runs, switching
from search.embedding import configured
from search.models import EmbeddingFailure, Run
from search.reindex import CORPORA, target_of

Stage = Literal["empty", "filling", "partly", "filled"]


@dataclass(frozen=True)
class Beside:
    """Of `total` texts `made` have a vector of `model`, and `failed` could get none. `run` is the
    one that fills it now; `kept` says whether new text gets its vectors too. `cause` is why the
    provider failed at the active model, if it last did."""

    model: str
    active: str
    total: int
    made: int
    failed: int
    run: Run | None
    kept: bool
    cause: str

    @property
    def left(self) -> int:
        return self.total - self.made

    @property
    def stage(self) -> Stage:
        if self.run is not None:
            return "filling"
        if not self.made:
            return "empty"
        return "partly" if self.left > self.failed else "filled"


def beside() -> Beside | None:
    """The provider's model; None where searches compare it, or nothing yet."""
    chosen, active = configured.configured(), active_model.active()
    if chosen is None or active is None or chosen.model == active.model:
        return None
    target = target_of(chosen.model)
    counted = runs.coverage_of(list(CORPORA), target).values()
    stopped = EmbeddingFailure.objects.filter(model=active.model, of_provider=True)
    return Beside(
        model=chosen.model,
        active=active.model,
        total=sum(one["total"] for one in counted),
        made=sum(one["vectorized"] for one in counted),
        failed=sum(corpus.failed(target).count() for corpus in CORPORA.values()),
        run=_filling(chosen.model),
        kept=chosen.model in kept(chosen.model),
        cause=stopped.order_by("-failed_at").values_list("reason", flat=True).first() or "",
    )


def kept(of_provider: str) -> list[str]:
    """The models that new and changed text gets vectors of by itself: the active one, or the
    provider's as the first; and the provider's once a run has filled it."""
    active = active_model.active()
    if active is None or active.model == of_provider:
        return [of_provider]
    return [active.model, of_provider] if _was_filled(of_provider) else [active.model]


def _fills(model: str) -> dict[str, object]:
    """What makes a run one that fills a model: it is of everything."""
    everything = {"states": [], "documents": [], "collections": list(CORPORA), "retry_of": None}
    return {"kind": Run.Kind.REINDEX, "model": model, **everything}


def _filling(model: str) -> Run | None:
    found = Run.objects.filter(**_fills(model), state__in=runs.UNFINISHED)
    return found.order_by("id").first()


def _was_filled(model: str) -> bool:
    """And nobody removed its vectors since."""
    ended = Run.objects.filter(**_fills(model), state=Run.State.DONE).exists()
    return ended and switching.has_vectors(model)
