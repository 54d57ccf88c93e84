"""How a paragraph is added to the note of a day, and what the guard finds in it there. Pure."""

from dataclasses import replace

from memoryweb.core.guard import Finding, scan

_TAIL = 4_000  # Characters of a note that are read with what is added: more than a rule spans.


def joined(before: str, addition: str, name: str) -> str:
    """The note with the paragraph at its end, under the one heading that a note has."""
    if not before.strip():
        return f"{before}## {name}\n\n{addition}\n"
    gap = "\n" if before.endswith("\n\n") else "\n\n"
    return f"{before.removesuffix(chr(10))}{gap}{addition}\n"


def without_heading(text: str, name: str) -> str:
    """What is added without the `## date` heading that agents put before each addition."""
    heading, _, rest = text.lstrip().partition("\n")
    return rest if heading.strip() == f"## {name}" else text


def findings_at_end(before: str, addition: str) -> list[Finding]:
    """What the guard finds in an addition, also where it continues what stands before it."""
    tail = before[-_TAIL:]
    whole = f"{tail}\n\n{addition}"
    return [
        replace(one, span=_shifted(one.span, len(tail) + 2))
        for one in scan(whole)
        if one.span is None or one.span[1] > len(tail)
    ]


def _shifted(span: tuple[int, int] | None, by: int) -> tuple[int, int] | None:
    return span and (max(0, span[0] - by), max(0, span[1] - by))
