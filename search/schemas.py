"""What a search looks like on its way in and out. Unknown fields are refused, none is coerced."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, FiniteFloat, StrictBool

from episodes.schemas import Base64, Floats, Name, Outcome, Path, Storable, VectorState
from episodes.schemas import Source as EpisodeSource
from memoryweb.core.schemas import Strict
from memoryweb.core.times import Time
from search.engine import MAX_LIMIT, Stage

Collection = Literal["episodes", "memories", "pages"]
FusionName = Literal["linear", "rrf", "auto"]
AnalyzerName = Literal["cjk", "octos"]
Weight = Annotated[FiniteFloat, Field(ge=0)]
QUERY_CHARACTERS = 20_000
QueryText = Annotated[str, Field(max_length=QUERY_CHARACTERS), Storable]
EVERYTHING: list[Collection] = ["episodes", "memories", "pages"]


class WeightsIn(Strict):
    vector: Weight = 0.0
    bm25: Weight = 0.0


class FiltersIn(Strict):
    """Every given field must hold."""

    working_dir: Path | None = None
    working_dir_prefix: Path | None = None
    agent_id: Name | None = None
    outcome: Outcome | None = None
    source: EpisodeSource | None = None
    kind: Collection | None = None
    context_id: Annotated[
        Name | None, Field(description="memories of this session context alone")
    ] = None
    since: Annotated[Time | None, Field(description="created at this moment or later")] = None
    until: Annotated[Time | None, Field(description="created at this moment or earlier")] = None


class SearchIn(Strict):
    """A search by words, by a vector, or by both."""

    query: QueryText = ""
    query_embedding: Floats = None
    query_embedding_b64: Base64 = None
    embedding_model: Annotated[
        Name | None, Field(description="whose vectors to search; the active model by default")
    ] = None
    limit: Annotated[int, Field(ge=1, le=MAX_LIMIT)] = 10
    weights: WeightsIn | None = None
    fusion: FusionName | None = None
    prefer_working_dir: Path | None = None
    filters: FiltersIn = FiltersIn()
    collections: Annotated[list[Collection], Field(min_length=1)] = EVERYTHING
    min_score: Annotated[FiniteFloat | None, Field(ge=0)] = None
    recency_half_life_days: Annotated[FiniteFloat | None, Field(ge=0, le=36_500)] = None
    explain: StrictBool = False
    min_seq: Annotated[int, Field(ge=0, le=2**63 - 1)] = 0


class DocumentIn(Strict):
    collection: Collection
    id: Annotated[str, Field(min_length=1, max_length=4096)]


class WhyNotIn(SearchIn):
    """A search, and the document that is missed among its results."""

    document: DocumentIn


class WhyNotOut(BaseModel):
    """The stage that drops the document, in words too. `pool` is how many candidates each leg
    gives; `filters` names those that the document does not pass."""

    stage: Stage | Literal["quarantined", "no_index"]
    detail: str
    rank: int | None = None
    score: float | None = None
    vector: float | None = None
    bm25: float | None = None
    pool: int | None = None
    filters: list[str] = []
    matched: list[str] = []
    missing: list[str] = []


class TermOut(BaseModel):
    term: str
    tf: int
    df: int
    idf: float
    contribution: float


class ExplainOut(BaseModel):
    """Contributions add up to the score, those of the terms to its bm25 part."""

    terms: list[TermOut]
    contributions: dict[str, float]
    matched: list[str]
    rank_before: int
    bm25_raw: float | None
    bm25_best: float | None
    cosine: float | None


class ResultOut(BaseModel):
    collection: str
    id: str
    title: str
    summary: str
    created_at: Time
    url: str
    score: float
    vector: float | None
    bm25: float | None
    rank_vector: int | None
    rank_bm25: int | None
    explain: ExplainOut | None = None


class SearchOut(BaseModel):
    mode: Literal["hybrid", "bm25", "vector", "scan"]
    reasons: list[str]
    took_ms: float
    seq: int
    lag: int
    total_candidates: int
    weights: dict[str, float]
    query_kind: str | None
    results: list[ResultOut]


YEAR = "[1-9][0-9]{3}|0[1-9][0-9]{2}|00[1-9][0-9]|000[1-9]"
MONTH = f"(({YEAR})-(0[1-9]|1[0-2]))?"  # as 2026-03, or none


class CoverageFilter(BaseModel):
    """Which documents of a collection; every given field must hold."""

    vector: VectorState | Literal["failed", ""] = ""
    by: Annotated[str, Field(description="what failed by this model; default: the active one")] = ""
    blank: bool = False
    model: str = ""
    dimension: Annotated[int | None, Field(ge=1, le=8192)] = None
    month: Annotated[str, Field(pattern=f"^{MONTH}$", description="made in, as 2026-03")] = ""


class CoveredOut(BaseModel):
    """A document by the state of its vector.

    `cause` is why none could be made of the text as it is now: by run `run`, or where that is
    null by the worker itself. After `attempts` in a row it is tried again by itself at `again_at`,
    where a provider is configured and MEMORYWEB_EMBEDDING_AUTO is 1.
    """

    collection: Collection
    id: str
    title: str
    url: str
    state: VectorState
    cause: str | None
    run: int | None
    attempts: int
    again_at: Time | None


JUDGED_CHARACTERS = 500  # as many as a row of a judgement holds
JudgedQuery = Annotated[str, Field(min_length=1, max_length=JUDGED_CHARACTERS), Storable]


class CompareIn(Strict):
    """Queries to compare a stored model by with the active one; by default those judged."""

    model: Name
    queries: Annotated[list[JudgedQuery], Field(max_length=20)] = []
    by_vectors: Annotated[
        StrictBool, Field(description="by vectors alone, and not as every search ranks")
    ] = False


class ModelOut(BaseModel):
    model: str
    dimension: int


class MeasuresOut(BaseModel):
    """By the judgements of the query, each from 0 to 1, of the best ten."""

    ndcg: float
    recall: float
    reciprocal_rank: float


class PlacedOut(BaseModel):
    """A result of one model, and its rank by the other, null where it is not among the ten."""

    collection: str
    id: str
    title: str
    url: str
    score: float
    rank: int
    rank_other: int | None
    grade: int | None


class SideOut(BaseModel):
    mode: str
    reasons: list[str]
    results: list[PlacedOut]
    measures: MeasuresOut | None


class PairOut(BaseModel):
    query: str
    shared: int
    active: SideOut
    other: SideOut


class CompareOut(BaseModel):
    """`overlap` is the mean share of the best ten that both have; the measures are means over
    the `judged` queries."""

    active: ModelOut
    other: ModelOut
    overlap: float | None
    judged: int
    measures_active: MeasuresOut | None
    measures_other: MeasuresOut | None
    pairs: list[PairOut]


class JudgementIn(Strict):
    """How relevant a document is for a query; null takes it back."""

    query: JudgedQuery
    document: DocumentIn
    grade: Annotated[int, Field(ge=0, le=3)] | None


class SettingsWeights(Strict):
    vector: Weight
    bm25: Weight


class SettingsOut(BaseModel):
    version: int
    weights: SettingsWeights
    fusion: FusionName
    analyzer: AnalyzerName
    k1: float
    b: float
    recency_half_life_days: float
    capacity: int
    exact_threshold: int
    active_model: ModelOut | None


class SettingsIn(Strict):
    """What to change; a field that is left out stays. `revert_to` takes a whole earlier version."""

    weights: SettingsWeights | None = None
    fusion: FusionName | None = None
    analyzer: AnalyzerName | None = None
    k1: FiniteFloat | None = None
    b: FiniteFloat | None = None
    recency_half_life_days: FiniteFloat | None = None
    capacity: int | None = None
    exact_threshold: int | None = None
    active_model: Annotated[
        Name | None, Field(description="a stored model, to compare its vectors from now on")
    ] = None
    revert_to: Annotated[int | None, Field(ge=0)] = None

    @property
    def changes(self) -> dict[str, Any]:
        """The given values under the names of `search.defaults.Defaults`."""
        given = self.model_dump(exclude_none=True, exclude={"revert_to", "weights", "active_model"})
        return given | (self.weights.model_dump() if self.weights else {})
