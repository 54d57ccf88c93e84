"""Vectors of code symbols by collection, which is one repository: the only writer, and lists."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Max, QuerySet
from django.utils import timezone

from episodes.models import CodeVector
from episodes.session_schemas import CodeVectorFilter, CodeVectorIn
from episodes.vectors import UNNAMED, received, refusal_error
from memoryweb.core import active_model, clock
from memoryweb.core.actor import Actor, Role
from memoryweb.core.chunks import chunks
from memoryweb.core.errors import DomainError, Invalid, NotFound, Refused
from memoryweb.core.guard import scan
from memoryweb.core.vectors import VectorRefused, encode_blob

COLLECTION = "code_vectors"
BATCH = 500


@dataclass(frozen=True)
class Stored:
    """What became of a batch: errors by position, and how many were stored."""

    stored: int
    failed: dict[int, DomainError]
    seq: int


def store(actor: Actor, collection: str, given: CodeVectorIn) -> tuple[CodeVector, int]:
    """Store the vector of one symbol, in place of the one it had by that model; and the seq.

    Raises Forbidden, Refused for a name the guard objects to, Invalid with the reason of a
    refused vector.
    """
    result = store_many(actor, collection, [given])
    for error in result.failed.values():
        raise error
    rows = CodeVector.objects.defer("vector").filter(
        collection=collection, file_path=given.file_path, symbol_name=given.symbol_name
    )
    return rows.latest("indexed_at"), result.seq


def store_many(
    actor: Actor, collection: str, given: Sequence[CodeVectorIn | DomainError], model: str = ""
) -> Stored:
    """Store what can be stored, in transactions of 500; the rest is named with its error."""
    actor.require(Role.CURATOR)
    _look_at(collection)
    failed: dict[int, DomainError] = {}
    rows: dict[tuple[str, str, str], CodeVector] = {}
    places = set()
    chosen = active_model.active()
    fallback = model or (chosen.model if chosen else UNNAMED)
    for place, one in enumerate(given):
        try:
            row = _row(collection, one, fallback)
        except DomainError as error:
            failed[place] = error
        else:
            rows[row.file_path, row.symbol_name, row.model] = row
            places.add(place)
    seq = clock.current_seq()
    for some in chunks(rows.values(), BATCH):
        seq = _write(actor, collection, some)
    return Stored(len(places), failed, seq)


def delete(actor: Actor, collection: str, wanted: CodeVectorFilter) -> tuple[int, int]:
    """Delete a collection, or what of it matches; how many vectors, and the seq.

    Raises NotFound when nothing matches, Forbidden.
    """
    actor.require(Role.CURATOR)
    with clock.writing(actor) as tx:
        count, _ = matching(collection, wanted).delete()
        if not count:
            raise NotFound("there are no such vectors")
        tx.changed(COLLECTION, collection, "delete")
        tx.audited("code.delete", f"vectors/{collection}", count=count)
    return count, tx.seq


def find(collection: str, symbol_name: str, model: str, file_path: str = "") -> CodeVector | None:
    rows = CodeVector.objects.filter(collection=collection, file_path=file_path)
    return rows.filter(symbol_name=symbol_name, model=model).first()


def matching(collection: str, wanted: CodeVectorFilter) -> QuerySet[CodeVector]:
    return CodeVector.objects.filter(collection=collection, **wanted.given)


def collections() -> list[dict[str, Any]]:
    """Each collection by model and width, with the number of its vectors."""
    rows = CodeVector.objects.values("collection", "model", "dimension")
    counted = rows.annotate(count=Count("pk"), indexed_at=Max("indexed_at"))
    return [dict(row) for row in counted.order_by("collection", "model", "dimension")]


def newest_model(collection: str) -> str | None:
    """The model whose vector was stored last: what a search asks when it names none."""
    rows = CodeVector.objects.filter(collection=collection).order_by("-indexed_at", "-pk")
    return rows.values_list("model", flat=True).first()


def _row(collection: str, one: CodeVectorIn | DomainError, fallback: str) -> CodeVector:
    """The row to store. Raises what is wrong with what was sent."""
    if isinstance(one, DomainError):
        raise one
    _look_at(f"{one.file_path}\n{one.symbol_name}")
    try:
        vector = received(one.embedding, one.embedding_b64)
    except VectorRefused as refusal:
        raise refusal_error(refusal) from refusal
    if vector is None:
        raise Invalid.field("embedding", "give embedding or embedding_b64")
    return CodeVector(
        collection=collection,
        file_path=one.file_path,
        symbol_name=one.symbol_name,
        line_start=one.line_start,
        model=one.embedding_model or fallback,
        dimension=vector.size,
        indexed_at=timezone.now(),
        vector=encode_blob(vector),
    )


def _look_at(text: str) -> None:
    """Names are shown to agents that search: what is an attack is no name."""
    if findings := scan(text, posture="recalled"):
        raise Refused("the guard objects to this name; nothing was saved", findings)


def _write(actor: Actor, collection: str, rows: Sequence[CodeVector]) -> int:
    with clock.writing(actor) as tx:
        CodeVector.objects.bulk_create(
            rows,
            update_conflicts=True,
            unique_fields=["collection", "file_path", "symbol_name", "model"],
            update_fields=["line_start", "dimension", "indexed_at", "vector"],
        )
        tx.changed(COLLECTION, collection)
        tx.audited("code.vectors", f"vectors/{collection}", count=len(rows))
    return tx.seq
