"""Two sequences aligned: what stayed, and the hunks that changed between.

Lines that stand once on each side are the anchors (patience); between anchors the shortest
edit is searched (E. W. Myers, An O(ND) Difference Algorithm and Its Variations, 1986). The
work is bounded: past the bound a stretch counts as wholly replaced and the answer is `coarse`.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

WORK_LIMIT = 1_500_000  # Steps of one alignment, some tenths of a second.
EDITS_LIMIT = 1_000  # Edits of one stretch without anchors.


class Match(NamedTuple):
    """`size` items from `old` on in one sequence equal those from `new` on in the other."""

    old: int
    new: int
    size: int


class Hunk(NamedTuple):
    """Items old_start:old_end became new_start:new_end; one of the two may be empty."""

    old_start: int
    old_end: int
    new_start: int
    new_end: int


@dataclass(slots=True)
class Work:
    """Steps that may still be taken, by several alignments if they are bounded as one.

    `lacking` once one of them was cut short for want of it.
    """

    left: int = WORK_LIMIT
    lacking: bool = False

    def afford(self, steps: int) -> bool:
        if steps > self.left:
            self.lacking = True
            return False
        self.left -= steps
        return True


@dataclass(frozen=True, slots=True)
class Alignment:
    """Matches in order and the hunks between them; `coarse` when the search was cut short."""

    matches: tuple[Match, ...]
    hunks: tuple[Hunk, ...]
    coarse: bool


def align(old: Sequence[str], new: Sequence[str], work: Work | None = None) -> Alignment:
    whole = Hunk(0, len(old), 0, len(new))
    search = _Search(old, new, work or Work())
    matches = _joined(sorted(search.run(whole)))
    return Alignment(matches, _between(matches, whole), search.coarse)


class _Search:
    def __init__(self, old: Sequence[str], new: Sequence[str], work: Work) -> None:
        numbers: dict[str, int] = {}
        self.old = [numbers.setdefault(item, len(numbers)) for item in old]
        self.new = [numbers.setdefault(item, len(numbers)) for item in new]
        self.work = work
        self.coarse = False

    def run(self, whole: Hunk) -> Iterator[Match]:
        waiting = [whole]
        while waiting:
            head, middle, tail = self._trimmed(waiting.pop())
            yield from (match for match in (head, tail) if match.size)
            if not self._worth_searching(middle):
                continue
            if anchors := self._anchors(middle):
                yield from anchors
                waiting += _between(anchors, middle)
            else:
                yield from self._shortest_edit(middle)

    def _worth_searching(self, hunk: Hunk) -> bool:
        sizes = hunk.old_end - hunk.old_start, hunk.new_end - hunk.new_start
        return all(sizes) and self._can_afford(sum(sizes))

    def _can_afford(self, steps: int) -> bool:
        affordable = self.work.afford(steps)
        self.coarse |= not affordable
        return affordable

    def _trimmed(self, hunk: Hunk) -> tuple[Match, Hunk, Match]:
        """What both sides start with, what is left in the middle, and what both end with."""
        start, end, new_start, new_end = hunk
        while start < end and new_start < new_end and self.old[start] == self.new[new_start]:
            start, new_start = start + 1, new_start + 1
        while start < end and new_start < new_end and self.old[end - 1] == self.new[new_end - 1]:
            end, new_end = end - 1, new_end - 1
        head = Match(hunk.old_start, hunk.new_start, start - hunk.old_start)
        tail = Match(end, new_end, hunk.old_end - end)
        return head, Hunk(start, end, new_start, new_end), tail

    def _anchors(self, hunk: Hunk) -> list[Match]:
        """The longest run, in order on both sides, of items that stand once on each side."""
        old = self.old[hunk.old_start : hunk.old_end]
        new = self.new[hunk.new_start : hunk.new_end]
        times_old, times_new = Counter(old), Counter(new)
        place = {item: at for at, item in enumerate(new, hunk.new_start) if times_new[item] == 1}
        pairs = [
            (at, place[item])
            for at, item in enumerate(old, hunk.old_start)
            if times_old[item] == 1 and item in place
        ]
        return [Match(*pair, 1) for pair in _longest_rising(pairs)]

    def _shortest_edit(self, hunk: Hunk) -> Iterator[Match]:
        """The matches of the shortest edit, none when it is longer than may be searched."""
        old_items = self.old[hunk.old_start : hunk.old_end]
        new_items = self.new[hunk.new_start : hunk.new_end]
        common = {*old_items} & {*new_items}  # Only these can match; the rest costs nothing.
        old = [at for at, item in enumerate(old_items, hunk.old_start) if item in common]
        new = [at for at, item in enumerate(new_items, hunk.new_start) if item in common]
        reached: list[list[int]] = []
        for edits in range(min(len(old) + len(new), EDITS_LIMIT) + 1):
            row = self._furthest(old, new, reached[-1] if reached else [], edits)
            reached.append(row)
            if not self._can_afford(edits + 1):
                return
            if any(x >= len(old) and x + edits - 2 * at >= len(new) for at, x in enumerate(row)):
                yield from (Match(old[x], new[y], 1) for x, y in _path(reached, len(old), len(new)))
                return
        self.coarse = True

    def _furthest(self, old: list[int], new: list[int], before: list[int], edits: int) -> list[int]:
        """How far into `old` each diagonal gets with so many edits; row[i]: x - y = 2i - edits."""
        row = []
        for at in range(edits + 1):
            x = _step(before, at, edits)
            start, y = x, x + edits - 2 * at
            while x < len(old) and y < len(new) and self.old[old[x]] == self.new[new[y]]:
                x, y = x + 1, y + 1
            self.work.left -= x - start
            row.append(x)
        return row


def _goes_down(before: list[int], at: int, edits: int) -> bool:
    """Whether the furthest way to this diagonal is an insertion rather than a deletion."""
    return at == 0 or (at != edits and before[at - 1] < before[at])


def _step(before: list[int], at: int, edits: int) -> int:
    if not edits:
        return 0
    return before[at] if _goes_down(before, at, edits) else before[at - 1] + 1


def _path(reached: list[list[int]], x: int, y: int) -> Iterator[tuple[int, int]]:
    """The pairs of equal items on the way back from the end."""
    for edits in range(len(reached) - 1, -1, -1):
        at = (x - y + edits) // 2
        start = _step(reached[edits - 1], at, edits)
        while x > start:
            x, y = x - 1, y - 1
            yield x, y
        if edits:
            down = _goes_down(reached[edits - 1], at, edits)
            x, y = (x, y - 1) if down else (x - 1, y)


def _longest_rising(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest subsequence whose second members rise, as their first already do."""
    ends: list[int] = []  # ends[n]: the smallest last member of a rising run of n + 1.
    last: list[int] = []  # The pair it belongs to.
    before: list[int] = []
    for at, (_, new) in enumerate(pairs):
        length = bisect_left(ends, new)
        before.append(last[length - 1] if length else -1)
        ends[length : length + 1], last[length : length + 1] = [new], [at]
    run, at = [], last[-1] if last else -1
    while at >= 0:
        run.append(pairs[at])
        at = before[at]
    return run[::-1]


def _joined(matches: list[Match]) -> tuple[Match, ...]:
    joined: list[Match] = []
    for match in matches:
        if (
            joined
            and joined[-1].old + joined[-1].size == match.old
            and (joined[-1].new + joined[-1].size == match.new)
        ):
            match = Match(joined[-1].old, joined[-1].new, joined.pop().size + match.size)
        joined.append(match)
    return tuple(joined)


def _between(matches: Sequence[Match], within: Hunk) -> tuple[Hunk, ...]:
    """What lies before, between and after the matches; stretches empty on both sides left out."""
    hunks, old, new = [], within.old_start, within.new_start
    for match in (*matches, Match(within.old_end, within.new_end, 0)):
        if match.old > old or match.new > new:
            hunks.append(Hunk(old, match.old, new, match.new))
        old, new = match.old + match.size, match.new + match.size
    return tuple(hunks)
