"""What is not taken in from the memory folder, over HTTP."""

from typing import Any

from ninja import Query, Router
from pydantic import BaseModel

from bank import problems, withholding
from bank.models import FileProblem
from memoryweb.core.actor import Actor
from memoryweb.core.api_auth import ApiRequest, read
from memoryweb.core.paging import Listed, Paging, page
from memoryweb.core.times import Time

router = Router()


class UntakenRow(BaseModel):
    """A file, or a folder, of the memory folder that is not taken in, and what to do about it."""

    path: str
    why: str
    reason: str
    advice: str
    since: Time


@router.get("/bank/untaken", auth=read, response=Listed[UntakenRow])
def list_untaken(request: ApiRequest, paging: Query[Paging]) -> dict[str, Any]:
    """What lies in the memory folder and could not be taken in; each file is as it was.

    A token is given no name of a file that the guard objects to.
    """
    found = page(problems.listed(), problems.ORDER, limit=paging.limit, cursor=paging.cursor)
    items = [_row(one, request.actor) for one in found.items]
    return {"items": items, "next_cursor": found.next_cursor, "total": found.total}


def _row(problem: FileProblem, reader: Actor) -> UntakenRow:
    row = UntakenRow(
        path=problem.path,
        why=problem.why,
        reason=problem.reason,
        advice=problem.advice,
        since=problem.since,
    )
    if withholding.told(reader, f"{row.path}\n{row.reason}") == withholding.NAMELESS:
        return row.model_copy(update=dict.fromkeys(("path", "reason"), withholding.NAMELESS))
    return row
