"""Renaming a page: its file, the links that name it, and where its old name leads.

The page and its file are renamed as a save is done, under the locks of both names. The pages
that link to it are rewritten after that (see bank.rewriting): until then, and where it cannot be
done, their links lead to the page by its former name.
"""

from dataclasses import dataclass, field

from django.db.models import Q
from django.utils import timezone

from bank import (
    file_operations,
    places,
    publishing,
    queries,
    record,
    refs,
    rewriting,
    services,
    withholding,
)
from bank.models import FileOperation, Kind, Page, Rewriting
from bank.texts import Text
from memoryweb.core import clock
from memoryweb.core.actor import Actor, Role
from memoryweb.core.errors import Conflict, Invalid, NotFound, Refused


@dataclass(frozen=True)
class Renamed:
    """`old` is the name before, `rewritten` are the pages whose links were, `left` is by page why
    those of others were not, and `pending` is how many are yet to be."""

    page: Page
    old: str
    seq: int
    rewritten: list[str] = field(default_factory=list)
    left: dict[str, str] = field(default_factory=dict)
    pending: int = 0


def rename(
    actor: Actor,
    name: str,
    to: str,
    *,
    kind: Kind = Kind.ENTITY,
    base: int | None = None,
    update_links: bool = True,
) -> Renamed:
    """Call an entity, or a page of a wiki, by another name; it stays in its wiki.

    Raises NotFound; Conflict for a stale `base` and for a name that is in use; Invalid for one
    that no page can have; Refused when the guard objects to it; Forbidden; Unavailable.
    """
    actor.require(Role.CURATOR)
    new, old = _canonical(kind, to), queries.find(kind, name).name
    if kind == Kind.WIKI and refs.split(new)[0] != refs.split(old)[0]:
        raise Invalid.field("to", "names another wiki")
    with publishing.hold(kind, old, new):
        page = _free_to_rename(actor, kind, (old, new), base)
        if new == page.name:
            return Renamed(page, old, clock.current_seq())
        _ask_the_guard(page, new)
        publishing.check_is_there(record.path_of(kind, new))
        seq, begun = _move(actor, page, new, update_links)
    done = rewriting.carry_on(begun) if begun else rewriting.Rewritten()
    # Its own text may have named it. By now somebody may have erased it.
    page = Page.objects.filter(pk=page.pk).first() or page
    return Renamed(page, old, seq, sorted(done.pages), done.left, _pending(begun))


def follow(kind: Kind, name: str, to: str, path: str) -> bool:
    """Call a page by the name that somebody gave its file outside, which lies at `path` now.

    The links to it are left to `rewriting.after_files`: a folder may have been renamed, and a page
    whose own file is still to be followed cannot be saved.

    False when it is not renamed: by now its file is there or another page has the name, a save
    is not done yet, the file holds another text, or the guard objects to the name.
    """
    with publishing.hold(kind, name, to):
        page = _renamed_outside(kind, name, to, path)
        if page is None:
            return False
        with clock.writing(publishing.FILE) as tx:
            record.rename(tx, page, to, renamed_file=path)
            rewriting.begin(publishing.FILE, page, name)
    return True


def _renamed_outside(kind: Kind, name: str, to: str, path: str) -> Page | None:
    living = Page.objects.filter(kind=kind, archived_at=None)
    page = living.filter(name=name).first()
    if page is None or living.filter(key=queries.key_of(kind, to)).exists():
        return None
    if FileOperation.objects.filter(Q(page=page) | Q(path=path), done_at=None).exists():
        return None
    if places.stamp(page.path) is not None or places.read(path).sha256 != page.sha256:
        return None
    try:
        _ask_the_guard(page, to)
    except Refused:
        return None
    return page


def _pending(begun: Rewriting | None) -> int:
    left = begun and Rewriting.objects.filter(pk=begun.pk).first()
    return rewriting.waiting(left).count() if left else 0


def _canonical(kind: Kind, name: str) -> str:
    try:
        return services.canonical_name(kind, name)
    except Invalid as refused:
        raise Invalid.field("to", refused.errors[0].msg) from refused


def _free_to_rename(actor: Actor, kind: Kind, names: tuple[str, str], base: int | None) -> Page:
    with publishing.explained("nothing was renamed"):
        page, there = (publishing.settle(kind, name) for name in names)
    if page is None:
        raise NotFound("there is no page of this name")
    withholding.require_free(actor, page)
    if base is not None and base != page.revision:
        raise Conflict(
            "somebody else saved this page since you read it; nothing was renamed",
            current={"content": page.content, "revision": page.revision},
        )
    if there is not None and there.pk != page.pk:
        raise Conflict(f"there is a page “{there.name}” already; nothing was renamed")
    return page


def _ask_the_guard(page: Page, new: str) -> None:
    """Raise Refused when the name makes an attack of a page that was none."""
    if page.quarantined:
        return
    kind = Kind(page.kind)
    text = Text(kind, new, page.content).of(page)
    findings = publishing.inspect(text)
    if findings:
        stood = {one.rule for one in services.inspect(kind, page.name, page.content)}
        findings = [one for one in findings if one.rule not in stood]
    if findings:
        raise Refused("the guard objects to a page of this name; nothing was renamed", findings)


def _move(actor: Actor, page: Page, new: str, links: bool) -> tuple[int, Rewriting | None]:
    """The record in one transaction; then the new file, and only then the old one."""
    old, path, at, op = page.name, page.path, timezone.now(), FileOperation.Op
    with clock.writing(actor) as tx:
        record.rename(tx, page, new)
        begun = rewriting.begin(actor, page, old) if links else None
        ops = [
            file_operations.note(page, op.WRITE, None, at),
            file_operations.note(page, op.DELETE, page.sha256, at, path),
        ]
    with publishing.explained("the page is renamed, and its file follows"):
        for one in ops:
            publishing.publish(one, one.expected_sha)
    return tx.seq, begun
