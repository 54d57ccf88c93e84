"""The small language in which rules say what an attack sounds like.

    {ignore} ..3 {earlier} ..2 [instructions|orders]

is a word of the class `ignore`, at most three words, a word of the class `earlier`, at most two
words, one of two words. A plain word stands for itself, `_` inside a word for whatever separates
words, `?` after an item makes it optional, `<address>` is where something could be sent to. No gap
runs over the end of a sentence. In scripts that put no spaces between words the number counts
characters.

A phrase is linear by construction: a sequence of alternations of fixed strings with bounded gaps
between them, every unbounded repeat possessive.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from textwrap import dedent

_ITEM = re.compile(r"\.\.(\d+)|(\[[^\]]+\]|[^\s?]+)(\?)?")
_SHAPES = {
    "address": r"(?:[a-z0-9._+-]{1,64}@\w[\w.-]{0,80}|(?:https?|ftp)://\S{1,200}|www\.\S{1,200})"
}
_BREAK = r"[^\w.!?(){}=]{1,8}"
# Latin letters spell words with spaces between; elsewhere marks and particles blur their ends.
_LATIN = re.compile(r"[a-z0-9' _-]+")
_KEY = re.compile(r"[^\W\d_]+")

Needs = tuple[frozenset[str], ...]


@dataclass(frozen=True)
class Phrase:
    """One wording. `needs` are sets of words, of each of which a text must have one."""

    needs: Needs
    expression: str  # a regular expression
    spaced: bool  # whether the script puts spaces between words


@dataclass(frozen=True)
class _Item:
    words: tuple[str, ...]
    shape: str  # a regular expression in place of words
    optional: bool
    gap: int  # how much may stand before it


def lines(block: str) -> list[str]:
    """The phrases of a block of text, one a line; a line that is indented deeper goes on."""
    return re.sub(r"\n +", " ", dedent(block).strip()).splitlines()


def parsed(source: str, classes: Mapping[str, str]) -> Phrase:
    """The phrase that `source` describes; KeyError for a class nobody defined."""
    items = _items(source, classes)
    spaced = all(_LATIN.fullmatch(word) for item in items for word in item.words)
    needs = tuple(
        frozenset(_key(word, spaced) for word in item.words)
        for item in items
        if item.words and not item.optional
    )
    return Phrase(needs, _spaced(items) if spaced else _unspaced(items), spaced)


def _items(source: str, classes: Mapping[str, str]) -> list[_Item]:
    items, gap = [], 0
    for distance, item, optional in _ITEM.findall(source):
        if distance:
            gap = int(distance)
            continue
        shape = _SHAPES[item[1:-1]] if item[0] == "<" else ""
        words = () if shape else _words(item, classes)
        items.append(_Item(words, shape, bool(optional), gap))
        gap = 0
    return items


def _words(item: str, classes: Mapping[str, str]) -> tuple[str, ...]:
    """The words that an item stands for, those of its classes included."""
    parts = [part.strip() for part in item.strip("[]").split("|")]
    words = [
        word
        for part in parts
        for word in (classes[part[1:-1]].split() if part[0] == "{" else (part,))
    ]
    plurals = [word.replace("+", "s") for word in words if word.endswith("+")]
    return (*(word.removesuffix("+") for word in words), *plurals)


def _key(word: str, spaced: bool) -> str:
    """What of a word the text is asked for: its longest run of letters, or all of it."""
    return max(_KEY.findall(word), key=len) if spaced else word.split("_")[0]


def _alternation(words: tuple[str, ...], between: str) -> str:
    longest_first = sorted(words, key=len, reverse=True)
    escaped = (re.escape(word).replace("_", between).replace("'", "'?") for word in longest_first)
    return f"(?:{'|'.join(escaped)})"


def _spaced(items: list[_Item]) -> str:
    parts = []
    for index, item in enumerate(items):
        gap = rf"(?:{_BREAK}\w++){{0,{item.gap}}}?" if item.gap else ""
        word = item.shape or _alternation(item.words, _BREAK) + r"\b"
        part = rf"{gap}{_BREAK}{word}" if index else rf"\b{word}"
        parts.append(f"(?:{part})?" if item.optional else part)
    return "".join(parts)


def _unspaced(items: list[_Item]) -> str:
    parts = []
    for index, item in enumerate(items):
        gap = rf"[^.!?。！？]{{0,{max(item.gap, 1)}}}?" if index else ""
        part = gap + (item.shape or _alternation(item.words, r"\W{0,2}"))
        parts.append(f"(?:{part})?" if item.optional else part)
    return "".join(parts)
