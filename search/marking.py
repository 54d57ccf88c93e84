"""Texts cut into marked and unmarked parts, and to the piece around the first match. No markup:
a template escapes each part and marks it."""

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from memoryweb.core.analysis import Analyzer, Span

LENGTH = 360  # characters of a piece
BEFORE = 80  # of them before the first match
LOOKED_AT = 20_000  # characters of a long text in which matches are looked for


class Part(NamedTuple):
    marked: bool
    text: str


def marked(text: str, analyzer: Analyzer, terms: Collection[str]) -> list[Part]:
    """The whole text in parts; those that hold one of the terms are marked."""
    return list(_parts(text, analyzer.spans(text, terms), 0, len(text)))


def piece(text: str, analyzer: Analyzer, terms: Collection[str]) -> list[Part]:
    """About 360 characters in parts, cut at words, with the first match near their beginning."""
    looked_at = text[:LOOKED_AT]
    spans = analyzer.spans(looked_at, terms)
    start = _start(looked_at, spans[0][0]) if spans else 0
    end = _end(text, start + LENGTH)
    parts = list(_parts(text, spans, start, end))
    before = [Part(False, "… ")] if start else []
    after = [Part(False, " …")] if end < len(text) else []
    return before + parts + after


def rest_of(text: str, title: str) -> str:
    """What a text holds beside the title that was made of its first line; where the title breaks
    off, the rest says so."""
    text, stem = text.strip(), title.removesuffix("…")
    line = text.lstrip("# ")  # A page's title is its heading.
    if not line.startswith(stem):
        return text
    rest = line[len(stem) :].strip()
    return f"…{rest}" if rest and stem != title else rest


def _start(text: str, match: int) -> int:
    """The first word that begins less than BEFORE characters before the match."""
    if match <= BEFORE:
        return 0
    earliest = match - BEFORE
    blank = text.find(" ", earliest, match)
    return earliest if blank < 0 else blank + 1


def _end(text: str, wanted: int) -> int:
    if wanted >= len(text):
        return len(text)
    blank = text.rfind(" ", wanted - BEFORE, wanted)
    return wanted if blank < 0 else blank


def _parts(text: str, spans: Sequence[Span], start: int, end: int) -> Iterator[Part]:
    """The text from `start` to `end`, cut at the borders of the spans."""
    here = start
    for first, last in spans:
        first, last = max(first, here), min(last, end)
        if first >= last:
            continue
        if here < first:
            yield Part(False, text[here:first])
        yield Part(True, text[first:last])
        here = last
    if here < end:
        yield Part(False, text[here:end])
