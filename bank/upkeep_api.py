"""Looking after the bank over HTTP: renames, what lint finds, and the bank as one file."""

from typing import Any

from django.http import HttpResponse, StreamingHttpResponse
from django.utils import timezone
from ninja import Query, Router

from bank import exporting, lint, renaming, withholding
from bank.schemas import LintCounts, LintRow, RenamedOut, RenameIn, entity, lint_row
from memoryweb.core.api_auth import ApiRequest, read, write
from memoryweb.core.paging import Listed, Paging, page

router = Router()
ZIP = {"responses": {200: {"description": "OK", "content": {"application/zip": {}}}}}


@router.post("/bank/entities/{name}/rename", auth=write, response=RenamedOut)
def rename_entity(
    request: ApiRequest, response: HttpResponse, name: str, body: RenameIn
) -> RenamedOut:
    """Call a page by another name; the old one leads to it, in links and at this API.

    With `update_links` the pages that link to it by name are rewritten: up to fifty at once, more
    of them one after the other after the answer, `pending` being how many. `left` names those that
    could not be. Links that say the old name lead to the page all the same: those that are to be
    rewritten until they are, others until another page takes that name.
    """
    renamed = renaming.rename(
        request.actor, name, body.to, base=body.base, update_links=body.update_links
    )
    response["ETag"] = renamed.page.etag
    response["X-Change-Seq"] = str(renamed.seq)
    return RenamedOut(
        entity=entity(renamed.page, request.actor),
        renamed_from=renamed.old,
        rewritten=renamed.rewritten,
        left={withholding.told(request.actor, one): why for one, why in renamed.left.items()},
        pending=renamed.pending,
        change_seq=renamed.seq,
    )


@router.get("/bank/lint", auth=read, response=LintCounts)
def count_findings(request: ApiRequest) -> LintCounts:
    """How much each check finds."""
    return LintCounts(counts=lint.counts(request.actor))


@router.get("/bank/lint/{check}", auth=read, response=Listed[LintRow])
def list_findings(request: ApiRequest, check: lint.Name, paging: Query[Paging]) -> dict[str, Any]:
    """What one check finds: the page it is in, the link's target and what that fits."""
    return findings(request, lint.CHECKS[check], paging)


def findings(
    request: ApiRequest, check: lint.Check, paging: Paging, wiki: str | None = None
) -> dict[str, Any]:
    """A part of what a check finds in a wiki, None for the bank."""
    rows = check.readable(request.actor, wiki)
    found = page(rows, check.order, limit=paging.limit, cursor=paging.cursor)
    items = [lint_row(item, request.actor) for item in lint.items(check, found.items, wiki)]
    return {"items": items, "next_cursor": found.next_cursor, "total": found.total}


@router.get("/bank/export.zip", auth=read, openapi_extra=ZIP)
def export_bank(request: ApiRequest) -> StreamingHttpResponse:
    """The bank's Markdown files in a zip, what is in quarantine left out."""
    response = StreamingHttpResponse(
        exporting.bank_zip(request.actor), content_type="application/zip"
    )
    name = f"memoryweb-bank-{timezone.localdate().isoformat()}.zip"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
