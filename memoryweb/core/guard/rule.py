"""What a rule is."""

from dataclasses import dataclass
from typing import Literal

Kind = Literal[
    "instruction-override",
    "role-hijack",
    "conceal-from-user",
    "credential-exfil",
    "image-beacon",
    "tool-coercion",
]
Posture = Literal["injected", "recalled"]

BOTH: tuple[Posture, ...] = ("injected", "recalled")
INJECTED: tuple[Posture, ...] = ("injected",)


@dataclass(frozen=True)
class Rule:
    """One thing no stored text should say.

    `phrases` are in the language of `phrases.py`; `patterns` are regular expressions on folded
    text, each with the words or signs of which a text must hold one. `postures` are those in which
    it counts. What the regular expression `unless` finds from the start of a match to the end of
    its sentence makes it harmless. Every example is found by this very rule, every pass is left
    alone by all of them.
    """

    id: str
    kind: Kind
    reason: str
    phrases: str = ""
    patterns: tuple[tuple[str, str], ...] = ()
    unless: str = ""
    postures: tuple[Posture, ...] = BOTH
    excuses: bool = True  # whether a quoted mention or a negation before it makes it harmless
    examples: tuple[str, ...] = ()
    passes: tuple[str, ...] = ()
