"""What the guard found, made ready for a page: where it stands, and how it was disguised.

No markup: a template escapes each segment, marks the changed ones and draws what is invisible.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bank.diff import Segment, drawn
from memoryweb.core.errors import Refused
from memoryweb.core.guard import Finding

AROUND = 120  # Characters shown on each side of what was found.
_DISGUISES = {
    "tags": "in invisible tag characters",
    "plain": "with invisible or unusual characters",
    "skeleton": "in letters that only look Latin",
    "markup": "with markup between the words",
    "separators": "with signs between the words",
    "joined": "with its letters apart or its words together",
    "leet": "with digits and signs for letters",
    "unshuffled": "with its letters in another order",
    "reversed": "backwards",
    "html-entity": "in HTML entities",
    "character-codes": "in character codes",
}


@dataclass(frozen=True, slots=True)
class Shown:
    """One finding. `piece` is the text around it, the match marked; `line` counts from 1.

    A finding that is not in the text itself has `where`, the form in which it was found, and no
    piece. `reads` is what a disguised match says, `disguise` how it was written.
    """

    rule: str
    kind: str
    reason: str
    line: int | None
    piece: tuple[Segment, ...]
    where: str
    reads: str
    disguise: str


def shown(text: str, findings: Iterable[Finding]) -> list[Shown]:
    """Each finding of this text as a person is shown it, in the order given."""
    return [_shown(text, finding) for finding in findings]


def objections(refusal: Refused) -> list[Shown]:
    """What the guard found in the text that it let nobody save."""
    return shown(refusal.text, refusal.findings)


def marked(text: str, findings: Iterable[Finding]) -> list[Segment]:
    """The whole text in segments; what was found is marked as changed."""
    spans = [finding.span for finding in findings if finding.span]
    return list(_segments(text, spans, 0, len(text)))


def stored(rows: Sequence[Mapping[str, Any]]) -> list[Finding]:
    """The findings that were kept with a text in quarantine."""
    return [Finding(**{**row, "span": tuple(row["span"]) if row["span"] else None}) for row in rows]


def _shown(text: str, finding: Finding) -> Shown:
    *form, view = finding.view.split(", ")
    plain = view == "raw"
    read = finding.excerpt if plain else finding.excerpt.removeprefix("decoded(").removesuffix(")")
    return Shown(
        rule=finding.rule,
        kind=finding.kind,
        reason=finding.reason,
        line=text.count("\n", 0, finding.span[0]) + 1 if finding.span else None,
        piece=tuple(_piece(text, finding.span)) if finding.span else (),
        where=", ".join(form),
        reads="" if plain and finding.span else read,
        disguise="" if plain else _disguise(view),
    )


def _disguise(view: str) -> str:
    cipher = view.startswith("rot") or view == "atbash"
    return _DISGUISES.get(view, "in a letter cipher" if cipher else f"in {view}")


def _piece(text: str, span: tuple[int, int]) -> Iterator[Segment]:
    """The match with what stands around it in its lines."""
    line_start = text.rfind("\n", 0, span[0]) + 1
    line_end = text.find("\n", span[1])
    start = max(span[0] - AROUND, line_start)
    end = min(span[1] + AROUND, line_end if line_end >= 0 else len(text))
    if start > line_start:
        yield Segment("… ")
    yield from _segments(text, [span], start, end)
    if end < len(text) and text[end] != "\n":
        yield Segment(" …")


def _segments(
    text: str, spans: Sequence[tuple[int, int]], start: int, end: int
) -> Iterator[Segment]:
    """The text from `start` to `end`, cut at the borders of the spans, which may overlap."""
    here = start
    for first, last in sorted(spans):
        first, last = max(first, here), min(last, end)
        if first < last:
            yield from drawn(text[here:first], limit=None)
            yield from drawn(text[first:last], True, limit=None)
            here = last
    yield from drawn(text[here:end], limit=None)
