"""Rules that every language has alike: a table of words for each, from which they are made.

The words are written without accents where the script is Latin, as the skeleton of every text is.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields

from memoryweb.core.guard.rule import INJECTED, Kind, Posture, Rule


@dataclass(frozen=True)
class Language:
    """The words of one language; a table has a field of its own for each part, "" for none.

    `examples` go to the attacks of the table in turn; where there are none, the first word of every
    part is one. `gap` is what may stand between two parts: so many words, or characters in scripts
    without spaces.
    """

    name: str
    code: str
    examples: tuple[str, ...] = field(default=(), kw_only=True)
    passes: tuple[str, ...] = field(default=(), kw_only=True)
    gap: int = field(default=5, kw_only=True)

    @property
    def parts(self) -> dict[str, str]:
        """The words by the name of their part."""
        own = [one.name for one in fields(self)[len(fields(Language)) :]]
        return {name: words for name in own if (words := getattr(self, name))}


@dataclass(frozen=True)
class Attack:
    """What one rule of each language looks for: parts, in the orders in which languages put them.

    The language stands in `reason` for {}. An order with a part that a language lacks is left out.
    """

    name: str
    kind: Kind
    reason: str
    orders: tuple[str, ...]
    postures: tuple[Posture, ...] = INJECTED


def classes(languages: Sequence[Language]) -> dict[str, str]:
    """The words behind the names that the rules have in braces."""
    return {f"{one.code}_{part}": words for one in languages for part, words in one.parts.items()}


def rules(languages: Sequence[Language], *attacks: Attack) -> tuple[Rule, ...]:
    """A rule for each attack in each language."""
    return tuple(rule for language in languages for rule in _rules(language, attacks))


def _rules(language: Language, attacks: Sequence[Attack]) -> Iterator[Rule]:
    for number, attack in enumerate(attacks):
        orders = [order.split() for order in attack.orders]
        orders = [order for order in orders if language.parts.keys() >= set(order)]
        yield Rule(
            id=f"{language.code}-{attack.name}",
            kind=attack.kind,
            reason=attack.reason.format(language.name),
            postures=attack.postures,
            phrases="\n".join(_phrase(language, order) for order in orders),
            examples=language.examples[number :: len(attacks)] or (_plainest(language, orders[0]),),
            passes=language.passes,
        )


def _phrase(language: Language, order: Sequence[str]) -> str:
    return f" ..{language.gap} ".join(f"{{{language.code}_{part}}}" for part in order)


def _plainest(language: Language, order: Sequence[str]) -> str:
    words = (language.parts[part].split()[0] for part in order)
    return " ".join(word.replace("_", " ") for word in words)
