"""The only writer of pages: pages, API, MCP, imports, commands and the files' own editors."""

from dataclasses import dataclass
from datetime import date as Date

from bank.models import Kind, Page, Revision
from memoryweb.core.actor import Actor
from memoryweb.core.guard import Finding


@dataclass(frozen=True)
class Saved:
    """What a save did. `previous` is the revision that it replaced, None for a new page.

    Where nothing changed, `revision` is the current one and `previous` is None.
    """

    page: Page
    revision: Revision
    previous: Revision | None
    created: bool
    changed: bool
    seq: int


@dataclass(frozen=True)
class Archived:
    page: Page
    seq: int


def save(
    actor: Actor,
    kind: Kind,
    name: str,
    content: str,
    *,
    base: int | None = None,
    if_none: bool = False,
    message: str = "",
    approved: bool = False,
    settles: int | None = None,
) -> Saved:
    """Make `content` the text of the page, which is created where there is none.

    `base` is the revision that the writer has seen; without it the last writer wins, and gets
    what was overwritten. `if_none` asks for a new page. `settles` names the revision of a
    conflict that this text decides. `approved` is a curator's decision that skips the guard.

    Raises Conflict for a stale base, with the members `current` {content, revision}, `yours`
    and `merged` (None unless both changes fit together); Refused when the guard objects, with
    nothing stored but in quarantine; Invalid, Forbidden; Unavailable when the disk fails.
    """
    raise NotImplementedError


def archive(actor: Actor, kind: Kind, name: str, *, base: int | None = None) -> Archived:
    """Take the page away: its file goes, its history stays and its name is free. Raises NotFound,
    Conflict for a stale base."""
    raise NotImplementedError


def restore(actor: Actor, pk: int) -> Saved:
    """Bring an archived page back. Raises NotFound, and Conflict when its name is used again."""
    raise NotImplementedError


def revert(
    actor: Actor, kind: Kind, name: str, number: int, *, base: int | None = None, message: str = ""
) -> Saved:
    """Make an earlier revision's text the current one again, as a new revision. Raises as save."""
    raise NotImplementedError


def append_note(actor: Actor, text: str, date: Date | None = None) -> Saved:
    """Add a paragraph to the note of a day, today in the configured zone. Raises as save."""
    raise NotImplementedError


def inspect(kind: Kind, name: str, content: str) -> list[Finding]:
    """What the guard finds in a page with this name and text, as `save` would ask it."""
    raise NotImplementedError
