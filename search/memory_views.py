"""The pages of session memories: lists, one memory, adding, editing and deleting."""

import json
from collections.abc import Sequence
from http import HTTPStatus
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST
from django.views.decorators.vary import vary_on_headers

from bank.findings import objections
from bank.showing import Changes, changes
from episodes import etags, session_deletion, session_queries, session_undo, sessions
from episodes.models import Context, Memory, MemoryVector
from episodes.page_parts import (
    back_to,
    counted_memories,
    form_page,
    taken_off,
    tell_deleted,
    without,
)
from memoryweb.core import audit
from memoryweb.core.access import actor_of, curator_page, may_write
from memoryweb.core.errors import Conflict, Invalid, NotFound
from memoryweb.core.models import QuarantineItem
from memoryweb.core.paging import page
from memoryweb.core.parts import is_part
from search import injection, services, wording
from search.session_forms import MemoryFilters, MemoryForm
from search.sources import title_of

MOST_SHOWN_IN_PREVIEW = 50
MOST_SIMILAR = 5
MOST_ENTRIES = 20  # of the audit that a memory's page shows
ACTIONS = {"archive": True, "restore": False}


def listed(request: HttpRequest, of: Context | None = None) -> dict[str, Any]:
    """What the list of memories needs, of one context or of all."""
    form = MemoryFilters(request.GET)
    valid = form.is_valid()
    rows = _rows(form, of.pk if of else None) if valid else Memory.objects.none()
    found = page(
        rows,
        session_queries.NEWEST_FIRST,
        cursor=request.GET.get("cursor", ""),
        described=lambda memories: session_queries.described(memories.select_related("context")),
    )
    return {
        "context": of,
        "form": form,
        "page": found,
        "chips": taken_off(request.GET, form),
        "may_write": may_write(request),
        "json_url": _json_url(form, of) if valid else "",
        "back": without(request.GET, "cursor"),
        "home": of.get_absolute_url() if of else reverse("memories"),
        "part": is_part(request),
        **_elsewhere(of),
    }


def _rows(form: MemoryFilters, context_id: str | None) -> QuerySet[Memory]:
    """What the filters ask for. What waits in quarantine and what is archived has a list of its
    own each, so that the plain list is what agents are served."""
    wanted, given = form.wanted(), form.cleaned_data
    if given["state"] == "quarantined":
        held = Memory.objects.filter(quarantined=True)
        return session_queries.narrowed(held, wanted, context_id)
    found = session_queries.matching(wanted, context_id)
    if given["skipped"]:
        width = given["dimension"] or 0
        return session_queries.not_compared(found, given["skipped"], given["model"], width)
    return found


def _json_url(form: MemoryFilters, of: Context | None) -> str:
    """The same list as JSON; none for what the API does not serve."""
    if form.cleaned_data["state"] == "quarantined" or form.cleaned_data["skipped"]:
        return ""
    query = {k: _said(v) for k, v in form.wanted().model_dump(exclude_defaults=True).items()}
    if of is None:
        address = reverse("api:list_memories")
    elif query:
        address = reverse("api:list_memories_of", args=[of.pk])
    else:
        address = reverse("api:resume_session", args=[of.pk])
    return address + (f"?{urlencode(query)}" if query else "")


def _said(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _elsewhere(of: Context | None) -> dict[str, int]:
    """How many memories are in none but their own list."""
    rows = Memory.objects.filter(context=of) if of else Memory.objects.all()
    return {
        "archived": rows.filter(archived=True, quarantined=False).count(),
        "quarantined": rows.filter(quarantined=True).count(),
    }


@require_GET
@vary_on_headers("HX-Request")
def memory_list(request: HttpRequest) -> HttpResponse:
    """The memories of all contexts, filtered."""
    context = listed(request)
    if is_part(request):
        return render(request, "sessions/_memories.html", context)
    context["trail"] = [("Sessions", reverse("sessions")), ("Memories", None)]
    return render(request, "sessions/memories.html", context)


@require_GET
def memory(request: HttpRequest, memory_id: str) -> HttpResponse:
    """One memory with everything that is known of it; a deleted one can be brought back."""
    try:
        found = session_queries.find_any_memory(memory_id)
    except NotFound:
        if (deleted := _deleted(request, memory_id)) is not None:
            return deleted
        raise
    shown = session_queries.shown(found)
    entries = audit.entries().filter(target=f"memories/{found.pk}")[: MOST_ENTRIES + 1]
    context = {
        "memory": found,
        "title": title_of(found.content),
        "vectors": list(found.vectors.all()),
        "held": _held(found),
        "given": _given(found),
        "entries": list(entries),
        "most_entries": MOST_ENTRIES,
        "raw": json.dumps(shown.model_dump(mode="json"), ensure_ascii=False, indent=2),
        "may_write": may_write(request),
        "json_url": "" if found.quarantined else reverse("api:get_memory", args=[found.pk]),
        "trail": _trail(found.context, (_short(found), None)),
    }
    return render(request, "sessions/memory.html", context)


def _held(found: Memory) -> QuarantineItem | None:
    """The latest text of this memory that waits for a decision."""
    items = QuarantineItem.objects.filter(
        collection=sessions.COLLECTION, document=f"{sessions.EDITED}/{found.pk}"
    )
    return items.filter(state=QuarantineItem.State.WAITING).order_by("-pk").first()


def _given(found: Memory) -> dict[str, Any]:
    """Whether a shell of its session is given the memory now, and at which place."""
    injected = injection.inject(found.context_id)
    ids = [one["id"] for one in injected.memories]
    place = ids.index(found.pk) + 1 if found.pk in ids else None
    return {"place": place, "of": len(ids), "method": injected.method}


@require_GET
@vary_on_headers("HX-Request")
def similar_memories(request: HttpRequest, memory_id: str) -> HttpResponse:
    """The memories nearest to one: a part that its page fetches, or a page of its own."""
    found = services.similar("memories", memory_id, MOST_SIMILAR)
    memory = session_queries.find_memory(memory_id)
    context = {
        "results": found.results,
        "mode": wording.MODES[found.answer.mode],
        "trail": _trail(
            memory.context, (_short(memory), memory.get_absolute_url()), ("Similar", None)
        ),
    }
    template = "sessions/_similar.html" if is_part(request) else "sessions/similar.html"
    return render(request, template, context)


@curator_page
def add_memory(request: HttpRequest, context_id: str) -> HttpResponse:
    """The form of a new memory, and the save, which the guard reads."""
    found = session_queries.find_context(context_id)
    form = MemoryForm(request.POST or None)
    context = {"form": form, "context": found, "trail": _trail(found, ("Add a memory", None))}
    return form_page(
        request,
        "sessions/add.html",
        context,
        lambda: _added(request, found, form),
        findings=objections,
    )


def _added(request: HttpRequest, to: Context, form: MemoryForm) -> HttpResponse:
    """Save a new memory. Raises as the writer does."""
    saved = sessions.save(actor_of(request), context_id=to.pk, memories=[form.memory()])
    messages.success(request, "The memory is added. Every search and recall has it.")
    return redirect("memory", saved.ids[0])


@curator_page
def edit_memory(request: HttpRequest, memory_id: str) -> HttpResponse:
    """The form of a memory, then what it changes, then the save; a stale one keeps the text."""
    found = session_queries.find_any_memory(memory_id)
    form = MemoryForm.of(found, request.POST or None)
    address = found.get_absolute_url()
    context = {
        "form": form,
        "memory": found,
        "etag": etags.etag(found),
        "trail": _trail(found.context, (_short(found), address), ("Edit", None)),
    }
    return form_page(
        request,
        "sessions/edit_memory.html",
        context,
        lambda: _edited(request, found, form),
        stale=lambda: {"stale": changes(found.content, form.cleaned_data["content"])},
        findings=objections,
    )


def _edited(request: HttpRequest, found: Memory, form: MemoryForm) -> HttpResponse:
    """Show what an edit changes; save it once that is confirmed. Raises as the writer does."""
    if found.quarantined:
        raise Invalid("it waits in quarantine: a curator decides about its text in Review first")
    if not form.changed_data:
        messages.info(request, "Nothing was changed.")
        return redirect(found)
    patch, etag = form.patch(), request.POST.get("etag", "")
    if request.POST.get("step") == "save":
        sessions.edit_memory(actor_of(request), found.pk, patch, if_match=etag)
        messages.success(request, "The memory is saved.")
        return redirect(found)
    if etag != etags.etag(found):
        raise Conflict("somebody changed this memory since the form was opened")
    context = {
        "form": form,
        "memory": found,
        "etag": etag,
        "changes": _compared(form),
        "stales": "content" in form.changed_data and found.vectors.exists(),
        "trail": _trail(found.context, (_short(found), found.get_absolute_url()), ("Save", None)),
    }
    return render(request, "sessions/confirm.html", context)


def _compared(form: MemoryForm) -> list[tuple[str, Changes]]:
    return [(label, changes(old, new)) for label, old, new in form.changes()]


@require_GET
@curator_page
def delete_memory(request: HttpRequest, memory_id: str) -> HttpResponse:
    """Ask whether to delete one memory."""
    return _preview(request, [session_queries.find_any_memory(memory_id).pk])


@require_POST
@curator_page
def change_memories(request: HttpRequest) -> HttpResponse:
    """Archive memories or take them back at once; show what would be deleted, and delete it."""
    ids, action = request.POST.getlist("id"), request.POST.get("action", "")
    if action in ACTIONS:
        number = sessions.set_archived(actor_of(request), ids, ACTIONS[action])
        done = "archived" if ACTIONS[action] else "served again"
        messages.success(request, f"{counted_memories(number)} {done}.")
        return redirect(_back(request, ids))
    if action != "delete":
        raise Invalid("say what to do with these: archive, restore or delete")
    if not request.POST.get("confirm"):
        return _preview(request, ids)
    after = _back(request, [])
    receipt = session_deletion.delete_memories(actor_of(request), ids, undoable=True)
    tell_deleted(request, counted_memories(receipt.rows), receipt)
    return redirect(after)


def _preview(request: HttpRequest, ids: Sequence[str]) -> HttpResponse:
    rows = Memory.objects.filter(pk__in=ids)
    chosen = session_queries.described(rows).order_by(*session_queries.NEWEST_FIRST)
    number, shown = rows.count(), list(chosen[:MOST_SHOWN_IN_PREVIEW])
    of = request.POST.get("context") or (shown[0].context_id if shown else "")
    context = {
        "ids": ids,
        "number": number,
        "memories": shown,
        "more": max(number - MOST_SHOWN_IN_PREVIEW, 0),
        "vectors": MemoryVector.objects.filter(memory__in=ids).count(),
        "minutes": settings.MEMORYWEB_TRASH_MINUTES,
        "of": of,
        "back": request.POST.get("back", ""),
        "trail": [("Sessions", reverse("sessions")), ("Delete", None)],
    }
    return render(request, "sessions/delete_memories.html", context)


def _back(request: HttpRequest, ids: Sequence[str]) -> str:
    """To the page the request came from: the memory's, its context's, or the list of all."""
    if request.POST.get("from") == "memory" and len(ids) == 1:
        return reverse("memory", args=[ids[0]])
    of = request.POST.get("context", "")
    return back_to(request, reverse("session", args=[of]) if of else reverse("memories"))


def _deleted(request: HttpRequest, memory_id: str) -> HttpResponse | None:
    """The page of a memory that was deleted a moment ago, for whoever may bring it back."""
    if not may_write(request):
        return None
    found = session_undo.lately_with(sessions.COLLECTION, memory_id)
    if found is None:
        return None
    trail = [("Sessions", reverse("sessions")), (memory_id, None)]
    told = found | {"what": counted_memories(found["memories"])}
    context = {"deletion": told, "trail": trail, "noun": "memory"}
    return render(request, "sessions/deleted.html", context, status=HTTPStatus.NOT_FOUND)


def _short(found: Memory) -> str:
    return title_of(found.content)[:60] or found.pk


def _trail(context: Context, *rest: tuple[str, str | None]) -> list[tuple[str, str | None]]:
    """The breadcrumbs below a context."""
    return [
        ("Sessions", reverse("sessions")),
        (context.name[:60], context.get_absolute_url()),
        *rest,
    ]
