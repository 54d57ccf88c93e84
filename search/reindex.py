"""Which documents lack a vector, from the database and not from an index, and how one is stored.

A document lacks one of a model when it has none of it, one of another width, or one that was made
from another text. Blank texts have nothing to embed and are in no list.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from django.db.models import Exists, F, OuterRef, Q, QuerySet, Value
from django.db.models.expressions import Combinable
from django.db.models.functions import Concat

from bank import page_vectors
from bank.markdown import split
from bank.models import Page, PageVector
from episodes import memory_vectors, queries, session_queries, vectors
from episodes.models import Episode, EpisodeVector, Memory, MemoryVector
from episodes.schemas import VECTOR_STATES, VectorState
from memoryweb.core import active_model, clock
from memoryweb.core.vectors import Vector
from search.models import EmbeddingFailure, RunError

BATCH = 16
SAMPLE = 10
# What of a long text is embedded: models read no more, and some refuse more.
LONGEST_TEXT = 8_000
BLANK = r"^\s*$"
# A failure may be noted between a look at the clock and one at the failures.
MEANWHILE = timedelta(minutes=1)
# What may be repaired: documents by the state of their vectors, or those that failed.
Repair = VectorState | Literal["failed"]
REPAIRS: dict[Any, str] = {**VECTOR_STATES, "failed": "failed"}


@dataclass(frozen=True)
class Target:
    """The model whose vectors are wanted; `dimension` is None while its width is not known."""

    model: str
    dimension: int | None = None


@dataclass(frozen=True)
class Wanted:
    """What of a target's work is to be done: only documents in these states, if any are named;
    only those that an earlier run failed at, if there is one; only those with these ids, if
    they are given; none that failed and is to rest beyond `due`, if that is given."""

    target: Target
    states: Sequence[Repair] = ()
    retry_of: int | None = None
    ids: Collection[str] | None = None
    due: datetime | None = None


def resting(now: datetime) -> Q:
    """The failures that are not to be tried yet. One that is still to come was noted while the
    clock was ahead, which was set right since: it does not rest until then."""
    return Q(again_at__gt=now, failed_at__lte=now + MEANWHILE)


@dataclass(frozen=True)
class Lacking:
    """A document that lacks its vector, and the hash of the text as it was read."""

    position: str
    id: str
    text: str
    sha: str


@dataclass(frozen=True)
class Corpus:
    """The documents of one collection.

    `key` is what a failure calls one of them, `sha` the column of its text's hash. `lacking`
    chooses rows, `document` is a row's id in the index as an expression, `read` makes rows
    documents. `put` stores vectors in the caller's transaction, and gives the documents whose
    text is another by now.
    """

    name: str
    key: Literal["episode", "memory", "page"]
    sha: str
    embeddable: Callable[[], QuerySet[Any]]
    made: Callable[[Target], QuerySet[Any]]
    in_state: Callable[[VectorState], Q]
    named: Callable[[Collection[str]], Q]
    document: Combinable
    read: Callable[[QuerySet[Any]], list[Lacking]]
    put: Callable[[clock.Writing, Target, Sequence[tuple[Lacking, Vector]]], set[str]]

    def lacking(self, wanted: Wanted) -> QuerySet[Any]:
        rows = self.embeddable().filter(~Exists(self.made(wanted.target))).order_by("pk")
        if wanted.states:
            states = (self._repaired(one, wanted.target) for one in dict.fromkeys(wanted.states))
            rows = rows.filter(Q(*states, _connector=Q.OR))
        if wanted.retry_of is not None:
            failed = RunError.objects.filter(run=wanted.retry_of, collection=self.name)
            rows = rows.filter(self.named(list(failed.values_list("document", flat=True))))
        if wanted.due is not None:
            rows = rows.filter(~Exists(self.failures(wanted.target).filter(resting(wanted.due))))
        return rows if wanted.ids is None else rows.filter(self.named(wanted.ids))

    def failed(self, target: Target) -> QuerySet[Any]:
        """What lacks a vector of this model though its text, as it is now, was tried."""
        return self.lacking(Wanted(target, ("failed",)))

    def failures(self, target: Target) -> QuerySet[EmbeddingFailure]:
        """Why there is no vector of this model: at most one, of the outer row's text."""
        of_row: dict[str, Any] = {self.key: OuterRef("pk"), "text_sha": OuterRef(self.sha)}
        return EmbeddingFailure.objects.filter(model=target.model, **of_row)

    def _repaired(self, state: Repair, target: Target) -> Q:
        return Q(Exists(self.failures(target))) if state == "failed" else self.in_state(state)

    def batch(self, wanted: Wanted, position: str, size: int = BATCH) -> list[Lacking]:
        """The next documents after a position, "" for the first."""
        rows = self.lacking(wanted)
        return self.read(rows.filter(pk__gt=position)[:size] if position else rows[:size])

    def coverage(self, target: Target) -> dict[str, Any]:
        """How many of the documents that can be embedded have a vector of this model."""
        total = self.embeddable().count()
        vectorized = self.embeddable().filter(Exists(self.made(target))).count()
        ratio = vectorized / total if total else 1.0
        return {"total": total, "vectorized": vectorized, "ratio": ratio}


def _of_target(rows: QuerySet[Any], target: Target, sha: str) -> QuerySet[Any]:
    made = rows.filter(model=target.model, text_sha=OuterRef(sha))
    return made if target.dimension is None else made.filter(dimension=target.dimension)


def _read_episodes(rows: QuerySet[Any]) -> list[Lacking]:
    return [
        Lacking(pk, pk, text[:LONGEST_TEXT], sha)
        for pk, text, sha in rows.values_list("pk", "summary", "summary_sha")
    ]


def _put_episodes(
    tx: clock.Writing, target: Target, made: Sequence[tuple[Lacking, Vector]]
) -> set[str]:
    ids = [one.id for one, _ in made]
    now = dict(Episode.objects.filter(pk__in=ids).values_list("pk", "summary_sha"))
    good = [(one, vector) for one, vector in made if now.get(one.id) == one.sha]
    accepted = [vectors.Accepted(one.id, vector, target.model, one.sha) for one, vector in good]
    vectors.put(tx, accepted)
    return _changed(made, now)


def _read_memories(rows: QuerySet[Any]) -> list[Lacking]:
    return [
        Lacking(pk, pk, text[:LONGEST_TEXT], sha)
        for pk, text, sha in rows.values_list("pk", "content", "content_sha")
    ]


def _put_memories(
    tx: clock.Writing, target: Target, made: Sequence[tuple[Lacking, Vector]]
) -> set[str]:
    ids = [one.id for one, _ in made]
    rows = Memory.objects.only("id", "context_id", "content_sha").in_bulk(ids)
    now = {pk: memory.content_sha for pk, memory in rows.items()}
    sent = [
        (memory_vectors.Sent(one.id, model=target.model, text_sha=one.sha), vector)
        for one, vector in made
        if now.get(one.id) == one.sha
    ]
    memory_vectors.put(tx, sent, rows, Counter())
    return _changed(made, now)


def _read_pages(rows: QuerySet[Any]) -> list[Lacking]:
    return [
        Lacking(str(page.pk), page.document, _text_of(page), page.sha256)
        for page in rows.only("pk", "kind", "name", "title", "content", "sha256")
    ]


def _text_of(page: Page) -> str:
    return f"{page.title}\n{split(page.content).body}"[:LONGEST_TEXT]


def _put_pages(
    tx: clock.Writing, target: Target, made: Sequence[tuple[Lacking, Vector]]
) -> set[str]:
    given = [(int(one.position), one.sha, vector) for one, vector in made]
    now = page_vectors.put(tx, given, target.model)
    return {one.id for one, _ in made if now.get(int(one.position), one.sha) != one.sha}


def _pages_named(documents: Collection[str]) -> Q:
    """By kind and name: a few at a time, as the change rows or a run's errors name them."""
    if not documents:
        return Q(pk__in=[])
    by_kind: dict[str, list[str]] = {}
    for kind, _, name in (one.partition("/") for one in documents):
        by_kind.setdefault(kind, []).append(name)
    return Q(*(Q(kind=kind, name__in=some) for kind, some in by_kind.items()), _connector=Q.OR)


def _pages_in_state(state: VectorState) -> Q:
    rows: Any = page_vectors.with_vector_state(page_vectors.embeddable())
    return Q(pk__in=rows.filter(vector_state=state).values("pk"))


def _memories_in_state(state: VectorState) -> Q:
    rows: Any = session_queries.described(session_queries.searchable()).prefetch_related(None)
    return Q(pk__in=rows.filter(vector_state=state).values("pk"))


def _changed(made: Sequence[tuple[Lacking, Vector]], now: dict[str, str]) -> set[str]:
    """Documents whose text was changed since it was read; one that was deleted needs nothing."""
    return {one.id for one, _ in made if now.get(one.id, one.sha) != one.sha}


def _by_pk(ids: Collection[str]) -> Q:
    return Q(pk__in=list(ids))


CORPORA = {
    corpus.name: corpus
    for corpus in (
        Corpus(
            "episodes",
            "episode",
            "summary_sha",
            lambda: Episode.objects.exclude(summary__regex=BLANK),
            lambda target: _of_target(
                EpisodeVector.objects.filter(episode=OuterRef("pk")), target, "summary_sha"
            ),
            queries.in_state,
            _by_pk,
            F("pk"),
            _read_episodes,
            _put_episodes,
        ),
        Corpus(
            "memories",
            "memory",
            "content_sha",
            lambda: session_queries.searchable().exclude(content__regex=BLANK),
            lambda target: _of_target(
                MemoryVector.objects.filter(memory=OuterRef("pk")), target, "content_sha"
            ),
            _memories_in_state,
            _by_pk,
            F("pk"),
            _read_memories,
            _put_memories,
        ),
        Corpus(
            "pages",
            "page",
            "sha256",
            lambda: page_vectors.embeddable().exclude(content__regex=BLANK),
            lambda target: _of_target(
                PageVector.objects.filter(page=OuterRef("pk")), target, "sha256"
            ),
            _pages_in_state,
            _pages_named,
            Concat("kind", Value("/"), "name"),
            _read_pages,
            _put_pages,
        ),
    )
}


@dataclass(frozen=True)
class Plan:
    """What a reindex would do: of which model, how many documents, and the first of them."""

    model: str
    count: int
    sample: list[dict[str, str]]


def target_of(model: str) -> Target:
    """The model as a target; the active one's width is known."""
    active = active_model.active()
    width = active.dimension if active is not None and active.model == model else None
    return Target(model, width)


def plan(collections: Sequence[str], wanted: Wanted) -> Plan:
    """The work list of these collections; nothing is written and no provider asked."""
    count = sum(CORPORA[name].lacking(wanted).count() for name in collections)
    sample = list(_first(collections, wanted))
    return Plan(wanted.target.model, count, sample[:SAMPLE])


def _first(collections: Sequence[str], wanted: Wanted) -> Iterator[dict[str, str]]:
    for name in collections:
        for one in CORPORA[name].batch(wanted, "", SAMPLE):
            text = " ".join(one.text.split())[:120]
            yield {"collection": name, "id": one.id, "text": text}
