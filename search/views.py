"""The pages of search: searching, and its saved settings."""

import shlex
from http import HTTPStatus
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST
from django.views.decorators.vary import vary_on_headers

from episodes import queries
from memoryweb.core.access import actor_of, curator_page, may_write
from memoryweb.core.actor import Role
from memoryweb.core.errors import Invalid
from memoryweb.core.parts import is_part
from search import defaults, results, services, wording
from search.forms import DefaultsForm, RankingForm, SearchForm

MOST_DIRECTORIES = 200
MOST_SIMILAR = 5
# Told to the home page, whose checklist ticks itself.
SEARCHED_COOKIE, YEAR = "searched", 365 * 24 * 3600


@require_GET
@vary_on_headers("HX-Request")
def search_page(request: HttpRequest) -> HttpResponse:
    """A search by its address; htmx asks for the part that moves with the sliders."""
    version, saved = defaults.current()
    form = SearchForm.of(request.GET, saved)
    valid = form.is_valid()
    part = is_part(request)
    context = {
        "form": form,
        "part": part,
        "version": version,
        "may_save": may_write(request),
        "suggestions": (suggestions := services.suggestions()),
        **_found(request, form, suggestions),
    }
    if part:
        response = render(request, "search/_results.html", context)
        if valid:
            response["HX-Replace-Url"] = form.address()
    else:
        context |= {"directories": _directories(), "agents": queries.agents()}
        response = render(request, "search/search.html", context)
    if not valid:
        response.status_code = HTTPStatus.UNPROCESSABLE_ENTITY
    if form.request is not None:
        _remember_a_search(response)
    return response


def _found(request: HttpRequest, form: SearchForm, suggestions: list[str]) -> dict[str, Any]:
    """What the page says about the results; nothing where nothing is searched for."""
    if (wanted := form.request) is None:
        return {}
    found = services.search(wanted)
    fusion, half_life = form.cleaned_data["fusion"], form.cleaned_data["recency_half_life_days"]
    before = results.places_as_saved(wanted) if form.differs else None
    return {
        "found": found,
        "rows": results.rows(found, fusion, half_life, before),
        "nothing": "" if found.results else results.why_nothing(wanted),
        "mode": wording.MODES[found.answer.mode],
        "query_kind": wording.QUERY_KINDS.get(found.answer.query_kind or ""),
        "notices": wording.notices(found.reasons, found.lag, bool(suggestions)),
        "vector_note": wording.vector_note(found.answer.mode, found.reasons),
        "why_not": results.why_not(wanted, asked) if (asked := _missed(form)) else None,
        "more": form.longer() if found.answer.total_candidates > len(found.results) else "",
        "curl": _curl(request, results.body(wanted)),
    }


def _missed(form: SearchForm) -> str:
    """The document that somebody misses among the results."""
    return str(form.cleaned_data["why_not"]).strip()


def _curl(request: HttpRequest, body: str) -> str:
    """The same search as a command for a shell."""
    address = request.build_absolute_uri(reverse("api:search"))
    return (
        f"curl -s {shlex.quote(address)} \\\n"
        '  -H "Authorization: Bearer $MEMORYWEB_TOKEN" \\\n'
        "  -H 'Content-Type: application/json' \\\n"
        f"  -d {shlex.quote(body)}"
    )


def _remember_a_search(response: HttpResponse) -> None:
    response.set_cookie(
        SEARCHED_COOKIE, "1", YEAR, secure=settings.HTTPS, httponly=True, samesite="Lax"
    )


def _directories() -> list[str]:
    """The fullest working directories, to choose from."""
    counts = queries.directories()
    return sorted(sorted(counts, key=lambda path: -counts[path])[:MOST_DIRECTORIES])


@require_GET
@vary_on_headers("HX-Request")
def similar_episodes(request: HttpRequest, episode_id: str) -> HttpResponse:
    """The episodes nearest to one: a part that its page fetches, or a page of its own."""
    found = services.similar("episodes", episode_id, MOST_SIMILAR)
    address = reverse("episode", args=[episode_id])
    context = {
        "results": found.results,
        "mode": wording.MODES[found.answer.mode],
        "json_url": reverse("api:similar", args=[episode_id]) + f"?limit={MOST_SIMILAR}",
        "trail": [("Episodes", reverse("episodes")), (episode_id, address), ("Similar", None)],
    }
    part = is_part(request)
    return render(request, f"search/{'_similar' if part else 'similar'}.html", context)


@require_POST
@curator_page
def save_ranking(request: HttpRequest) -> HttpResponse:
    """Save what the search page ranks by; every search without settings of its own uses it."""
    form = RankingForm(request.POST)
    if not form.is_valid():
        raise Invalid("these are no settings to rank by; nothing was saved")
    version = defaults.save(actor_of(request), form.cleaned_data)
    messages.success(request, f"Saved as version {version}. Every search now ranks like this.")
    query = request.POST.get("back", "").partition("?")[2]
    return redirect(f"{reverse('search')}?{query}")


def defaults_page(request: HttpRequest) -> HttpResponse:
    """The saved settings, their earlier versions, and for curators the form that changes them."""
    version, saved = defaults.current()
    form = DefaultsForm.of(saved, request.POST or None)
    if request.method == "POST":
        actor = actor_of(request)
        actor.require(Role.CURATOR)
        if form.is_valid():
            given = form.cleaned_data.items()
            changes = {name: value for name, value in given if value != getattr(saved, name)}
            version = defaults.save(actor, changes) if changes else version
            messages.success(request, f"Version {version} is in force.")
            return redirect("search_defaults")
    context = {
        "form": form,
        "version": version,
        "versions": defaults.versions(),
        "may_save": may_write(request),
    }
    status = HTTPStatus.UNPROCESSABLE_ENTITY if form.errors else HTTPStatus.OK
    return render(request, "search/defaults.html", context, status=status)


@require_POST
@curator_page
def revert_defaults(request: HttpRequest, version: int) -> HttpResponse:
    """Bring the values of an earlier version back into force, as a new version."""
    made = defaults.revert(actor_of(request), version)
    messages.success(request, f"Version {made} is in force, with the values of version {version}.")
    return redirect("search_defaults")
