"""Which episodes: filters, the state of their vectors, and what the pages offer to choose from."""

from typing import Any, TypeVar

from django.db.models import (
    Case,
    CharField,
    Count,
    Exists,
    OuterRef,
    Prefetch,
    Q,
    QuerySet,
    Value,
    When,
)
from django.db.models.functions import Left
from django.db.models.lookups import Exact

from episodes.models import Episode, EpisodeVector, MemoryVector, RefusedVector
from episodes.schemas import VECTOR_STATES, EpisodeFilter, EpisodeOut, VectorOut, VectorState
from memoryweb.core import active_model
from memoryweb.core.directories import Subtree
from memoryweb.core.errors import NotFound
from memoryweb.core.models import ActiveModel, QuarantineItem
from memoryweb.core.substrings import contains

V = TypeVar("V", EpisodeVector, MemoryVector)

COLLECTION = "episodes"
MOST_AGENTS = 200  # that a page offers to choose from
ORDERS: dict[str, tuple[str, str]] = {
    "-created_at": ("-created_at", "id"),
    "created_at": ("created_at", "-id"),
    "-updated_at": ("-updated_at", "id"),
    "updated_at": ("updated_at", "-id"),
}


def find(episode_id: str) -> Episode:
    """The episode with the facts of its vector. Raises NotFound."""
    episode = described(Episode.objects.filter(pk=episode_id)).first()
    if episode is None:
        raise NotFound("there is no such episode")
    return episode


def matching(wanted: EpisodeFilter) -> QuerySet[Episode]:
    """The episodes for which every given field of the filter holds."""
    equal = ("working_dir", "agent_id", "task_id", "outcome", "source", "quarantined")
    found = Q(**{name: value for name, value in wanted.given.items() if name in equal})
    if wanted.working_dir_prefix is not None:
        found &= below(wanted.working_dir_prefix)
    if wanted.since is not None:
        found &= Q(created_at__gte=wanted.since)
    if wanted.until is not None:
        found &= Q(created_at__lte=wanted.until)
    if wanted.q is not None:
        found &= contains("summary", wanted.q)
    if wanted.vector is not None:
        found &= in_state(wanted.vector)
    return Episode.objects.filter(found)


def below(directory: str) -> Q:
    """The directory and all below it.

    Compared by its leading characters and not by LIKE, which in SQLite does not know a from A.
    """
    subtree = Subtree.of(directory)
    found = Q(working_dir=subtree.itself) | Q(_begins(subtree.inside))
    if subtree.inside_windows is not None:
        found |= Q(_begins(subtree.inside_windows)) & ~Q(working_dir__contains="/")
    return found


def _begins(leading: str) -> Exact:
    return Exact(Left("working_dir", len(leading)), leading)


def searchable() -> QuerySet[Episode]:
    """What a search and an agent may be served: all but what waits in quarantine."""
    return Episode.objects.filter(quarantined=False)


def with_comparable_vector(rows: QuerySet[Episode]) -> QuerySet[Episode]:
    """Annotate `comparable`, what a search compares: the current vector of the active model."""
    return active_model.with_comparable(rows, "summary_sha")


def with_vector_state(rows: QuerySet[Episode]) -> QuerySet[Episode]:
    """Annotate `vector_state`: what the episode's vector is worth to the active model."""
    return _with_vector_state(rows, active_model.active())


def _with_vector_state(rows: QuerySet[Episode], chosen: ActiveModel | None) -> QuerySet[Episode]:
    states = [When(condition, then=Value(state)) for state, condition, _ in _states(chosen)]
    state = Case(*states, default=Value("missing"), output_field=CharField())
    return rows.annotate(**{"vector_state": state})


def vector_states() -> dict[VectorState, int]:
    """How many episodes there are in each state."""
    rows: Any = with_vector_state(Episode.objects.order_by())
    counted = rows.values_list("vector_state").annotate(count=Count("pk"))
    return dict.fromkeys(VECTOR_STATES, 0) | dict(counted)


def in_state(wanted: VectorState) -> Q:
    """The episodes whose `vector_state` is this one, in a form that uses the index."""
    found, others = Q(pk__in=[]), Q()
    for state, condition, covers_earlier in _states(active_model.active()):
        if state == wanted:
            found |= others & Q(condition)
        others = ~Q(condition) if covers_earlier else others & ~Q(condition)
    return others if wanted == "missing" else found


def _states(chosen: ActiveModel | None) -> list[tuple[VectorState, Exists, bool]]:
    """The states in the order in which they are asked for; where none holds, it is missing.

    The last value says that the condition holds wherever one before it does.

    current: made from this summary by the active model. stale: by it, from an earlier summary.
    wrong_width: of another width than the active model's. other_model: of the right width, by
    another model. zero: none but one that was refused because it had no direction.
    """
    refused = RefusedVector.objects.filter(episode=OuterRef("pk"), reason="zero")
    if chosen is None:
        return [("zero", Exists(refused), False)]
    vectors = EpisodeVector.objects.filter(episode=OuterRef("pk"))
    of_width = vectors.filter(dimension=chosen.dimension)
    by_active = of_width.filter(model=chosen.model)
    return [
        ("current", Exists(by_active.filter(text_sha=OuterRef("summary_sha"))), False),
        ("stale", Exists(by_active), True),
        ("wrong_width", Exists(vectors.filter(model=chosen.model)), True),
        ("other_model", Exists(of_width), False),
        ("wrong_width", Exists(vectors), True),
        ("zero", Exists(refused), False),
    ]


def described(rows: QuerySet[Episode]) -> QuerySet[Episode]:
    """Annotate and prefetch what `shown` needs, in a fixed number of queries."""
    chosen = active_model.active()
    vectors = telling_first(EpisodeVector.objects.defer("vector"), chosen)
    return _with_vector_state(rows, chosen).prefetch_related(
        Prefetch("vectors", vectors),
        Prefetch("refused_vectors", RefusedVector.objects.order_by("-refused_at")),
    )


def telling_first(vectors: QuerySet[V], chosen: ActiveModel | None) -> QuerySet[V]:
    """The vector first that decided the state, of an episode or a memory."""
    if chosen is None:
        return vectors.order_by("-indexed_at")
    of_active, of_width = Q(model=chosen.model), Q(dimension=chosen.dimension)
    rank = Case(When(of_active, then=0), When(of_width, then=1), default=2)
    return vectors.order_by(rank, "-indexed_at")


def shown(episode: Episode) -> EpisodeOut:
    """The episode as the API answers it. It must come from `described`."""
    vector = next(iter(episode.vectors.all()), None)
    refused = next(iter(episode.refused_vectors.all()), None)
    fields: dict[str, Any] = {
        name: getattr(episode, name) for name in EpisodeOut.model_fields if name != "vector"
    }
    return EpisodeOut(
        **fields,
        vector=VectorOut(
            state=episode.vector_state,  # type: ignore[arg-type]
            model=vector.model if vector else None,
            dimension=vector.dimension if vector else None,
            indexed_at=vector.indexed_at if vector else None,
            reason=refused.reason if refused else None,
        ),
    )


def directories() -> dict[str, int]:
    """Every working directory with its number of episodes."""
    counted = Episode.objects.values_list("working_dir").annotate(count=Count("pk"))
    return dict(counted.order_by("working_dir"))


def agents() -> list[str]:
    """The agents with most episodes, to choose from, by name."""
    counted = Episode.objects.values_list("agent_id").annotate(count=Count("pk"))
    return sorted(agent for agent, _ in counted.order_by("-count", "agent_id")[:MOST_AGENTS])


def held(episode_id: str) -> QuarantineItem | None:
    """What of this episode waits for a curator's decision."""
    items = QuarantineItem.objects.filter(collection=COLLECTION, document=episode_id)
    return items.filter(state=QuarantineItem.State.WAITING).order_by("-id").first()
