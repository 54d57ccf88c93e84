"""The vectors of the bank's pages: the only writer, what they are worth, and what is compared."""

from collections.abc import Sequence
from typing import Any

from django.db.models import (
    Case,
    CharField,
    Count,
    Exists,
    OuterRef,
    QuerySet,
    Value,
    When,
)
from django.utils import timezone

from bank.models import Page, PageVector
from memoryweb.core import active_model, clock
from memoryweb.core.vectors import Vector, encode_blob


def embeddable() -> QuerySet[Page]:
    """The bank's pages that are not archived. What waits in quarantine is among them."""
    return Page.objects.filter(archived_at=None, wiki=None)


def put(tx: clock.Writing, made: Sequence[tuple[int, str, Vector]], model: str) -> dict[int, str]:
    """Store vectors as (page, hash of its text, vector) in the caller's transaction.

    The present hashes of the pages; a page that is gone has none, and where the text is another
    by now nothing is stored.
    """
    pages = Page.objects.only("pk", "kind", "name", "sha256").in_bulk([pk for pk, _, _ in made])
    good = [(pk, vector) for pk, sha, vector in made if pk in pages and pages[pk].sha256 == sha]
    if good:
        active_model.accept(tx, model, good[0][1].size)
    now = timezone.now()
    rows = [
        PageVector(
            page_id=pk,
            model=model,
            dimension=vector.size,
            text_sha=pages[pk].sha256,
            indexed_at=now,
            vector=encode_blob(vector),
        )
        for pk, vector in good
    ]
    PageVector.objects.bulk_create(
        rows,
        update_conflicts=True,
        unique_fields=["page", "model"],
        update_fields=["dimension", "text_sha", "indexed_at", "vector"],
    )
    for pk, _ in good:
        tx.changed(pages[pk].collection, pages[pk].document)
    return {pk: page.sha256 for pk, page in pages.items()}


def with_comparable(rows: QuerySet[Page]) -> QuerySet[Page]:
    """Annotate `comparable`, what a search compares: the current vector of the active model."""
    return active_model.with_comparable(rows, "sha256")


def with_vector_state(rows: QuerySet[Page]) -> QuerySet[Page]:
    """Annotate `vector_state`, as for episodes; where none holds, it is missing."""
    state = Case(*_states(), default=Value("missing"), output_field=CharField())
    return rows.annotate(vector_state=state)


def vector_states() -> dict[str, int]:
    """How many pages there are in each state that some are in."""
    rows: Any = with_vector_state(embeddable().order_by())
    return dict(rows.values_list("vector_state").annotate(count=Count("pk")))


def _states() -> list[When]:
    chosen = active_model.active()
    if chosen is None:
        return []
    vectors = PageVector.objects.filter(page=OuterRef("pk"))
    by_active = vectors.filter(model=chosen.model, dimension=chosen.dimension)
    conditions = {
        "current": by_active.filter(text_sha=OuterRef("sha256")),
        "stale": by_active,
        "wrong_width": vectors.filter(model=chosen.model),
        "other_model": vectors.filter(dimension=chosen.dimension),
    }
    found = [When(Exists(rows), then=Value(state)) for state, rows in conditions.items()]
    return [*found, When(Exists(vectors), then=Value("wrong_width"))]
