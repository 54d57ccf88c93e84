"""What the guard held back, and the decisions about it, over HTTP."""

from typing import Annotated, Any, Literal

from ninja import Body, Query, Router
from pydantic import BaseModel, ConfigDict, Field

from episodes.schemas import Storable, Text
from memoryweb import review
from memoryweb.core import clock
from memoryweb.core import quarantine as held
from memoryweb.core.api_auth import ApiRequest, read, write
from memoryweb.core.models import QuarantineItem
from memoryweb.core.paging import Listed, Paging, page
from memoryweb.core.schemas import Strict
from memoryweb.core.times import Time

router = Router()
State = Literal["waiting", "approved", "rejected"]


class QuarantineFilter(BaseModel):
    state: State = "waiting"
    collection: Literal["episodes", "memories", "pages"] | None = None


class Rejection(Strict):
    reason: Annotated[str, Field(max_length=review.REASON_LENGTH), Storable] = ""


class Approval(Strict):
    reason: Annotated[str, Field(min_length=1, max_length=review.REASON_LENGTH), Storable]
    base: Annotated[
        int | None,
        Field(
            ge=1,
            description="the revision of the page that it replaces, if any; by default the one"
            " that it had when the text was held back",
        ),
    ] = None


class Edited(Approval):
    text: Annotated[Text, Field(description="the page's text as the curator made it")]


UNSAID = Rejection()  # What one says that comes without a body.


class QuarantineOut(BaseModel):
    model_config = ConfigDict(from_attributes=True)

    id: int
    collection: str
    document: str
    text: str
    findings: list[dict[str, Any]]
    actor: str
    via: str
    created_at: Time
    state: State
    decided_at: Time | None
    decided_by: str
    decision_reason: str


class Decided(QuarantineOut):
    change_seq: int


@router.get("/quarantine", response=Listed[QuarantineOut], auth=read)
def quarantine(
    request: ApiRequest, wanted: Query[QuarantineFilter], paging: Query[Paging]
) -> dict[str, Any]:
    """What waits for a decision, or was decided, newest first; for those who may decide."""
    review.require(request.actor)
    rows = QuarantineItem.objects.filter(**wanted.model_dump(exclude_none=True))
    found = page(rows, ("-id",), limit=paging.limit, cursor=paging.cursor)
    items = [QuarantineOut.model_validate(item) for item in found.items]
    return {"items": items, "next_cursor": found.next_cursor, "total": found.total}


@router.post("/quarantine/{int:item_id}/approve", response=Decided, auth=write)
def approve(request: ApiRequest, item_id: int, decision: Approval) -> Decided:
    """Let the text be searched and served: its episode is released, its page saved."""
    return _decided(review.approve(request.actor, item_id, decision.reason, base=decision.base))


@router.post("/quarantine/{int:item_id}/edit", response=Decided, auth=write)
def edit(request: ApiRequest, item_id: int, decision: Edited) -> Decided:
    """Save a page's text as the curator made it, and let that be served."""
    return _decided(
        review.approve(
            request.actor, item_id, decision.reason, text=decision.text, base=decision.base
        )
    )


@router.post("/quarantine/{int:item_id}/reject", response=Decided, auth=write)
def reject(request: ApiRequest, item_id: int, decision: Body[Rejection] = UNSAID) -> Decided:
    """Leave the text where no search and no agent finds it."""
    return _decided(review.reject(request.actor, item_id, decision.reason))


def _decided(item: QuarantineItem) -> Decided:
    held.told(item)
    shown = QuarantineOut.model_validate(item).model_dump()
    return Decided.model_validate({**shown, "change_seq": clock.current_seq()})
