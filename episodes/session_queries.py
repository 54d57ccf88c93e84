"""Which contexts and memories: filters, the state of their vectors, what may be served."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from django.db.models import (
    BinaryField,
    Case,
    CharField,
    Count,
    Exists,
    F,
    FilteredRelation,
    OuterRef,
    Prefetch,
    Q,
    QuerySet,
    Value,
    When,
)
from django.db.models.lookups import Exact

from episodes.models import Context, Memory, MemoryVector
from episodes.queries import telling_first
from episodes.schemas import VectorState
from episodes.session_schemas import (
    ContextFilter,
    ContextOut,
    MemoryFilter,
    MemoryOut,
    MemoryVectorOut,
)
from memoryweb.core import active_model
from memoryweb.core.errors import NotFound
from memoryweb.core.models import ActiveModel
from memoryweb.core.substrings import contains

NEWEST_FIRST = ("-created_at", "id")
# Why a recall by vector leaves a memory out: see `search.matrices.Skipped`.
Skip = Literal["no_vector", "dimension", "model"]


def find_context(context_id: str) -> Context:
    """The context with the number of its memories. Raises NotFound."""
    context = counted(Context.objects.filter(pk=context_id)).first()
    if context is None:
        raise NotFound("there is no such context")
    return context


def require_context(context_id: str) -> None:
    """Raise NotFound unless there is such a context."""
    if not Context.objects.filter(pk=context_id).exists():
        raise NotFound("there is no such context")


def find_memory(memory_id: str) -> Memory:
    """The memory with the facts of its vector. Raises NotFound, also while it is quarantined."""
    memory = described(served().filter(pk=memory_id)).first()
    if memory is None:
        raise NotFound("there is no such memory")
    return memory


def find_any_memory(memory_id: str) -> Memory:
    """As `find_memory`, but for a person's eyes: also while it is quarantined. Raises NotFound."""
    memory = described(Memory.objects.filter(pk=memory_id).select_related("context")).first()
    if memory is None:
        raise NotFound("there is no such memory")
    return memory


def contexts(wanted: ContextFilter) -> QuerySet[Context]:
    """The contexts for which every given field of the filter holds."""
    found = Context.objects.all()
    if wanted.status is not None:
        found = found.filter(status=wanted.status)
    if wanted.q is not None:
        found = found.filter(speaking_of(wanted.q))
    if wanted.type is not None:
        of_type = searchable().filter(context=OuterRef("pk"), type=wanted.type)
        found = found.filter(Exists(of_type))
    return found


def speaking_of(text: str) -> Q:
    """The contexts that have this in their id, name or intent."""
    return contains("id", text) | contains("name", text) | contains("intent", text)


@dataclass(frozen=True)
class Figures:
    """The searchable memories of one context: how many of each type, and of each vector state."""

    by_type: dict[str, int] = field(default_factory=dict)
    by_state: dict[str, int] = field(default_factory=dict)

    @property
    def total(self) -> int:
        return sum(self.by_type.values())


def figures(context_ids: Collection[str]) -> dict[str, Figures]:
    """The figures of each of these contexts, in one query."""
    found = {one: Figures() for one in context_ids}
    rows = with_vector_state(searchable().filter(context__in=context_ids)).order_by()
    by = ("context", "type", "vector_state")
    for context_id, kind, state, count in rows.values_list(*by).annotate(count=Count("pk")):
        for counts, key in ((found[context_id].by_type, kind), (found[context_id].by_state, state)):
            counts[key] = counts.get(key, 0) + count
    return found


def counted(rows: QuerySet[Context]) -> QuerySet[Context]:
    """Annotate `memory_count`: the memories that are neither archived nor in quarantine."""
    counts = Q(memories__archived=False, memories__quarantined=False)
    return rows.annotate(**{"memory_count": Count("memories", filter=counts)})


def served() -> QuerySet[Memory]:
    """All but what waits in quarantine."""
    return Memory.objects.filter(quarantined=False)


def searchable() -> QuerySet[Memory]:
    """What a search, a recall and an agent may be served: neither quarantined nor archived."""
    return served().filter(archived=False)


def scored(context_id: str, scores: Mapping[str, float]) -> list[tuple[Memory, float]]:
    """The searchable memories of a context among these ids, in their order, with their scores.

    Looked up by their ids alone: SQLite, given the choice, reads the whole context for a few.
    """
    rows = searchable().in_bulk(list(scores))
    found = ((rows[one], score) for one, score in scores.items() if one in rows)
    return [(memory, score) for memory, score in found if memory.context_id == context_id]


def matching(wanted: MemoryFilter, context_id: str | None = None) -> QuerySet[Memory]:
    """The memories of a context, or of all, for which every given field of the filter holds."""
    return narrowed(served().filter(archived=wanted.archived), wanted, context_id)


def narrowed(
    found: QuerySet[Memory], wanted: MemoryFilter, context_id: str | None = None
) -> QuerySet[Memory]:
    """Those of the rows for which the filter holds, whatever it says of archived ones."""
    if context_id is not None:
        found = found.filter(context=context_id)
    if wanted.type is not None:
        found = found.filter(type=wanted.type)
    if wanted.q is not None:
        found = found.filter(contains("content", wanted.q))
    if wanted.vector is not None:
        found = with_vector_state(found).filter(Exact(F("vector_state"), wanted.vector))
    made = _current_vectors(wanted.model)
    if wanted.needs_vector is not None:
        found = found.filter(~Exists(made) if wanted.needs_vector else Exists(made))
    if wanted.indexed_before is not None:
        found = found.exclude(Exists(made.filter(indexed_at__gte=wanted.indexed_before)))
    return found


def _current_vectors(model: str | None) -> QuerySet[MemoryVector]:
    """Usable vectors of the outer memory by a model, by default the active one."""
    rows = MemoryVector.objects.filter(memory=OuterRef("pk"), text_sha=OuterRef("content_sha"))
    chosen = active_model.active()
    if chosen is not None and model in (None, chosen.model):
        return rows.filter(model=chosen.model, dimension=chosen.dimension)
    return rows.filter(model=model) if model is not None else rows


def of_types(rows: QuerySet[Memory], types: Collection[str]) -> QuerySet[Memory]:
    return rows.filter(type__in=types) if types else rows


def with_vector_of(rows: QuerySet[Memory], model: str | None) -> QuerySet[Memory]:
    """Annotate `comparable`, the blob by `model` of the content as it is now, and `other_model`,
    whether it has a vector by another."""
    if model is None:
        none = Value(None, output_field=BinaryField())
        has_any = Exists(MemoryVector.objects.filter(memory=OuterRef("pk")))
        return rows.annotate(comparable=none, other_model=has_any)
    current = Q(vectors__model=model, vectors__text_sha=F("content_sha"))
    others = MemoryVector.objects.filter(memory=OuterRef("pk")).exclude(model=model)
    joined = rows.annotate(current_vector=FilteredRelation("vectors", condition=current))
    return joined.annotate(comparable=F("current_vector__vector"), other_model=Exists(others))


def described(rows: QuerySet[Memory]) -> QuerySet[Memory]:
    """Annotate and prefetch what `shown` needs, in a fixed number of queries."""
    vectors = telling_first(MemoryVector.objects.defer("vector"), active_model.active())
    return with_vector_state(rows).prefetch_related(Prefetch("vectors", vectors))


def with_vector_state(rows: QuerySet[Memory]) -> QuerySet[Memory]:
    """Annotate `vector_state`: what the memory's vector is worth to the active model."""
    found = _states(active_model.active())
    states = [When(condition, then=Value(state)) for state, condition in found]
    state = Case(*states, default=Value("missing"), output_field=CharField())
    return rows.annotate(**{"vector_state": state})


def not_compared(rows: QuerySet[Memory], why: Skip, model: str, width: int) -> QuerySet[Memory]:
    """Those that a recall by `model` with a vector of this width leaves out, by its reason."""
    made = MemoryVector.objects.filter(
        memory=OuterRef("pk"), model=model, text_sha=OuterRef("content_sha")
    )
    if why == "dimension":
        return rows.filter(Exists(made.exclude(dimension=width)))
    others = Exists(MemoryVector.objects.filter(memory=OuterRef("pk")).exclude(model=model))
    without = rows.filter(~Exists(made))
    return without.filter(others if why == "model" else ~others)


def vector_states() -> dict[VectorState, int]:
    """How many searchable memories there are in each state of their vectors."""
    rows = with_vector_state(searchable()).order_by()
    by = ("vector_state",)
    return dict(rows.values_list(*by).annotate(count=Count("pk")))


def _states(chosen: ActiveModel | None) -> list[tuple[str, Exists]]:
    """As for episodes: current, stale, wrong_width, other_model; where none holds, missing."""
    if chosen is None:
        return []
    vectors = MemoryVector.objects.filter(memory=OuterRef("pk"))
    by_active = vectors.filter(model=chosen.model, dimension=chosen.dimension)
    return [
        ("current", Exists(by_active.filter(text_sha=OuterRef("content_sha")))),
        ("stale", Exists(by_active)),
        ("wrong_width", Exists(vectors.filter(model=chosen.model))),
        ("other_model", Exists(vectors.filter(dimension=chosen.dimension))),
        ("wrong_width", Exists(vectors)),
    ]


def shown(memory: Memory) -> MemoryOut:
    """The memory as the API answers it. It must come from `described`."""
    vector = next(iter(memory.vectors.all()), None)
    fields: dict[str, Any] = {
        name: getattr(memory, name) for name in MemoryOut.model_fields if name != "vector"
    }
    return MemoryOut(
        **fields,
        vector=MemoryVectorOut(
            state=memory.vector_state,  # type: ignore[arg-type]
            model=vector.model if vector else None,
            dimension=vector.dimension if vector else None,
            indexed_at=vector.indexed_at if vector else None,
        ),
    )


def shown_context(context: Context) -> ContextOut:
    """The context as the API answers it. It must come from `counted`."""
    return ContextOut.model_validate(context)
