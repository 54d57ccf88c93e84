"""Why a result stands where it stands, in numbers that a reader can add up. Values only."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import floor
from typing import NamedTuple

from search.engine import RRF_K, Explanation, Hit, Weights

PLACES = 4
UNIT = 10**PLACES


class Share(NamedTuple):
    """One summand of a score: `found` by its leg at `rank`, and how that gives what it gives."""

    name: str
    label: str
    found: str
    rank: int | None
    how: str
    gives: str


class TermRow(NamedTuple):
    """What one word of the query gave."""

    term: str
    tf: int
    df: int
    idf: str
    gives: str


@dataclass(frozen=True)
class Why:
    """The summands of a score and of its text part; what is shown of them adds up.

    `missing` are the query's words that the text does not hold, `rank_before` the place without
    age and preferred directory, if one of them was asked for.
    """

    score: str
    shares: list[Share]
    terms: list[TermRow]
    missing: list[str]
    rank_before: int | None


@dataclass(frozen=True)
class Ranking:
    """What a search was ranked by: the shares of the legs, the fusion, and the query's words."""

    weights: Weights
    fusion: str
    terms: Sequence[str]
    half_life_days: float


def why(hit: Hit, ranking: Ranking) -> Why | None:
    """The explanation of a hit; None when the search did not ask for one."""
    if (explanation := hit.explanation) is None:
        return None
    given = explanation.contributions
    shown = dict(zip(given, add_up(list(given.values()), hit.score), strict=True))
    boosted = given.keys() & {"recency", "prefer_working_dir"}
    return Why(
        score=in_places(round(hit.score * UNIT)),
        shares=[_share(name, hit, explanation, ranking, in_places(shown[name])) for name in given],
        terms=_terms(explanation, shown.get("bm25", 0)),
        missing=[term for term in ranking.terms if term not in explanation.matched],
        rank_before=explanation.rank_before if boosted else None,
    )


def add_up(values: Sequence[float], total: float) -> list[int]:
    """Values in units of the last place shown, rounded so that they add up to the rounded total.

    Largest remainder: each is rounded down, and those that lost most get the units that lack.
    """
    exact = [value * UNIT for value in values]
    units = [floor(value) for value in exact]
    lacking = round(total * UNIT) - sum(units)
    by_loss = sorted(range(len(exact)), key=lambda place: units[place] - exact[place])
    for place in by_loss[: max(0, lacking)]:
        units[place] += 1
    return units


def in_places(units: int) -> str:
    """Units of the last place as a number, with a minus and not a hyphen."""
    return f"{'−' if units < 0 else ''}{abs(units) / UNIT:.{PLACES}f}"


def _terms(explanation: Explanation, text_part: int) -> list[TermRow]:
    parts = add_up([term.contribution for term in explanation.terms], text_part / UNIT)
    return [
        TermRow(term.term, term.tf, term.df, f"{term.idf:.3f}", in_places(units))
        for term, units in zip(explanation.terms, parts, strict=True)
    ]


def _share(name: str, hit: Hit, explanation: Explanation, ranking: Ranking, gives: str) -> Share:
    given = explanation.contributions
    alone = not given.keys() >= {"vector", "bm25"}
    if name == "vector":
        how = _weighed(hit.vector, hit.rank_vector, ranking.weights.vector, ranking.fusion, alone)
        return Share(name, "Vector", _cosine(explanation), hit.rank_vector, how, gives)
    if name == "bm25":
        how = _weighed(hit.bm25, hit.rank_bm25, ranking.weights.bm25, ranking.fusion, alone)
        return Share(name, "Text", _bm25(hit, explanation), hit.rank_bm25, how, gives)
    if name == "recency":
        return Share(name, "Age", _halving(ranking), None, _faded(given), gives)
    found = "lies in or below it" if given[name] else "lies elsewhere"
    return Share(name, "Preferred directory", found, None, _lifted(given), gives)


def _cosine(explanation: Explanation) -> str:
    if explanation.cosine is None:
        return "has no vector to compare"
    shown = in_places(round(explanation.cosine * UNIT))
    return f"cosine {shown}" + (", counts as 0" if explanation.cosine < 0 else "")


def _bm25(hit: Hit, explanation: Explanation) -> str:
    if explanation.bm25_raw is None or explanation.bm25_best is None:
        return "holds none of the words"
    return (
        f"BM25 {explanation.bm25_raw:.3f} of the best {explanation.bm25_best:.3f} = {hit.bm25:.4f}"
    )


def _weighed(score: float | None, rank: int | None, share: float, fusion: str, alone: bool) -> str:
    """How a leg's score or rank becomes its part."""
    if score is None:
        return ""
    if alone:
        return "the only leg, so as it is"
    if fusion == "rrf" and rank is None:
        return "beyond the candidates of this leg"
    if fusion == "rrf":
        return f"{share:.2f} ÷ ({RRF_K} + {rank}), of the best sum"
    return f"{share:.2f} × {score:.4f}"


def _halving(ranking: Ranking) -> str:
    return f"halves every {ranking.half_life_days:g} days"


def _faded(given: Mapping[str, float]) -> str:
    combined = given.get("vector", 0.0) + given.get("bm25", 0.0)
    return f"× {1 + given['recency'] / combined:.4f}" if combined else ""


def _lifted(given: Mapping[str, float]) -> str:
    before = sum(part for name, part in given.items() if name != "prefer_working_dir")
    return f"+ {given['prefer_working_dir'] / before:.0%}" if given["prefer_working_dir"] else ""
