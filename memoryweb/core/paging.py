"""Lists in pages that hold still: a cursor names the row it stopped at, not a count of rows.

Rows that come or go between two requests are neither shown twice nor skipped, and the tenth
thousandth page costs what the first did.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Generic, TypeVar

from django.core.signing import BadSignature, Signer
from django.db.models import Model, Q, QuerySet
from pydantic import BaseModel, Field

from memoryweb.core.errors import Invalid

M = TypeVar("M", bound=Model)
T = TypeVar("T")

DEFAULT_LIMIT = 50
MAX_LIMIT = 500

_signer = Signer(salt="paging")  # Signed: what comes back is what was given, or it is refused.


class Paging(BaseModel):
    """The query parameters of every list."""

    limit: Annotated[int, Field(ge=1, le=MAX_LIMIT)] = DEFAULT_LIMIT
    cursor: Annotated[str, Field(max_length=4000, description="next_cursor of a page")] = ""


class Listed(BaseModel, Generic[T]):
    """The answer of every list; `next_cursor` is null on the last page."""

    items: list[T]
    next_cursor: str | None
    total: int


@dataclass(frozen=True)
class Page(Generic[M]):
    items: list[M]
    total: int
    next_cursor: str | None
    previous_cursor: str | None


def page(
    rows: QuerySet[M],
    order: Sequence[str],
    *,
    limit: int = DEFAULT_LIMIT,
    cursor: str = "",
    described: Callable[[QuerySet[M]], QuerySet[M]] = lambda rows: rows,
) -> Page[M]:
    """The rows after `cursor` in `order`, whose last field must be unique ("-created_at", "id").

    Two queries: the total, and the rows with what `described` annotates and prefetches. Raises
    Invalid for a cursor that this list never gave.
    """
    if not 1 <= limit <= MAX_LIMIT:
        raise Invalid.field("limit", f"must be from 1 to {MAX_LIMIT}")
    backward, values = _decoded(rows, order, cursor) if cursor else (False, [])
    direction = [_reversed(name) for name in order] if backward else list(order)
    found = rows.filter(_beyond(direction, values)) if values else rows
    items = list(described(found).order_by(*direction)[: limit + 1])
    more, items = len(items) > limit, items[:limit]
    if backward:
        items.reverse()
    has_next, has_previous = (bool(cursor), more) if backward else (more, bool(cursor))
    return Page(
        items,
        rows.count(),
        _encoded(order, items[-1], backward=False) if items and has_next else None,
        _encoded(order, items[0], backward=True) if items and has_previous else None,
    )


def _beyond(order: Sequence[str], values: Sequence[Any]) -> Q:
    """Rows after the one with `values`. The outer bound lets the database start in its index."""
    name, value = order[0].lstrip("-"), values[0]
    comparison = "lt" if order[0].startswith("-") else "gt"
    beyond = Q((f"{name}__{comparison}", value))
    if len(order) == 1:
        return beyond
    return Q((f"{name}__{comparison}e", value)) & (beyond | _beyond(order[1:], values[1:]))


def _reversed(name: str) -> str:
    return name[1:] if name.startswith("-") else f"-{name}"


def _encoded(order: Sequence[str], row: Model, *, backward: bool) -> str:
    values = [getattr(row, name.lstrip("-")) for name in order]
    texts = [value.isoformat() if isinstance(value, datetime) else value for value in values]
    return _signer.sign_object([backward, ",".join(order), texts])


def _decoded(rows: QuerySet[M], order: Sequence[str], cursor: str) -> tuple[bool, list[Any]]:
    try:
        backward, made_for, values = _signer.unsign_object(cursor)
    except BadSignature:
        raise Invalid.field("cursor", "is not one that a list gave") from None
    if made_for != ",".join(order):
        raise Invalid.field("cursor", "belongs to a list in another order")
    fields = [_field(rows, name.lstrip("-")) for name in order]
    return backward, [field.to_python(value) for field, value in zip(fields, values, strict=True)]


def _field(rows: QuerySet[M], name: str) -> Any:
    """The field of this name, of the model or of what the rows are annotated with."""
    annotation = rows.query.annotations.get(name)
    return rows.model._meta.get_field(name) if annotation is None else annotation.output_field
