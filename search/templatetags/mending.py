"""`{% mend %}`: on a document's own page, the state of its vector and the button that mends it."""

from typing import Any

from django import template

from memoryweb.core.models import User
from search import coverage, coverage_views

register = template.Library()


@register.inclusion_tag("search/_mend.html", takes_context=True)
def mend(context: dict[str, Any], collection: str, document: str) -> dict[str, Any]:
    """Nothing for what vectors do not cover: archived and quarantined memories, pages of wikis."""
    documents = coverage.COLLECTIONS[collection]
    row = documents.one(document)
    request = context["request"]
    if row is None or not isinstance(request.user, User):
        return {}
    return {
        "request": request,
        "csrf_token": context.get("csrf_token"),
        "row": row,
        "documents": documents,
        "with_state": collection == "pages",
        "blank": not documents.text_of(row).strip(),
        **coverage_views.repairs(request),
    }
