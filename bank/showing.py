"""Texts made ready for a template: a page as prose, and the difference of two texts as rows."""

from collections.abc import Sequence
from dataclasses import dataclass

from bank import diff, markdown
from bank.rendering import Rendered, Resolve, render

UNSEEN = 10  # Characters named that cannot be seen.


@dataclass(frozen=True, slots=True)
class Changes:
    """What differs between two texts.

    `cut` says that rows at the end are left out, `coarse` that what stayed was searched for only
    roughly; both are for want of time.
    """

    rows: Sequence[diff.Row | diff.UnifiedRow]
    added: int
    removed: int
    split: bool
    cut: bool
    coarse: bool

    def __bool__(self) -> bool:
        return bool(self.added or self.removed)


def changes(old: str, new: str, *, split: bool = False) -> Changes:
    return changes_of(diff.compare(old, new), split=split)


def changes_of(comparison: diff.Comparison, *, split: bool = False) -> Changes:
    """What differs between two texts that are compared already."""
    allowance = diff.Allowance()
    rows: Sequence[diff.Row | diff.UnifiedRow]
    if split:
        rows = list(diff.side_by_side(comparison, allowance=allowance))
    else:
        rows = list(diff.unified(comparison, allowance=allowance))
    coarse = comparison.coarse or allowance.words.lacking
    return Changes(rows, comparison.added, comparison.removed, split, allowance.cut, coarse)


@dataclass(frozen=True, slots=True)
class Unseen:
    """A character that cannot be seen: how it is drawn, what it is, and its line, from 1."""

    drawn: str
    name: str
    line: int


def unseen(text: str) -> list[Unseen]:
    """The first characters of a text that cannot be seen."""
    found: list[Unseen] = []
    line = 1
    for segment in diff.drawn(text, limit=None):
        if segment.name:
            found.append(Unseen(segment.text, segment.name, line))
        else:
            line += segment.text.count("\n")
        if len(found) == UNSEEN:
            break
    return found


def prose(text: str, resolve: Resolve, title: str = "") -> Rendered:
    """The text as HTML, without its front matter and without the heading that is its title."""
    body = markdown.split(text).body
    first, _, rest = body.lstrip("\r\n").partition("\n")
    if title and first.startswith(("# ", "## ")) and markdown.title(first, "") == title:
        body = rest
    return render(body, resolve)
