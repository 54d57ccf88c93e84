"""Which stored model searches compare: another can fill beside it, be switched to, and back.

Nothing is removed by a switch. The vectors of a model go only when somebody asks for that.
"""

from collections import Counter
from typing import Any

from django.db.models import Count, Model

from bank.models import PageVector
from episodes.models import EpisodeVector, MemoryVector
from memoryweb.core import active_model, clock
from memoryweb.core.actor import Actor, Role
from memoryweb.core.errors import Conflict, NotFound
from search import failures

TABLES: tuple[type[Model], ...] = (EpisodeVector, MemoryVector, PageVector)


def widths(model: str) -> Counter[int]:
    """How many stored vectors of this model there are of each width."""
    found: Counter[int] = Counter()
    for table in TABLES:
        rows: Any = table._default_manager.filter(model=model).order_by()
        found.update(dict(rows.values_list("dimension").annotate(count=Count("pk"))))
    return found


def has_vectors(model: str) -> bool:
    return any(table._default_manager.filter(model=model).exists() for table in TABLES)


def stored() -> list[str]:
    """The models that vectors are stored of, by name."""
    found: set[str] = set()
    for table in TABLES:
        rows: Any = table._default_manager.order_by().values_list("model", flat=True)
        found.update(rows.distinct())
    return sorted(found)


def switch(actor: Actor, model: str) -> None:
    """Have searches compare this model's vectors from now on, of the width most of them have.

    Raises Forbidden, and NotFound for a model of which no vector is stored.
    """
    actor.require(Role.ADMINISTRATOR if actor.kind == "token" else Role.CURATOR)
    counted = widths(model)
    if not counted:
        raise NotFound("no vector of this model is stored; embed with it first")
    [(dimension, _)] = counted.most_common(1)
    with clock.writing(actor) as tx:
        if not _is_stored(model, dimension):
            raise NotFound("the vectors of this model were removed meanwhile")
        active_model.switch(tx, model, dimension)


def _is_stored(model: str, dimension: int) -> bool:
    given = {"model": model, "dimension": dimension}
    return any(table._default_manager.filter(**given).exists() for table in TABLES)


def remove(actor: Actor, model: str) -> int:
    """Remove the vectors of a model that is not the active one; how many there were.

    Raises Forbidden, Conflict for the active model.
    """
    actor.require(Role.ADMINISTRATOR)
    with clock.writing(actor) as tx:
        active = active_model.active()
        if active is not None and active.model == model:
            raise Conflict("searches compare this model; switch to another one first")
        removed = sum(table._default_manager.filter(model=model).delete()[0] for table in TABLES)
        failures.forget(model)
        tx.audited("model.remove", f"models/{model}", vectors=removed)
    return removed
