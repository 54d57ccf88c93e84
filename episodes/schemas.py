"""What episodes look like on their way in and out. Nothing is coerced: a number is no string."""

import json
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    ValidationError,
    WithJsonSchema,
    model_validator,
)
from pydantic_core import PydanticCustomError

from memoryweb.core.errors import FieldError, Invalid
from memoryweb.core.schemas import Strict
from memoryweb.core.times import Time

SUMMARY_BYTES = 64 * 1024
DECISIONS_BYTES = 64 * 1024
FILES_BYTES = 256 * 1024
EXTRA_BYTES = 256 * 1024
EXTRA_DEPTH = 32

# What we answer beside the fields of an episode; sent back to us it is no content.
ANSWERED = frozenset({"vector", "quarantined", "updated_at", "change_seq", "url"})
# What a request says about the vector and not about the episode.
VECTOR_FIELDS = frozenset({"embedding", "embedding_b64", "embedding_model"})

Outcome = Literal["success", "failure", "blocked", "cancelled"]
Source = Literal["task", "conversation"]
VectorState = Literal["current", "missing", "stale", "wrong_width", "other_model", "zero"]
# What pages call them, in their order.
VECTOR_STATES: dict[VectorState, str] = {
    "current": "current",
    "missing": "no vector",
    "stale": "stale",
    "wrong_width": "wrong width",
    "other_model": "other model",
    "zero": "zero vector",
}
Order = Literal["-created_at", "created_at", "-updated_at", "updated_at"]


M = TypeVar("M", bound=BaseModel)


def read(schema: type[M], raw: object) -> M:
    """The value in a JSON document. Raises Invalid, each thing that is wrong named by its place."""
    try:
        return schema.model_validate(raw)
    except ValidationError as error:
        found = error.errors(include_input=False, include_url=False)[:20]
    errors = [FieldError(tuple(e["loc"]), e["msg"]) for e in found]
    where = ".".join(str(part) for part in errors[0].loc)
    raise Invalid(f"{where}: {errors[0].msg}" if where else errors[0].msg, errors)


def _wrong(message: str) -> PydanticCustomError:
    return PydanticCustomError("episode", message)


def _storable_text(text: str) -> str:
    """Text that every database takes: no NUL, no half of a character pair."""
    if "\0" in text:
        raise _wrong("must not hold NUL characters")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise _wrong("holds half of a surrogate pair") from None
    return text


def _at_most(limit: int) -> AfterValidator:
    """At most `limit` bytes of UTF-8, in all when it is a list."""

    def check(value: Any) -> Any:
        size = len("".join(value).encode())
        if size > limit:
            raise _wrong(f"has {size:,} bytes; at most {limit:,} are taken")
        return value

    return AfterValidator(check)


Storable = AfterValidator(_storable_text)
Text = Annotated[str, Storable]
# The length first: what comes after a check of our own pydantic counts as items, not characters.
Name = Annotated[str, Field(min_length=1, max_length=200), Storable]
Path = Annotated[str, Field(min_length=1, max_length=4096), Storable]
Words = Annotated[str, Field(min_length=1, max_length=1000), Storable]
Summary = Annotated[Text, _at_most(SUMMARY_BYTES)]
Decisions = Annotated[list[Text], _at_most(DECISIONS_BYTES)]
Files = Annotated[list[Path], _at_most(FILES_BYTES)]
Version = Annotated[int, Field(ge=1, le=2**31 - 1)]


def _storable(extra: dict[str, Any]) -> dict[str, Any]:
    """`extra` as it came, once it is known that the database can hold it and give it back."""
    pending: list[tuple[Any, int]] = [(extra, 1)]
    while pending:
        value, depth = pending.pop()
        if depth > EXTRA_DEPTH:
            raise _wrong(f"nests deeper than {EXTRA_DEPTH} levels")
        if isinstance(value, dict):
            pending += [(inner, depth + 1) for pair in value.items() for inner in pair]
        elif isinstance(value, list):
            pending += [(inner, depth + 1) for inner in value]
        elif isinstance(value, str):
            _storable_text(value)
    try:
        size = len(json.dumps(extra, ensure_ascii=False, allow_nan=False).encode())
    except ValueError:  # An integer of more digits than Python writes out.
        raise _wrong("holds something that cannot be written as JSON") from None
    if size > EXTRA_BYTES:
        raise _wrong(f"has {size:,} bytes; at most {EXTRA_BYTES:,} are taken")
    return extra


Extra = Annotated[dict[str, Any], AfterValidator(_storable)]
Floats = Annotated[Any, WithJsonSchema({"type": "array", "items": {"type": "number"}})]
Base64 = Annotated[Any, WithJsonSchema({"type": "string", "contentEncoding": "base64"})]


class EpisodeIn(BaseModel):
    """An octos episode, and perhaps its vector. Fields we do not know are kept in `extra`."""

    model_config = ConfigDict(strict=True, extra="allow")

    schema_version: Version = 1
    id: Name | None = None
    task_id: Name | None = None
    agent_id: Name
    working_dir: Path
    summary: Summary
    outcome: Outcome
    source: Source = "task"
    key_decisions: Decisions = []
    files_modified: Files = []
    created_at: Time | None = None
    extra: Extra = {}
    embedding: Floats = None
    embedding_b64: Base64 = None
    embedding_model: Name | None = None

    @model_validator(mode="after")
    def _keep_unknown_fields(self) -> Self:
        unknown = {k: v for k, v in (self.model_extra or {}).items() if k not in ANSWERED}
        if unknown:
            self.extra = _storable(self.extra | unknown)
        return self

    @property
    def sent(self) -> dict[str, Any]:
        """The fields of the episode that the sender gave, `extra` left out; null is not given."""
        given = self.model_fields_set & _CONTENT
        return {name: value for name in given if (value := getattr(self, name)) is not None}


_CONTENT = EpisodeIn.model_fields.keys() - VECTOR_FIELDS - {"extra"}


class Patch(Strict):
    """What to change. A field that is left out is left alone."""

    @property
    def sent(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.model_fields_set}

    @model_validator(mode="after")
    def _refuse_null(self) -> Self:
        if any(value is None for value in self.sent.values()):
            raise _wrong("a field is either given a value or left out; null is neither")
        return self


class EpisodePatch(Patch):
    """`extra` is replaced as a whole."""

    schema_version: Version | None = None
    task_id: Name | None = None
    agent_id: Name | None = None
    working_dir: Path | None = None
    summary: Summary | None = None
    outcome: Outcome | None = None
    source: Source | None = None
    key_decisions: Decisions | None = None
    files_modified: Files | None = None
    created_at: Time | None = None
    extra: Extra | None = None


class EpisodeFilter(BaseModel):
    """Which episodes. Every given field must hold."""

    model_config = ConfigDict(extra="forbid")

    working_dir: Annotated[Path | None, Field(description="exactly this directory")] = None
    working_dir_prefix: Annotated[
        Path | None, Field(description="this directory and all below it")
    ] = None
    agent_id: Name | None = None
    task_id: Name | None = None
    outcome: Outcome | None = None
    source: Source | None = None
    since: Annotated[Time | None, Field(description="created at this moment or later")] = None
    until: Annotated[Time | None, Field(description="created at this moment or earlier")] = None
    vector: Annotated[VectorState | None, Field(description="state of its vector")] = None
    quarantined: bool | None = None
    q: Annotated[Words | None, Field(description="part of the summary")] = None

    @property
    def given(self) -> dict[str, Any]:
        return self.model_dump(exclude_none=True)


class BulkDelete(Strict):
    """Either ids or a filter with at least one field; `dry_run` only counts."""

    ids: Annotated[list[Name] | None, Field(min_length=1, max_length=10_000)] = None
    filter: EpisodeFilter | None = None
    dry_run: StrictBool = False

    @model_validator(mode="after")
    def _one_choice(self) -> Self:
        if (self.ids is None) == (self.filter is None):
            raise _wrong("give either ids or a filter")
        if self.filter is not None and not self.filter.given:
            raise _wrong("an empty filter would delete everything; name at least one field")
        return self


class VectorIn(Strict):
    embedding: Floats = None
    embedding_b64: Base64 = None
    model: Name | None = None


class BulkVector(VectorIn):
    id: Name


class Items(Strict):
    """A body of `items`; a bare array of them is taken too."""

    @model_validator(mode="before")
    @classmethod
    def _name_the_items(cls, value: Any) -> Any:
        return {"items": value} if isinstance(value, list) else value


class BulkVectors(Items):
    """Vectors of up to 1,000 episodes; the model named beside one counts before that of all.

    A bare array of the items is taken too.
    """

    # Each is read by itself, so that one bad vector does not refuse the others.
    items: Annotated[
        list[Annotated[Any, WithJsonSchema(BulkVector.model_json_schema())]],
        Field(min_length=1, max_length=1000),
    ]
    model: Name | None = None


class VectorOut(BaseModel):
    state: VectorState
    model: str | None
    dimension: int | None
    indexed_at: Time | None
    reason: Annotated[str | None, Field(description="why the last vector was refused")] = None


class EpisodeOut(BaseModel):
    id: str
    schema_version: int
    task_id: str
    agent_id: str
    working_dir: str
    summary: str
    outcome: str
    source: str
    key_decisions: list[str]
    files_modified: list[str]
    created_at: Time
    updated_at: Time
    quarantined: bool
    extra: dict[str, Any]
    vector: VectorOut


class EpisodeWritten(EpisodeOut):
    change_seq: int


class VectorWritten(BaseModel):
    state: VectorState
    change_seq: int


class Failure(BaseModel):
    index: int
    id: str | None
    errors: list[dict[str, Any]]


class BatchAnswer(BaseModel):
    created: int
    unchanged: int
    replaced: int
    quarantined: int
    failed: list[Failure]
    change_seq: int


class BulkVectorsAnswer(BaseModel):
    stored: int
    states: dict[VectorState, int]
    failed: list[Failure]
    change_seq: int


class Receipt(BaseModel):
    rows: int
    vectors: int
    index: int | None
    verified: bool


class DeleteAnswer(BaseModel):
    deleted: int
    dry_run: bool
    receipt: Receipt
    change_seq: int
