"""What the API of wikis takes and answers."""

from typing import Annotated, Any

from pydantic import BaseModel, Field

from bank import layout, wikis
from memoryweb.core.schemas import Strict
from memoryweb.core.times import Time


class WikiIn(Strict):
    name: Annotated[str, Field(min_length=1, max_length=wikis.NAME_LENGTH)]
    id: Annotated[str, Field(max_length=100)] = ""
    team_id: Annotated[str, Field(max_length=wikis.NAME_LENGTH)] = ""
    description: Annotated[str, Field(max_length=wikis.DESCRIPTION_LENGTH)] = ""
    folder: Annotated[str, Field(max_length=1_000, description="of this machine; admin only")] = ""
    meta: dict[str, Any] | None = None


class WikiPatch(Strict):
    """What is left out stays."""

    name: Annotated[str, Field(min_length=1, max_length=wikis.NAME_LENGTH)] | None = None
    team_id: Annotated[str, Field(max_length=wikis.NAME_LENGTH)] | None = None
    description: Annotated[str, Field(max_length=wikis.DESCRIPTION_LENGTH)] | None = None
    meta: dict[str, Any] | None = None


class IndexState(BaseModel):
    """`stale`: answers come from before the latest changes. Nothing can be found while it is
    neither `ready` nor stale."""

    status: str
    stale: bool
    seq: int
    cause: str


class WikiOut(BaseModel):
    id: str
    name: str
    team_id: str
    description: str
    folder: str
    meta: dict[str, Any]
    pages: int
    created_at: Time
    updated_at: Time
    deleted_at: Time | None


class WikiWithIndex(WikiOut):
    index: IndexState


class WikiPageRow(BaseModel):
    ref: str
    path: str
    title: str
    revision: int
    sha256: str
    flags: list[str]
    held_back: bool
    locked_by: str
    locked_at: Time | None
    updated_at: Time


class WikiPageOut(WikiPageRow):
    content: str


class WikiPageIn(Strict):
    content: Annotated[str, Field(max_length=layout.CONTENT_LIMIT)]
    base: Annotated[int, Field(ge=1, lt=2**31)] | None = None
    message: Annotated[str, Field(max_length=500)] = ""


class WikiPageWritten(BaseModel):
    page: WikiPageOut
    created: bool
    changed: bool
    change_seq: int


class RemovedOut(BaseModel):
    """`unlinked` are the pages whose links became words, `left` why others stayed."""

    removed: bool
    linked_from: list[str]
    unlinked: list[str]
    left: dict[str, str]
    change_seq: int


class UploadOut(BaseModel):
    """`files` names those that were left or need a look, the first thousand of them."""

    counts: dict[str, int]
    files: list[dict[str, Any]]
    change_seq: int


class WikiErased(BaseModel):
    """`folder` was pointed at and is as it was; `backups` hold pages, `backups_unread` may."""

    wiki: str
    pages: int
    revisions: int
    quarantine: int
    folder: str
    seq: int
    backups: list[str]
    backups_unread: list[str]
    verified: bool
    detail: str


class SourceOut(BaseModel):
    filename: str
    sha256: str
    size: int
    status: str
    error: str
    given_at: Time


class WikiFound(BaseModel):
    results: list[dict[str, Any]]
    links: list[dict[str, Any]]
    count: int
    index: IndexState


class GraphOut(BaseModel):
    """`cut`: there are more pages than are told."""

    nodes: list[dict[str, Any]]
    edges: list[dict[str, Any]]
    cut: bool
    index: IndexState
