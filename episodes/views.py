"""The pages of episodes: a filtered list, one episode, editing, and deleting with an undo."""

import json
from collections.abc import Sequence
from http import HTTPStatus
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST
from django.views.decorators.vary import vary_on_headers

from episodes import deletion, histogram, queries, store
from episodes.directories import Directory, pruned, tree
from episodes.forms import EpisodeForm, FilterForm
from episodes.models import Episode
from episodes.page_parts import back_to, counted, form_page, taken_off, tell_deleted, without
from episodes.schemas import EpisodeFilter
from memoryweb.core.access import actor_of, curator_page, may_write
from memoryweb.core.errors import Conflict, NotFound
from memoryweb.core.paging import page
from memoryweb.core.parts import is_part

MOST_DIRECTORIES = 300
MOST_SHOWN_IN_PREVIEW = 50
MOST_DELETIONS = 10  # that the list offers to undo
LONGEST_FACT = 120  # characters of an extra field that is shown on one line


@require_GET
@vary_on_headers("HX-Request")
def episode_list(request: HttpRequest) -> HttpResponse:
    """All episodes, filtered; htmx asks for the part that changes with the filters."""
    form = FilterForm(request.GET)
    wanted = form.wanted()
    rows = queries.matching(wanted) if form.is_valid() else Episode.objects.none()
    found = page(
        rows,
        queries.ORDERS[form.order_of_list()],
        cursor=request.GET.get("cursor", ""),
        described=queries.described,
    )
    part = is_part(request)
    context = {
        "form": form,
        "page": found,
        "bins": _bins(form, wanted),
        "chips": taken_off(request.GET, form),
        "may_write": may_write(request),
        "json_url": _json_url(wanted, form.order_of_list()) if form.is_valid() else "",
        "back": without(request.GET, "cursor"),
        "part": part,
    }
    if part:
        return render(request, "episodes/_list.html", context)
    directories, more = _directories()
    context |= {"directories": directories, "more_directories": more, "agents": queries.agents()}
    context["any_episodes"] = bool(directories)
    context["deletions"] = deletion.lately()[:MOST_DELETIONS] if may_write(request) else []
    return render(request, "episodes/list.html", context)


@require_GET
def episode(request: HttpRequest, episode_id: str) -> HttpResponse:
    """One episode with everything that is known of it; a deleted one can be brought back."""
    try:
        found = queries.find(episode_id)
    except NotFound:
        if (deleted := _deleted(request, episode_id)) is not None:
            return deleted
        raise
    shown = queries.shown(found)
    context = {
        "episode": found,
        "vectors": list(found.vectors.all()),
        "refused": list(found.refused_vectors.all()),
        "held": queries.held(episode_id),
        **_extra(found.extra),
        "raw": _pretty(shown.model_dump()),
        "may_write": may_write(request),
        "json_url": _api_url(episode_id),
        "trail": [("Episodes", reverse("episodes")), (episode_id, None)],
    }
    return render(request, "episodes/episode.html", context)


@curator_page
def edit_episode(request: HttpRequest, episode_id: str) -> HttpResponse:
    """The form of an episode, then what it changes, then the save; a stale one keeps the text."""
    found = queries.find(episode_id)
    form = EpisodeForm.of(found, request.POST or None)
    address = found.get_absolute_url()
    context = {
        "form": form,
        "episode": found,
        "etag": found.etag,
        "trail": [("Episodes", reverse("episodes")), (episode_id, address), ("Edit", None)],
    }
    return form_page(
        request,
        "episodes/edit.html",
        context,
        lambda: _edited(request, found, form),
        stale=lambda: {"stale": True},
    )


def _edited(request: HttpRequest, found: Episode, form: EpisodeForm) -> HttpResponse:
    """Show what an edit changes; save it once that is confirmed. Raises as the writer does."""
    patch, etag = form.patch(), request.POST.get("etag", "")
    if not form.changed_data:
        messages.info(request, "Nothing was changed.")
        return redirect(found)
    if request.POST.get("step") == "save":
        store.edit(actor_of(request), found.pk, patch, if_match=etag)
        messages.success(request, "The episode is saved.")
        return redirect(found)
    if etag != found.etag:
        raise Conflict("somebody changed this episode since the form was opened")
    address = found.get_absolute_url()
    trail = [("Episodes", reverse("episodes")), (found.pk, address), ("Save", None)]
    context = {"form": form, "episode": found, "trail": trail}
    return render(request, "episodes/confirm.html", context)


@require_GET
@curator_page
def delete_episode(request: HttpRequest, episode_id: str) -> HttpResponse:
    """Ask whether to delete one episode."""
    return _preview(request, [queries.find(episode_id).pk])


@require_POST
@curator_page
def delete_episodes(request: HttpRequest) -> HttpResponse:
    """Show what would be deleted; delete it once that is confirmed."""
    ids = request.POST.getlist("id")
    if not request.POST.get("confirm"):
        return _preview(request, ids)
    receipt = deletion.delete_many(actor_of(request), ids=ids, undoable=True)
    tell_deleted(request, counted(receipt.rows, "episode"), receipt)
    return redirect(back_to(request, reverse("episodes")))


@require_POST
@curator_page
def undo(request: HttpRequest, batch: str) -> HttpResponse:
    """Bring back what was deleted."""
    restored, taken = deletion.undo(actor_of(request), batch)
    messages.success(request, f"{counted(len(restored), 'episode')} restored.")
    if taken:
        messages.warning(
            request, f"Not restored, because the id is used again: {', '.join(taken[:20])}"
        )
    if len(restored) == 1:
        return redirect("episode", restored[0])
    return redirect("episodes")


def _preview(request: HttpRequest, ids: Sequence[str]) -> HttpResponse:
    receipt = deletion.preview(actor_of(request), ids=ids)
    rows = queries.described(Episode.objects.filter(pk__in=ids[:MOST_SHOWN_IN_PREVIEW]))
    context = {
        "receipt": receipt,
        "ids": ids,
        "episodes": rows.order_by("-created_at", "id"),
        "more": max(receipt.rows - MOST_SHOWN_IN_PREVIEW, 0),
        "back": request.POST.get("back", ""),
        "minutes": settings.MEMORYWEB_TRASH_MINUTES,
        "trail": [("Episodes", reverse("episodes")), ("Delete", None)],
    }
    return render(request, "episodes/delete.html", context)


def _deleted(request: HttpRequest, episode_id: str) -> HttpResponse | None:
    """The page of an episode that was deleted a moment ago, for whoever may bring it back."""
    found = deletion.lately_with(episode_id) if may_write(request) else None
    if found is None:
        return None
    context = {"deletion": found, "trail": [("Episodes", reverse("episodes")), (episode_id, None)]}
    return render(request, "episodes/deleted.html", context, status=HTTPStatus.NOT_FOUND)


def _bins(form: FilterForm, wanted: EpisodeFilter) -> list[histogram.Bin]:
    """What the other filters let through, over time; none while the form is not valid."""
    if not form.is_valid():
        return []
    of_any_day = wanted.model_copy(update={"since": None, "until": None})
    return histogram.bins(queries.matching(of_any_day), *form.days())


def _directories() -> tuple[list[Directory], int]:
    """The tree of the fullest working directories, and how many are not in it."""
    return pruned(tree(queries.directories()), MOST_DIRECTORIES)


def _api_url(episode_id: str) -> str:
    return reverse("api:get_episode", args=[episode_id])


def _json_url(wanted: EpisodeFilter, order: str) -> str:
    return f"{reverse('api:list_episodes')}?{urlencode({**wanted.given, 'order': order})}"


def _extra(extra: dict[str, Any]) -> dict[str, list[tuple[str, str]]]:
    """The extra fields as they are shown: short ones in a list, each long one by itself."""
    shown = [(k, v if isinstance(v, str) else _pretty(v)) for k, v in extra.items()]
    is_long = [len(text) > LONGEST_FACT or "\n" in text for _, text in shown]
    return {
        "extra_facts": [pair for pair, long in zip(shown, is_long, strict=True) if not long],
        "extra_texts": [pair for pair, long in zip(shown, is_long, strict=True) if long],
    }


def _pretty(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)
