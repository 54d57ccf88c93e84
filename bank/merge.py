"""Two people changed one page: both changes are kept where they do not meet (three-way merge).

The rule is diff3's (Khanna, Kunal, Pierce: A Formal Investigation of Diff3, 2007): what only
one side changed is taken from that side, what both changed alike is taken once, and changes
that overlap or touch are a conflict for a person to decide.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Literal

from bank.align import Hunk
from bank.diff import Comparison, compare

PLACES_LIMIT = 100  # Conflicts that a person can be asked about one by one.
HUNKS_LIMIT = 20_000  # Changes of one side that are told apart; above, they are one.
Side = Literal["base", "ours", "theirs"]
Kind = Literal["same", "ours", "theirs", "both", "conflict"]
Lines = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Chunk:
    """A stretch of the page in its three versions, as lines; `kind` says who changed it."""

    kind: Kind
    base: Lines
    ours: Lines
    theirs: Lines


@dataclass(frozen=True, slots=True)
class Merge:
    """The page in stretches. It is clean when no stretch is a conflict.

    `ours` and `theirs` are what each side changed of the base. `joined` says that there was more
    than can be told apart: a conflict may have in it what lies between several.
    """

    chunks: tuple[Chunk, ...]
    ours: Comparison
    theirs: Comparison
    joined: bool = False

    @property
    def conflicts(self) -> tuple[Chunk, ...]:
        return tuple(chunk for chunk in self.chunks if chunk.kind == "conflict")

    @property
    def text(self) -> str | None:
        """The merged page, or None while there are conflicts."""
        return None if self.conflicts else self.resolved(())

    def resolved(self, choices: Sequence[Sequence[Side]]) -> str:
        """The page with each conflict decided, in order: the sides whose lines to take.

        `["ours"]` takes one side, `["ours", "theirs"]` both, one after the other, `[]` neither.
        Raises ValueError when there is not one choice for each conflict.
        """
        waiting = iter(choices)
        if len(choices) != len(self.conflicts):
            raise ValueError(f"{len(self.conflicts)} conflicts and {len(choices)} choices")
        lines: list[str] = []
        for chunk in self.chunks:
            sides = next(waiting) if chunk.kind == "conflict" else (_SIDE[chunk.kind],)
            for side in sides:
                lines += getattr(chunk, side)
        return "\n".join(lines)


_SIDE: dict[str, Side] = {"same": "base", "ours": "ours", "theirs": "theirs", "both": "ours"}


def merge(base: str, ours: str, theirs: str) -> Merge:
    """`ours` and `theirs`, both made from `base`, in one; lines end at newlines only."""
    mine, other = compare(base, ours), compare(base, theirs)
    meetings = _meetings(_few(mine.hunks), _few(other.hunks))
    chunks = tuple(_chunks(mine.old, mine.new, other.new, meetings))
    places = [at for at, chunk in enumerate(chunks) if chunk.kind == "conflict"]
    if len(places) <= PLACES_LIMIT:
        joined = max(len(mine.hunks), len(other.hunks)) > HUNKS_LIMIT
        return Merge(chunks, mine, other, joined)
    first, last = places[0], places[-1] + 1
    one = _one_conflict(chunks[first:last])
    return Merge((*chunks[:first], one, *chunks[last:]), mine, other, joined=True)


def _few(hunks: Sequence[Hunk]) -> Sequence[Hunk]:
    """The hunks, or all of them as one when they are too many to go through."""
    if len(hunks) <= HUNKS_LIMIT:
        return hunks
    first, last = hunks[0], hunks[-1]
    return [Hunk(first.old_start, last.old_end, first.new_start, last.new_end)]


def _one_conflict(chunks: Sequence[Chunk]) -> Chunk:
    base, ours, theirs = (
        tuple(chain.from_iterable(getattr(chunk, side) for chunk in chunks))
        for side in ("base", "ours", "theirs")
    )
    return Chunk("conflict", base, ours, theirs)


@dataclass(slots=True)
class _Meeting:
    """Hunks of both sides whose places in the base overlap or touch, as one."""

    start: int
    end: int
    ours: list[Hunk]
    theirs: list[Hunk]


def _meetings(ours: Sequence[Hunk], theirs: Sequence[Hunk]) -> list[_Meeting]:
    meetings: list[_Meeting] = []
    for hunk, is_ours in sorted([(h, True) for h in ours] + [(h, False) for h in theirs]):
        if not meetings or hunk.old_start > meetings[-1].end:
            meetings.append(_Meeting(hunk.old_start, hunk.old_end, [], []))
        meeting = meetings[-1]
        meeting.end = max(meeting.end, hunk.old_end)
        (meeting.ours if is_ours else meeting.theirs).append(hunk)
    return meetings


def _chunks(
    base: Lines, ours: Lines, theirs: Lines, meetings: Sequence[_Meeting]
) -> Iterator[Chunk]:
    at = at_ours = at_theirs = 0
    for meeting in (*meetings, _Meeting(len(base), len(base), [], [])):
        if same := base[at : meeting.start]:
            yield Chunk("same", same, same, same)
        start_ours, start_theirs = at_ours + len(same), at_theirs + len(same)
        at = meeting.end
        at_ours = start_ours + at - meeting.start + _growth(meeting.ours)
        at_theirs = start_theirs + at - meeting.start + _growth(meeting.theirs)
        if meeting.ours or meeting.theirs:
            our_lines, their_lines = ours[start_ours:at_ours], theirs[start_theirs:at_theirs]
            kind = _kind(meeting, our_lines == their_lines)
            yield Chunk(kind, base[meeting.start : at], our_lines, their_lines)


def _growth(hunks: list[Hunk]) -> int:
    return sum((h.new_end - h.new_start) - (h.old_end - h.old_start) for h in hunks)


def _kind(meeting: _Meeting, alike: bool) -> Kind:
    if not meeting.theirs:
        return "ours"
    if not meeting.ours:
        return "theirs"
    return "both" if alike else "conflict"
