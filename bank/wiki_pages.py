"""The pages of a wiki by what they are called in it; bank.services writes them, under Kind.WIKI.

The bank is reached here as the wiki `bank`, under its pages' own kinds.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import QuerySet
from django.utils import timezone

from bank import layout, links, markdown, places, queries, refs, services, withholding
from bank.models import Kind, Link, Page
from bank.names import NameRefused
from bank.saving import Saved
from bank.wikis import BANK, MEMORIES, get, make_memories
from memoryweb.core import clock
from memoryweb.core.actor import Actor, Role
from memoryweb.core.errors import Conflict, DomainError, Invalid, NotFound

AT_ONCE = 20  # Pages that are read or written with one call.
NOTES = "notes/"  # Stands before the day of one of the bank's notes, as no entity's name can.
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)


@dataclass(frozen=True)
class Written:
    """What became of one page of many; `error` is None where it was stored."""

    ref: str
    saved: Saved | None = None
    error: DomainError | None = None


def address(wiki: str, ref: str) -> tuple[Kind, str]:
    """The kind and name of a wiki's page, by its ref or the path of its file.

    The bank's pages go by their names, a note by its day below `notes/`. Raises Invalid, NotFound.
    """
    found = get(wiki)
    if found.pk == BANK:
        return _of_bank(ref.removesuffix(refs.ENDING))
    try:
        ref = refs.normal(ref if wiki == MEMORIES else ref.removesuffix(refs.ENDING))
    except NameRefused as refused:
        raise Invalid.field("ref", refused.reason) from refused
    return Kind.WIKI, f"{found.pk}/{ref}"


def _of_bank(ref: str) -> tuple[Kind, str]:
    if ref == queries.MEMORY_NAME:
        return Kind.MEMORY, ref
    if ref.startswith(NOTES):
        return Kind.NOTE, services.canonical_name(Kind.NOTE, ref.removeprefix(NOTES))
    return Kind.ENTITY, services.canonical_name(Kind.ENTITY, ref)


def known(wiki: str, ref: str) -> tuple[Kind, str]:
    """The kind and name of a page that is there, by what it is called or by its file's path."""
    if wiki != BANK:
        return Kind.WIKI, f"{wiki}/{ref if wiki == MEMORIES else ref.removesuffix(refs.ENDING)}"
    ref = ref.removeprefix(f"{layout.ENTITIES}/").removesuffix(refs.ENDING)
    if ref == queries.MEMORY_NAME:
        return Kind.MEMORY, ref
    day = ref.removeprefix(NOTES)
    return (Kind.NOTE, day) if day != ref or _DAY.fullmatch(day) else (Kind.ENTITY, ref)


def pages_of(wiki: str) -> QuerySet[Page]:
    """The pages of a wiki, the bank's own for `bank`; what may be read of one is asked apart."""
    rows = Page.objects.filter(archived_at=None)
    return rows.filter(wiki=None) if wiki == BANK else rows.filter(wiki=wiki)


def path_of(page: Page) -> str:
    """Where the page's file lies below its wiki's folder."""
    return places.below(page.path)


def called(page: Page) -> str:
    """The ref of a page in its wiki: what `address` takes."""
    if page.kind == Kind.WIKI:
        return page.ref
    return NOTES + page.name if page.kind == Kind.NOTE else page.name


def find(wiki: str, ref: str) -> Page:
    """A page of a wiki, in whatever spelling. Raises NotFound, Invalid, Moved."""
    return queries.find(*address(wiki, ref))


def write_pages(
    actor: Actor,
    wiki: str,
    pages: Sequence[tuple[str, str] | tuple[str, str, int | None]],
    *,
    message: str = "",
) -> list[Written]:
    """Save up to 20 pages, (ref, content) or (ref, content, base), each by itself.

    What is wrong with one is its own `error` and keeps no other from being saved. Raises
    Forbidden, NotFound for the wiki, Invalid for too many.
    """
    actor.require(Role.CURATOR)
    get(wiki)
    _check_count(len(pages))
    return [_written(actor, wiki, *page, message=message) for page in pages]


def write_page(
    actor: Actor, wiki: str, ref: str, content: str, *, base: int | None = None, message: str = ""
) -> Saved:
    """Save one page. Raises as `services.save`, and NotFound for the wiki."""
    kind, name = address(wiki, ref)
    if wiki == MEMORIES:
        make_memories()
    return services.save(actor, kind, name, content, base=base, message=message)


def _written(
    actor: Actor, wiki: str, ref: str, content: str, base: int | None = None, *, message: str
) -> Written:
    try:
        saved = write_page(actor, wiki, ref, content, base=base, message=message)
    except DomainError as error:
        return Written(ref, error=error)
    return Written(ref, saved)


def read_pages(actor: Actor, wiki: str, asked: Sequence[str]) -> list[tuple[str, Page | None]]:
    """Up to 20 pages, each as often as asked for, with the ref of the question; None for one that
    there is not.

    A page that is kept from the actor is there without its text. Raises NotFound, Invalid.
    """
    get(wiki)
    _check_count(len(asked))
    found = {ref: _read(actor, wiki, ref) for ref in dict.fromkeys(asked)}
    return [(ref, found[ref]) for ref in asked]


def _read(actor: Actor, wiki: str, ref: str) -> Page | None:
    try:
        page = find(wiki, ref)
    except (NotFound, Invalid):
        return None
    return withholding.as_read(actor, page)


def _check_count(count: int) -> None:
    if not 1 <= count <= AT_ONCE:
        raise Invalid.field("pages", f"must be 1 to {AT_ONCE} at once")


@dataclass(frozen=True)
class Removed:
    """`unlinked` are the pages whose links to it became plain words, `left` by page why others
    stay as they were."""

    page: Page
    seq: int
    unlinked: tuple[str, ...] = ()
    left: tuple[tuple[str, str], ...] = ()


def links_to(wiki: str, ref: str) -> QuerySet[Link]:
    """The links of other pages that break when this page is removed, by the pages' names."""
    page = find(wiki, ref)
    inward = Link.objects.filter(to=page).exclude(source=page).select_related("source")
    return inward.defer("source__content").order_by("source__name", "pk")


def remove_page(
    actor: Actor, wiki: str, ref: str, *, base: int | None = None, unlink: bool = False
) -> Removed:
    """Archive a page; with `unlink` the links to it become the words that they show.

    Each page that links to it is a save of its own, before the page goes. Raises as
    `services.archive`.
    """
    actor.require(Role.CURATOR)
    page = find(wiki, ref)
    withholding.require_free(actor, page)
    if base is not None and base != page.revision:  # Before any other page is changed.
        raise Conflict("somebody else saved this page since you read it; nothing was removed")
    unlinked: list[str] = []
    left: list[tuple[str, str]] = []
    inward = links_to(wiki, ref) if unlink else []
    for kind, name in sorted({(link.source.kind, link.source.name) for link in inward}):
        try:
            if _unlink(actor, Kind(kind), name, page):
                unlinked.append(name)
        except DomainError as error:
            left.append((name, error.detail))
    archived = services.archive(actor, Kind(page.kind), page.name, base=base)
    return Removed(archived.page, archived.seq, tuple(unlinked), tuple(left))


def _unlink(actor: Actor, kind: Kind, name: str, page: Page) -> bool:
    source = queries.find(kind, name)
    targets = set(source.links.filter(to=page).values_list("target", flat=True))
    front = markdown.split(source.content)
    content = front.raw + links.unlink(front.body, targets)
    message = f"Links to “{called(page)}” became words"
    saved = services.save(
        actor, kind, name, content, base=source.revision, message=message, derived=True
    )
    return saved.changed


def lock(actor: Actor, kind: Kind, name: str) -> Page:
    """Keep a page from being written until it is unlocked. Raises Conflict when it is locked."""
    actor.require(Role.CURATOR)
    page = queries.find(kind, name)
    withholding.require_free(actor, page)
    now, by = timezone.now(), (actor.agent_id or actor.name)[:200]
    with clock.writing(actor) as tx:
        if not queries.living().filter(pk=page.pk, locked_at=None).exists():
            withholding.require_unlocked(queries.find(kind, name))
        Page.objects.filter(pk=page.pk, locked_at=None).update(locked_at=now, locked_by=by)
        tx.audited("page.lock", f"pages/{page.document}")
    return queries.find(kind, name)


def unlock(actor: Actor, kind: Kind, name: str) -> Page:
    """Let a page be written again; whoever locked it, any curator may."""
    actor.require(Role.CURATOR)
    page = queries.find(kind, name)
    with clock.writing(actor) as tx:
        if (
            Page.objects.filter(pk=page.pk)
            .exclude(locked_at=None)
            .update(locked_at=None, locked_by="")
        ):
            tx.audited("page.unlock", f"pages/{page.document}")
    return queries.find(kind, name)
