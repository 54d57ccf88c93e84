"""No text can make a pattern slow: the patterns' own structure shows it, not a clock."""

import re
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from memoryweb.core.guard import ciphers, decoders, disguises, rulebook, views
from memoryweb.core.guard.disguises import MAX_GROWTH, MAX_VIEWS
from memoryweb.core.guard.rulebook import RULEBOOKS

# The package's name `scan` is the function; the patterns are in the module.
SCANNING = sys.modules["memoryweb.core.guard.scan"]
_PARSER: Any = re._parser  # type: ignore[attr-defined]
_BACKTRACKING = {_PARSER.MAX_REPEAT, _PARSER.MIN_REPEAT}

# More ways than this to match one place would be felt; nested repeats multiply their ways.
MOST_WAYS = 500


def every_pattern() -> list[tuple[str, re.Pattern[str]]]:
    found = [(matcher.rule.id, matcher.pattern) for matcher in RULEBOOKS["injected"].matchers()]
    found += [
        (f"{matcher.rule.id}, unless", matcher.unless)
        for matcher in {m.rule.id: m for m in RULEBOOKS["injected"].matchers()}.values()
        if matcher.unless
    ]
    found += [(decoder.name, decoder.run) for decoder in decoders.DECODERS]
    for module in (ciphers, decoders, disguises, rulebook, views, SCANNING):
        found += [(n, value) for n, value in vars(module).items() if isinstance(value, re.Pattern)]
    return found


def faults(sequence: Any, ways: int = 1, last: bool = True) -> Iterator[str]:
    """What could make a pattern slower than linear.

    `ways` is in how many ways the repeats around can match, `last` whether nothing comes after.
    """
    for index, (operation, argument) in enumerate(sequence):
        ends = last and index == len(sequence) - 1
        if operation in _BACKTRACKING:
            _, most, body = argument
            if most is _PARSER.MAXREPEAT:
                if ways > 1 or not ends or len(set(body.getwidth())) > 1:
                    yield "an unbounded repeat that can give back"
            elif ways * most > MOST_WAYS:
                yield "repeats in repeats"
            yield from faults(body, ways * (2 if most is _PARSER.MAXREPEAT else most), False)
        elif operation is _PARSER.POSSESSIVE_REPEAT:
            yield from faults(argument[2], 1, False)
        elif operation is _PARSER.SUBPATTERN:
            yield from faults(argument[3], ways, ends)
        elif operation is _PARSER.BRANCH:
            for branch in argument[1]:
                yield from faults(branch, ways, ends)
        elif operation in (_PARSER.ASSERT, _PARSER.ASSERT_NOT):
            yield from faults(argument[1], ways, False)


@pytest.mark.parametrize(
    ("name", "pattern"), every_pattern(), ids=[name for name, _ in every_pattern()]
)
def test_a_pattern_takes_linear_time(name: str, pattern: re.Pattern[str]) -> None:
    assert list(faults(_PARSER.parse(pattern.pattern, pattern.flags))) == [], (
        name,
        pattern.pattern,
    )


@pytest.mark.parametrize(
    "slow", [r"(\w+\s?)*instructions", r"\s+x", r"(?:a|ab){1,40}(?:b{1,40}c){1,40}d", r"(a*)*"]
)
def test_a_slow_pattern_would_be_noticed(slow: str) -> None:
    assert list(faults(_PARSER.parse(slow)))


@pytest.mark.parametrize(
    "unit",
    [
        "ﷺ",
        "&nGt;",
        "aiasisan",
        "𝐢𝐠",
        "ế",
        "%41\\u0041&#65;",
        "vtaber cerivbhf erongi suoiverp ignroe 1gn0re é ",
    ],
)
def test_views_stay_few_and_small(unit: str) -> None:
    text = unit * (20_000 // len(unit))
    seen = list(disguises.views(text))
    assert len(seen) <= MAX_VIEWS
    assert max(len(view.folded.text) for view in seen) <= MAX_GROWTH * len(text)
