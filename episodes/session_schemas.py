"""What session contexts, their memories and code vectors look like on their way in and out."""

from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    AliasChoices,
    BaseModel,
    ConfigDict,
    Field,
    FiniteFloat,
    StrictBool,
    WithJsonSchema,
)

from episodes.schemas import (
    Base64,
    Failure,
    Floats,
    Items,
    Name,
    Patch,
    Receipt,
    Storable,
    Summary,
    VectorState,
    Words,
)
from memoryweb.core.schemas import Strict
from memoryweb.core.times import Time

MemoryType = Literal["decision", "constraint", "note", "discovery", "error", "action"]
ContextStatus = Literal["active", "archived"]
ContextOrder = Literal["-created_at", "created_at", "-updated_at", "updated_at"]
MOST_VECTORS = 1000
MOST_MEMORIES = 1000


def _said(text: str) -> str:
    if not text.strip():
        raise ValueError("must not be blank")
    return text


def _one_line(text: str) -> str:
    if len(_said(text).splitlines()) > 1:
        raise ValueError("must be one line")
    return text


Content = Annotated[Summary, AfterValidator(_said)]
Title = Annotated[str, Field(max_length=500), Storable, AfterValidator(_one_line)]
Label = Annotated[str, Field(max_length=200), Storable]
File = Annotated[str, Field(max_length=4096), Storable]
Importance = Annotated[FiniteFloat, Field(ge=0, le=1)]
# `model` is what the routes of episodes call it.
EmbeddingModel = Annotated[Name, Field(validation_alias=AliasChoices("embedding_model", "model"))]
OptionalModel = Annotated[
    Name | None, Field(validation_alias=AliasChoices("embedding_model", "model"))
]


class MemoryIn(Strict):
    """One memory to add. With an `id`, adding it again changes nothing."""

    content: Content
    type: MemoryType = "note"
    importance: Importance = 0.5
    source: Label = ""
    id: Name | None = None
    created_at: Time | None = None


class SessionIn(Strict):
    """A context to save, and what to add to it; a field that is left out is left alone."""

    context_id: Name
    name: Annotated[Title | None, Field(description="needed when the context is new")] = None
    intent: Summary | None = None
    status: ContextStatus | None = None
    memories: Annotated[list[MemoryIn], Field(max_length=MOST_MEMORIES)] = []


class ContextPatch(Patch):
    name: Title | None = None
    intent: Summary | None = None
    status: ContextStatus | None = None


class MemoryPatch(Patch):
    content: Content | None = None
    type: MemoryType | None = None
    importance: Importance | None = None
    source: Label | None = None
    archived: StrictBool | None = None


class ContextFilter(BaseModel):
    model_config = ConfigDict(extra="forbid")

    status: ContextStatus | None = None
    q: Annotated[Words | None, Field(description="part of id, name or intent")] = None
    type: Annotated[
        MemoryType | None, Field(description="it has a memory of this type that is served")
    ] = None


class MemoryFilter(BaseModel):
    """Which memories. Every given field must hold; archived ones only when asked for."""

    model_config = ConfigDict(extra="forbid")

    type: MemoryType | None = None
    q: Annotated[Words | None, Field(description="part of the content")] = None
    vector: Annotated[
        VectorState | None, Field(description="the state of its vector to the active model")
    ] = None
    archived: bool = False
    needs_vector: Annotated[
        bool | None,
        Field(description="whether it has no vector, by `model`, of its content as it is now"),
    ] = None
    indexed_before: Annotated[
        Time | None,
        Field(description="its vector, by `model`, was stored before this, or is missing"),
    ] = None
    model: Annotated[Name | None, Field(description="default: the active model")] = None


class VectorIn(Strict):
    embedding: Floats = None
    embedding_b64: Base64 = None
    embedding_model: EmbeddingModel


class BulkVectorIn(Strict):
    """The vector of one memory; its model counts before that of all."""

    memory_id: Annotated[Name, Field(validation_alias=AliasChoices("memory_id", "id"))]
    embedding: Floats = None
    embedding_b64: Base64 = None
    embedding_model: OptionalModel = None


class BulkVectorsIn(Items):
    """Vectors of up to 1,000 memories; a bare array of the items is taken too."""

    # Each is read by itself, so that one bad vector does not refuse the others.
    items: Annotated[
        list[Annotated[Any, WithJsonSchema(BulkVectorIn.model_json_schema())]],
        Field(min_length=1, max_length=MOST_VECTORS),
    ]
    embedding_model: OptionalModel = None


class ContextOut(BaseModel):
    model_config = ConfigDict(from_attributes=True)

    id: str
    name: str
    intent: str
    status: str
    created_at: Time
    updated_at: Time
    memory_count: int


class ContextWritten(ContextOut):
    change_seq: int


class SessionSaved(ContextWritten):
    memories_added: int
    memory_ids: Annotated[list[str], Field(description="of the memories sent, in their order")]


class MemoryVectorOut(BaseModel):
    state: VectorState
    model: str | None
    dimension: int | None
    indexed_at: Time | None


class MemoryOut(BaseModel):
    id: str
    context_id: str
    type: str
    content: str
    importance: float
    source: str
    created_at: Time
    updated_at: Time
    archived: bool
    vector: MemoryVectorOut


class MemoryWritten(MemoryOut):
    change_seq: int


class Resumed(BaseModel):
    """A context with its memories, newest first; `next_cursor` leads to older ones."""

    context: ContextOut
    memories: list[MemoryOut]
    next_cursor: str | None
    total: int


class VectorStored(BaseModel):
    state: VectorState
    indexed_at: Time
    change_seq: int


class BulkVectorsOut(BaseModel):
    stored: int
    states: dict[str, int]
    failed: list[Failure]
    change_seq: int


class Deleted(BaseModel):
    deleted: Annotated[int, Field(description="memories, or code vectors")]
    receipt: Receipt
    change_seq: int


class CodeVectorIn(Strict):
    symbol_name: Words
    file_path: File = ""
    line_start: Annotated[int | None, Field(ge=0, le=2**31 - 1)] = None
    embedding: Floats = None
    embedding_b64: Base64 = None
    embedding_model: OptionalModel = None


class BulkCodeVectorsIn(Items):
    """Vectors of up to 1,000 symbols; a bare array of the items is taken too."""

    items: Annotated[
        list[Annotated[Any, WithJsonSchema(CodeVectorIn.model_json_schema())]],
        Field(min_length=1, max_length=MOST_VECTORS),
    ]
    embedding_model: OptionalModel = None


class CodeVectorFilter(BaseModel):
    model_config = ConfigDict(extra="forbid")

    file_path: File | None = None
    symbol_name: Words | None = None
    model: Name | None = None

    @property
    def given(self) -> dict[str, Any]:
        return self.model_dump(exclude_none=True)


class CodeVectorOut(BaseModel):
    model_config = ConfigDict(from_attributes=True)

    collection: str
    symbol_name: str
    file_path: str
    line_start: int | None
    model: str
    dimension: int
    indexed_at: Time


class CodeVectorStored(CodeVectorOut):
    change_seq: int


class BulkCodeVectorsOut(BaseModel):
    stored: int
    failed: list[Failure]
    change_seq: int


class CollectionOut(BaseModel):
    collection: str
    model: str
    dimension: int
    count: int
    indexed_at: Time


class CollectionsOut(BaseModel):
    items: list[CollectionOut]
