"""What a result shows of its page: the same few words always, or those around its matches.

Pure functions of text, linear in its length.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

import regex

from bank.links import mask_code
from bank.markdown import body, cut
from memoryweb.core.analysis import Span, is_cjk, merged
from search.wiki import matching

SNIPPET_LENGTH = 80
HIGHLIGHT_LENGTH = 200
LOOKED_AT = 20_000  # Characters of a long page in which matches are looked for.
ANALYSED_AT_ONCE = 300  # Characters; of a longer text only a part.
COMPARED = 200  # Matches, to find where most stand together.
AROUND = 60  # Characters beside what is shown, so that words are whole.
_LONGEST_CHARACTER = 32  # Code points; no reader's character is longer.

# Not within a word; a word may begin right after a Chinese, Japanese or Korean character.
_BEGINNING = regex.compile(
    r"(?<![[\p{L}\p{N}\p{M}]--[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Bopomofo}\u30fc]])",
    regex.VERSION1,
)
_SPACE = regex.compile(r"\s")
_CHARACTER = regex.compile(r"\X")  # What a reader sees as one.
# Between two of these a reader's character ends, whatever stands around them.
_PARTED = re.compile(r"[ -~\u3001-\u3029\u3041-\u3096\u30a1-\u30fb\u4e00-\u9fff\uff01-\uff5e]{2}")
_HEADING = re.compile(r" {0,3}#{1,6}(?:[ \t]|\r?$)")
_UNDERLINE = re.compile(r" {0,3}=+[ \t\r]*$")
_LINE_END = re.compile(r"\r\n|\r|\n")


def snippet(text: str, description: str = "") -> str:
    """The description, else the first 80 characters of the body without its headings.

    Line ends become spaces. The cut never falls inside what a reader sees as one character.
    """
    words = description.strip() or cut(_prose(body(text)), SNIPPET_LENGTH)
    return _LINE_END.sub(" ", words).strip()


def _prose(markdown: str) -> str:
    """The text without its headings; a line with `===` below it is one too."""
    kept: list[str] = []
    text_before = False
    for line, shown in zip(markdown.split("\n"), mask_code(markdown).split("\n"), strict=True):
        if text_before and _UNDERLINE.match(shown):
            kept.pop()
            text_before = False
        elif _HEADING.match(shown):
            text_before = False
        else:
            kept.append(line)
            text_before = bool(shown.strip()) and not shown.startswith("`")
    return "\n".join(kept).strip()


@dataclass(frozen=True, slots=True)
class Highlight:
    """A piece of a text on one line, and where in the piece the words asked for stand."""

    text: str
    spans: tuple[Span, ...]


def highlight(text: str, query: str) -> Highlight:
    """About 200 characters around the most different matches; its beginning where there is none.

    Only the first 20,000 characters of a text are looked at.
    """
    text, terms = text[:LOOKED_AT], _terms(query)
    left, right = _worth_reading(text, terms)
    found = _matches(text[left:right], terms)
    spans = [(start + left, end + left) for start, end in found]
    first, last = _densest(text, spans)
    start, end = _around(text, first, last)
    piece = _SPACE.sub(" ", text[start:end])
    inside = ((max(a, start) - start, min(b, end) - start) for a, b in spans)
    return Highlight(piece, tuple((a, b) for a, b in inside if a < b))


@lru_cache(maxsize=256)
def _terms(query: str) -> tuple[str, ...]:
    return tuple(matching.terms(query))


def _worth_reading(text: str, terms: tuple[str, ...]) -> Span:
    """The part of a text around its matches, found by their letters alone: to analyse all of a
    long text takes many times as long. It is all of the text where letters do not tell."""
    if len(text) <= ANALYSED_AT_ONCE:
        return 0, len(text)
    letters, lowered = _letters(terms), text.lower()
    found = list(islice(_standing(letters, lowered), COMPARED))
    if found and len(lowered) == len(text):
        first, last = _densest(lowered, found)
        start, end = _around(text, first, last)
        return max(0, start - AROUND), max(end, last) + AROUND
    folded = matching.CJK.fold(text)
    return 0, len(text) if any(True for _ in _standing(letters, folded)) else 0


@lru_cache(maxsize=256)
def _letters(terms: tuple[str, ...]) -> re.Pattern[str] | None:
    """Finds the terms, the longest at each place; None without terms.

    Not by regex, whose named lists take ten times as long where there are many words.
    """
    longest_first = sorted(terms, key=len, reverse=True)
    return re.compile("|".join(map(_sought, longest_first))) if terms else None


def _sought(term: str) -> str:
    """A word is not begun within one of Latin letters; in a long one it would be tried at each."""
    if is_cjk(term):
        return re.escape(term)
    first, rest = re.escape(term[0]), re.escape(term[1:])
    return f"{first}(?<![a-z0-9]{first}){rest}"


def _standing(letters: re.Pattern[str] | None, text: str) -> Iterator[Span]:
    """Where the beginnings of words stand that begin with a term, and Chinese terms anywhere."""
    at = 0
    while letters is not None and (match := letters.search(text, at)):
        start, at = match.span()
        if is_cjk(text[start]) or _BEGINNING.match(text, start):
            yield start, at
        else:
            at = start + 1


def _matches(text: str, terms: Collection[str]) -> list[Span]:
    """Words that begin with a term, and in Chinese, Japanese or Korean the term itself."""
    words = tuple(term for term in terms if not is_cjk(term))
    found = matching.CJK.spans(text, terms, words)
    return merged(sorted([*found, *_single(text, terms)]))


def _single(text: str, terms: Collection[str]) -> Iterator[Span]:
    """Chinese, Japanese and Korean characters on their own: in a longer run they are no term."""
    alone = "".join(term for term in terms if len(term) == 1 and is_cjk(term))
    if alone:
        yield from (match.span() for match in re.finditer(f"[{re.escape(alone)}]", text))


def _densest(text: str, spans: Sequence[Span]) -> Span:
    """The stretch of at most 200 characters that holds the most different matches, then the
    most matches, then the first; nothing at the beginning where there are none."""
    if spans and spans[-1][1] - spans[0][0] <= HIGHLIGHT_LENGTH:
        return spans[0][0], spans[-1][1]
    words = [text[start:end].lower() for start, end in spans]
    inside: Counter[str] = Counter()
    best, stretch, first = (0, 0), (0, 0), 0
    for last, (_, end) in enumerate(spans):
        inside[words[last]] += 1
        while first < last and end - spans[first][0] > HIGHLIGHT_LENGTH:
            inside[words[first]] -= 1
            if not inside[words[first]]:
                del inside[words[first]]
            first += 1
        found = len(inside), last - first + 1
        if found > best:
            best, stretch = found, (spans[first][0], end)
    return stretch


def _around(text: str, first: int, last: int) -> Span:
    """The stretch with as much text around it as there is room for, cut between characters."""
    room = max(0, HIGHLIGHT_LENGTH - (last - first))
    start = max(0, min(first - room // 2, len(text) - HIGHLIGHT_LENGTH))
    end = min(len(text), max(start + HIGHLIGHT_LENGTH, min(last, start + HIGHLIGHT_LENGTH)))
    return _character_at(text, start), _character_at(text, end)


def _character_at(text: str, place: int) -> int:
    """The place, or where the reader's character ends in whose middle it lies."""
    if place in (0, len(text)) or _PARTED.match(text, place - 1):
        return place
    base = max(0, place - _LONGEST_CHARACTER)
    ends = (base + found.end() for found in _CHARACTER.finditer(text[base : place + 64]))
    return next((end for end in ends if end >= place), place)
