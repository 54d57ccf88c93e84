"""The pages of sessions: the list of contexts, one context with its memories, and what is done
to contexts. Memories, recall and code vectors have modules of their own beside this one."""

import json
from collections.abc import Sequence
from http import HTTPStatus
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.contrib import messages
from django.db.models import Count
from django.http import HttpRequest, HttpResponse, QueryDict
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
    counted,
    counted_memories,
    form_page,
    taken_off,
    tell_deleted,
    without,
)
from episodes.queries import ORDERS
from memoryweb.core.access import actor_of, curator_page, may_write
from memoryweb.core.errors import Invalid, NotFound
from memoryweb.core.models import QuarantineItem
from memoryweb.core.paging import page
from memoryweb.core.parts import is_part
from search.memory_views import listed
from search.session_forms import (
    ContextFilters,
    ContextForm,
    NewContextForm,
    RecallForm,
    VectorForm,
)

MOST_SHOWN_IN_PREVIEW = 50
MOST_DELETIONS = 10  # that the list offers to undo
ACTIONS = {"archive": Context.Status.ARCHIVED, "activate": Context.Status.ACTIVE}


@require_GET
@vary_on_headers("HX-Request")
def session_list(request: HttpRequest) -> HttpResponse:
    """All contexts, filtered; htmx asks for the part that changes with the filters."""
    form = ContextFilters(request.GET)
    wanted, valid = form.wanted(), form.is_valid()
    order = form.order_of_list()
    found = page(
        session_queries.contexts(wanted) if valid else Context.objects.none(),
        ORDERS[order],
        cursor=request.GET.get("cursor", ""),
    )
    figures = session_queries.figures([one.pk for one in found.items])
    query = urlencode({**wanted.model_dump(exclude_none=True), "order": order})
    context = {
        "form": form,
        "page": found,
        "rows": [(one, figures[one.pk]) for one in found.items],
        "chips": taken_off(request.GET, form),
        "may_write": may_write(request),
        "json_url": f"{reverse('api:list_sessions')}?{query}" if valid else "",
        "back": without(request.GET, "cursor"),
        "part": is_part(request),
    }
    if is_part(request):
        return render(request, "sessions/_list.html", context)
    context["statuses"] = _statuses()
    context["deletions"] = _deletions(request)
    context |= _examples(request)
    return render(request, "sessions/list.html", context)


def _examples(request: HttpRequest) -> dict[str, str]:
    """How an agent saves its first session, over HTTP and over MCP."""
    example = {
        "context_id": "order-worker",
        "name": "Order worker",
        "memories": [{"type": "decision", "content": "Locks are sorted by id"}],
    }
    address = request.build_absolute_uri(reverse("api:save_session"))
    call = {"name": "devkit_session_save", "arguments": example}
    return {
        "over_http": (
            f"curl -s {address} \\\n"
            '  -H "Authorization: Bearer $MEMORYWEB_TOKEN" \\\n'
            "  -H 'Content-Type: application/json' \\\n"
            f"  -d '{json.dumps(example)}'"
        ),
        "over_mcp": json.dumps(call),
        "mcp_address": request.build_absolute_uri(reverse("mcp")),
    }


@require_GET
@vary_on_headers("HX-Request")
def session(request: HttpRequest, context_id: str) -> HttpResponse:
    """One context: what it is for, its memories, and what of them is recalled."""
    try:
        found = session_queries.find_context(context_id)
    except NotFound:
        if (deleted := _deleted(request, context_id)) is not None:
            return deleted
        raise
    shown = listed(request, found)
    if is_part(request):
        return render(request, "sessions/_memories.html", shown)
    waiting = _waiting(context_id)
    figures = session_queries.figures([context_id])[context_id]
    context = shown | {
        "figures": figures,
        "types": _types(request.GET, figures),
        "recall": RecallForm(),
        "vector_form": VectorForm(),
        "waiting": waiting,
        "review_url": _review_url(waiting),
        "trail": [("Sessions", reverse("sessions")), (found.name[:60], None)],
    }
    return render(request, "sessions/session.html", context)


@curator_page
def new_session(request: HttpRequest) -> HttpResponse:
    """The form of a new context, and the save; an id that is in use is refused."""
    form = NewContextForm(request.POST or None)
    context = {"form": form, "trail": [("Sessions", reverse("sessions")), ("New", None)]}
    return form_page(
        request,
        "sessions/new.html",
        context,
        lambda: _begun(request, form),
        stale=lambda: _taken(form),
        findings=objections,
    )


def _begun(request: HttpRequest, form: NewContextForm) -> HttpResponse:
    """Save it as a new one. Raises as the writer does."""
    given = form.session()
    saved = sessions.save(
        actor_of(request),
        context_id=given.context_id,
        name=given.name,
        intent=given.intent,
        must_be_new=True,
    )
    messages.success(request, "The session is there. Agents save to it under its id.")
    return redirect(saved.context)


def _taken(form: NewContextForm) -> dict[str, Any]:
    """Say beside the id that it is in use; the context that has it."""
    taken = Context.objects.filter(pk=form.cleaned_data["context_id"]).first()
    form.add_error("context_id", "There is a session with this id already.")
    return {"taken": taken}


@curator_page
def edit_session(request: HttpRequest, context_id: str) -> HttpResponse:
    """The form of a context, and the save; a stale one keeps what was typed."""
    found = session_queries.find_context(context_id)
    form = ContextForm.of(found, request.POST or None)
    address = found.get_absolute_url()
    context = {
        "form": form,
        "context": found,
        "etag": etags.etag(found),
        "trail": [("Sessions", reverse("sessions")), (found.name[:60], address), ("Edit", None)],
    }
    return form_page(
        request,
        "sessions/edit.html",
        context,
        lambda: _saved(request, found, form),
        stale=lambda: {"stale": _differing(found, form)},
        findings=objections,
    )


def _differing(found: Context, form: ContextForm) -> list[tuple[str, Changes]]:
    """What saving again would replace, field by field."""
    stored = {"name": found.name, "intent": found.intent}
    sent = {name: form.cleaned_data[name] for name in stored}
    return [
        (name, changes(text, sent[name])) for name, text in stored.items() if text != sent[name]
    ]


def _saved(request: HttpRequest, found: Context, form: ContextForm) -> HttpResponse:
    """Save what was changed. Raises as the writer does."""
    if not form.changed_data:
        messages.info(request, "Nothing was changed.")
        return redirect(found)
    etag = request.POST.get("etag", "")
    sessions.edit_context(actor_of(request), found.pk, form.patch(), if_match=etag)
    messages.success(request, "The session is saved.")
    return redirect(found)


@require_GET
@curator_page
def delete_session(request: HttpRequest, context_id: str) -> HttpResponse:
    """Ask whether to delete one context."""
    return _preview(request, [session_queries.find_context(context_id).pk])


@require_POST
@curator_page
def change_sessions(request: HttpRequest) -> HttpResponse:
    """Archive contexts or take them back at once; show what would be deleted, and delete it."""
    ids, action = request.POST.getlist("id"), request.POST.get("action", "")
    if action in ACTIONS:
        number = sessions.set_status(actor_of(request), ids, ACTIONS[action])
        done = "archived" if action == "archive" else "active again"
        messages.success(request, f"{counted(number, 'session')} {done}.")
        return _back(request, ids)
    if action != "delete":
        raise Invalid("say what to do with these: archive, activate or delete")
    if not request.POST.get("confirm"):
        return _preview(request, ids)
    number, receipt = session_deletion.delete_contexts(actor_of(request), ids, undoable=True)
    tell_deleted(request, _what(number, receipt.rows), receipt)
    return redirect(_list_url(request))


@require_POST
@curator_page
def undo(request: HttpRequest, batch: str) -> HttpResponse:
    """Bring back what was deleted of sessions."""
    restored = session_undo.undo(actor_of(request), batch)
    messages.success(request, f"{_what(len(restored.contexts), len(restored.memories))} restored.")
    if restored.left:
        named = ", ".join(restored.left[:20])
        text = "Not restored, because the id is used again or the session is gone"
        messages.warning(request, f"{text}: {named}")
    if len(restored.contexts) == 1:
        return redirect("session", restored.contexts[0])
    if not restored.contexts and len(restored.memories) == 1:
        return redirect("memory", restored.memories[0])
    return redirect("sessions")


def _statuses() -> list[tuple[str, str, int]]:
    """Each status to choose, what it is called, and how many contexts have it."""
    rows = Context.objects.order_by().values_list("status").annotate(count=Count("pk"))
    counts = dict(rows)
    every = [("", "all", sum(counts.values()))]
    return every + [(status, status, counts.get(status, 0)) for status in Context.Status.values]


def _types(query: QueryDict, figures: session_queries.Figures) -> list[dict[str, Any]]:
    """The types there are, each with its number and the list of those alone."""
    rest = without(query, "type", "cursor", "state", "skipped", "model", "dimension")
    return [
        {"type": kind, "count": count, "url": f"?{rest}{'&' if rest else ''}type={kind}"}
        for kind in Memory.Type.values
        if (count := figures.by_type.get(kind))
    ]


def _waiting(context_id: str) -> list[QuarantineItem]:
    """What agents proposed for this context, or wrote into it, and the guard holds."""
    held = Memory.objects.filter(context=context_id, quarantined=True)
    documents = session_deletion.held_of(context_id)
    documents += [f"{sessions.EDITED}/{one}" for one in held.values_list("pk", flat=True)[:200]]
    items = QuarantineItem.objects.filter(
        collection=sessions.COLLECTION, state=QuarantineItem.State.WAITING, document__in=documents
    )
    return list(items.only("pk", "document").order_by("-pk"))


def _review_url(waiting: Sequence[QuarantineItem]) -> str:
    if len(waiting) == 1:
        return reverse("review_item", args=[waiting[0].pk])
    return reverse("review")


def _preview(request: HttpRequest, ids: Sequence[str]) -> HttpResponse:
    rows = Context.objects.filter(pk__in=ids)
    held = [one for context_id in ids for one in session_deletion.held_of(context_id)]
    items = QuarantineItem.objects.filter(collection=sessions.COLLECTION, document__in=held)
    context = {
        "ids": ids,
        "number": rows.count(),
        "contexts": session_queries.counted(rows).order_by("-updated_at")[:MOST_SHOWN_IN_PREVIEW],
        "more": max(rows.count() - MOST_SHOWN_IN_PREVIEW, 0),
        "memories": Memory.objects.filter(context__in=ids).count(),
        "vectors": MemoryVector.objects.filter(context__in=ids).count(),
        "waiting": items.filter(state=QuarantineItem.State.WAITING).count(),
        "minutes": settings.MEMORYWEB_TRASH_MINUTES,
        "back": request.POST.get("back", ""),
        "trail": [("Sessions", reverse("sessions")), ("Delete", None)],
    }
    return render(request, "sessions/delete.html", context)


def _deletions(request: HttpRequest) -> list[dict[str, Any]]:
    """What can be brought back, each in words, for whoever may do it."""
    if not may_write(request):
        return []
    return [_told(one) for one in session_undo.lately()[:MOST_DELETIONS]]


def _deleted(request: HttpRequest, context_id: str) -> HttpResponse | None:
    """The page of a context that was deleted a moment ago, for whoever may bring it back."""
    if not may_write(request):
        return None
    found = session_undo.lately_with(sessions.CONTEXTS, context_id)
    if found is None:
        return None
    trail = [("Sessions", reverse("sessions")), (context_id, None)]
    context = {"deletion": _told(found), "trail": trail, "noun": "session"}
    return render(request, "sessions/deleted.html", context, status=HTTPStatus.NOT_FOUND)


def _told(deletion: dict[str, Any]) -> dict[str, Any]:
    return deletion | {"what": _what(deletion["contexts"], deletion["memories"])}


def _what(contexts: int, memories: int) -> str:
    """“2 sessions with 31 memories”, “1 memory”."""
    if not contexts:
        return counted_memories(memories)
    with_memories = f" with {counted_memories(memories)}" if memories else ""
    return counted(contexts, "session") + with_memories


def _list_url(request: HttpRequest) -> str:
    return back_to(request, reverse("sessions"))


def _back(request: HttpRequest, ids: Sequence[str]) -> HttpResponse:
    """To the page the request came from: the context's own, or the list as it was filtered."""
    if request.POST.get("from") == "session" and len(ids) == 1:
        return redirect("session", ids[0])
    return redirect(_list_url(request))
