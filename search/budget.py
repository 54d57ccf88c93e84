"""What of a context fits into a budget of tokens, and how the sections share it.

The sections take turns, one piece at a time: next is the one that has been given least for its
share; long-term memory begins, and the others join when it has a little. What a section does not
need goes to the others in the same way. The order of the pieces does not depend on the budget,
which only says where it ends. So a larger budget takes nothing from any section, and a longer text
takes from the others no more than its share. Pure functions of values.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

from search.pieces import QUARTERS, Piece, tokens, weight

LONG_TERM = "Long-term Memory"
RECENT = "Recent Activity"
TODAY = "Today's Notes"
BANK = "Memory Bank"
EXPERIENCES = "Relevant Past Experiences"
# As they stand in the text. What a query found comes last: all before it stays the same from
# query to query, as caches of prompts like it.
ORDER = (LONG_TERM, RECENT, TODAY, BANK, EXPERIENCES)
# The last line may shorten the rest where that is so many times as long: the line that counts what
# was left out where there is ample room, the one that only names it in little room.
COUNTING_PART, NAMING_PART = 4, 2


@dataclass(frozen=True)
class Share:
    """What a section gets while long-term memory gets eight tokens, once that had `after`."""

    tokens: int
    after: int


# In the order of the budget, which decides where two sections were given the same.
SHARES = {
    LONG_TERM: Share(8, 0),
    TODAY: Share(4, 40),
    BANK: Share(3, 80),
    EXPERIENCES: Share(3, 80),
    RECENT: Share(2, 120),
}


@dataclass(frozen=True)
class Section:
    """What there is to give: `units` paragraphs, or whatever `noun` calls one, in pieces.

    Pieces of the last units may be lacking where those that are there weigh more than the budget.
    """

    name: str
    noun: str
    pieces: Sequence[Piece]
    units: int

    @property
    def heading(self) -> str:
        return f"## {self.name}\n\n"


@dataclass(frozen=True)
class Given:
    """A section as it is given: `text` with its heading, or nothing.

    `included` units are there, the last perhaps in part; of `omitted` ones something is missing.
    Its tokens are rounded down, so that those of all sections are never more than the whole's.
    """

    name: str
    noun: str
    text: str
    tokens: int
    units: int
    included: int
    omitted: int


@dataclass(frozen=True)
class Fitted:
    """A context of `tokens`, never more than the budget. `last_line` names what was left out."""

    text: str
    tokens: int
    sections: tuple[Given, ...]
    last_line: str


def fit(sections: Sequence[Section], budget: int, skipped: int = 0) -> Fitted:
    """As much of the sections as `budget` tokens hold, in the order in which they are passed.

    `skipped` texts were kept out by the guard, which the last line tells too.
    """
    taken = _taken(sections, budget * QUARTERS, skipped)
    bodies = [_body(each, count) for each, count in zip(sections, taken, strict=True)]
    units = [_whole(each, count) for each, count in zip(sections, taken, strict=True)]
    parts = [body for body in bodies if body]
    for line in (*_last_lines(sections, units, skipped), ""):
        text = "\n".join([*parts, f"{line}\n"] if line else parts)
        if weight(text) <= budget * QUARTERS:
            break
    given = [_given(*each) for each in zip(sections, taken, bodies, strict=True)]
    return Fitted(text, tokens(weight(text)), tuple(given), line)


def _taken(sections: Sequence[Section], room: int, skipped: int) -> list[int]:
    """How many pieces of each section fit into so many quarters of a token."""
    counting, naming = (
        weight(line) + 2 for line in _last_lines(sections, [0] * len(sections), skipped)
    )
    with_line = _beside(naming, NAMING_PART, room)
    with_line = max(
        min(with_line, _beside(naming, NAMING_PART, COUNTING_PART * counting)), room - counting
    )
    everything = sum(len(each.pieces) for each in sections)
    fitting = [0] * len(sections)
    for step, (taken, cost, marks) in enumerate(_steps(sections), start=1):
        if cost + marks <= (room if step == everything else with_line):
            fitting = taken
        if cost > room:
            break
    return fitting


def _beside(line: int, part: int, room: int) -> int:
    """How much of the room is left beside a line; as much as before it where there is little."""
    return max(min(room, part * line), room - line)


def _steps(sections: Sequence[Section]) -> Iterator[tuple[list[int], int, int]]:
    """After each turn: the pieces taken of each section, what they cost, and what their marks."""
    taken, marks, cost = [0] * len(sections), [0] * len(sections), -1
    for index, piece in _turns(sections):
        cost += _cost(sections[index], taken[index], piece)
        taken[index] += 1
        marks[index] = weight(piece.mark)
        yield list(taken), cost, sum(marks)


def _turns(sections: Sequence[Section]) -> Iterator[tuple[int, Piece]]:
    """The pieces in the order in which there is room for them, each with its section's index."""
    ranks = {name: rank for rank, name in enumerate(SHARES)}
    shares = [SHARES[each.name] for each in sections]
    turns = [
        (shares[at].after / SHARES[LONG_TERM].tokens, ranks[each.name], at, 0)
        for at, each in enumerate(sections)
        if each.pieces
    ]
    heapify(turns)
    while turns:
        moment, rank, at, number = heappop(turns)
        piece = sections[at].pieces[number]
        yield at, piece
        if number + 1 < len(sections[at].pieces):
            moment += _cost(sections[at], number, piece) / QUARTERS / shares[at].tokens
            heappush(turns, (moment, rank, at, number + 1))


def _cost(section: Section, number: int, piece: Piece) -> int:
    """A piece's quarters of a token; with the first, its section's heading and ends of lines."""
    before = weight(piece.gap) if number else weight(section.heading) + 2
    return before + weight(piece.text)


# What is given


def _body(section: Section, count: int) -> str:
    if not count:
        return ""
    first, *others = section.pieces[:count]
    text = first.text + "".join(piece.gap + piece.text for piece in others)
    return f"{section.heading}{text}{section.pieces[count - 1].mark}\n"


def _whole(section: Section, count: int) -> int:
    return sum(piece.ends for piece in section.pieces[:count])


def _given(section: Section, count: int, body: str) -> Given:
    whole = _whole(section, count)
    partly = bool(count) and not section.pieces[count - 1].ends
    return Given(
        name=section.name,
        noun=section.noun,
        text=body,
        tokens=weight(body) // QUARTERS,
        units=section.units,
        included=whole + partly,
        omitted=section.units - whole,
    )


def _last_lines(sections: Sequence[Section], whole: Sequence[int], skipped: int) -> tuple[str, str]:
    """The line that counts what was left out, and a shorter one that names the sections."""
    missing = [
        (each, count) for each, count in zip(sections, whole, strict=True) if count < each.units
    ]
    guard = [f"Kept out by the guard: {skipped:,}."] if skipped else []
    if not missing:
        return " ".join(guard), " ".join(guard)
    counted = "; ".join(_missing(*each) for each in missing)
    named = ", ".join(each.name for each, _ in missing)
    return (
        " ".join([f"Left out for lack of room: {counted}.", *guard]),
        " ".join([f"Left out: {named}.", *guard]),
    )


def _missing(section: Section, whole: int) -> str:
    nouns = section.noun if section.units == 1 else f"{section.noun}s"
    return f"{section.units - whole:,} of {section.units:,} {nouns} of {section.name}"
