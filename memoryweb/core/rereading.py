"""Reading stored texts again when the guard's rules changed: what apps give, and what is caught.

Each app says which texts it holds, in an order that stays, and how one is held back. A slice is
planned here from what was read, without a transaction, and applied in a short one.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from memoryweb.core import clock, quarantine
from memoryweb.core.guard import Finding


@dataclass(frozen=True)
class Stored:
    """A stored text as it was read; `position` is its place in the order."""

    position: str
    document: str
    text: str
    inspect: Callable[[], list[Finding]] = field(repr=False)


@dataclass(frozen=True)
class Source:
    """The texts of one collection that no curator has to decide about yet.

    `after` gives some that follow a position, "" for the first. `settle` does what the findings
    ask for, in the transaction of the slice; False when the text is another by now.
    """

    name: str
    count: Callable[[], int]
    after: Callable[[str], Sequence[Stored]]
    settle: Callable[[clock.Writing, Stored, Sequence[Finding]], bool]


@dataclass(frozen=True)
class Slice:
    """What was read, in order, and what was found in it that no curator has approved.

    `last`: nothing follows what was read.
    """

    read: tuple[tuple[Stored, list[Finding]], ...]
    last: bool


def plan(source: Source, position: str, until: float) -> Slice:
    """Read texts after the position until the time has come; at least one, if there is any."""
    stored = source.after(position)
    found: list[tuple[Stored, list[Finding]]] = []
    for one in stored:
        if found and time.monotonic() >= until:
            break
        found.append((one, one.inspect()))
    caught = [one.document for one, findings in found if findings]
    approved = quarantine.approvals(source.name, caught) if caught else {}
    read = tuple(
        (one, quarantine.unapproved(one.text, findings, approved.get(one.document, ())))
        for one, findings in found
    )
    return Slice(read, last=not stored)


def settled(tx: clock.Writing, source: Source, read: Iterable[tuple[Stored, list[Finding]]]) -> int:
    """Hold back what was caught; how many texts are dealt with. One that changed is read again,
    with all that follow it."""
    count = 0
    for stored, findings in read:
        if not source.settle(tx, stored, findings):
            break
        count += 1
    return count
