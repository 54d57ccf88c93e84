"""The editor of pages: a text is previewed, scanned, compared with what is stored, then saved.

Nothing that was typed is ever lost: whatever refuses a save answers with the text in its form.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.text import capfirst
from django.views.decorators.vary import vary_on_headers

from bank import findings, markdown, names, queries, services
from bank.addresses import resolver, trail
from bank.align import Work
from bank.diff import WORDS_WORK, Segment, drawn, mark_words
from bank.forms import AgainstForm, NewPageForm, PageForm
from bank.merge import Chunk, Side, merge
from bank.models import Kind, Page
from bank.publishing import Blocked
from bank.showing import changes, changes_of, prose, unseen
from memoryweb.core.access import actor_of, curator_page
from memoryweb.core.errors import Conflict, Invalid, NotFound, Refused, Unavailable
from memoryweb.core.forms import add_errors
from memoryweb.core.guard import Finding, scan

PLACE_LENGTH = 20_000  # Characters of a place in conflict that are drawn.
CHOICES: dict[str, tuple[Side, ...]] = {
    "mine": ("ours",),
    "theirs": ("theirs",),
    "both": ("theirs", "ours"),
    "neither": (),
}


@dataclass(frozen=True)
class Draft:
    """A text on its way to become a page's. `base` is the revision it was made from, if any."""

    kind: Kind
    name: str
    content: str
    message: str
    base: int | None
    page: Page | None

    @property
    def stale(self) -> bool:
        return (self.page.revision if self.page else None) != self.base

    @property
    def unsaved(self) -> bool:
        """Whether the text stands nowhere but in its form."""
        return self.content != (self.page.content if self.page else "")

    @property
    def wiki(self) -> str:
        """The id of the wiki that its links lead into, "" for the bank."""
        return self.name.partition("/")[0] if self.kind == Kind.WIKI else ""

    @property
    def url(self) -> str:
        return reverse("edit_page", kwargs={"kind": self.kind, "name": self.name})

    @property
    def said(self) -> list[findings.Shown]:
        """What the guard finds in the message, which agents read in the history."""
        return findings.shown(self.message, scan(self.message))

    def findings(self) -> list[Finding]:
        return services.inspect(self.kind, self.name, self.content)


@curator_page
def new(request: HttpRequest) -> HttpResponse:
    """A page that has no name yet; saving it needs one that is free."""
    if request.method != "POST":
        form = NewPageForm(initial={"name": request.GET.get("name", "")})
        return _editor(request, Draft(Kind.ENTITY, "", "", "", None, None), form)
    form = NewPageForm(request.POST)
    return _step(request, form, Kind.ENTITY, request.POST.get("name", ""))


@curator_page
@vary_on_headers("HX-Request")
def edit(request: HttpRequest, kind: Kind, name: str) -> HttpResponse:
    """The text of a page; one that does not exist yet is begun."""
    if request.method == "POST":
        return _step(request, PageForm(request.POST), kind, name)
    page = _stored(kind, name)
    if request.htmx and "newer" in request.GET:  # type: ignore[attr-defined]
        return _newer(request, page)
    draft = Draft(
        kind=kind,
        name=page.name if page else name,
        content=page.content if page else "",
        message="",
        base=page.revision if page else None,
        page=page,
    )
    return _editor(request, draft, _form_of(draft))


def _newer(request: HttpRequest, page: Page | None) -> HttpResponse:
    """Told while somebody types: whether the page was saved or archived since they began."""
    form = AgainstForm({"against": request.GET["newer"]})
    base = form.cleaned_data["against"] if form.is_valid() else None
    if page is not None and page.revision == base:
        return HttpResponse(status=HTTPStatus.NO_CONTENT)
    last = queries.revision(page, page.revision) if page else None
    return render(request, "bank/_newer.html", {"page": page, "last": last, "base": base})


def _step(request: HttpRequest, form: PageForm, kind: Kind, name: str) -> HttpResponse:
    page = _stored(kind, name)
    draft = Draft(
        kind=kind,
        name=page.name if page else name,
        content=_with_line_ends_of(page, request.POST.get("content", "").replace("\r\n", "\n")),
        message=request.POST.get("message", "").strip(),
        base=form.cleaned_data.get("base") if form.is_valid() else None,
        page=page,
    )
    step = request.POST.get("step", "")
    if step == "preview":
        return _preview(request, draft, form)
    if step == "message" and request.htmx:  # type: ignore[attr-defined]
        return render(request, "bank/_message_checks.html", {"said": draft.said})
    if not form.is_valid() or not _named(draft, form):
        return _editor(request, draft, form, status=HTTPStatus.UNPROCESSABLE_ENTITY)
    steps: dict[str, Step] = {"edit": _back, "merge": _merged, "save": _save}
    return steps.get(step, _review)(request, draft, form)


Step = Callable[[HttpRequest, Draft, PageForm], HttpResponse]


def _named(draft: Draft, form: PageForm) -> bool:
    """Whether the name can be a page's; if not, the form says why."""
    if draft.kind != Kind.ENTITY or draft.page is not None:
        return True
    try:
        names.slug(draft.name)
    except names.NameRefused as refused:
        form.add_error("name" if "name" in form.fields else None, refused.reason)
        return False
    return True


def _stored(kind: Kind, name: str) -> Page | None:
    try:
        return queries.find(kind, name)
    except NotFound:
        return None


def _with_line_ends_of(page: Page | None, text: str) -> str:
    """A browser forgets which line ends a text had; the page's own are put back."""
    windows = page is not None and "\r\n" in page.content
    return text.replace("\n", "\r\n") if windows else text


def _form_of(draft: Draft) -> PageForm:
    initial = {"content": draft.content, "message": draft.message, "base": draft.base}
    return PageForm(initial=initial)


def _kept_as(request: HttpRequest, draft: Draft, form: PageForm | None = None) -> str:
    """What a browser keeps the text by that was typed and not sent; see static/js/drafts.js."""
    name = "new" if form and "name" in form.fields else f"{draft.kind}/{draft.name}"
    return f"{request.user.pk}:{name}"


# Steps


def _preview(request: HttpRequest, draft: Draft, form: PageForm) -> HttpResponse:
    """The text as it will look, or as it will change the page, and what the guard says of it."""
    if not request.htmx:  # type: ignore[attr-defined]
        return _editor(request, draft, form)
    return render(request, "bank/_live.html", _live(request, draft) | {"part": True})


def _back(request: HttpRequest, draft: Draft, form: PageForm) -> HttpResponse:
    return _editor(request, draft, _form_of(draft))


def _review(request: HttpRequest, draft: Draft, form: PageForm) -> HttpResponse:
    """Show what a save would overwrite; where there is nothing to overwrite, save."""
    if draft.stale:
        return _conflict(request, draft)
    if found := draft.findings():
        return _refused(request, draft, form, found)
    if draft.page is None:
        return _save(request, draft, form)
    if draft.content == draft.page.content:
        messages.info(request, "The text is as it was; nothing was saved.")
        return redirect(draft.page)
    return _confirm(request, draft, draft.page)


def _save(request: HttpRequest, draft: Draft, form: PageForm) -> HttpResponse:
    if draft.said and not draft.stale:
        return _message_refused(request, draft, form)
    try:
        saved = services.save(
            actor_of(request),
            draft.kind,
            draft.name,
            draft.content,
            base=draft.base,
            if_none=draft.base is None,
            message=draft.message,
        )
    except Blocked as error:
        return _unavailable(request, draft, form, error)
    except Conflict:
        return _conflict(request, replace(draft, page=_stored(draft.kind, draft.name)))
    except Refused as refusal:
        return _refused(request, draft, form, refusal.findings)
    except Invalid as error:
        add_errors(form, error)
        return _editor(request, draft, form, status=HTTPStatus.UNPROCESSABLE_ENTITY)
    except Unavailable as error:
        return _unavailable(request, draft, form, error)
    if saved.changed:
        said = f"Saved as revision {saved.revision.number}."
        messages.success(request, said, extra_tags=_kept_as(request, draft, form))
    if shape := _shape_problem(draft):
        messages.warning(request, f"{shape} Agents see only the heading and that line at first.")
    return redirect(saved.page)


def _merged(request: HttpRequest, draft: Draft, form: PageForm) -> HttpResponse:
    """Put both changes together, conflicts as they were chosen, and show what that would save."""
    if draft.page is None:
        return _conflict(request, draft)
    both = merge(_base_text(draft), draft.content, draft.page.content)
    chosen = [CHOICES.get(request.POST.get(f"choice-{n}", "")) for n in range(len(both.conflicts))]
    decided = [sides for sides in chosen if sides is not None]
    if len(decided) < len(chosen):
        return _conflict(request, draft, undecided=True)
    text = both.resolved(decided)
    return _review(request, replace(draft, content=text, base=draft.page.revision), form)


# Pages


def _editor(
    request: HttpRequest, draft: Draft, form: PageForm, *, status: int = HTTPStatus.OK, **more: Any
) -> HttpResponse:
    context = {
        "form": form,
        "kept_as": _kept_as(request, draft, form),
        "trail": trail(draft.kind, draft.page, "Edit" if draft.page else "New", draft.name),
    }
    context |= _live(request, draft) | more
    return render(request, "bank/edit.html", context, status=status)


def _confirm(
    request: HttpRequest, draft: Draft, page: Page, *, status: int = HTTPStatus.OK
) -> HttpResponse:
    """What a save would replace, and by what, before it is done."""
    split = request.POST.get("view") != "unified"
    context = {
        "draft": draft,
        "kept_as": _kept_as(request, draft),
        "changes": changes(page.content, draft.content, split=split),
        "last": queries.revision(page, page.revision),
        "shape": _shape_problem(draft),
        "said": draft.said,
        "refused": status != HTTPStatus.OK,
        "trail": trail(draft.kind, page, "Save"),
    }
    return render(request, "bank/confirm.html", context, status=status)


def _live(request: HttpRequest, draft: Draft) -> dict[str, Any]:
    """What stands beside and under the text and follows it as it is typed."""
    show = "changes" if request.POST.get("show") == "changes" and draft.page else "preview"
    context: dict[str, Any] = {
        "draft": draft,
        "show": show,
        "findings": findings.shown(draft.content, draft.findings()),
        "unseen": unseen(draft.content),
        "shape": _shape_problem(draft) if draft.content.strip() else "",
    }
    if show == "changes" and draft.page:
        context["changes"] = changes(draft.page.content, draft.content)
    else:
        context["prose"] = prose(draft.content, resolver(draft.content, draft.wiki, draft.page))
    return context


def _shape_problem(draft: Draft) -> str:
    return markdown.shape_problem(draft.content) if draft.kind == Kind.ENTITY else ""


def _refused(
    request: HttpRequest, draft: Draft, form: PageForm, found: list[Finding] | tuple[Finding, ...]
) -> HttpResponse:
    """The guard objects: the text stays in the editor, what it objects to is marked below."""
    shown = findings.shown(draft.content, found)
    status = HTTPStatus.UNPROCESSABLE_ENTITY
    return _editor(request, draft, form, status=status, refused=True, findings=shown)


def _message_refused(request: HttpRequest, draft: Draft, form: PageForm) -> HttpResponse:
    """The guard objects to what is said of the change; both stay as they were typed."""
    status = HTTPStatus.UNPROCESSABLE_ENTITY
    if draft.page is not None:
        return _confirm(request, draft, draft.page, status=status)
    form.add_error("message", draft.said[0].reason)
    return _editor(request, draft, form, status=status)


def _unavailable(
    request: HttpRequest, draft: Draft, form: PageForm, error: Unavailable | Blocked
) -> HttpResponse:
    """The file cannot be written: the text stays in the editor, unless it is stored by now."""
    page, told = _stored(draft.kind, draft.name), f"{capfirst(error.detail)}."
    if page is not None and page.content == draft.content:
        messages.warning(request, told)
        return redirect(page)
    form.add_error(None, told)
    return _editor(request, draft, form, status=error.status)


def _conflict(request: HttpRequest, draft: Draft, undecided: bool = False) -> HttpResponse:
    """Somebody saved in between: all texts, what changed, and the two put together."""
    context: dict[str, Any] = {
        "draft": draft,
        "kept_as": _kept_as(request, draft),
        "undecided": undecided,
        "trail": trail(draft.kind, draft.page, "Edit"),
    }
    if draft.page:
        context["last"] = queries.revision(draft.page, draft.page.revision)
        context["stored"] = findings.marked(draft.page.content, [])
    if draft.page and draft.base:
        context |= _both_changes(draft, draft.page)
    return render(request, "bank/conflict.html", context, status=HTTPStatus.CONFLICT)


def _both_changes(draft: Draft, page: Page) -> dict[str, Any]:
    """What each side changed; what both together change of what is stored, or where they clash."""
    base = _base_text(draft)
    both, words = merge(base, draft.content, page.content), Work(WORDS_WORK)
    context: dict[str, Any] = {
        "yours": both.ours,
        "between": changes_of(both.theirs),
        "places": [_Place.of(chunk, words) for chunk in both.conflicts],
        "joined": both.joined,
    }
    if both.text is not None:
        context |= {"merged": both.text, "gain": changes(page.content, both.text)}
    return context


@dataclass(frozen=True)
class _Place:
    """A place that both sides changed, in its three versions, nothing invisible; what each side
    added is marked.

    Of a very long one the middle is left out: the whole texts stand elsewhere on the page.
    """

    before: Sequence[Segment]
    yours: Sequence[Segment]
    stored: Sequence[Segment]

    @classmethod
    def of(cls, chunk: Chunk, words: Work) -> "_Place":
        before, ours, theirs = (
            "\n".join(lines) for lines in (chunk.base, chunk.ours, chunk.theirs)
        )
        if max(len(before), len(ours), len(theirs)) > PLACE_LENGTH:
            return cls(*(drawn(text, limit=PLACE_LENGTH) for text in (before, ours, theirs)))
        yours, stored = (mark_words(before, text, words)[1] for text in (ours, theirs))
        return cls(drawn(before, limit=None), yours, stored)


def _base_text(draft: Draft) -> str:
    """The text that the person began with."""
    if draft.page is None or draft.base is None:
        return ""
    try:
        return queries.revision(draft.page, draft.base).content
    except NotFound:
        return ""
