"""Taking pages away over HTTP: archived, or erased for good; also what was archived before."""

from typing import Annotated, Any

from django.http import HttpResponse
from ninja import Query, Router, Status

from bank import erasing, queries, services
from bank.models import Kind
from bank.schemas import ArchivedRow, ErasedOut, archived_row, erased
from bank.written import base_of
from memoryweb.core.api_auth import ApiRequest, admin
from memoryweb.core.errors import Invalid
from memoryweb.core.paging import Listed, Paging, page

router = Router()

Erase = Annotated[bool, Query(description="for good, nothing is kept; needs the scope admin")]
Reason = Annotated[
    str,
    Query(max_length=erasing.REASON_LENGTH, description="why it is erased; stays in the audit"),
]
TAKEN_AWAY = {200: ErasedOut, 204: None}


@router.get("/bank/archived", response=Listed[ArchivedRow])
def list_archived(request: ApiRequest, paging: Query[Paging]) -> dict[str, Any]:
    """What was archived, the latest first, by the number that it is erased by."""
    rows = queries.archived().filter(wiki=None).defer("content")
    found = page(rows, ("-archived_at", "id"), limit=paging.limit, cursor=paging.cursor)
    items = [archived_row(one, request.actor) for one in found.items]
    return {"items": items, "next_cursor": found.next_cursor, "total": found.total}


@router.delete("/bank/archived/{int:pk}", auth=admin, response=ErasedOut)
def erase_archived(
    request: ApiRequest,
    response: HttpResponse,
    pk: int,
    erase: Erase = False,
    reason: Reason = "",
) -> ErasedOut:
    """Erase an archived page for good; `erase=true` has to say so.

    The receipt names backups that still hold the page; they are not altered.
    """
    if not erase:
        raise Invalid.field("erase", "it is archived already; with erase=true it is erased")
    return _receipt(response, erasing.erase_archived(request.actor, pk, reason=reason))


def taken_away(
    request: ApiRequest,
    response: HttpResponse,
    kind: Kind,
    name: str,
    erase: bool,
    reason: str,
    if_match: str,
) -> Status[ErasedOut | None]:
    """Archive a page, or erase it: the answer of its DELETE."""
    base = base_of(None, if_match)
    if erase:
        gone = erasing.erase(request.actor, kind, name, base=base, reason=reason)
        return Status(200, _receipt(response, gone))
    archived = services.archive(request.actor, kind, name, base=base)
    response["X-Change-Seq"] = str(archived.seq)
    return Status(204, None)


def _receipt(response: HttpResponse, gone: erasing.Receipt) -> ErasedOut:
    response["X-Change-Seq"] = str(gone.seq)
    return erased(gone)
