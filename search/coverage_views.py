"""The pages of coverage: the numbers, and for each number the list of what it counts."""

import re
from collections.abc import Iterable
from datetime import date
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET

from bank import queries as bank
from episodes import queries
from memoryweb.core import active_model
from memoryweb.core.access import actor_of, may_write
from memoryweb.core.actor import Role
from memoryweb.core.errors import Invalid, NotFound
from memoryweb.core.models import ActiveModel
from memoryweb.core.paging import page
from search import coverage, coverage_days, runs, second_model
from search.coverage import COLLECTIONS, Coverage, Documents, Wanted
from search.embedding import configured
from search.live import View, live
from search.models import Run
from search.reindex import REPAIRS, Target
from search.schemas import MONTH

FAILED_LISTED = "Their vectors could not be made. The cause stands beside each."
FAILED = "Its vector could not be made. It is among the states above as well."


@require_GET
def coverage_page(request: HttpRequest) -> HttpResponse:
    """How much of the memory vectors cover; each number leads to the list of what it counts."""
    return render(request, "search/coverage.html", {**overview(), **repairs(request)})


@require_GET
def coverage_list(request: HttpRequest, collection: str) -> HttpResponse:
    """The documents that one number counts, and the button that mends just these."""
    documents = COLLECTIONS.get(collection)
    if documents is None:
        raise NotFound("there is no such collection")
    wanted, reader = _wanted(request.GET), actor_of(request)
    found = page(
        documents.listed(wanted),
        ("pk",),
        cursor=request.GET.get("cursor", ""),
        described=lambda rows: documents.described(rows, wanted.by),
    )
    context = {
        "documents": documents,
        "page": found,
        "rows": [{"row": row, "title": documents.title(reader, row)} for row in found.items],
        "wanted": wanted,
        "what": _what(documents, wanted),
        "meaning": {**coverage.MEANINGS, "failed": FAILED_LISTED}.get(wanted.vector, ""),
        "json_url": reverse("api:coverage_of", args=[collection]) + _asked(wanted),
        "trail": [("Coverage", reverse("coverage")), (documents.label, None)],
        "repairable": wanted.vector not in ("", "current") and found.total and not wanted.month,
        **repairs(request),
    }
    return render(request, "search/coverage_list.html", context)


def _wanted(query: QueryDict) -> Wanted:
    """Raises Invalid for a state, a width or a month that there is none of."""
    state, dimension = query.get("vector", ""), query.get("dimension", "")
    month = query.get("month", "")
    if not re.fullmatch(MONTH, month):
        raise Invalid.field("month", "must be like 2026-03")
    if state and state not in REPAIRS:
        raise Invalid.field("vector", f"there is no state {state[:40]!r}")
    if dimension and not (dimension.isascii() and dimension.isdigit() and len(dimension) < 8):
        raise Invalid.field("dimension", "must be a number")
    return Wanted(
        vector=state,
        by=query.get("by", ""),
        blank=bool(query.get("blank")),
        model=query.get("model", ""),
        dimension=int(dimension) if dimension else None,
        month=month,
    )


def _asked(wanted: Wanted) -> str:
    """The same as the query of an address."""
    given = {**vars(wanted), "blank": "true" if wanted.blank else ""}
    return coverage.query({name: str(value) for name, value in given.items() if value})


def _what(documents: Documents, wanted: Wanted) -> str:
    """What is listed, in words."""
    parts = []
    if wanted.vector:
        by = f" by {wanted.by}" if wanted.by else ""
        parts.append(f"{REPAIRS[wanted.vector]}{by}")
    if wanted.blank:
        parts.append("blank text")
    if wanted.model:
        width = f", {wanted.dimension:,} wide" if wanted.dimension is not None else ""
        parts.append(f"vectors of {wanted.model}{width}")
    if wanted.month:
        parts.append(f"made in {date.fromisoformat(f'{wanted.month}-01'):%B %Y}")
    return f"{documents.label}: {', '.join(parts)}" if parts else documents.label


def repairs(request: HttpRequest) -> dict[str, Any]:
    """What the buttons go by: whether this person may, with what, and what is under way."""
    return {
        "may_start": may_write(request),
        "may_configure": actor_of(request).role >= Role.ADMINISTRATOR,
        "provider": configured.configured(),
        "repairing": runs.active(Run.Kind.REINDEX),
        "auto": settings.MEMORYWEB_EMBEDDING_AUTO,
        "now": timezone.now(),
    }


def overview() -> dict[str, Any]:
    """What the page shows: each collection by state, day and month, episodes by directory,
    memories by session, the models, and the index."""
    view, active, wanted = live.view(), active_model.active(), coverage.target()
    sections = [_section(documents, wanted) for documents in COLLECTIONS.values()]
    return {
        "sections": sections,
        "nothing": not any(section["coverage"].total for section in sections),
        "beside": (other := second_model.beside()),
        "failed_beside": _failed_by(other.model) if other and other.failed else [],
        "wrong_widths": _counted(
            (one["documents"], one["coverage"].counts["wrong_width"], {"state": "wrong_width"})
            for one in sections
        ),
        "wrong_width_count": sum(one["coverage"].counts["wrong_width"] for one in sections),
        "active": active,
        "models": coverage.models(),
        **_directories(),
        **_sessions(),
        **_months([one["documents"] for one in sections if one["coverage"].total]),
        "pages": bank.entities().count(),
        "notes": bank.notes().count(),
        "index": coverage.index_state(view),
        "indexes": _indexes(view, active),
    }


def _section(documents: Documents, wanted: Target) -> dict[str, Any]:
    counted = documents.coverage()
    return {
        "documents": documents,
        "coverage": counted,
        "url": documents.address(),
        "bar": (states := coverage.bar(counted, documents.name)),
        "states": states + _failed(documents, wanted),
        "blank_url": documents.address(blank="1"),
        "chart": coverage_days.chart(documents.name),
    }


def _failed(documents: Documents, wanted: Target) -> list[dict[str, Any]]:
    """What failed, where anything did: no state of its own, so no part of the bar."""
    count = coverage.failed(documents.name, wanted)
    row = {"state": "failed", "label": "failed", "meaning": FAILED, "count": count}
    return [{**row, "url": documents.address("failed")}] if count else []


def _failed_by(model: str) -> list[dict[str, Any]]:
    """What failed by another model than the active one, of each collection with its list."""
    target, by = coverage.target(model), {"state": "failed", "by": model}
    return _counted((one, coverage.failed(one.name, target), by) for one in COLLECTIONS.values())


def _counted(
    found: Iterable[tuple[Documents, int, dict[str, str]]],
) -> list[dict[str, Any]]:
    """How many there are of each collection that has some, in words, with the list of them."""
    return [
        {"count": n, "noun": one.nouns[n != 1], "url": one.address(**filters)}
        for one, n, filters in found
        if n
    ]


def _directories() -> dict[str, Any]:
    sizes = queries.directories()
    largest = sorted(sizes, key=lambda path: (-sizes[path], path))[: coverage.MOST_DIRECTORIES]
    return {
        "directories": [
            {"path": path, "coverage": each, "states": coverage.bar(each, working_dir=path)}
            for path, each in coverage.episodes_by_directory(largest).items()
        ],
        "more_directories": len(sizes) - len(largest),
    }


def _sessions() -> dict[str, Any]:
    found, more = coverage.by_session(coverage.MOST_SESSIONS)
    memories = COLLECTIONS["memories"]
    return {
        "sessions": [
            {
                "session": one,
                "coverage": each,
                "url": memories.address(context=one.pk),
                "states": coverage.bar(each, "memories", context=one.pk),
            }
            for one, each in found
        ],
        "more_sessions": more,
    }


def _months(counted: list[Documents]) -> dict[str, Any]:
    """Each month with what was made in it, collection by collection."""
    found = {one: coverage.by_month(one) for one in counted}
    months = sorted({month for one in found.values() for month in one}, reverse=True)
    shown = months[: coverage.MOST_MONTHS]
    return {
        "months": [
            {"month": month, "cells": [_cell(one, month, found[one]) for one in counted]}
            for month in shown
        ],
        "of_months": counted,
        "more_months": len(months) - len(shown),
    }


def _cell(documents: Documents, month: date, found: dict[date, Coverage]) -> dict[str, Any]:
    """One collection in one month: nothing but its name where there was none."""
    if month not in found:
        return {"documents": documents}
    filters = coverage.lists_of_month(documents, month)
    return {
        "documents": documents,
        "coverage": found[month],
        "url": documents.address(**filters),
        "states": coverage.bar(found[month], documents.name, **filters),
    }


def _indexes(view: View, active: ActiveModel | None) -> list[dict[str, Any]]:
    """Each collection's index, with what the worker last measured of its graph."""
    return [
        {
            "name": name,
            "label": COLLECTIONS[name].label,
            "statistics": index.statistics,
            "recall": coverage.measured(name, active),
        }
        for name, index in (view.indexes or {}).items()
    ]
