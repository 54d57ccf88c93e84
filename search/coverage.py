"""How much of the memory vectors cover, counted in the database; each number has its list."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import date, timedelta
from math import floor
from typing import Any
from urllib.parse import urlencode

from django.db.models import Count, DateField, F, Model, Q, QuerySet, Subquery
from django.db.models.functions import TruncMonth
from django.urls import reverse
from django.utils import timezone

from bank import page_vectors, withholding
from bank.models import PageVector
from episodes import queries, session_queries
from episodes.models import Context, Episode, EpisodeVector, MemoryVector
from episodes.schemas import VECTOR_STATES, VectorState
from memoryweb.core import active_model, clock
from memoryweb.core.actor import Actor
from memoryweb.core.models import ActiveModel
from search import runs
from search.engine import Index
from search.live import View, live
from search.models import CoverageDay
from search.reindex import BLANK, CORPORA, Target, target_of
from search.sources import title_of

MEANINGS = {
    "current": "Made from the text as it is now, by the active model. Compared in every search.",
    "missing": "No vector has arrived.",
    "stale": "The text was changed after its vector was made.",
    "wrong_width": "The vector is of another width than the active model's: not comparable.",
    "other_model": "Made by another model of the same width; its numbers mean something else.",
    "zero": "The vector was refused: it has no direction.",
}
NONE: dict[Any, int] = dict.fromkeys(VECTOR_STATES, 0)
MOST_DIRECTORIES = 50  # that the page lists
MOST_SESSIONS = 50
MOST_MONTHS = 24


@dataclass(frozen=True)
class Coverage:
    """One group of documents by the state of their vectors. `blank` ones have nothing to embed."""

    counts: dict[VectorState, int]
    blank: int = 0

    @property
    def total(self) -> int:
        return sum(self.counts.values())

    @property
    def vectorized(self) -> int:
        return self.counts["current"]

    @property
    def ratio(self) -> float:
        """The share with a current vector; 1.0 when there is nothing to embed."""
        embeddable = self.total - self.blank
        return self.vectorized / embeddable if embeddable else 1.0

    @property
    def percent(self) -> str:
        return percent(self.ratio)


@dataclass(frozen=True)
class Documents:
    """The documents of one collection that vectors can cover, and what a page calls them.

    `text` is the column that is embedded; `vectors` is the table of their vectors, `of` its key
    to the document; `lists` the page that lists them by state, where it is not the general one.
    """

    name: str
    label: str
    nouns: tuple[str, str]  # one, and several
    rows: Callable[[], QuerySet[Any]]
    text: str
    with_state: Callable[[QuerySet[Any]], QuerySet[Any]]
    states: Callable[[], dict[Any, int]]
    title: Callable[[Actor, Any], str]
    vectors: type[Model]
    of: str
    lists: str = ""

    def coverage(self) -> Coverage:
        blank = self.rows().filter(**{f"{self.text}__regex": BLANK}).count()
        return Coverage(NONE | self.states(), blank)

    def address(self, state: str = "", context: str = "", **filters: str) -> str:
        """The page that lists what a number counts; a session lists its own memories."""
        wanted = {"vector": state, **filters} if state else filters
        if context:
            return reverse("session", args=[context]) + query(wanted)
        if not self.lists or state == "failed" or filters.keys() & GENERAL:
            return reverse("coverage_list", args=[self.name]) + query(wanted)
        return reverse(self.lists) + query(wanted)

    def listed(self, wanted: "Wanted") -> QuerySet[Any]:
        """The documents a number counts, for `described`."""
        rows = self.rows()
        if wanted.vector == "failed":
            failed = CORPORA[self.name].failed(target(wanted.by))
            rows = rows.filter(pk__in=failed.values("pk"))
        elif wanted.vector:
            rows = rows.filter(CORPORA[self.name].in_state(wanted.vector))
        if wanted.blank:
            rows = rows.filter(**{f"{self.text}__regex": BLANK})
        if wanted.month:
            rows = rows.annotate(month=_month()).filter(
                month=date.fromisoformat(f"{wanted.month}-01")
            )
        if wanted.model:
            made: Any = self.vectors._default_manager.filter(model=wanted.model)
            if wanted.dimension is not None:
                made = made.filter(dimension=wanted.dimension)
            rows = rows.filter(pk__in=made.values(self.of))
        return rows

    def described(self, rows: QuerySet[Any], by: str = "") -> QuerySet[Any]:
        """Annotate `vector_state`, and of the failure to make a vector, by a model or the one
        that repairs are of, of the text as it is now: `cause`, `failed_in` (the run, if it was
        one), `attempts` and `again_at`."""
        corpus = CORPORA[self.name]
        failure = corpus.failures(target(by))
        told = {"cause": "reason", "failed_in": "run", "attempts": "attempts"}
        told["again_at"] = "again_at"
        found: QuerySet[Any] = self.with_state(rows.annotate(named=corpus.document))
        described: QuerySet[Any] = found.annotate(
            **{name: Subquery(failure.values(column)[:1]) for name, column in told.items()}
        )
        return described

    def one(self, document: str) -> Any:
        """The described row of one document; None where vectors do not cover it."""
        found = self.rows().filter(CORPORA[self.name].named([document]))
        return self.described(found).first()

    def text_of(self, row: Any) -> str:
        return str(getattr(row, self.text))

    def shown(self, reader: Actor, row: Any, by: str = "") -> dict[str, Any]:
        """A row from `described` in the API's shape, without what is kept from the reader."""
        has = row.vector_state == "current" and not by
        named = withholding.told(reader, row.named) if row.quarantined else row.named
        return {
            "collection": self.name,
            "id": named,
            "title": self.title(reader, row),
            "url": row.get_absolute_url() if named == row.named else "",
            "state": row.vector_state,
            "cause": None if has else row.cause,
            "run": None if has else row.failed_in,
            "attempts": 0 if has else row.attempts or 0,
            "again_at": None if has else row.again_at,
        }


def _title(reader: Actor, row: Any, text: str) -> str:
    """How a text begins; a text that waits in quarantine goes by its id."""
    held = row.quarantined and not reader.may_decide
    return str(row.pk) if held else title_of(text) or str(row.pk)


GENERAL = {"blank", "model", "dimension", "by", "month"}  # filters that only the general list knows


@dataclass(frozen=True)
class Wanted:
    """What of a collection is listed; nothing given means all of it. `by` is the model by which
    something failed, where it is not the one that repairs are of."""

    vector: Any = ""
    by: str = ""
    blank: bool = False
    model: str = ""
    dimension: int | None = None
    month: str = ""  # 2026-03, of the configured time zone


def query(values: dict[str, str]) -> str:
    """What follows the path of an address; "" for nothing."""
    return f"?{urlencode(values)}" if values else ""


COLLECTIONS = {
    documents.name: documents
    for documents in (
        Documents(
            name="episodes",
            label="Episodes",
            nouns=("episode", "episodes"),
            rows=Episode.objects.all,
            text="summary",
            with_state=queries.with_vector_state,
            states=queries.vector_states,
            title=lambda reader, row: _title(reader, row, row.summary),
            vectors=EpisodeVector,
            of="episode",
            lists="episodes",
        ),
        Documents(
            name="memories",
            label="Session memories",
            nouns=("session memory", "session memories"),
            rows=session_queries.searchable,
            text="content",
            with_state=session_queries.with_vector_state,
            states=session_queries.vector_states,
            title=lambda reader, row: _title(reader, row, row.content),
            vectors=MemoryVector,
            of="memory",
            lists="memories",
        ),
        Documents(
            name="pages",
            label="Bank",
            nouns=("page", "pages"),
            rows=page_vectors.embeddable,
            text="content",
            with_state=page_vectors.with_vector_state,
            states=page_vectors.vector_states,
            title=lambda reader, row: withholding.as_read(reader, row).title or row.name,
            vectors=PageVector,
            of="page",
        ),
    )
}


def episodes() -> Coverage:
    return COLLECTIONS["episodes"].coverage()


def target(model: str = "") -> Target:
    """What a repair makes: vectors of this model, else of the active one or the provider's."""
    return target_of(model or runs.repaired_model())


def failed(name: str, wanted: Target) -> int:
    """How many documents of a collection lack a vector though their text was tried."""
    return CORPORA[name].failed(wanted).count()


def episodes_by_directory(directories: Collection[str]) -> dict[str, Coverage]:
    """The coverage of each of the working directories, in their order."""
    rows = Episode.objects.filter(working_dir__in=directories)
    found = _grouped(COLLECTIONS["episodes"], F("working_dir"), rows)
    return {path: found.get(path, Coverage(NONE)) for path in directories}


def by_session(most: int) -> tuple[list[tuple[Context, Coverage]], int]:
    """The coverage of the sessions with the most memories, and how many more have some."""
    rows: Any = session_queries.searchable().order_by().values_list("context")
    sizes = rows.annotate(count=Count("pk")).order_by("-count", "context")
    fullest = [pk for pk, _ in sizes[:most]]
    contexts, found = Context.objects.in_bulk(fullest), session_queries.figures(fullest)
    more = sizes.count() - len(fullest)
    return [(contexts[pk], Coverage(_whole(found[pk].by_state))) for pk in fullest], more


def _whole(counts: dict[Any, int]) -> dict[VectorState, int]:
    return NONE | counts


def _month() -> TruncMonth:
    """The first day of the month in which a document was made, in the configured time zone."""
    zone = timezone.get_current_timezone()
    return TruncMonth("created_at", tzinfo=zone, output_field=DateField())


def by_month(documents: Documents) -> dict[date, Coverage]:
    """The coverage of each month of the configured time zone in which some were made."""
    return _grouped(documents, _month(), documents.rows())


def _grouped(documents: Documents, by: Any, rows: QuerySet[Any]) -> dict[Any, Coverage]:
    grouped: Any = documents.with_state(rows).order_by().annotate(group=by)
    counted: dict[Any, dict[Any, int]] = {}
    for key, state, count in grouped.values_list("group", "vector_state").annotate(
        count=Count("pk")
    ):
        counted.setdefault(key, {**NONE})[state] = count
    return {key: Coverage(states) for key, states in counted.items()}


def lists_of_month(documents: Documents, month: date) -> dict[str, str]:
    """A month as the filters of the list of a collection."""
    return days_of(month) if documents.name == "episodes" else {"month": month.isoformat()[:7]}


def days_of(month: date) -> dict[str, str]:
    """A month as the filters of a list."""
    last = (month + timedelta(days=31)).replace(day=1) - timedelta(days=1)
    return {"since": month.isoformat(), "until": last.isoformat()}


def models() -> list[dict[str, Any]]:
    """The stored vectors by model and width, over all collections, the active model first."""
    active = active_model.active()
    rows: dict[tuple[str, int], dict[str, int]] = {}
    for name, documents in COLLECTIONS.items():
        made: Any = documents.vectors._default_manager.filter(_counted(documents))
        counted = made.values_list("model", "dimension").order_by().annotate(count=Count("pk"))
        for model, dimension, count in counted:
            rows.setdefault((model, dimension), {})[name] = count
    found = [_model(*key, counts, active) for key, counts in rows.items()]
    return sorted(found, key=lambda row: (not row["active"], -row["count"], row["model"]))


def _counted(documents: Documents) -> Q:
    """The vectors of documents that the collection counts: archived ones are in no list."""
    return Q(**{f"{documents.of}__in": documents.rows().values("pk")})


def _model(
    model: str, dimension: int, counts: dict[str, int], active: ActiveModel | None
) -> dict[str, Any]:
    """A vector is stored as float32: four bytes a number."""
    filters = {"model": model, "dimension": str(dimension)}
    count = sum(counts.values())
    return {
        "model": model,
        "dimension": dimension,
        "count": count,
        "active": active is not None and active.model == model,
        "bytes": 4 * dimension,
        "bytes_in_all": 4 * dimension * count,
        "of": [
            (COLLECTIONS[name].nouns[n != 1], n, COLLECTIONS[name].address(**filters))
            for name, n in counts.items()
        ],
    }


def bar(counted: Coverage, name: str = "episodes", **filters: str) -> list[dict[str, Any]]:
    """The states one after another along a bar of 100, each with its number and its list."""
    parts: list[dict[str, Any]] = []
    start = 0.0
    for state in VECTOR_STATES:
        width = 100 * counted.counts[state] / counted.total if counted.total else 0.0
        parts.append(
            {
                "state": state,
                "label": VECTOR_STATES[state],
                "meaning": MEANINGS[state],
                "count": counted.counts[state],
                "url": COLLECTIONS[name].address(state, **filters),
                "x": round(start, 3),
                "width": round(width, 3),
            }
        )
        start += width
    return parts


def percent(ratio: float) -> str:
    """Rounded down, so that only what is complete is called 100 %."""
    return f"{floor(1000 * ratio) / 10:g} %"


def report() -> dict[str, Any]:
    """The whole coverage as the API answers it. It asks the index only for what it knows best."""
    view, active, wanted = live.view(), active_model.active(), target()
    model, dimension = (active.model, active.dimension) if active else (None, None)
    found = {}
    for name, documents in COLLECTIONS.items():
        index = (view.indexes or {}).get(name)
        figures = _figures(documents.coverage(), index, measured(name, active))
        known = {"failed": failed(name, wanted), "model": model, "dimension": dimension}
        found[name] = figures | known
    return {"collections": found, "index": index_state(view)}


def index_state(view: View) -> dict[str, Any]:
    """How this process's index stands beside the clock."""
    indexes = (view.indexes or {}).values()
    return {
        "state": "ready" if view.indexes is not None else view.reasons[0],
        "seq": view.seq if view.indexes is not None else 0,
        "clock": clock.current_seq(),
        "lag": view.lag,
        "deletions": sum(index.statistics.deletions for index in indexes),
        "snapshot_age_s": None,
    }


def measured(name: str, active: ActiveModel | None) -> CoverageDay | None:
    """What the worker last measured of a collection's graph with vectors of the active model."""
    if active is None:
        return None
    found = CoverageDay.objects.filter(collection=name, measured_model=active.model)
    return found.order_by("-day").first()


def _figures(coverage: Coverage, index: Index | None, found: CoverageDay | None) -> dict[str, Any]:
    return {
        "total": coverage.total,
        "vectorized": coverage.vectorized,
        "bm25_only": coverage.total - coverage.vectorized,
        "missing": coverage.counts["missing"],
        "dimension_mismatches": coverage.counts["wrong_width"],
        "wrong_width": coverage.counts["wrong_width"],
        "zero": coverage.counts["zero"],
        "stale": coverage.counts["stale"],
        "other_model": coverage.counts["other_model"],
        "blank": coverage.blank,
        "ratio": coverage.ratio,
        "has_dimension_mismatch": coverage.counts["wrong_width"] > 0,
        **_index_figures(index, found),
    }


def _index_figures(index: Index | None, found: CoverageDay | None) -> dict[str, Any]:
    """Recall is 1.0 while searches are exact, and what the worker measured of a graph."""
    statistics = index.statistics if index is not None else None
    exact = statistics is not None and statistics.mode == "exact" and statistics.vectorized > 0
    sampled = found if statistics is not None and statistics.mode == "hnsw" else None
    return {
        "capacity": statistics.capacity if statistics else None,
        "capacity_used": statistics.vectorized if statistics else None,
        "mode": statistics.mode if statistics else None,
        "recall_at_10": 1.0 if exact else sampled.recall if sampled else None,
        "recall_sample": sampled.sample if sampled else None,
        "recall_measured_at": sampled.measured_at if sampled else None,
    }
