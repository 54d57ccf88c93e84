"""What goes into the engine and what comes out: values without behaviour beyond their rules."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from memoryweb.core.directories import Subtree
from memoryweb.core.vectors import Reason, checked_vector

Fusion = Literal["linear", "rrf", "auto"]
Mode = Literal["hybrid", "bm25", "vector", "scan"]
QueryKind = Literal["identifier", "question", "ordinary"]
FUSIONS: tuple[Fusion, ...] = ("linear", "rrf", "auto")
MAX_LIMIT = 200


class QueryError(ValueError):
    """A query that has no meaning; `field` names the part that is wrong."""

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(f"{field}: {problem}")
        self.field = field
        self.problem = problem


@dataclass(frozen=True, slots=True)
class Document:
    """One thing to be found: its text, when it came to be, and what it can be filtered by.

    `created_at` is in seconds since the epoch. `vector` is any flat sequence of numbers.
    """

    id: str
    text: str
    created_at: float
    attributes: Mapping[str, str] = field(default_factory=dict)
    vector: Any = None

    def __post_init__(self) -> None:
        if not math.isfinite(self.created_at):
            raise ValueError(f"document {self.id!r}: created_at is not a finite time")


@dataclass(frozen=True, slots=True)
class VectorRefusal:
    """A document whose vector was not taken; it stays findable by its text."""

    id: str
    reason: Reason


@dataclass(frozen=True, slots=True)
class Weights:
    """How much each leg counts. Any scale: 7 and 3 are the same as 0.7 and 0.3."""

    vector: float = 0.7
    bm25: float = 0.3

    def __post_init__(self) -> None:
        for name in ("vector", "bm25"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value >= 0):
                raise QueryError(f"weights.{name}", "must be a finite number, 0 or more")
        if self.vector == self.bm25 == 0:
            raise QueryError("weights", "must not both be 0")

    def shares(self) -> "Weights":
        """The same weights, adding up to 1."""
        largest = max(self.vector, self.bm25)  # So that no sum overflows.
        vector, bm25 = self.vector / largest, self.bm25 / largest
        return Weights(vector / (vector + bm25), bm25 / (vector + bm25))


@dataclass(frozen=True, slots=True)
class Filters:
    """Which documents are searched at all. What is None does not filter.

    `working_dir_prefix` takes that directory and everything below it. `since` and `until` are
    inclusive, in seconds since the epoch.
    """

    working_dir: str | None = None
    working_dir_prefix: str | None = None
    agent_id: str | None = None
    outcome: str | None = None
    source: str | None = None
    kind: str | None = None
    context_id: str | None = None
    since: float | None = None
    until: float | None = None
    ids: frozenset[str] | None = None

    def __post_init__(self) -> None:
        if self.working_dir_prefix == "":
            raise QueryError("filters.working_dir_prefix", "must not be empty")
        for name in ("since", "until"):
            value = getattr(self, name)
            if value is not None and not math.isfinite(value):
                raise QueryError(f"filters.{name}", "must be a finite time")

    def exact(self) -> dict[str, str]:
        """The attributes that must have one certain value."""
        names = ("working_dir", "agent_id", "outcome", "source", "kind", "context_id")
        wanted = {name: getattr(self, name) for name in names}
        return {name: value for name, value in wanted.items() if value is not None}

    def accept(self, document: Document) -> bool:
        """The whole rule for one document; `search` applies the same over columns."""
        attributes, prefix = document.attributes, self.working_dir_prefix
        directory = attributes.get("working_dir", "")
        return (
            all(attributes.get(name) == value for name, value in self.exact().items())
            and (prefix is None or Subtree.of(prefix).holds(directory))
            and (self.since is None or document.created_at >= self.since)
            and (self.until is None or document.created_at <= self.until)
            and (self.ids is None or document.id in self.ids)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """One request. The clock is a value: `now`, in seconds since the epoch.

    `min_score` is a floor on the better of the two legs, inclusive. `prefer_working_dir` lifts
    documents of that directory and below it without leaving others out.
    `recency_half_life_days` is the age at which a score counts half; 0 is off.
    Raises QueryError, or VectorRefused for a vector that compares with nothing.
    """

    text: str = ""
    vector: Any = None
    now: float
    limit: int = 10
    weights: Weights = Weights()
    fusion: Fusion = "linear"
    filters: Filters = Filters()
    prefer_working_dir: str = ""
    min_score: float | None = None
    recency_half_life_days: float = 0.0
    explain: bool = False

    def __post_init__(self) -> None:
        if not math.isfinite(self.now):
            raise QueryError("now", "must be a finite time")
        if not 1 <= self.limit <= MAX_LIMIT:
            raise QueryError("limit", f"must be 1 to {MAX_LIMIT}")
        if self.fusion not in FUSIONS:
            raise QueryError("fusion", f"must be one of {', '.join(FUSIONS)}")
        if self.min_score is not None and not (
            math.isfinite(self.min_score) and self.min_score >= 0
        ):
            raise QueryError("min_score", "must be a finite number, 0 or more")
        if not (math.isfinite(self.recency_half_life_days) and self.recency_half_life_days >= 0):
            raise QueryError("recency_half_life_days", "must be a finite number, 0 or more")
        if self.vector is not None:
            checked_vector(self.vector)


@dataclass(frozen=True, slots=True)
class TermShare:
    """What one query term gave: its count in the document, how many documents hold it, its
    weight, and its part of the result's bm25 contribution."""

    term: str
    tf: int
    df: int
    idf: float
    contribution: float


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a hit stands where it stands.

    `contributions` (of vector, bm25, recency, prefer_working_dir; what does not apply is left
    out) add up to the score, and those of `terms` to the bm25 contribution. `rank_before` is the
    rank without recency and the preferred directory. `bm25_raw` is the score by the formula,
    `bm25_best` the one it was divided by, `cosine` may be negative.
    """

    contributions: dict[str, float]
    terms: tuple[TermShare, ...]
    matched: tuple[str, ...]
    rank_before: int
    bm25_raw: float | None
    bm25_best: float | None
    cosine: float | None


@dataclass(frozen=True, slots=True)
class Hit:
    """One result. `vector` and `bm25` are its normalised scores in the two legs, 0 to 1; None
    where it has no vector that compares, or holds no term. The ranks count from 1; None where it
    is not among the candidates that the leg brought."""

    collection: str
    id: str
    created_at: float
    score: float
    vector: float | None = None
    bm25: float | None = None
    rank_vector: int | None = None
    rank_bm25: int | None = None
    explanation: Explanation | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """The hits, best first, and how they were found.

    `reasons` say what was asked for and could not be done: no_query_vector, wrong_width,
    no_vectors, no_terms. `total_candidates` counts what was ranked before the cut to the limit.
    `weights` are those used, adding up to 1, `query_kind` what fusion `auto` took the query for,
    `terms` the query's terms, for marking.
    """

    mode: Mode
    reasons: tuple[str, ...]
    hits: tuple[Hit, ...]
    total_candidates: int
    weights: Weights
    query_kind: QueryKind | None = None
    terms: tuple[str, ...] = ()


Stage = Literal[
    "not_searched",
    "not_in_index",
    "filtered",
    "not_matched",
    "below_floor",
    "outside_pool",
    "weightless",
    "beyond_limit",
    "found",
]


@dataclass(frozen=True, slots=True)
class Trace:
    """How far a document comes in a search: the stage that drops it, or that it is found.

    not_searched: its collection is not asked. filtered: by those of `filters`. not_matched: it
    holds no word of the query, and no vector is compared with its own. below_floor: the better of
    its legs is under `min_score`. outside_pool: in neither leg among the best `pool`. weightless:
    it is a candidate only of a leg whose weight is 0. beyond_limit: its `rank` is.

    `vector` and `bm25` are its scores in the legs, 0 to 1, None where the leg has none for it.
    """

    stage: Stage
    pool: int = 0
    filters: tuple[str, ...] = ()
    matched: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    vector: float | None = None
    bm25: float | None = None
    score: float | None = None
    rank: int | None = None


@dataclass(frozen=True, slots=True)
class Statistics:
    """What an index holds. `deletions` counts rows and vectors that wait for compaction.

    `mode` is exact or hnsw, whichever vector searches use now; `graph` and `unindexed` count the
    live vectors in the graph and beside it. `warning` is 80 or 100 when that percentage of the
    capacity is taken; nothing is ever dropped for it. `nbytes` is the memory in arrays, without
    strings and the graph.
    """

    total: int
    vectorized: int
    deletions: int
    terms: int
    average_length: float
    dimension: int | None
    mode: Literal["exact", "hnsw"]
    hnsw_available: bool
    graph: int
    unindexed: int
    capacity: int
    warning: Literal[80, 100] | None
    nbytes: int
