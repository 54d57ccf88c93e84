"""From the pages that match a query along their links: pages near them, each at its best score.

Pure: the links come from a callable, asked once a level for all pages that are walked from.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from heapq import nsmallest
from typing import Literal

EXPANDED_LIMIT = 200

Direction = Literal["out", "in", "both"]
# For each of these pages its links: the page at the other end, and which way the link points.
Neighbours = Callable[[Sequence[str]], Mapping[str, Sequence[tuple[str, Direction]]]]


@dataclass(frozen=True, slots=True)
class Reached:
    """A page with its best score and the very walk that gave it, from its seed to the page."""

    score: float
    walk: tuple[str, ...]

    @property
    def page(self) -> str:
        return self.walk[-1]

    @property
    def hop(self) -> int:
        return len(self.walk) - 1

    @property
    def via(self) -> str | None:
        """The page before it on the walk; None for a seed."""
        return self.walk[-2] if self.hop else None

    @property
    def order(self) -> tuple[float, int, str]:
        """Best first: the higher score, then the shorter walk, then by id."""
        return -self.score, self.hop, self.page


def expand(
    seeds: Mapping[str, float],
    neighbours: Neighbours,
    *,
    hop: int,
    decay: float,
    floor: float = 0.0,
    most: int = EXPANDED_LIMIT,
) -> list[Reached]:
    """Every page within `hop` links of a seed whose score is at least `floor`, best first.

    A page's score is the best over all walks of at most `hop` links, each of which multiplies by
    `decay`, whichever way it points. A seed is reached by the walk of no link, and by a better
    one from a stronger seed. Pages that are no seeds are the `most` best ones.

    It goes level by level and keeps the `most` best of each. That loses none of the final ones:
    a score never grows along a walk, so the pages on the way to one of them are among the best
    of their level.
    """
    best = {page: Reached(score, (page,)) for page, score in seeds.items() if score > 0}
    edge = list(best.values())
    for _ in range(hop):
        edge = [one for one in edge if one.score * decay >= floor]
        if not edge:
            break
        improved = _improved(edge, best, neighbours([one.page for one in edge]), decay)
        best = _kept({**best, **improved}, seeds, most)
        edge = [one for one in improved.values() if best.get(one.page) is one]
    return sorted((one for one in best.values() if one.score >= floor), key=_order)


def _improved(
    edge: Sequence[Reached],
    best: Mapping[str, Reached],
    links: Mapping[str, Sequence[tuple[str, Direction]]],
    decay: float,
) -> dict[str, Reached]:
    """What one link more leads to and was not reached with as good a score before."""
    found: dict[str, Reached] = {}
    for one in sorted(edge, key=_order):  # So the first to reach a page is its best way.
        score = one.score * decay
        for page, _ in links.get(one.page, ()):
            known = best.get(page)
            if page not in found and (known is None or known.score < score):
                found[page] = Reached(score, (*one.walk, page))
    return found


def _kept(
    reached: Mapping[str, Reached], seeds: Mapping[str, float], most: int
) -> dict[str, Reached]:
    others = (one for one in reached.values() if one.page not in seeds)
    kept = {one.page: one for one in reached.values() if one.page in seeds}
    return kept | {one.page: one for one in nsmallest(most, others, key=_order)}


def _order(one: Reached) -> tuple[float, int, str]:
    return one.order
