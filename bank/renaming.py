"""Renaming an entity: its file, the links that name it, and where its old name leads.

The page and its file are renamed as a save is done, under the locks of both names. The pages
that link to it are rewritten after that, each as a save of its own: until then, and where it
cannot be done, their links lead to the page by its former name.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from django.utils import timezone

from bank import links, markdown, names, publishing, queries, record, services, withholding
from bank.models import FileOperation, Kind, Link, Page
from bank.texts import Text
from memoryweb.core import clock
from memoryweb.core.actor import Actor, Role
from memoryweb.core.errors import Conflict, DomainError, Invalid, NotFound, Refused

_TRIES = 3  # at a page that others save in the same moment


@dataclass(frozen=True)
class Renamed:
    """`old` is the name before, `rewritten` are the pages whose links were, and `left` is by
    page why those of others were not."""

    page: Page
    old: str
    seq: int
    rewritten: list[str] = field(default_factory=list)
    left: dict[str, str] = field(default_factory=dict)


def rename(
    actor: Actor, name: str, to: str, *, base: int | None = None, update_links: bool = True
) -> Renamed:
    """Call a page by another name.

    Raises NotFound; Conflict for a stale `base` and for a name that is in use; Invalid for one
    that no page can have; Refused when the guard objects to it; Forbidden; Unavailable.
    """
    actor.require(Role.CURATOR)
    new, old = _slug(to), queries.find(Kind.ENTITY, name).name
    with publishing.hold(Kind.ENTITY, old, new):
        page = _free_to_rename(actor, old, new, base)
        if new == page.name:
            return Renamed(page, old, clock.current_seq())
        _ask_the_guard(page, new)
        seq = _move(actor, page, new)
    renamed = Renamed(page, old, seq)
    if update_links:
        _rewrite_links(actor, renamed)
        # Its own text may have named it. By now somebody may have erased it.
        page = Page.objects.filter(pk=page.pk).first() or page
        renamed = replace(renamed, page=page)
    return renamed


def _slug(name: str) -> str:
    try:
        return names.slug(name)
    except names.NameRefused as refused:
        raise Invalid.field("to", refused.reason) from refused


def _free_to_rename(actor: Actor, old: str, new: str, base: int | None) -> Page:
    with publishing.explained("nothing was renamed"):
        page = publishing.settle(Kind.ENTITY, old)
        there = publishing.settle(Kind.ENTITY, new)
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
    text = Text(Kind.ENTITY, new, page.content).of(page)
    findings = publishing.inspect(text)
    if findings:
        stood = {one.rule for one in services.inspect(Kind.ENTITY, page.name, page.content)}
        findings = [one for one in findings if one.rule not in stood]
    if findings:
        raise Refused("the guard objects to a page of this name; nothing was renamed", findings)


def _move(actor: Actor, page: Page, new: str) -> int:
    """The record in one transaction; then the new file, and only then the old one."""
    path, at, op = page.path, timezone.now(), FileOperation.Op
    with clock.writing(actor) as tx:
        record.rename(tx, page, new)
        ops = [
            record.operation(page, op.WRITE, None, at),
            record.operation(page, op.DELETE, page.sha256, at, path),
        ]
    with publishing.explained("the page is renamed, and its file follows"):
        for one in ops:
            publishing.publish(one, one.expected_sha)
    return tx.seq


# Links


def _rewrite_links(actor: Actor, renamed: Renamed) -> None:
    for kind, name in _linking(renamed.page):
        try:
            if _rewrite(actor, kind, name, renamed):
                renamed.rewritten.append(name)
        except DomainError as error:
            renamed.left[name] = error.detail


def _linking(page: Page) -> Iterator[tuple[Kind, str]]:
    sources = Page.objects.filter(pk__in=Link.objects.filter(to=page).values("source"))
    rows = list(sources.order_by("name", "pk").values_list("kind", "name"))
    return ((Kind(kind), name) for kind, name in rows)


def _rewrite(actor: Actor, kind: Kind, name: str, renamed: Renamed) -> bool:
    """Make the links of this page that name the renamed one by its old name name the new."""
    for tried in range(1, _TRIES + 1):
        source = queries.find(kind, name)
        content = _rewritten(source, renamed)
        if content == source.content:
            return False
        if source.quarantined:
            raise Conflict("it is in quarantine; its links lead to the page all the same")
        message = f"Links follow “{renamed.old}” to “{renamed.page.name}”"
        try:
            services.save(
                actor, kind, name, content, base=source.revision, message=message, derived=True
            )
        except Conflict:
            if tried == _TRIES:
                raise
            continue
        return True
    return False


def _rewritten(source: Page, renamed: Renamed) -> str:
    written = source.links.filter(to=renamed.page).values_list("target", flat=True)
    targets = {target for target in written if links.names_page(target, renamed.old)}
    front = markdown.split(source.content)
    return front.raw + links.rewrite(front.body, targets, renamed.page.name)
