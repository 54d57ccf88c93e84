"""What followers and auditors read: the change rows, and who did what."""

from typing import Annotated, Any

from django.http import HttpRequest
from ninja import Query, Router
from pydantic import BaseModel, ConfigDict, Field

from memoryweb.core import audit, clock
from memoryweb.core.actor import Actor
from memoryweb.core.api_auth import ApiRequest, admin, read
from memoryweb.core.guard import scan
from memoryweb.core.models import Change
from memoryweb.core.paging import Listed, Paging, page
from memoryweb.core.times import Time

router = Router()
Since = Annotated[int, Query(ge=0, le=2**63 - 1)]
Limit = Annotated[int, Query(ge=1, le=500)]


class ChangeOut(BaseModel):
    """`document` is empty where it is a name to which the guard objects, told to who decides."""

    seq: int
    collection: str
    document: str
    op: str


class ChangesOut(BaseModel):
    """Ask again with `since` = `seq` while `more` is true; then later, for what came meanwhile."""

    items: list[ChangeOut]
    seq: int
    more: bool


class AuditFilter(BaseModel):
    actor: Annotated[str, Field(max_length=250)] = ""
    action: Annotated[str, Field(max_length=60)] = ""
    target: Annotated[str, Field(max_length=500, description="what the target begins with")] = ""
    since: Time | None = None


class AuditOut(BaseModel):
    model_config = ConfigDict(from_attributes=True)

    id: int
    at: Time
    actor: str
    via: str
    action: str
    target: str
    facts: dict[str, Any]
    seq: int
    hash: str


@router.get("/changes", response=ChangesOut, auth=read)
def changes(request: ApiRequest, since: Since = 0, limit: Limit = 50) -> ChangesOut:
    """What changed after `since`, in order; 410 with `oldest_seq` when that is not kept."""
    now = clock.current_seq()
    rows = clock.changes_since(since, limit)
    more = len(rows) == limit
    # Read after the clock, so a row may be newer than it. A number that was never given is not told
    # back: a follower of a database that was restored since has to see that it is ahead.
    reached = rows[-1].seq if more else max([now, *(row.seq for row in rows[-1:])])
    return ChangesOut(items=[_told(request.actor, row) for row in rows], seq=reached, more=more)


def _told(actor: Actor, row: Change) -> ChangeOut:
    withheld = actor.kind == "token" and not actor.may_decide and scan(row.document)
    document = "" if withheld else row.document
    return ChangeOut(seq=row.seq, collection=row.collection, document=document, op=row.op)


@router.get("/audit", response=Listed[AuditOut], auth=admin)
def audit_entries(
    request: HttpRequest, wanted: Query[AuditFilter], paging: Query[Paging]
) -> dict[str, Any]:
    """Who did what, newest first; entries hold hashes and counts, never memory text."""
    rows = audit.entries(**wanted.model_dump())
    found = page(rows, ("-id",), limit=paging.limit, cursor=paging.cursor)
    items = [AuditOut.model_validate(row) for row in found.items]
    return {"items": items, "next_cursor": found.next_cursor, "total": found.total}
