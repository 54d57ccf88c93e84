"""The rules made ready to match, and tried only where their words stand together."""

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from functools import cached_property

from memoryweb.core.guard.phrases import Needs, lines, parsed
from memoryweb.core.guard.rule import Posture, Rule
from memoryweb.core.guard.rules import CLASSES, RULES
from memoryweb.core.guard.views import Span, View

# No wording of a rule is longer than this, in characters.
PHRASE_REACH = 400
PATTERN_REACH = 1_200
# How far after a match the words may stand that make it harmless.
UNLESS_REACH = 80
_SENTENCE = re.compile(r"(?:[^.!?]|[.!?](?! |$)){0,500}")


@dataclass(frozen=True)
class Matcher:
    """One wording of a rule. It is tried where the text holds a member of each of its needs."""

    rule: Rule
    needs: Needs
    expression: str
    unless: re.Pattern[str] | None = None
    reach: int = PHRASE_REACH

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Compiled when a text first calls it: few are ever called, and every process starts."""
        return re.compile(self.expression)

    @cached_property
    def rarest(self) -> frozenset[str]:
        """The need that prose meets least often: long words are rare."""
        return max(self.needs, key=lambda need: min(map(len, need)))

    def is_harmless(self, text: str, span: Span) -> bool:
        """Whether the match or the rest of its sentence tells that something else is meant."""
        if self.unless is None:
            return False
        start, end = span
        sentence = _SENTENCE.match(text, end, end + UNLESS_REACH)
        return bool(self.unless.search(text[start : sentence.end() if sentence else end]))


class Places:
    """Where in one text the words of rules stand together."""

    def __init__(self, text: str, present: Set[str]) -> None:
        self.text = text
        self._present = present
        self._around: dict[tuple[frozenset[str], int], list[Span]] = {}

    def of(self, matcher: Matcher) -> list[Span]:
        """The parts of the text around its rarest words that hold a word of every need."""
        if len(self.text) <= 2 * matcher.reach:
            return [(0, len(self.text))]
        key = matcher.rarest, matcher.reach
        if key not in self._around:
            self._around[key] = self._surroundings(*key)
        return [span for span in self._around[key] if self._holds(span, matcher.needs)]

    def _holds(self, span: Span, needs: Needs) -> bool:
        part = self.text[slice(*span)]
        return all(any(map(part.__contains__, need & self._present)) for need in needs)

    def _surroundings(self, words: frozenset[str], reach: int) -> list[Span]:
        """What is within reach of one of the words, joined where it overlaps."""
        spans: list[Span] = []
        for at in sorted(self._occurrences(words & self._present)):
            blank = self.text.find(" ", at + reach, at + 2 * reach)  # so that no word is cut
            end = min(len(self.text), blank if blank >= 0 else at + 2 * reach)
            if spans and at - reach <= spans[-1][1]:
                spans[-1] = (spans[-1][0], end)
            else:
                spans.append((max(0, at - reach), end))
        return spans

    def _occurrences(self, words: Set[str]) -> Iterator[int]:
        for word in words:
            at = self.text.find(word)
            while at >= 0:
                yield at
                at = self.text.find(word, at + 1)


class Rulebook:
    """The matchers of one posture, and the words by which they are called."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self._by_word: dict[str, list[Matcher]] = defaultdict(list)
        # What is no word by itself is looked for in the text: signs such as an opening bracket, and
        # parts of words, by their first letter, in scripts without spaces. A part with marks of
        # its script counts as a sign, as it is in no run of letters.
        self._signs: set[str] = set()
        self._foreign_signs: dict[str, set[str]] = defaultdict(set)
        self._parts: dict[str, set[str]] = defaultdict(set)
        for rule in rules:
            self._add(rule)

    def matchers(self) -> list[Matcher]:
        """Every matcher once."""
        found = {id(matcher): matcher for group in self._by_word.values() for matcher in group}
        return list(found.values())

    def called_by(self, words: Set[str]) -> list[Matcher]:
        """The matchers all of whose needs are among the words."""
        called = {
            id(matcher): matcher
            for word in sorted(words & self._by_word.keys())
            for matcher in self._by_word[word]
            if not any(map(words.isdisjoint, matcher.needs))
        }
        return list(called.values())

    def signs_in(self, text: str) -> frozenset[str]:
        """What rules look for in this text that is not made of letters."""
        signs = filter(text.__contains__, self._signs)
        return frozenset(signs) | _contained(self._foreign_signs, text)

    def parts_in(self, text: str) -> set[str]:
        """The parts of words that rules look for, in scripts without spaces."""
        return _contained(self._parts, text)

    def _add(self, rule: Rule) -> None:
        unless = re.compile(rule.unless) if rule.unless else None
        for source in lines(rule.phrases):
            phrase = parsed(source, CLASSES)
            self._index(Matcher(rule, phrase.needs, phrase.expression, unless))
            if not phrase.spaced:
                self._add_parts(_union(phrase.needs))
        for expression, words in rule.patterns:
            needs = (frozenset(words.split()),)
            self._index(Matcher(rule, needs, expression, unless, PATTERN_REACH))
            for word in words.split():
                if not word.isalpha():
                    self._add_sign(word)

    def _add_parts(self, parts: Set[str]) -> None:
        for part in parts:
            if part.isalpha():
                self._parts[part[0]].add(part)
            else:
                self._add_sign(part)

    def _add_sign(self, sign: str) -> None:
        if sign.isascii():
            self._signs.add(sign)
        else:
            self._foreign_signs[sign[0]].add(sign)

    def _index(self, matcher: Matcher) -> None:
        for word in sorted(matcher.rarest):  # Every process finds in the same order.
            self._by_word[word].append(matcher)


def _contained(words: Mapping[str, Set[str]], text: str) -> set[str]:
    """Which of the words, none of them ASCII and each under its first letter, the text has."""
    if text.isascii():
        return set()
    letters = set(text)
    likely = [word for first in words.keys() & letters for word in words[first]]
    return {word for word in likely if letters.issuperset(word) and word in text}


Excused = Callable[[Rule, Span], bool]


def _never_excused(rule: Rule, span: Span) -> bool:
    return False


def _spans(matcher: Matcher, text: str, part: Span, excused: Excused) -> Iterator[Span]:
    at, end = part
    while match := matcher.pattern.search(text, at, end):
        if excused(matcher.rule, match.span()):
            at = match.start() + 1
        else:
            if not matcher.is_harmless(text, match.span()):
                yield match.span()
            at = match.end()


class Reader:
    """Reads the views of one text; what calls a matcher is looked up once for equal words."""

    def __init__(self, book: Rulebook) -> None:
        self._book = book
        self._called: dict[Set[str], tuple[list[Matcher], Set[str]]] = {}

    def matches(
        self, view: View, settled: Collection[str] = (), excused: Excused = _never_excused
    ) -> Iterator[tuple[Rule, Span]]:
        """Where rules match in a view, but those settled; spans are those of its folded text.

        What is excused is passed over by a character, as the attack may begin within it.
        """
        called, present = self._called_in(view)
        places = Places(view.folded.text, present)
        for matcher in called:
            if matcher.rule.id not in settled:
                for part in places.of(matcher):
                    for span in _spans(matcher, places.text, part, excused):
                        yield matcher.rule, span

    def _called_in(self, view: View) -> tuple[list[Matcher], Set[str]]:
        key = view.words | self._book.signs_in(view.folded.text)
        if key not in self._called:
            present = key | self._book.parts_in(view.folded.text)
            self._called[key] = self._book.called_by(present), present
        return self._called[key]


def _union(sets: Iterable[frozenset[str]]) -> frozenset[str]:
    return frozenset[str]().union(*sets)


RULEBOOKS: dict[Posture, Rulebook] = {
    "injected": Rulebook(RULES),
    "recalled": Rulebook(rule for rule in RULES if "recalled" in rule.postures),
}
