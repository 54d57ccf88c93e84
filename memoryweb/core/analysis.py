"""Text to terms: the one analysis that index, query, scan and marking share.

Two analyzers. `cjk` (the default) keeps Latin words, cuts Chinese, Japanese and Korean runs
into adjacent pairs plus the whole run, and drops stop words; `octos` is octos-memory's own rule
and exists for parity. Pure functions of the text, linear in its length.
"""

import re
import unicodedata
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import regex

Span = tuple[int, int]


class Analysis(NamedTuple):
    """What one text holds: the terms that are counted, and the stop words that were dropped.

    Dropped stop words are indexed beside the terms, so that a query of nothing but stop words
    can find them, but they add nothing to a document's length: ordinary queries score as if
    they had never been there.
    """

    tokens: list[str]
    stopped: list[str]


class Aligned(NamedTuple):
    """A folded text, and for each of its characters where it came from in the original.

    `starts` and `ends` are None where every character stands at its own old place.
    """

    folded: str
    starts: list[int] | None
    ends: list[int] | None

    def span(self, start: int, end: int) -> Span:
        if self.starts is None or self.ends is None:
            return start, end
        return self.starts[start], self.ends[end - 1]


@dataclass(frozen=True, slots=True)
class Analyzer:
    """One named, versioned way from text to terms, used for the index and for its queries.

    `fold` normalises, `split` cuts a folded text into terms, `locate` gives the same terms with
    their places, and `segments` cuts an original text into pieces that fold independently.
    """

    name: str
    version: int
    fold: Callable[[str], str]
    split: Callable[[str], Analysis]
    locate: Callable[[str], Iterator[tuple[str, int]]]
    segments: "regex.Pattern[str]"

    @property
    def stamp(self) -> str:
        """What an index must carry to be usable: terms change with any of these."""
        return f"{self.name}/{self.version}/unicode-{unicodedata.unidata_version}"

    def analyse(self, text: str) -> Analysis:
        return self.split(self.fold(text))

    def tokens(self, text: str) -> list[str]:
        """The counted terms of a document, in order, repeats kept."""
        return self.analyse(text).tokens

    def query_tokens(self, text: str) -> list[str]:
        """The terms of a query; one made of stop words only searches for those stop words."""
        tokens, stopped = self.analyse(text)
        return tokens or stopped

    def spans(
        self, text: str, terms: Collection[str], beginnings: tuple[str, ...] = ()
    ) -> list[Span]:
        """Where any of `terms` stands in the original text, or a term that begins with one of
        `beginnings`: ordered, non-overlapping spans."""
        wanted = frozenset(terms)
        aligned = self._align(text)
        found = sorted(
            aligned.span(start, start + len(token))
            for token, start in self.locate(aligned.folded)
            if token in wanted or token.startswith(beginnings)
        )
        return merged(found)

    def _align(self, text: str) -> Aligned:
        folded = self.fold(text)
        first = self.segments.match(text)
        if first is None or (first.lastgroup == "plain" and first.end() == len(text)):
            return Aligned(folded, None, None)
        starts: list[int] = []
        ends: list[int] = []
        for match in self.segments.finditer(text):
            start, end = match.span()
            if match.lastgroup == "plain":
                starts.extend(range(start, end))
                ends.extend(range(start + 1, end + 1))
            else:
                length = len(self.fold(match.group()))
                starts.extend([start] * length)
                ends.extend([end] * length)
        return Aligned(folded, starts, ends)


def merged(spans: list[Span]) -> list[Span]:
    """Ordered spans, joined where they touch or overlap, as the pairs of one CJK run do."""
    joined: list[Span] = []
    for start, end in spans:
        if joined and start <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return joined


# --- octos: lowercase, split at what is not alphanumeric, at least two UTF-8 bytes ---------------

# Rust's char::is_alphanumeric is Alphabetic or General_Category N. str.isalnum is not: it leaves
# out the dependent vowel signs of Indic scripts, which are Alphabetic marks.
_ALPHANUMERIC = regex.compile(r"[\p{Alphabetic}\p{N}]+")
_ASCII_ALPHANUMERIC = re.compile(r"[a-z0-9]+")
# The one character whose lowercase is two: U+0130, a capital I with a dot.
_LOWERED_ALONE = regex.compile(r"(?P<plain>[^\u0130]+)|\u0130")


def _two_bytes(term: str) -> bool:
    return len(term) > 1 or not term.isascii()


def _octos_split(folded: str) -> Analysis:
    pattern = _ASCII_ALPHANUMERIC if folded.isascii() else _ALPHANUMERIC
    return Analysis([token for token in pattern.findall(folded) if _two_bytes(token)], [])


def _octos_locate(folded: str) -> Iterator[tuple[str, int]]:
    for match in _ALPHANUMERIC.finditer(folded):
        if _two_bytes(match.group()):
            yield match.group(), match.start()


# --- cjk: NFKC, lowercase, Latin accents folded, CJK runs in pairs --------------------------------

_CHINESE_STOP_WORDS = "的 是 了 什么 在 有 和 与 对 从"
_ENGLISH_STOP_WORDS = (
    "the is a an what how are was were do does did be been being have has had it its "
    "in on at to for of with by this that these those"
)
STOP_WORDS = frozenset([*_CHINESE_STOP_WORDS.split(), *_ENGLISH_STOP_WORDS.split()])

# U+30FC lengthens a kana vowel and belongs to no script; U+3099 and U+309A are kana voice marks.
_CJK = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Bopomofo}\u30fc\u3099\u309a"
_RUN = rf"[{_CJK}]++|[[\p{{Alphabetic}}\p{{N}}\p{{M}}]--[{_CJK}]]++"
# Names that a split at punctuation would destroy. `c++11` is c++ and 11; a Chinese character may
# stand on either side without a space, as in 使用.NET开发.
_NAME = (
    r"[a-z]++\+\+(?![a-z])"
    r"|[a-z]\#(?![a-z])"
    r"|(?<![a-z0-9])\.net(?![a-z0-9])"
    r"|[a-z][a-z0-9]*+\.(?:js|net)(?![a-z0-9])"
)
_NAME_SIGNS = ("++", "#", ".net", ".js")
_PIECE = regex.compile(rf"{_NAME}|{_RUN}", regex.V1)
_PIECE_WITHOUT_NAMES = regex.compile(_RUN, regex.V1)
_CJK_START = regex.compile(rf"[{_CJK}]")

_ACCENTED = regex.compile(r"[\p{Latin}--[a-z]]\p{Mn}*+|[a-z]\p{Mn}++", regex.V1)
_ACCENTS = regex.compile(r"\p{Mn}+")
_INVISIBLE = regex.compile(r"\p{Default_Ignorable_Code_Point}+")

# Where a text may be cut without changing how it folds: between grapheme clusters, unless a jamo
# in one of its compatibility forms follows, which NFKC composes with what stands before it.
# Characters that fold one to one are taken in long plain runs, up to the one before a mark.
_PLAIN = (
    r"[\x00-\x7f\u00b7\u0400-\u0482\u048a-\u052f\u2010-\u2016\u2018-\u2023\u3000-\u3003\u3005-\u3029"
    r"\u3041-\u3096\u30a1-\u30fb\u4e00-\u9fff\uac00-\ud7a3\uff01-\uff5e]"
)
_JAMO = r"[\u1160-\u11ff\u3131-\u318e\u3200-\u321e\u3260-\u327e\ud7b0-\ud7fb\uffa0-\uffdc]"
_FOLDED_ALONE = regex.compile(rf"(?P<plain>{_PLAIN}+(?={_PLAIN}|\Z))|\X{_JAMO}*+")


def _cjk_fold(text: str) -> str:
    """NFKC, lowercase, Latin letters without accents, invisible characters taken out.

    Trademark signs become spaces first: NFKC would glue the letters tm to the word before.
    Accents go from Latin letters only; й is not и. A final sigma is a sigma: which one lower()
    gives depends on the letters around it. Invisible characters (soft hyphen, joiners,
    variation selectors) would cut words in two where a reader sees one.
    """
    if text.isascii():
        return text.lower()
    text = text.replace("\u2122", " ").replace("\u2120", " ")
    folded = unicodedata.normalize("NFKC", text).lower().replace("ς", "σ")
    visible: str = _INVISIBLE.sub("", _ACCENTED.sub(_without_accents, folded))
    return visible


def _without_accents(match: "regex.Match[str]") -> str:
    return _bare(match.group())


@lru_cache(maxsize=4096)
def _bare(letter: str) -> str:
    bare: str = _ACCENTS.sub("", unicodedata.normalize("NFD", letter))
    return bare


def _pieces(folded: str) -> "re.Pattern[str] | regex.Pattern[str]":
    """Finds the runs between white space and punctuation, cut at the borders of CJK."""
    named = any(sign in folded for sign in _NAME_SIGNS)
    if folded.isascii() and not named:
        return _ASCII_ALPHANUMERIC
    return _PIECE if named else _PIECE_WITHOUT_NAMES


def _places(piece: str, start: int = 0) -> Iterator[tuple[str, int]]:
    """The terms of one piece and their places: a CJK run gives its adjacent pairs and itself,
    node.js gives itself, node and js, any other piece itself. `start` is where the piece stands."""
    if len(piece) > 2 and is_cjk(piece):
        for place, (first, second) in enumerate(pairwise(piece), start):
            yield first + second, place
    elif "." in piece[1:]:
        stem, suffix = piece.split(".")
        yield stem, start
        yield suffix, start + len(stem) + 1
    yield piece, start


def is_cjk(term: str) -> bool:
    """Whether a term begins in Chinese, Japanese or Korean, whose runs are cut into pairs."""
    return _CJK_START.match(term) is not None


def _cjk_split(folded: str) -> Analysis:
    tokens: list[str] = []
    stopped: list[str] = []
    for piece in _pieces(folded).findall(folded):
        if piece in STOP_WORDS:
            stopped.append(piece)
        elif piece.isascii() and piece.isalnum():
            tokens.append(piece)
        else:
            tokens.extend(term for term, _ in _places(piece))
    return Analysis(tokens, stopped)


def _cjk_locate(folded: str) -> Iterator[tuple[str, int]]:
    for match in _pieces(folded).finditer(folded):
        yield from _places(match.group(), match.start())


# --- the registry ---------------------------------------------------------------------------------

DEFAULT = "cjk"
ANALYZERS = {
    "cjk": Analyzer("cjk", 1, _cjk_fold, _cjk_split, _cjk_locate, _FOLDED_ALONE),
    "octos": Analyzer("octos", 1, str.lower, _octos_split, _octos_locate, _LOWERED_ALONE),
}


def analyzer(name: str = DEFAULT) -> Analyzer:
    """The analyzer of that name; ValueError names the ones there are."""
    try:
        return ANALYZERS[name]
    except KeyError:
        raise ValueError(f"no analyzer {name!r}; there are {', '.join(ANALYZERS)}") from None
