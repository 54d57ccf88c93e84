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

# What comes before a match in quotes that only mentions it. Who reads an injected text may obey
# what it quotes: there nothing but the match may be quoted, named by its kind, within a sentence.
_MENTION = re.compile(
    r"(?<![.\w@/])(?:phrases?|strings?|wordings?|sentences?|patterns?|terms?|texts?|words|like|"
    r"such as|e\.g\.|examples?|called|keywords?|payloads?)[:,]? ?(?:like |such as )?[\"'`‘“]$"
)
_MENTION_BY_KIND = re.compile(
    r"(?<![.\w@/])(?:phrase|string|wording|sentence|pattern|term|keyword)s? (?:like |such as )?"
    r"[\"'`‘“]$"
)
# What forbids the words after it, or tells of their prevention.
_NEGATION = re.compile(
    r"(?:\bnot|n['’]t|\bnever|\bcannot|\bavoid|\bprevents?|\brefuses? to|\bagainst|\battempts to"
    r"|(?<!lway)s attempt to)"
    r"(?:[ *_]{1,4}(?:ever|to|from|the|blindly|silently|accidentally|(?:try|attempt) to))?"
    r"[ \t*_]{1,5}$"
    r"|(?:不要|不得|切勿|禁止|防止|避免|不能)$"
)
# What makes an order of a negation again, or only asks or supposes: not refuse to, why not.
_REVERSAL = re.compile(
    r"\b(?:not|never|no|nothing|nobody|none|cannot|if|unless|until|when|whenever|whoever)\b|n['’]t\b"
    r"|\bwhy (?:(?:do|should|would|can|could|must) )?(?:you |we )?$"
)
_CLAUSE_END = re.compile(r"[,;:.!?\n(){}—–]")
# How far before a match an excuse may stand.
_EXCUSE_REACH = 80
_ROW_NAME = re.compile(r"^[-*] \*\*[^*]{1,300}\*\*: ?")
_CLOSING_QUOTE = re.compile(r"[^\"'`’”]{0,60}[\"'`’”]")
_SENTENCE_GOES_ON = re.compile(
    r"[\"'`’”] (?:in|is|are|be|was|were|as|should|must|can|may|might|would|from|when|for|because)\b"
)
_EXCUSING_MENTION = {
    "injected": (_MENTION_BY_KIND, _SENTENCE_GOES_ON),
    "recalled": (_MENTION, _CLOSING_QUOTE),
}


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

        def excused(rule: Rule, span: Span, view: View = view) -> bool:
            return _is_excused(rule, view, span, text, posture)

        for rule, span in reader.matches(view, settled, excused):
            original = view.folded.origin(span)
            if not any(_tells_the_same(rule, original, other) for other in found):
                found.append(_finding(rule, view, span, original, text))
            if len(found) >= MAX_FINDINGS:
                return found
    return found


def _is_excused(rule: Rule, view: View, span: Span, text: str, posture: Posture) -> bool:
    """Whether the text says not to do it, in plain letters, or only mentions it in quotes."""
    if not rule.excuses:
        return False
    start, end = view.folded.origin(span)
    before = text[max(0, start - _EXCUSE_REACH) : start].lower()
    if _is_negated(before):
        return _letters(view.folded.text[slice(*span)]) == _letters(text[start:end])
    mention, rest = _EXCUSING_MENTION[posture]
    return bool(mention.search(before) and rest.match(text, end))


def _is_negated(before: str) -> bool:
    clause = _CLAUSE_END.split(before)[-1]
    negation = _NEGATION.search(clause)
    return negation is not None and not _REVERSAL.search(clause, 0, negation.start())


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.lower()))


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
