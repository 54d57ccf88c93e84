"""Words with spaces in the wrong places: spread letter by letter, run together, or torn in two.

What could be such words is put together again from the words that rules know.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from math import inf
from operator import add
from string import ascii_lowercase

from memoryweb.core.guard.known_words import KNOWN_WORDS
from memoryweb.core.guard.views import View

# Every other character the same, at least this often.
_SPREAD = re.compile(r"\S(?<!\S.)(?=([ .\-_*|/,~·]))(?:\1.(?=\1|(?!\w))){5,}+")
# One letter a line, or each in brackets.
_ONE_A_LINE = re.compile(
    r"[^\W\d_](?<!\S.)(?:[ \t]{0,3}+(?:\r?\n[ \t]{0,3}+){1,3}+[^\W\d_](?=\s|$)){5,}+"
)
_IN_BRACKETS = re.compile(r"[(\[{][^\W\d_][)\]}](?: ?+[(\[{][^\W\d_][)\]}]){5,}+")
_NO_LETTER = re.compile(r"[\W\d_]+")
# A word this long is likely to be several.
_LONG = 14
_GLUED = re.compile(rf"[A-Za-z](?<!\w.)[A-Za-z]{{{_LONG - 1},}}+")
# What stands in the tear of a word; the end of a sentence does not.
_TEAR = r"(?:[^\w.!?\n]{1,3}|[^\w.!?\n]?\r?\n[ \t>]{0,8}+)"

_WORD_PIECE = re.compile(r"[^\W\d_]+")

_SINGLE_LETTERS = frozenset(ascii_lowercase)


def _by_beginning() -> dict[str, list[str]]:
    """The known words by their first two letters."""
    found: dict[str, list[str]] = defaultdict(list)
    for word in sorted(KNOWN_WORDS):
        found[word[:2]].append(word)
    return dict(found)


_BY_BEGINNING = _by_beginning()
# What a known word costs, where a stretch of other letters costs `_STRANGE` and one a letter.
_COST = {word: 1 + 1 / len(word) for word in KNOWN_WORDS}
_STRANGE = 1.5


def segmented(view: View) -> View:
    """The view with spread letters drawn together and words that run together cut."""
    close = view
    if len(view.words & _SINGLE_LETTERS) >= 3:
        close = view.rewritten("segmented", _SPREAD, lambda match: match[0][::2])
        for letters in (_ONE_A_LINE, _IN_BRACKETS):
            close = close.rewritten("segmented", letters, lambda m: _NO_LETTER.sub("", m[0]))
    if any(len(word) >= _LONG and word.isascii() for word in close.words):
        return close.rewritten("segmented", _GLUED, _cut)
    return close


def _cut(match: re.Match[str]) -> str:
    words = _cheapest_words(match[0].lower())
    known = sum(len(word) > 2 and word in KNOWN_WORDS for word in words)
    return " ".join(words) if known >= 3 else match[0]


def _cheapest_words(letters: str) -> list[str]:
    """The letters cut into known words, with as few others between as can be.

    Viterbi's algorithm: the cheapest way to each place, and where its last word begins; beside it
    the cheapest way that ends in a stretch of other letters.
    """
    size = len(letters)
    cost, begin = [0.0] + [inf] * size, [0] * (size + 1)
    strange, stretch = inf, 0
    for at in range(size):
        strange, stretch = min((cost[at] + _STRANGE, at), (strange, stretch))
        strange += 1
        if strange < cost[at + 1]:
            cost[at + 1], begin[at + 1] = strange, stretch
        for word in _words_at(letters, at):
            end = at + len(word)
            if cost[at] + _COST[word] < cost[end]:
                cost[end], begin[end] = cost[at] + _COST[word], at
    return _words_from(letters, begin)


def _words_at(letters: str, at: int) -> Iterator[str]:
    for beginning in (letters[at : at + 1], letters[at : at + 2]):
        for word in _BY_BEGINNING.get(beginning, ()):
            if letters.startswith(word, at):
                yield word


def _words_from(letters: str, starts: list[int]) -> list[str]:
    words, end = [], len(letters)
    while end:
        words.append(letters[starts[end] : end])
        end = starts[end]
    return words[::-1]


def rejoined(view: View) -> View:
    """The view with torn words joined; itself where that makes no telling word."""
    tokens = view.tokens
    torn: set[tuple[str, ...]] = set()
    for joined, rows in _neighbours(tokens):
        if not KNOWN_WORDS.isdisjoint(joined):
            found = (row for row in zip(*rows, strict=False) if "".join(row) in KNOWN_WORDS)
            torn.update(row for row in found if len(row) < 3 or _is_telling(row))
    if not any(map(_is_telling, torn)):
        return view
    longest_first = sorted(torn, key=lambda pieces: (-len(pieces), pieces))
    words = "|".join(map(_TEAR.join, longest_first))
    return view.rewritten("rejoined", re.compile(rf"(?i)\b(?:{words})\b"), _mended)


def _neighbours(tokens: list[str]) -> Iterator[tuple[Iterable[str], list[list[str]]]]:
    """Two and three tokens that follow each other: what they spell together, and they."""
    rows = [tokens, tokens[1:], tokens[2:]]
    pairs = list(map(add, tokens, rows[1]))
    yield pairs, rows[:2]
    yield map(add, pairs, rows[2]), rows


def _is_telling(pieces: tuple[str, ...]) -> bool:
    """Whether pieces, that are not all words themselves, make a word of some length."""
    if KNOWN_WORDS.issuperset(pieces):
        return False
    if min(map(len, pieces)) == 1:
        return max(map(len, pieces)) >= 5
    words = sum(len(piece) > 2 and piece in KNOWN_WORDS for piece in pieces)
    return len("".join(pieces)) >= 4 + words + 3 * (len(pieces) - 2)


def _mended(match: re.Match[str]) -> str:
    return "".join(_WORD_PIECE.findall(match[0]))
