"""Links that follow a page to its new name, each page that has some as a save of its own.

A Rewriting, stored with the rename, says that links are to follow. Which are left is not stored:
those that lead to the page and still say the old name. They lead there until they are rewritten,
even where another page has that name by now (see bank.linking). So whatever is killed, the next
turn goes on, and no link is broken or led elsewhere in between.
"""

import math
import time
from dataclasses import asdict, dataclass, field
from datetime import timedelta

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from bank import linking, links, markdown, places, services
from bank.models import Kind, Link, Page, Rewriting
from memoryweb.core.actor import Actor, Role
from memoryweb.core.errors import Conflict, DomainError, Invalid, Refused

AT_ONCE = 50  # Pages that are rewritten while whoever renames waits for it.
SLICE = 100  # Pages of one turn of the worker, and the seconds after which it begins no other.
TURN = 2.0
PAUSE = timedelta(minutes=1)  # before those are tried again that could not be saved just then
_TRIES = 3  # at a page that others save in the same moment


@dataclass(frozen=True)
class Rewritten:
    """What one turn did: the pages whose links follow now, and by page why those of others stay."""

    pages: list[str] = field(default_factory=list)
    left: dict[str, str] = field(default_factory=dict)


class _Stays(DomainError):
    """The links of a page keep the old name, and another try would not change that."""


def begin(actor: Actor, page: Page, old: str) -> Rewriting | None:
    """Note in the transaction that renames a page that links are to follow, if there are any.

    The worker leaves few of them to whoever renames, for as long as that may take.
    """
    total = _saying(page, old).count()
    if not total:
        return None
    alone = PAUSE if total <= AT_ONCE else timedelta()
    return Rewriting.objects.create(
        page=page,
        old=old,
        actor=asdict(actor),
        total=total,
        due_at=timezone.now() + alone,
    )


def carry_on(rewriting: Rewriting) -> Rewritten:
    """Rewrite all when they are few; many are left to the worker."""
    return _turn(rewriting, AT_ONCE + 1) if rewriting.total <= AT_ONCE else Rewritten()


def after_files(wiki: str = "") -> QuerySet[Rewriting]:
    """Those that whoever followed files renamed outside carries on, once all are followed."""
    of_wiki = Rewriting.objects.filter(page__wiki=wiki or None, total__lte=AT_ONCE)
    return of_wiki.filter(actor__via="file").order_by("pk")


def leave_to_worker(some: QuerySet[Rewriting]) -> None:
    """Let the worker begin with these now: whoever began them has no more time."""
    some.update(due_at=timezone.now())


def step() -> None:
    """The worker's turn: rewrite a slice of what is due, or was put off by a clock ahead."""
    room, now = SLICE, timezone.now()
    due = Rewriting.objects.exclude(due_at__gt=now, due_at__lte=now + 2 * PAUSE)
    for rewriting in due.order_by("pk")[:SLICE]:
        if room > 0:
            room -= len(_turn(rewriting, room, TURN).pages)


def waiting(rewriting: Rewriting) -> QuerySet[Page]:
    """The pages whose links still say the old name."""
    return _saying(rewriting.page, rewriting.old)


def _saying(page: Page, old: str) -> QuerySet[Page]:
    key = linking.base_key(_in_links(old, page), page.wiki_id or "")
    written = Link.objects.filter(to=page, name_key=key)
    written = written.exclude(target=_in_links(page.name, page))
    return Page.objects.filter(pk__in=written.values("source"))


def _in_links(name: str, page: Page) -> str:
    """How links say a name that the page has, or had: in a wiki by the ref alone."""
    return linking.said(name, page.wiki_id or "")


def _turn(rewriting: Rewriting, most: int, seconds: float = math.inf) -> Rewritten:
    done, again, until = Rewritten(), rewriting.again, time.monotonic() + seconds
    rows = (
        waiting(rewriting).filter(pk__gt=rewriting.after).order_by("pk").values_list("pk", "name")
    )
    some = list(rows[:most])
    after = some[-1][0] if len(some) == most else None
    for pk, name in some:
        try:
            if _rewrite(rewriting, pk):
                done.pages.append(name)
        except (_Stays, Refused, Invalid) as error:
            done.left[name] = error.detail
        except DomainError as error:
            done.left[name], again = error.detail, True
        if time.monotonic() > until:
            after = pk
            break
    _note(rewriting, after, again)
    return done


def _note(rewriting: Rewriting, after: int | None, again: bool) -> None:
    """Where the next turn goes on, None at the end; what could not be saved gets another later."""
    row = Rewriting.objects.filter(pk=rewriting.pk)
    if after is not None:
        row.update(after=after, again=again)
    elif again:
        row.update(after=0, again=False, due_at=timezone.now() + PAUSE)
    else:
        _end(rewriting)


def _end(rewriting: Rewriting) -> None:
    """Let links that could not be rewritten lead wherever the name leads that they say."""
    with transaction.atomic():
        _, gone = rewriting.delete()
        if gone:
            linking.lead_by_name(rewriting.old, rewriting.page.wiki_id or "")


def _rewrite(rewriting: Rewriting, pk: int) -> bool:
    """Make the links of this page that say the old name say the one that the page has now."""
    for tried in range(1, _TRIES + 1):
        page = Page.objects.filter(pk=rewriting.page_id).first()
        source = Page.objects.filter(pk=pk, archived_at=None).first()
        if page is None or source is None:  # Erased or archived since the turn began.
            return False
        if (content := _rewritten(source, page, rewriting.old)) == source.content:
            return False
        if source.quarantined:
            raise _Stays("it is in quarantine; its links lead to the page all the same")
        if _moves_too(rewriting, source):
            raise Conflict("its own file was renamed or is gone, and nobody followed it yet")
        try:
            services.save(
                _actor(rewriting),
                Kind(source.kind),
                source.name,
                content,
                base=source.revision,
                message=f"Links follow “{rewriting.old}” to “{page.name}”",
                derived=True,
            )
        except Conflict:
            if tried == _TRIES:
                raise
            continue
        return True
    return False


def _moves_too(rewriting: Rewriting, source: Page) -> bool:
    """Whether the file of a page is not where it was, after others were renamed outside.

    A save would look through the whole folder for it, and of thousands each would.
    """
    return rewriting.actor["via"] == "file" and places.stamp(source.path) is None


def _rewritten(source: Page, page: Page, old: str) -> str:
    written = source.links.filter(to=page).values_list("target", flat=True)
    targets = {target for target in written if links.names_page(target, _in_links(old, page))}
    front = markdown.split(source.content)
    return front.raw + links.rewrite(front.body, targets, _in_links(page.name, page))


def _actor(rewriting: Rewriting) -> Actor:
    """Whoever renamed the page: the links that follow are their doing."""
    return Actor(**rewriting.actor | {"role": Role(rewriting.actor["role"])})
