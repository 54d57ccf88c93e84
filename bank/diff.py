"""What changed between two texts, as rows to draw: words marked, invisible characters shown.

Rows are values, not HTML. Long unchanged stretches are folded. The time grows with the size
of the texts and not with its square, whatever they hold, and what is drawn ends where nobody
would read on.
"""

import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice, takewhile
from typing import Literal

import regex

from bank.align import Hunk, Work, align

ROWS_LIMIT = 2_000  # Rows of one difference, and segments in them; above, a page takes seconds.
SEGMENTS_LIMIT = 20_000
SIMILAR = 0.35  # Two lines sharing this much of their words are one line that changed.
PAIRING_LIMIT = 400  # Pairs of lines of one hunk that are all compared; above, in order only.
LIKENESS_LENGTH = 2_000  # Characters of a line by which it is called like another.
WORDS_LIMIT = 4_000  # Words of a pair of lines that are aligned; above, only both ends are.
WORDS_WORK = 400_000  # Steps of aligning words, in all pairs of lines of one difference.
DRAWN_LIMIT = 2_000  # Characters of one segment that are drawn.
INVISIBLE_LIMIT = 2_000  # Invisible stretches of one text that are drawn.

# Values


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of a line. With a `name` its text stands for something that cannot be seen."""

    text: str
    changed: bool = False
    name: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of one text, numbered from 1."""

    number: int
    segments: tuple[Segment, ...]

    @property
    def whole(self) -> bool:
        """Whether all of it was added or removed."""
        return all(segment.changed for segment in self.segments)


@dataclass(frozen=True, slots=True)
class Row:
    """A row side by side. A changed row has both lines, a folded one neither but `hidden`."""

    kind: Literal["same", "changed", "removed", "added", "folded"]
    left: Line | None = None
    right: Line | None = None
    hidden: int = 0


@dataclass(frozen=True, slots=True)
class UnifiedRow:
    """A row of one column; line numbers are None on the side that has no such line."""

    kind: Literal["same", "removed", "added", "folded"]
    old: int | None = None
    new: int | None = None
    segments: tuple[Segment, ...] = ()
    hidden: int = 0

    @property
    def whole(self) -> bool:
        """Whether all of the line was added or removed."""
        return all(segment.changed for segment in self.segments)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two texts aligned line by line; `coarse` when the search for what stayed was cut short."""

    old: tuple[str, ...]
    new: tuple[str, ...]
    hunks: tuple[Hunk, ...]
    coarse: bool

    @property
    def removed(self) -> int:
        return sum(hunk.old_end - hunk.old_start for hunk in self.hunks)

    @property
    def added(self) -> int:
        return sum(hunk.new_end - hunk.new_start for hunk in self.hunks)


def compare(old: str, new: str) -> Comparison:
    """The two texts aligned. Lines end at newlines only; a last newline makes an empty line."""
    old_lines, new_lines = old.split("\n"), new.split("\n")
    alignment = align(old_lines, new_lines)
    return Comparison(tuple(old_lines), tuple(new_lines), alignment.hunks, alignment.coarse)


# Rows


@dataclass(slots=True)
class Allowance:
    """What drawing one difference may take. `cut` once rows are left out for want of it."""

    rows: int = ROWS_LIMIT
    segments: int = SEGMENTS_LIMIT
    words: Work = field(default_factory=lambda: Work(WORDS_WORK))
    cut: bool = False

    def covers(self, row: "Row") -> bool:
        self.cut = self.rows <= 0 or self.segments <= 0
        self.rows -= 1
        self.segments -= sum(len(line.segments) for line in (row.left, row.right) if line)
        return not self.cut


def side_by_side(
    comparison: Comparison, context: int | None = 3, allowance: Allowance | None = None
) -> Iterator[Row]:
    """Rows in order, with `context` unchanged lines around each hunk, or all when None.

    They end where the allowance does.
    """
    allowance = allowance or Allowance()
    return takewhile(allowance.covers, _rows(comparison, context, allowance.words))


def _rows(comparison: Comparison, context: int | None, words: Work) -> Iterator[Row]:
    old = new = 0
    both_end = comparison.old[-1] == comparison.new[-1] == ""  # With a newline; not a line.
    for hunk in (*comparison.hunks, None):
        end = hunk.old_start if hunk else len(comparison.old) - both_end
        yield from _unchanged(comparison, old, new, end, hunk is None, context)
        if hunk is not None:
            yield from _changed(comparison, hunk, words)
            old, new = hunk.old_end, hunk.new_end


def unified(
    comparison: Comparison, context: int | None = 3, allowance: Allowance | None = None
) -> Iterator[UnifiedRow]:
    """The same in one column: what was removed stands above what was added in its place.

    A row that changed takes two here and one of the allowance.
    """
    added: list[UnifiedRow] = []
    for row in side_by_side(comparison, context, allowance):
        if row.kind in ("same", "folded"):
            yield from added
            added = []
            yield _in_one_column(row)
        if row.kind in ("changed", "removed") and row.left:
            yield UnifiedRow("removed", row.left.number, None, row.left.segments)
        if row.kind in ("changed", "added") and row.right:
            added.append(UnifiedRow("added", None, row.right.number, row.right.segments))
    yield from added


def _in_one_column(row: Row) -> UnifiedRow:
    if row.left is None or row.right is None:
        return UnifiedRow("folded", hidden=row.hidden)
    return UnifiedRow("same", row.left.number, row.right.number, row.left.segments)


def _unchanged(
    comparison: Comparison, old: int, new: int, end: int, last: bool, context: int | None
) -> Iterator[Row]:
    """The unchanged lines before a hunk, or before the end; the middle folded when long."""
    before = 0 if old == 0 and context is not None else context
    after = 0 if last and context is not None else context
    size = end - old
    hidden = 0 if before is None or after is None else size - before - after
    fold = range(before or 0, (before or 0) + hidden) if hidden > 1 else range(0)
    for at in range(size):
        if at not in fold:
            segments = drawn(comparison.old[old + at])
            yield Row("same", Line(old + at + 1, segments), Line(new + at + 1, segments))
        elif at == fold.start:
            yield Row("folded", hidden=len(fold))


def _changed(comparison: Comparison, hunk: Hunk, words: Work) -> Iterator[Row]:
    old = comparison.old[hunk.old_start : hunk.old_end]
    new = comparison.new[hunk.new_start : hunk.new_end]
    at_old = at_new = 0
    for pair_old, pair_new in chain(_pairs(old, new), [(len(old), len(new))]):
        for at in range(at_old, pair_old):
            yield Row("removed", left=Line(hunk.old_start + at + 1, drawn(old[at], True)))
        for at in range(at_new, pair_new):
            yield Row("added", right=Line(hunk.new_start + at + 1, drawn(new[at], True)))
        if pair_old < len(old):
            left, right = mark_words(old[pair_old], new[pair_new], words)
            yield Row(
                "changed",
                Line(hunk.old_start + pair_old + 1, left),
                Line(hunk.new_start + pair_new + 1, right),
            )
        at_old, at_new = pair_old + 1, pair_new + 1


# Lines of a hunk that are one line, changed


def _pairs(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Which removed line became which added one, in order on both sides."""
    if len(old) * len(new) <= PAIRING_LIMIT:
        yield from _best_pairs([*map(_word_counts, old)], [*map(_word_counts, new)])
        return
    for at, (before, after) in islice(enumerate(zip(old, new, strict=False)), ROWS_LIMIT):
        if _likeness(_word_counts(before), _word_counts(after)) >= SIMILAR:
            yield at, at


def _best_pairs(old: list[Counter[str]], new: list[Counter[str]]) -> tuple[tuple[int, int], ...]:
    """The pairs of similar lines, none crossing, that are most alike in all."""
    best: list[list[tuple[float, tuple[tuple[int, int], ...]]]]
    best = [[(0.0, ())] * (len(new) + 1) for _ in range(len(old) + 1)]
    for i, a in enumerate(old):
        for j, b in enumerate(new):
            likeness = _likeness(a, b)
            score, pairs = best[i][j]
            paired = (score + likeness, (*pairs, (i, j))) if likeness >= SIMILAR else (0.0, ())
            best[i + 1][j + 1] = max(best[i][j + 1], best[i + 1][j], paired, key=lambda it: it[0])
    return best[-1][-1][1]


def _word_counts(line: str) -> Counter[str]:
    words = _WORD.findall(line[:LIKENESS_LENGTH])
    return Counter(word for word in words if not word.isspace())


def _likeness(a: Counter[str], b: Counter[str]) -> float:
    """The share of words two lines have in common (Dice), 0 to 1."""
    total = a.total() + b.total()
    return 2 * sum(min(count, b[word]) for word, count in a.items() if word in b) / (total or 1)


# Words and characters

# Scripts written without spaces change character by character.
_WORD = regex.compile(
    r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}]\p{M}*"
    r"|[[\p{L}\p{M}\p{N}_]--[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}]]+|\s+|.",
    regex.VERSION1,
)
# Emoji are seen whole, with the joiners and selectors they need; one each and no more.
_EMOJI = (
    r"\p{Extended_Pictographic}\uFE0F?\p{Emoji_Modifier}?"
    r"(?:\u200D\p{Extended_Pictographic}\uFE0F?\p{Emoji_Modifier}?)*|[0-9#*]\uFE0F?\u20E3"
)
_INVISIBLE = regex.compile(
    rf"(?P<emoji>{_EMOJI})|(?P<tags>[\U000E0020-\U000E007E]+)"
    r"|(?P<one>[[\p{C}\p{Z}\p{DI}]--[\p{Cn}\p{Co}\t\n \u3000]])(?P=one)*",
    regex.VERSION1,
)
_SHORT = {
    "\0": "NUL", "\r": "CR", "\x85": "NEL", "\xa0": "NBSP", "\xad": "SHY", "\u061c": "ALM",
    "\u200b": "ZWSP", "\u200c": "ZWNJ", "\u200d": "ZWJ", "\u200e": "LRM", "\u200f": "RLM",
    "\u2028": "LS", "\u2029": "PS", "\u202a": "LRE", "\u202b": "RLE", "\u202c": "PDF",
    "\u202d": "LRO", "\u202e": "RLO", "\u2060": "WJ", "\u2066": "LRI", "\u2067": "RLI",
    "\u2068": "FSI", "\u2069": "PDI", "\ufeff": "BOM",
}  # fmt: skip


def mark_words(
    old: str, new: str, work: Work | None = None
) -> tuple[tuple[Segment, ...], tuple[Segment, ...]]:
    """Both lines in segments, what differs between them marked as changed."""
    old_words, new_words = _WORD.findall(old), _WORD.findall(new)
    if len(old_words) + len(new_words) > WORDS_LIMIT:
        old_words, new_words = _ends_and_middles(old, new)
    hunks = align(old_words, new_words, work).hunks
    left = _segments(old_words, [(hunk.old_start, hunk.old_end) for hunk in hunks])
    right = _segments(new_words, [(hunk.new_start, hunk.new_end) for hunk in hunks])
    return left, right


def drawn(text: str, changed: bool = False, limit: int | None = DRAWN_LIMIT) -> tuple[Segment, ...]:
    """The text in segments in which nothing is invisible; beyond `limit` its middle is cut.

    A newline is seen as it is. After INVISIBLE_LIMIT of them invisible characters stay as they
    are, which is said.
    """
    if limit is None or len(text) <= limit:
        return tuple(_visible(text, changed))
    half = limit // 2
    cut = Segment("…", changed, f"{len(text) - 2 * half:,} characters not drawn")
    return (*_visible(text[:half], changed), cut, *_visible(text[-half:], changed))


def _ends_and_middles(old: str, new: str) -> tuple[list[str], list[str]]:
    head = _shared_start(old, new)
    tail = _shared_start(old[head:][::-1], new[head:][::-1])
    cut = [
        [text[:head], text[head : len(text) - tail], text[len(text) - tail :]]
        for text in (old, new)
    ]
    return cut[0], cut[1]


def _shared_start(a: str, b: str) -> int:
    pairs = enumerate(zip(a, b, strict=False))
    return next((at for at, (x, y) in pairs if x != y), min(len(a), len(b)))


def _segments(words: list[str], changed: list[tuple[int, int]]) -> tuple[Segment, ...]:
    segments: list[Segment] = []
    at = 0
    for start, end in (*changed, (len(words), len(words))):
        segments += drawn("".join(words[at:start]))
        segments += drawn("".join(words[start:end]), True)
        at = end
    return tuple(segments)


def _visible(text: str, changed: bool) -> Iterator[Segment]:
    at = 0
    invisible = (match for match in _INVISIBLE.finditer(text) if not match["emoji"])
    for count, match in enumerate(invisible):
        if match.start() > at:
            yield Segment(text[at : match.start()], changed)
        at = match.start()
        if count == INVISIBLE_LIMIT:
            yield Segment("…", changed, "what is invisible is not drawn from here on")
            break
        yield _stand_in(match, changed)
        at = match.end()
    if at < len(text):
        yield Segment(text[at:], changed)


def _stand_in(match: regex.Match[str], changed: bool) -> Segment:
    if match["tags"]:
        words = "".join(chr(ord(tag) - 0xE0000) for tag in match["tags"])
        return Segment(f"TAG {words}", changed, f"invisible tag characters that spell “{words}”")
    character, times = match["one"], len(match[0])
    code = f"U+{ord(character):04X}"
    short = _SHORT.get(character, code) + (f"×{times}" if times > 1 else "")
    called = unicodedata.name(character, "control character").lower()
    return Segment(short, changed, f"{called}, {code}")
