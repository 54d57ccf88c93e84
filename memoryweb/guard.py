"""The guard tried on any text: what it finds and how that is read, without storing anything."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from bank.models import Kind
from bank.texts import Text
from memoryweb.core.guard import Finding, scan, scan_page
from memoryweb.core.guard.rule import Posture, Rule
from memoryweb.core.guard.rules import RULES

KINDS = {
    "instruction-override": "It sets aside what the agent was told before.",
    "role-hijack": "It makes the agent somebody else, or speaks as its system.",
    "conceal-from-user": "It keeps something from the person.",
    "credential-exfil": "It wants secrets sent or shown.",
    "image-beacon": "It has the reader fetch an address that tells what it read.",
    "tool-coercion": "It has the agent run something that nobody asked for.",
}


@dataclass(frozen=True)
class Group:
    """The rules of one kind."""

    kind: str
    about: str
    rules: tuple[Rule, ...]


def check(text: str, *, posture: Posture = "injected", name: str = "") -> list[Finding]:
    """What the guard finds in a text; with a name, in a page of that name, as a save asks it."""
    if not name:
        return scan(text, posture=posture)
    abstract = Text(Kind.ENTITY, name, text).read.abstract
    return scan_page(name, text, abstract, posture=posture)


def groups() -> Iterator[Group]:
    """All rules by their kinds, in the order of the kinds."""
    order = list(KINDS)
    rules = sorted(RULES, key=lambda rule: order.index(rule.kind))
    for kind, members in groupby(rules, key=lambda rule: rule.kind):
        yield Group(kind, KINDS[kind], tuple(members))
