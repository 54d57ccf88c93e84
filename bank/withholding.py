"""What of the bank an actor may read: a text the guard held back goes to those who decide about it.

Everybody else, agents above all, is told that the page is there and waits, and nothing of what
it says. Nor may they replace it: that would take the decision away.
"""

from copy import copy
from typing import Any

from django.db.models import Q

from bank import refs
from bank.models import Page, Revision
from memoryweb.core.actor import Actor
from memoryweb.core.errors import Conflict, Forbidden
from memoryweb.core.guard import scan

WAITS = "this page waits for a curator's decision"
NAMELESS = "(the guard objects to it; a person sees it under Bank)"


def is_withheld(actor: Actor, text: Page | Revision) -> bool:
    """Whether this text is kept from the actor."""
    return text.quarantined and not actor.may_decide


def readable(actor: Actor, page: str = "") -> Q:
    """Rows whose page, at the end of the path `page`, holds no text that is kept from the actor."""
    return Q() if actor.may_decide else Q((f"{page}__quarantined".removeprefix("__"), False))


def require_free(actor: Actor, page: Page, yours: str | None = None) -> None:
    """Raise Conflict, with nothing of the page's text, unless the actor may change the page."""
    require_unlocked(page)
    if is_withheld(actor, page):
        current = {"content": None, "revision": page.revision}
        raise Conflict(f"{WAITS}; nothing was changed", current=current, yours=yours, merged=None)


def require_unlocked(page: Page) -> None:
    """Raise Conflict for a page that somebody locked; whoever it was unlocks it first."""
    if page.locked_at is not None:
        by, since = page.locked_by or "somebody", page.locked_at.isoformat(timespec="seconds")
        raise Conflict(
            f"{by} locked this page at {since}; nothing was changed, unlock it first",
            locked_by=page.locked_by,
            locked_at=since,
        )


def require_readable(actor: Actor, *revisions: Revision | None) -> None:
    """Raise Forbidden unless the actor may read all of these."""
    for one in revisions:
        if one is not None and is_withheld(actor, one):
            raise Forbidden(
                f"the guard held revision {one.number} back; only those who decide about it see it"
            )


def told(actor: Actor, name: str) -> str:
    """A name, or a path, as it is told: agents are given none that the guard objects to."""
    return NAMELESS if actor.kind == "token" and scan(name) else name


def name(actor: Actor, page: Page) -> str:
    """What the page is called, as the actor is told it."""
    if not is_withheld(actor, page):
        return page.name
    wiki, ref = refs.split(page.name) if page.wiki_id else ("", page.name)
    return f"{wiki}/{told(actor, ref)}" if wiki else told(actor, ref)


def shown(actor: Actor, page: Page) -> dict[str, Any]:
    """What stands in the place of what a page says of itself, its name where that is an attack."""
    if not is_withheld(actor, page):
        return {"held_back": False}
    called = name(actor, page)
    emptied: dict[str, Any] = {"abstract": "", "tags": [], "aliases": [], "front_matter": {}}
    return {"held_back": True, "name": called, "title": called, **emptied}


def as_read(actor: Actor, page: Page) -> Page:
    """The page as it is drawn for the actor: one that is kept from them is a copy without all
    that its text says, `held_back`, never to be saved."""
    if not is_withheld(actor, page):
        return page
    emptied = copy(page)
    path = told(actor, page.path)
    for field, value in {**shown(actor, page), "content": "", "path": path}.items():
        setattr(emptied, field, value)
    return emptied


def content(actor: Actor, text: Page | Revision) -> str:
    """The text itself, or nothing."""
    return "" if is_withheld(actor, text) else text.content
