"""Texts made ready for a template: a page as prose, and the difference of two texts as rows."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice

from bank import diff, markdown
from bank.links import Link
from bank.markdown import Rendered

ROWS_LIMIT = 2_000  # Rows of a difference that are drawn; above, a page would take seconds.


@dataclass(frozen=True, slots=True)
class Changes:
    """What differs between two texts. `cut` says that rows after the first 2,000 are left out."""

    rows: list[diff.Row] | list[diff.UnifiedRow]
    added: int
    removed: int
    split: bool
    cut: bool
    coarse: bool

    def __bool__(self) -> bool:
        return bool(self.added or self.removed)


def changes(old: str, new: str, *, split: bool = False) -> Changes:
    comparison = diff.compare(old, new)
    rows: list[diff.Row] | list[diff.UnifiedRow]
    if split:
        rows = list(islice(diff.side_by_side(comparison), ROWS_LIMIT + 1))
    else:
        rows = list(islice(diff.unified(comparison), ROWS_LIMIT + 1))
    cut = len(rows) > ROWS_LIMIT
    return Changes(
        rows[:ROWS_LIMIT], comparison.added, comparison.removed, split, cut, comparison.coarse
    )


def prose(text: str, resolve: Callable[[Link], str | None], title: str = "") -> Rendered:
    """The text as HTML, without its front matter and without the heading that is its title."""
    body = markdown.split(text).body
    first, _, rest = body.lstrip("\r\n").partition("\n")
    if title and first.startswith("# ") and markdown.title(first, "") == title:
        body = rest
    return markdown.render(body, resolve)
