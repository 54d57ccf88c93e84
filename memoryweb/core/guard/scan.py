"""Scanning a text, a page and the rows of a summary.

`scan` reads every view of a text against every rule. Nothing here keeps state or does I/O.
"""

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

from memoryweb.core.guard.disguises import views
from memoryweb.core.guard.rule import Posture, Rule
from memoryweb.core.guard.rulebook import RULEBOOKS, Reader
from memoryweb.core.guard.views import Span, View

MAX_FINDINGS = 50
MAX_EXCERPT = 160
# A longer text is read in pieces that overlap by more than any rule spans.
_PIECE = 1_000_000
_OVERLAP = 2_000

# A row is read together with this many before it: an attack can be split over them.
ROWS_BEFORE = 4

# What comes before a match that only mentions or forbids it.
_MENTION = re.compile(
    r"\b(?:phrases?|strings?|wording|sentences?|patterns?|terms?|texts?|words|like|such as|e\.g\.|"
    r"examples?|called|keywords?|payloads?)[:,]? ?(?:like |such as )?[\"'`‘“]$"
)
_NEGATION = re.compile(
    r"(?:\bnot|n['’]t|\bnever|\bcannot|\bavoid|\bprevents?|\brefuses? to|\bagainst|\battempts? to)"
    r"(?:[^\w.!?\n]{1,4}\w{1,12})?[^\w.!?\n]{1,4}$|(?:不要|不得|切勿|禁止|防止|避免|不能)$"
)
_ROW_NAME = re.compile(r"^[-*] \*\*[^*]{1,300}\*\*: ?")
_CLOSING_QUOTE = re.compile(r"[^\"'`’”]{0,60}[\"'`’”]")


@dataclass(frozen=True)
class Finding:
    """What a rule found. `span` is in the text as it was given, None for a joined form."""

    rule: str
    kind: str
    reason: str
    span: Span | None
    view: str
    excerpt: str

    def as_json(self) -> dict[str, object]:
        """The shape in which the API tells it."""
        return {**asdict(self), "span": list(self.span) if self.span else None}


def scan(text: str, *, posture: Posture = "injected") -> list[Finding]:
    """What the rules find in the text, in the order in which it stands there."""
    found: list[Finding] = []
    for offset in range(0, max(len(text), 1), _PIECE - _OVERLAP):
        for finding in _scan_piece(text[offset : offset + _PIECE], posture):
            start, end = finding.span or (0, 0)
            found.append(replace(finding, span=(start + offset, end + offset)))
        if offset + _PIECE >= len(text):
            break
    return sorted(found, key=lambda finding: finding.span or (0, 0))[:MAX_FINDINGS]


def _scan_piece(text: str, posture: Posture) -> list[Finding]:
    """Each rule's findings are those of the first view that shows any."""
    found: list[Finding] = []
    reader = Reader(RULEBOOKS[posture])
    for view in views(text):
        settled = {finding.rule for finding in found}
        for rule, span in reader.matches(view, settled):
            original = view.folded.origin(span)
            if _is_excused(rule, text, original):
                continue
            if not any(_tells_the_same(rule, original, other) for other in found):
                found.append(_finding(rule, view, span, original, text))
            if len(found) >= MAX_FINDINGS:
                return found
    return found


def _is_excused(rule: Rule, text: str, span: Span) -> bool:
    """Whether the text only mentions the words in quotes, or says not to do it."""
    if not rule.excuses:
        return False
    before = text[max(0, span[0] - 60) : span[0]].lower()
    if _MENTION.search(before):
        return _CLOSING_QUOTE.match(text, span[1]) is not None
    return _NEGATION.search(before) is not None


def _tells_the_same(rule: Rule, span: Span, other: Finding) -> bool:
    start, end = other.span or (0, 0)
    return rule.id == other.rule and span[0] < end and start < span[1]


def _finding(rule: Rule, view: View, span: Span, original: Span, text: str) -> Finding:
    read = view.folded.text[slice(*span)]
    excerpt = text[slice(*original)] if view.name == "raw" else f"decoded({read})"
    return Finding(
        rule=rule.id,
        kind=rule.kind,
        reason=rule.reason,
        span=original,
        view=view.name,
        excerpt=" ".join(excerpt.split())[:MAX_EXCERPT],
    )


def scan_page(
    name: str, content: str, abstract: str, *, posture: Posture = "injected"
) -> list[Finding]:
    """What the rules find in a page and in the forms in which its name and abstract are shown.

    Findings outside the content have no span; their view tells the form.
    """
    found = scan(content, posture=posture)
    forms = {
        "name": name,
        "abstract": abstract,
        "summary row": f"- **{name}**: {abstract}",
        "name and abstract": f"{name} {abstract}",
    }
    for form, text in forms.items():
        for finding in scan(text, posture=posture):
            if finding.rule not in {other.rule for other in found}:
                found.append(replace(finding, span=None, view=f"{form}, {finding.view}"))
    return found


def scan_rows(rows: Sequence[str], *, posture: Posture = "injected") -> list[int]:
    """The rows to leave out: those that hit alone or joined with up to `ROWS_BEFORE` kept ones.

    Without them, no five rows in a row of what is left say what a rule looks for, be they read with
    their names or without.
    """
    if not _rows_hit(rows, posture):
        return []
    kept: list[str] = []
    left_out = []
    for index, row in enumerate(rows):
        if _rows_hit([row], posture) or _rows_hit([*kept, row], posture):
            left_out.append(index)
        else:
            kept = [*kept, row][-ROWS_BEFORE:]
    return left_out


def _rows_hit(rows: Sequence[str], posture: Posture) -> bool:
    as_shown = "\n".join(rows)
    without_names = "\n".join(_ROW_NAME.sub("", row) for row in rows)
    return bool(scan(as_shown, posture=posture) or scan(without_names, posture=posture))
