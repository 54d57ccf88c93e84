"""Text in the pieces at whose borders it may be cut, and what each of them costs.

A text is a row of units: paragraphs, list items, rows of tables, blocks of code. A heading is one
unit with what follows it. A unit of more than LONG is in several pieces, which end where sentences
do; a sentence of more than LONG ends at words, a word of more than LONG at a reader's characters.
Code is cut at lines. Pure functions of text.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import regex

QUARTERS = 4
LONG = 80 * QUARTERS
OPENING = 8 * QUARTERS
SHORT = 4 * QUARTERS  # Every mark weighs less.
MARK = "…"


def weight(text: str) -> int:
    """The text's quarters of a token: one for an ASCII character, four for any other.

    Unlike tokens, quarters of parts add up to those of the whole.
    """
    return QUARTERS * len(text) - (QUARTERS - 1) * len(text.encode("ascii", "ignore"))


def tokens(quarters: int) -> int:
    """The estimate: ASCII characters by four, rounded up, and one for each other character."""
    return -(-quarters // QUARTERS)


@dataclass(frozen=True, slots=True)
class Piece:
    """What is given or left out as one.

    `gap` parts it from the piece before. `mark` follows where the text is cut after it. `ends`
    says that a unit is complete with it.
    """

    gap: str
    text: str
    mark: str = ""
    ends: bool = True


def pieces(text: str, *, opening: bool = False) -> list[Piece]:
    """The text without blank lines around it; a run of blank lines inside is one.

    With `opening` the first sentence is in pieces of a few words, so that some of it fits where
    there is hardly any room.
    """
    found: list[Piece] = []
    for gap, unit in _units(text):
        found.extend(_cut(gap, unit, OPENING if opening and not found else LONG))
    return found


def brief(text: str, most: int) -> str:
    """The text, or as many of its sentences or words as weigh at most `most` with the mark."""
    if weight(text) <= most:
        return text
    kept, room = "", most - weight(MARK)
    for gap, part in _spaced(_sentences(text, OPENING)):
        room -= weight(gap + part)
        if room < 0:
            break
        kept += gap + part
    return kept + MARK


# Units

_ITEM = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])\s")
_HEADING = re.compile(r" {0,3}#{1,6}\s")
_FENCE = re.compile(r"\s{0,12}(`{3,8}|~{3,8})([^`]*)$")
_TABLE_HEAD = 3  # The names, the rule below them, and the first row.


def _units(text: str) -> Iterator[tuple[str, str]]:
    """Each unit after what parts it from the one before: a line's end, or a blank line."""
    unit: list[str] = []
    gap = fence = ""
    blank, held, rows = True, False, 0
    for line in text.replace("\r\n", "\n").split("\n"):
        if not line.strip() and not fence:
            blank = True
            continue
        rows = rows + 1 if line.lstrip().startswith("|") else 0
        new = blank or rows == 1 or rows > _TABLE_HEAD or _ITEM.match(line) or _HEADING.match(line)
        if unit and new and not held and not fence:
            yield gap, "\n".join(unit).rstrip()
            gap, unit = "\n\n" if blank else "\n", []
        elif unit and blank:
            unit.append("")
        unit.append(line)
        was, fence = fence, _open_fence(line, fence)
        # What follows a closed block of code is another unit, a blank line between or not.
        blank, held = bool(was and not fence), not was and bool(_HEADING.match(line))
    if unit:
        yield gap, "\n".join(unit).rstrip()


def _open_fence(line: str, fence: str) -> str:
    """The fence of the block of code that is open after the line, given the one before it."""
    match = _FENCE.match(line)
    if not fence:
        return match[1] if match else ""
    closes = match and match[1].startswith(fence) and not match[2].strip()
    return "" if closes else fence


# Pieces of a unit


def _cut(gap: str, unit: str, finest: int) -> Iterator[Piece]:
    if any(_FENCE.match(line) for line in unit.split("\n")):
        yield from _code(gap, unit)
        return
    short = finest == LONG and weight(unit) <= LONG
    parts = [unit] if short else _with_the_end(_sentences(unit, finest))
    spaced = list(_spaced(parts))
    for at, (before, text) in enumerate(spaced):
        last = at == len(spaced) - 1
        yield Piece(before if at else gap, text, "" if last else MARK, last)


def _with_the_end(parts: Iterable[str]) -> list[str]:
    """The last part joined to the one before where it might weigh less than the mark before it:
    what is given of a text weighs more with each piece."""
    *before, last = parts
    if before and weight(last) < SHORT:
        before[-1] += last
        return before
    return [*before, last]


def _code(gap: str, unit: str) -> Iterator[Piece]:
    """Lines of code, a few in a piece; a block that is open where the text ends gets closed."""
    parts = _with_the_end(_clumps(_lines(unit), LONG))
    fence = ""
    for at, part in enumerate(parts):
        text, last = part.removesuffix("\n"), at == len(parts) - 1
        for line in text.split("\n"):
            fence = _open_fence(line, fence)
        mark = ("" if last else f"\n{MARK}") + (f"\n{fence}" if fence else "")
        yield Piece(gap, text, mark, last)
        gap = part[len(text) :]


def _lines(unit: str) -> Iterator[str]:
    for line in unit.splitlines(keepends=True):
        yield from [line] if weight(line) <= LONG else _words(line)


_SENTENCE_END = re.compile(r"(?<=[^\s.][^\s.])[.!?…]+[\"'”’)\]]*\s+|[。！？]+[”’」』）]*\s*")
_WORD = re.compile(r"[^\s、，；：]*+[\s、，；：]+|[^\s、，；：]+")
_CHARACTER = regex.compile(r"\X")
_CHARACTER_LENGTH = 64  # Marks without end on one letter are no character anybody reads.


def _sentences(unit: str, finest: int) -> Iterator[str]:
    """The sentences with the white space after them; in words the first that is over `finest`,
    and each that is over LONG."""
    at = 0
    for end in [*(match.end() for match in _SENTENCE_END.finditer(unit)), len(unit)]:
        sentence, most = unit[at:end], LONG if at else finest
        if weight(sentence) > most:
            yield from _clumps(_words(sentence), most)
        elif sentence:
            yield sentence
        at = end


def _words(sentence: str) -> Iterator[str]:
    for word in _WORD.findall(sentence):
        if weight(word) <= LONG:
            yield word
            continue
        for character in _CHARACTER.findall(word):
            for at in range(0, len(character), _CHARACTER_LENGTH):
                yield character[at : at + _CHARACTER_LENGTH]


def _clumps(parts: Iterable[str], most: int) -> Iterator[str]:
    """As many parts in one as weigh at most `most`; a single part may weigh more."""
    clump, size = "", 0
    for part in parts:
        added = weight(part)
        if clump and size + added > most:
            yield clump
            clump, size = "", 0
        clump, size = clump + part, size + added
    if clump:
        yield clump


def _spaced(parts: Iterable[str]) -> Iterator[tuple[str, str]]:
    """The parts without the white space at their ends, each after that which parted them."""
    gap = ""
    for part in parts:
        text = part.rstrip()
        if text:
            yield gap, text
        gap = part[len(text) :] if text else gap + part
