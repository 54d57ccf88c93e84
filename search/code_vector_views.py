"""The pages of code vectors: the collections, and the symbols of one with a search by vector."""

import json
from http import HTTPStatus
from itertools import groupby
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET
from django.views.decorators.vary import vary_on_headers

from episodes import code_vectors
from episodes.models import CodeVector
from episodes.page_parts import counted
from episodes.schemas import read
from episodes.session_schemas import CodeVectorFilter
from memoryweb.core.access import actor_of, curator_page, may_write
from memoryweb.core.errors import NotFound
from memoryweb.core.paging import page
from memoryweb.core.parts import is_part
from search import recall
from search.recall_views import SKIPPED_WORDS
from search.session_forms import VectorForm

ORDER = ("file_path", "symbol_name", "id")


@require_GET
def collections(request: HttpRequest) -> HttpResponse:
    """Every collection of code vectors, by model and width."""
    rows = code_vectors.collections()
    by_name = [(name, list(some)) for name, some in groupby(rows, key=lambda r: r["collection"])]
    context = {
        "collections": by_name,
        "example": _example(request),
        "trail": [("Sessions", reverse("sessions")), ("Code vectors", None)],
        "json_url": reverse("api:list_collections"),
    }
    return render(request, "sessions/collections.html", context)


@vary_on_headers("HX-Request")
def symbols(request: HttpRequest, collection: str) -> HttpResponse:
    """The symbols of one collection by file and name; with a pasted vector the nearest ones."""
    models = _models(collection)
    form = VectorForm(request.POST or None, auto_id="search_%s")
    found = _search(collection, form) if request.method == "POST" else None
    status = HTTPStatus.UNPROCESSABLE_ENTITY if form.errors else HTTPStatus.OK
    context: dict[str, Any] = {"collection": collection, "form": form, "found": found}
    if is_part(request):
        return render(request, "sessions/_symbols_found.html", context, status=status)
    model = request.GET.get("model", "")
    wanted = read(CodeVectorFilter, {"model": model} if model else {})
    address = reverse("api:list_vectors", args=[collection])
    context |= {
        "models": models,
        "model": model,
        "page": page(
            code_vectors.matching(collection, wanted),
            ORDER,
            cursor=request.GET.get("cursor", ""),
            described=lambda rows: rows.defer("vector"),
        ),
        "may_write": may_write(request),
        "json_url": f"{address}?{request.GET.urlencode()}" if model else address,
        "trail": _trail((collection, None)),
    }
    return render(request, "sessions/symbols.html", context, status=status)


@curator_page
def delete_collection(request: HttpRequest, collection: str) -> HttpResponse:
    """Ask whether to delete a collection, or one model's vectors of it; then delete them."""
    model = request.POST.get("model", request.GET.get("model", ""))
    wanted = read(CodeVectorFilter, {"model": model} if model else {})
    if request.method == "POST":
        count, _ = code_vectors.delete(actor_of(request), collection, wanted)
        left = code_vectors.matching(collection, wanted).exists()
        checked = "Some came back meanwhile." if left else "Looked again: none is left."
        messages.success(request, f"Deleted {counted(count, 'code vector')}. {checked}")
        return redirect("code_vectors")
    count = code_vectors.matching(collection, wanted).count()
    if not count:
        raise NotFound("there are no such vectors")
    address = reverse("code_symbols", args=[collection])
    trail = _trail((collection, address), ("Delete", None))
    context = {"collection": collection, "model": model, "count": count, "trail": trail}
    return render(request, "sessions/delete_collection.html", context)


def _example(request: HttpRequest) -> str:
    """How an indexer stores the first one."""
    symbol = {"symbol_name": "sort_locks", "file_path": "worker.py", "line_start": 12}
    body = symbol | {"embedding": [0.1, 0.2, 0.3], "embedding_model": "my-model"}
    address = request.build_absolute_uri(reverse("api:store_vector", args=["shop"]))
    return (
        f"curl -s {address} \\\n"
        '  -H "Authorization: Bearer $MEMORYWEB_TOKEN" \\\n'
        "  -H 'Content-Type: application/json' \\\n"
        f"  -d '{json.dumps(body)}'"
    )


def _models(collection: str) -> list[dict[str, Any]]:
    """The models of one collection. Raises NotFound where there is no such collection."""
    found = [row for row in code_vectors.collections() if row["collection"] == collection]
    if not found:
        raise NotFound("there is no such collection of code vectors")
    return found


def _search(collection: str, form: VectorForm) -> dict[str, Any] | None:
    """The symbols nearest to the pasted vector; nothing, and its errors, when it is none."""
    if not form.is_valid():
        return None
    vector = form.cleaned_data["embedding"]
    limit, model = form.cleaned_data["limit"] or 10, form.cleaned_data["embedding_model"]
    found = recall.search_code(collection, vector, limit=limit, embedding_model=model or None)
    skipped = [(n, SKIPPED_WORDS[why]) for why, n in vars(found.skipped).items() if n]
    rows = [_row(symbol, score) for symbol, score in found.symbols]
    return {"rows": rows, "model": found.model, "width": vector.size, "skipped": skipped}


def _row(symbol: CodeVector, score: float) -> dict[str, Any]:
    part = max(0, min(100, round(100 * score)))
    return {"symbol": symbol, "score": f"{score:.4f}", "part": part}


def _trail(*rest: tuple[str, str | None]) -> list[tuple[str, str | None]]:
    return [("Sessions", reverse("sessions")), ("Code vectors", reverse("code_vectors")), *rest]
