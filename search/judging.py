"""What people judged to be relevant for a query, and what a ranking is worth by that: the
measures are those of `manage.py evaluate`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Max
from django.utils import timezone

from memoryweb.core import clock
from memoryweb.core.actor import Actor, Role
from memoryweb.core.errors import Invalid, NotFound
from search.measures import ndcg, recall, reciprocal_rank
from search.models import Judgement
from search.schemas import JUDGED_CHARACTERS
from search.sources import SOURCES

BEST = 10
GRADES = {0: "not relevant", 1: "touches it", 2: "relevant", 3: "just this"}
Key = tuple[str, str]  # collection and document


@dataclass(frozen=True)
class Measures:
    """What one ranking came to, each from 0 to 1."""

    ndcg: float
    recall: float
    reciprocal_rank: float


def judge(actor: Actor, query: str, collection: str, document: str, grade: int | None) -> None:
    """Keep how relevant a document is for a query; None takes the judgement back.

    Raises Forbidden, Invalid, and NotFound for a document that is not served.
    """
    actor.require(Role.CURATOR)
    query = query.strip()
    if not 0 < len(query) <= JUDGED_CHARACTERS:
        raise Invalid.field("query", f"must have from 1 to {JUDGED_CHARACTERS} characters")
    if grade is not None and grade not in GRADES:
        raise Invalid.field("grade", "must be from 0 to 3")
    if collection not in SOURCES or not SOURCES[collection].shown([document]):
        raise NotFound("there is no such document, or it is not served")
    key: dict[str, Any] = {"query": query, "collection": collection, "document": document}
    with clock.writing(actor) as tx:
        if grade is None:
            Judgement.objects.filter(**key).delete()
        else:
            made = {"grade": grade, "judged_by": str(actor)[:250], "judged_at": timezone.now()}
            Judgement.objects.update_or_create(**key, defaults=made)
        tx.audited("judgement.set", f"{collection}/{document}", grade=grade)


def grades(query: str) -> dict[Key, int]:
    """What was judged for this query, by collection and document."""
    rows = Judgement.objects.filter(query=query.strip())
    return {(row.collection, row.document): row.grade for row in rows}


def queries(most: int) -> list[str]:
    """The queries with judgements, the one judged last first."""
    rows = Judgement.objects.values("query").annotate(last=Max("judged_at")).order_by("-last")
    return list(rows.values_list("query", flat=True)[:most])


def measured(ranking: Sequence[Key], grades: Mapping[Key, int]) -> Measures:
    """What the best ten of a ranking are worth; `grades` has at least one above 0."""
    ranked = ["/".join(key) for key in ranking]
    judged = {"/".join(key): grade for key, grade in grades.items()}
    return Measures(*(measure(ranked, judged, BEST) for measure in (ndcg, recall, reciprocal_rank)))


def mean(all_measures: Sequence[Measures]) -> Measures:
    """The mean of each measure."""
    count = len(all_measures)
    return Measures(
        sum(one.ndcg for one in all_measures) / count,
        sum(one.recall for one in all_measures) / count,
        sum(one.reciprocal_rank for one in all_measures) / count,
    )
