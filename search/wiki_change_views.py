"""What is done with wikis on their pages: made, described, filled, deleted and erased."""

from collections.abc import Sequence
from http import HTTPStatus
from io import BytesIO
from typing import Any

from django.contrib import messages
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.views.decorators.http import require_POST

from bank import erasing_wikis, refs, uploads, watching, wiki_pages, wikis
from bank.importing import Outcome
from bank.layout import CONTENT_LIMIT
from bank.models import Kind, Page, Wiki
from bank.uploads import Given
from memoryweb.core.access import actor_of, administrator_page, curator_page
from memoryweb.core.errors import Conflict, DomainError, Invalid, NotFound
from memoryweb.core.forms import add_errors
from search.wiki import feeding
from search.wiki_forms import (
    EraseWikiForm,
    NewWikiForm,
    RemoveForm,
    UploadForm,
    WikiForm,
)
from search.wiki_views import trail

TOLD = 500  # Files of an upload that are listed, those that were left first.
CAPS = {  # What a browser is told of an upload's limits.
    "largest": CONTENT_LIMIT,
    "most": uploads.FILES_MOST,
    "total": uploads.TOTAL_MOST,
    "told": TOLD,
}


@curator_page
def new_wiki(request: HttpRequest) -> HttpResponse:
    """Make a wiki; only administrators point at folders."""
    form = NewWikiForm(request.POST or None)
    if form.is_valid():
        try:
            made = wikis.create(actor_of(request), **form.cleaned_data)
        except Invalid as error:
            add_errors(form, error)
        else:
            return redirect(_begin(request, made))
    status = HTTPStatus.UNPROCESSABLE_ENTITY if form.is_bound else HTTPStatus.OK
    way = [("Wikis", reverse("wikis")), ("New", None)]
    return render(request, "wikis/new.html", {"form": form, "trail": way}, status=status)


def _begin(request: HttpRequest, made: Wiki) -> str:
    if not made.folder:
        messages.success(request, f"“{made.name}” is made. Give it pages.")
        return reverse("upload_wiki", args=[made.pk])
    taken = watching.take_in(made.pk, seconds=5.0)
    more = " The rest follows by itself." if taken.more else ""
    messages.success(request, f"“{made.name}” is made, with {taken.settled:,} pages.{more}")
    return reverse("wiki", args=[made.pk])


def _described(wiki: str, *others: str) -> Wiki:
    """A wiki that has such a page. Raises NotFound for the bank, and for these others."""
    if wiki in (wikis.BANK, *others):
        raise NotFound("this wiki is built in and has no such page")
    return wikis.get(wiki)


@curator_page
def edit_wiki(request: HttpRequest, wiki: str) -> HttpResponse:
    """Say something else of a wiki."""
    found = _described(wiki)
    initial = {"name": found.name, "description": found.description, "team_id": found.team_id}
    form = WikiForm(request.POST or None, initial=initial)
    if form.is_valid():
        try:
            wikis.update(actor_of(request), wiki, **form.cleaned_data)
        except Invalid as error:
            add_errors(form, error)
        else:
            messages.success(request, "Saved.")
            return redirect("wiki", wiki)
    status = HTTPStatus.UNPROCESSABLE_ENTITY if form.is_bound else HTTPStatus.OK
    context = {"wiki": found, "form": form, "trail": trail(found, "Describe")}
    return render(request, "wikis/edit.html", context, status=status)


@curator_page
def upload_wiki(request: HttpRequest, wiki: str) -> HttpResponse:
    """Take the Markdown of a zip into a wiki; what became of each file."""
    found = _described(wiki)
    form = UploadForm(request.POST or None, request.FILES or None)
    context: dict[str, Any] = {
        "wiki": found,
        "form": form,
        "caps": CAPS,
        "trail": trail(found, "Upload"),
    }
    if form.is_valid():
        try:
            upload = uploads.from_zip(wiki, form.cleaned_data["file"])
            outcomes = list(uploads.carry_out(actor_of(request), upload))
        except Invalid as error:
            add_errors(form, error)
        else:
            context |= _told(outcomes)
    status = HTTPStatus.UNPROCESSABLE_ENTITY if form.is_bound and form.errors else HTTPStatus.OK
    return render(request, "wikis/upload.html", context, status=status)


@require_POST
@curator_page
def upload_files(request: HttpRequest, wiki: str) -> JsonResponse:
    """Take some files of a folder into a wiki, called by their paths in it: what became of each.

    A script sends them; the rule and the report are those of a zip.
    """
    paths, files = request.POST.getlist("paths"), request.FILES.getlist("files")
    try:
        if len(paths) != len(files):
            raise Invalid.field("paths", "must name each file")
        given = [_given(path, file) for path, file in zip(paths, files, strict=True)]
        upload = uploads.from_files(wiki, given)
        outcomes = list(uploads.carry_out(actor_of(request), upload))
    except DomainError as error:
        return JsonResponse({"detail": error.detail}, status=error.status)
    told = _told([one for one in outcomes if one.status == "left" or one.quarantined or one.why])
    rows = render_to_string("wikis/_outcomes.html", told)
    return JsonResponse({"counts": _told(outcomes)["counts"], "rows": rows})


def _given(path: str, file: "UploadedFile[Any]") -> Given:
    return Given(path, file.size or 0, lambda: BytesIO(file.read()))


def _told(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    counts: dict[str, int] = {}
    for one in outcomes:
        counts[one.status] = counts.get(one.status, 0) + 1
    odd = sorted(outcomes, key=lambda one: (one.status != "left", not one.detail))
    return {"outcomes": odd[:TOLD], "counts": counts, "total": len(outcomes)}


@curator_page
def delete_wiki(request: HttpRequest, wiki: str) -> HttpResponse:
    """Ask whether to delete a wiki; do it once that is confirmed."""
    found = _described(wiki, *wikis.BUILT_IN)
    if request.method == "POST":
        wikis.delete(actor_of(request), wiki)
        messages.success(request, f"“{found.name}” is deleted. An administrator can bring it back.")
        return redirect("wikis")
    count = feeding.pages(wiki).count()
    context = {"wiki": found, "count": count, "trail": trail(found, "Delete")}
    return render(request, "wikis/delete.html", context)


@require_POST
@administrator_page
def undelete_wiki(request: HttpRequest, wiki: str) -> HttpResponse:
    """Bring a deleted wiki back."""
    back = wikis.undelete(actor_of(request), wiki)
    messages.success(request, f"“{back.name}” is back.")
    return redirect("wiki", wiki)


@administrator_page
def erase_wiki(request: HttpRequest, wiki: str) -> HttpResponse:
    """Ask whether to erase a deleted wiki for good; do it once its id is typed."""
    found = wikis.find_deleted(wiki)
    form = EraseWikiForm(wiki, request.POST if request.method == "POST" else None)
    context: dict[str, Any] = {
        "wiki": found,
        "form": form,
        "count": found.pages.count(),
        "trail": [("Wikis", reverse("wikis")), ("Erase for good", None)],
    }
    if form.is_valid():
        reason = form.cleaned_data["reason"]
        context["receipt"] = erasing_wikis.erase(actor_of(request), wiki, reason=reason)
    status = HTTPStatus.UNPROCESSABLE_ENTITY if form.errors else HTTPStatus.OK
    return render(request, "wikis/erase.html", context, status=status)


@curator_page
def remove_page(request: HttpRequest, name: str) -> HttpResponse:
    """Ask whether to archive a page, naming the links that break; do it once confirmed."""
    wiki, ref = refs.split(name)
    page = wiki_pages.find(wiki, ref)
    form = RemoveForm(request.POST or None, initial={"base": page.revision})
    stale = False
    if form.is_valid():
        given = form.cleaned_data
        try:
            gone = wiki_pages.remove_page(
                actor_of(request), wiki, ref, base=given["base"], unlink=given["unlink"]
            )
        except Conflict as error:
            stale = True
            form.add_error(None, f"{error.detail}.")
        else:
            unlinked = f" {len(gone.unlinked)} pages were changed." if gone.unlinked else ""
            messages.success(request, f"“{page.title}” is archived.{unlinked}")
            return redirect("wiki", wiki)
    context = {
        "wiki": wikis.get(wiki),
        "page": page,
        "form": form,
        "links": _linking(wiki, ref),
        "trail": trail(wikis.get(wiki), "Remove a page"),
    }
    status = HTTPStatus.CONFLICT if stale else HTTPStatus.OK
    return render(request, "wikis/remove.html", context, status=status)


def _linking(wiki: str, ref: str) -> list[Page]:
    """The pages whose links to this one would lead nowhere, each once."""
    return list({link.source.pk: link.source for link in wiki_pages.links_to(wiki, ref)}.values())


@require_POST
@curator_page
def lock_page(request: HttpRequest, name: str) -> HttpResponse:
    """Lock a page, or unlock one that is locked."""
    page = wiki_pages.find(*refs.split(name))
    change = wiki_pages.unlock if request.POST.get("unlock") else wiki_pages.lock
    return redirect(change(actor_of(request), Kind(page.kind), page.name))
