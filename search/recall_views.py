"""The pages that show what is recalled of a session, and what a shell of it is given."""

import json
import shlex
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_GET
from django.views.decorators.vary import vary_on_headers

from episodes import session_queries
from episodes.models import Context, Memory
from memoryweb.core import active_model
from memoryweb.core.parts import is_part
from memoryweb.core.vectors import Vector, decode_blob
from search import injection, recall, wording
from search.matrices import Skipped
from search.schemas import QUERY_CHARACTERS
from search.session_forms import RecallForm, VectorForm

SKIPPED_WORDS = {
    "no_vector": "without a vector of the text as it is now",
    "dimension": "with a vector of another width",
    "model": "with vectors of other models only",
}


@dataclass(frozen=True)
class Row:
    """One recalled memory; `vector` and `text` are the parts of 100 of its bar."""

    memory: Memory
    score: str
    vector: int
    text: int


@dataclass(frozen=True)
class Outcome:
    """What a recall found, how, and what it could not compare."""

    method: recall.Method
    rows: list[Row]
    model: str | None
    width: int
    skipped: list[dict[str, Any]]
    notices: list[wording.Notice]
    by_words: str  # why words were compared and no vectors
    like: Memory | None = None


@vary_on_headers("HX-Request")
def recall_page(request: HttpRequest, context_id: str) -> HttpResponse:
    """Recall by words or by another memory's vector, both in the address, or by a pasted one."""
    found = session_queries.find_context(context_id)
    pasted = request.method == "POST"
    form = RecallForm(request.GET)
    vector_form = VectorForm(request.POST if pasted else None)
    outcome = _by_vector(found, vector_form) if pasted else _by_address(found, form)
    context = {
        "context": found,
        "recall": form,
        "vector_form": vector_form,
        "outcome": outcome,
        "part": is_part(request),
        "address": request.get_full_path() if not pasted else "",
        "curl": _curl(request, found, form) if not pasted and outcome else "",
        "trail": _trail(found, "Recall"),
    }
    wrong = vector_form.errors if pasted else form.errors
    status = HTTPStatus.UNPROCESSABLE_ENTITY if wrong else HTTPStatus.OK
    template = "sessions/_recalled.html" if is_part(request) else "sessions/recall.html"
    return render(request, template, context, status=status)


@require_GET
@vary_on_headers("HX-Request")
def environment_page(request: HttpRequest, context_id: str) -> HttpResponse:
    """The variables that a shell of this session is given, and the lines that fetch them."""
    found = session_queries.find_context(context_id)
    form = RecallForm(request.GET)
    query = form.cleaned_data["query"] if form.is_valid() else ""
    injected = injection.inject(context_id, query=query)
    address = reverse("api:environment", args=[context_id])
    context = {
        "context": found,
        "form": form,
        "query": query,
        "injected": injected,
        "command": _command(context_id, query),
        "json_url": address + (f"?{urlencode({'query': query})}" if query else ""),
        "trail": _trail(found, "Environment"),
    }
    part = is_part(request)
    template = "sessions/_environment.html" if part else "sessions/environment.html"
    status = HTTPStatus.OK if form.is_valid() else HTTPStatus.UNPROCESSABLE_ENTITY
    return render(request, template, context, status=status)


def _by_address(context: Context, form: RecallForm) -> Outcome | None:
    """What the address asks for; nothing when it asks for nothing."""
    if not form.is_valid():
        return None
    limit = form.cleaned_data["limit"] or 5
    if like := form.cleaned_data["like"]:
        return _like(context, session_queries.find_memory(like), limit)
    query = form.cleaned_data["query"]
    if not query.strip():
        return None
    return _outcome(context, recall.by_text(context.pk, query, limit=limit))


def _like(context: Context, memory: Memory, limit: int) -> Outcome:
    """By the memory's own vector; by its text where it has none."""
    own = _own_vector(memory)
    if own is None:
        found = recall.by_text(context.pk, memory.content[:QUERY_CHARACTERS], limit=limit)
    else:
        found = recall.recall(context.pk, own[0], limit=limit, embedding_model=own[1])
    return _outcome(context, found, memory)


def _own_vector(memory: Memory) -> tuple[Vector, str] | None:
    """The memory's vector and its model, the active model's if it has one."""
    chosen = active_model.active()
    rows = memory.vectors.filter(text_sha=memory.content_sha).order_by("-indexed_at")
    ranked = sorted(rows, key=lambda row: chosen is None or row.model != chosen.model)
    return (decode_blob(bytes(ranked[0].vector)), ranked[0].model) if ranked else None


def _by_vector(context: Context, form: VectorForm) -> Outcome | None:
    """By the pasted vector; nothing, and its errors, when it is none."""
    if not form.is_valid():
        return None
    vector = form.cleaned_data["embedding"]
    model, limit = form.cleaned_data["embedding_model"], form.cleaned_data["limit"] or 10
    found = recall.recall(context.pk, vector, limit=min(limit, 20), embedding_model=model or None)
    return _outcome(context, found)


def _outcome(context: Context, found: recall.Recalled, like: Memory | None = None) -> Outcome:
    leg = "vector" if found.method == "semantic" else "text"
    # That no provider is configured is no news; that it fails is.
    plain = [wording.NO_VECTOR[one] for one in found.reasons if one == "no_query_vector"]
    limits = tuple(one for one in found.reasons if one != "no_query_vector")
    return Outcome(
        found.method,
        [_row(memory, score, leg) for memory, score in found.memories],
        found.model,
        found.width,
        _skipped(context, found.skipped, found.model, found.width),
        wording.notices(limits, found.lag, False),
        "".join(plain),
        like,
    )


def _row(memory: Memory, score: float, leg: str) -> Row:
    part = max(0, min(100, round(100 * score)))
    return Row(memory, f"{score:.4f}", part * (leg == "vector"), part * (leg == "text"))


def _skipped(
    context: Context, skipped: Skipped, model: str | None, width: int
) -> list[dict[str, Any]]:
    """What could not be compared, in words, each with the list of what it counts."""
    query = {"model": model, "dimension": width} if model else {}
    return [
        {
            "count": count,
            "words": SKIPPED_WORDS[why],
            "url": f"{context.get_absolute_url()}?{urlencode({'skipped': why, **query})}"
            if model
            else "",
        }
        for why, count in vars(skipped).items()
        if count
    ]


def _command(context_id: str, query: str) -> str:
    """The line for a shell on this machine."""
    asked = f" --query {shlex.quote(query)}" if query.strip() else ""
    command = f".venv/bin/python manage.py context_env {shlex.quote(context_id)}{asked}"
    return f'eval "$({command})"'


def _curl(request: HttpRequest, context: Context, form: RecallForm) -> str:
    """The same recall as a command; a memory that is the query has a vector the API wants sent."""
    query = form.cleaned_data["query"]
    if not query.strip():
        return ""
    address = request.build_absolute_uri(reverse("api:recall_memories", args=[context.pk]))
    body = json.dumps({"query": query, "limit": form.cleaned_data["limit"] or 5})
    return (
        f"curl -s {shlex.quote(address)} \\\n"
        '  -H "Authorization: Bearer $MEMORYWEB_TOKEN" \\\n'
        "  -H 'Content-Type: application/json' \\\n"
        f"  -d {shlex.quote(body)}"
    )


def _trail(context: Context, last: str) -> list[tuple[str, str | None]]:
    return [
        ("Sessions", reverse("sessions")),
        (context.name[:60], context.get_absolute_url()),
        (last, None),
    ]
