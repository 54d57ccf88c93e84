"""The pages of long work: what runs, what ran, what went wrong; begin, cancel, try again."""

from collections.abc import Iterator
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST
from django.views.decorators.vary import vary_on_headers

from memoryweb.core.access import actor_of, curator_page, may_write
from memoryweb.core.errors import Invalid
from memoryweb.core.paging import page
from memoryweb.core.parts import is_part
from search import runs, switching
from search.embedding import configured
from search.models import Run, RunError
from search.reindex import CORPORA, REPAIRS
from search.sources import SOURCES

AT_ONCE = 25


@require_GET
@vary_on_headers("HX-Request")
def runs_page(request: HttpRequest) -> HttpResponse:
    """All runs, newest first; what runs now moves by itself."""
    found = page(
        runs.all_runs(),
        ("-id",),
        limit=AT_ONCE,
        cursor=request.GET.get("cursor", ""),
        described=runs.with_errors,
    )
    context = {
        "runs": [_described(run) for run in found.items],
        "page": found,
        "moving": any(run.active for run in found.items),
        **_may(request),
    }
    return render(request, _template(request, "list"), context)


@require_GET
@vary_on_headers("HX-Request")
def run_page(request: HttpRequest, number: int) -> HttpResponse:
    """One run with its bar and its errors; the part is fetched again until it ends."""
    run = runs.find(number)
    context = {
        **_described(run),
        **_may(request),
        "moving": run.active,
        "errors": list(_linked(run)),
        "trail": [("Runs", reverse("runs")), (str(run.pk), None)],
        "json_url": f"/api/v1/runs/{run.pk}",
    }
    return render(request, _template(request, "run"), context)


def _template(request: HttpRequest, name: str) -> str:
    part = is_part(request)
    return f"runs/{'_' if part else ''}{name}.html"


def _may(request: HttpRequest) -> dict[str, Any]:
    return {
        "may_start": may_write(request),
        "provider": configured.configured(),
    }


def _described(run: Run) -> dict[str, Any]:
    """The run with what a person is told about it."""
    covered = [
        {"name": name, "before": _percent(before), "after": _percent(after)}
        for name, before, after in _coverage(run)
    ]
    return {
        "run": run,
        "what": _what(run),
        "rest": _rest(run),
        "seen": run.done + run.failed,
        "covered": covered,
        "badge": BADGES[run.state],
        "waits": run.state == Run.State.QUEUED,
    }


def _linked(run: Run) -> Iterator[dict[str, Any]]:
    """The documents that failed, each with its page where it has one to show."""
    errors: list[RunError] = run.first_errors  # type: ignore[attr-defined]
    shown = {
        name: SOURCES[name].shown([one.document for one in errors if one.collection == name])
        for name in {one.collection for one in errors}
    }
    for one in errors:
        found = shown[one.collection].get(one.document)
        yield {
            "collection": one.collection,
            "document": one.document,
            "reason": one.reason,
            "url": found.url if found else "",
        }


BADGES = {"queued": "plain", "running": "accent", "done": "good", "failed": "danger"}
BADGES["cancelled"] = "plain"


def _what(run: Run) -> str:
    if run.kind == Run.Kind.REBUILD:
        return "Indexes built anew"
    names = ", ".join(run.collections)
    states = ", ".join(REPAIRS[state] for state in run.states)
    if run.documents:
        many = len(run.documents)
        return f"Vector of {names}/{run.documents[0]} by {run.model}" + (
            f" and {many - 1:,} more" if many > 1 else ""
        )
    again = f", again what run {run.retry_of_id} failed at" if run.retry_of_id else ""
    return f"Vectors of {names} by {run.model}{f': {states} only' if states else ''}{again}"


def _rest(run: Run) -> str:
    """The rate, and the time that is left or was taken."""
    if run.state == Run.State.QUEUED:
        return "waits for the worker"
    rate = f"{run.rate:,.0f} a second" if run.rate >= 1 else f"{run.rate:.1g} a second"
    parts = [rate] if run.rate else []
    if run.eta_s is not None:
        parts.append(f"{_duration(run.eta_s)} left")
    elif run.finished_at and run.started_at:
        parts.append(f"took {_duration((run.finished_at - run.started_at).total_seconds())}")
    return ", ".join(parts)


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def _coverage(run: Run) -> list[tuple[str, float | None, float | None]]:
    before, after = run.coverage_before or {}, run.coverage_after or {}
    return [
        (name, before.get(name, {}).get("ratio"), after.get(name, {}).get("ratio"))
        for name in run.collections
        if name in before
    ]


def _percent(ratio: float | None) -> str:
    return "" if ratio is None else f"{int(1000 * ratio) / 10:g} %"


@require_POST
@curator_page
def start(request: HttpRequest) -> HttpResponse:
    """Begin a reindex of what the form names: collections, states and documents, or all."""
    posted = request.POST
    wanted = runs.Request(
        collections=_known("collection", posted.getlist("collection"), CORPORA),
        model=posted.get("model", "").strip(),
        states=_known("state", posted.getlist("state"), REPAIRS),
        documents=posted.getlist("document"),
    )
    return redirect(runs.start_reindex(actor_of(request), wanted))


def _known(name: str, given: list[str], known: Any) -> list[Any]:
    if unknown := [one for one in given if one not in known]:
        raise Invalid.field(name, f"there is no {unknown[0]!r}")
    return given


@require_POST
@curator_page
def rebuild(request: HttpRequest) -> HttpResponse:
    return redirect(runs.start_rebuild(actor_of(request)))


@require_POST
@curator_page
def cancel(request: HttpRequest, number: int) -> HttpResponse:
    run = runs.cancel(actor_of(request), number)
    messages.success(request, "The run is cancelled. What it had stored stays.")
    return redirect(run)


@require_POST
@curator_page
def retry(request: HttpRequest, number: int) -> HttpResponse:
    return redirect(runs.retry(actor_of(request), number))


@require_POST
@curator_page
def change_model(request: HttpRequest) -> HttpResponse:
    """Have searches compare another stored model, or remove the vectors of one they do not."""
    model = request.POST.get("model", "")
    if request.POST.get("do") == "remove":
        removed = switching.remove(actor_of(request), model)
        messages.success(request, f"{removed:,} vectors of {model} are removed.")
    else:
        switching.switch(actor_of(request), model)
        messages.success(request, f"Searches compare {model} now. Switch back at any time.")
    return redirect("coverage")
