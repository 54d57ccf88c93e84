"""A search of one wiki: the best pages for a query, those near them, and why each is there."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from bank.markdown import readable
from memoryweb.core.errors import FieldError, Invalid
from search.wiki import matching
from search.wiki.expansion import Direction, Reached, expand
from search.wiki.reading import CONTENT_WEIGHT, TITLE_WEIGHT, PageMeta, Reader
from search.wiki.snippet import LOOKED_AT, Highlight, highlight

LIMIT, LIMIT_LEAST, LIMIT_MOST = 20, 1, 200
HOP, HOP_MOST = 0, 5
DECAY = 0.5
MIN_SCORE = 0.1
RELATED_LIMIT = 10
LINK_WEIGHT = 1

# The text of a page, or None where it has none; called for the pages of the answer.
TextOf = Callable[[str], str | None]


@dataclass(frozen=True, slots=True)
class Query:
    """What is asked; raises Invalid, which names every field that is out of bounds.

    `min_score` is absolute. Left out it is a tenth of the best match, because in a small wiki
    every score is next to nothing. It is used with `hop` over 0 only.
    """

    text: str
    limit: int = LIMIT
    hop: int = HOP
    decay: float = DECAY
    min_score: float | None = None
    include_structural: bool = False
    title_weight: float = TITLE_WEIGHT
    content_weight: float = CONTENT_WEIGHT

    def __post_init__(self) -> None:
        limits = f"must be a whole number from {LIMIT_LEAST} to {LIMIT_MOST}"
        positive = "must be a number from 0"
        rules = [
            ("limit", limits, _is_whole(self.limit, LIMIT_LEAST, LIMIT_MOST)),
            (
                "hop",
                f"must be a whole number from 0 to {HOP_MOST}",
                _is_whole(self.hop, 0, HOP_MOST),
            ),
            ("decay", "must be a number from 0 to 1", _is_number(self.decay, 1)),
            ("min_score", positive, self.min_score is None or _is_number(self.min_score)),
            ("title_weight", positive, _is_number(self.title_weight)),
            ("content_weight", positive, _is_number(self.content_weight)),
        ]
        if wrong := [FieldError((name,), rule) for name, rule, kept in rules if not kept]:
            raise Invalid("; ".join(f"{one.loc[0]} {one.msg}" for one in wrong), wrong)


@dataclass(frozen=True, slots=True)
class Step:
    """A page on the way from the seed to a result, and its score on this way."""

    page_id: str
    title: str
    score: float


@dataclass(frozen=True, slots=True)
class Related:
    """A page that a result links to (out), is linked from (in), or both."""

    title: str
    path: str
    type: str
    direction: Direction


@dataclass(frozen=True, slots=True)
class Result:
    """A page found. `way` leads to it from its seed, both included; `via` is the title of the
    page before it, None at hop 0. `matched` is its own score for the words, None without one.
    """

    page_id: str
    path: str
    title: str
    snippet: str
    score: float
    type: str
    hop: int
    via: str | None
    related: tuple[Related, ...]
    way: tuple[Step, ...]
    matched: float | None
    highlight: Highlight | None = None


@dataclass(frozen=True, slots=True)
class ResultLink:
    """A link between two results by their paths; one for both directions."""

    source: str
    target: str
    weight: int = LINK_WEIGHT


@dataclass(frozen=True, slots=True)
class Answer:
    """Results, best first, and the links among them; `seq` is the last change that is in it."""

    results: tuple[Result, ...]
    links: tuple[ResultLink, ...]
    seq: int

    @property
    def count(self) -> int:
        return len(self.results)


def search(reader: Reader, query: Query, text_of: TextOf | None = None) -> Answer:
    """What the wiki holds on the query. With `text_of` each result has a highlight of its page.

    Structural pages take no part, neither as results nor on the way to one, unless asked for.
    Raises NeedsRebuild when the index turns out to be damaged.
    """
    with reader.one_state() as stamp:
        seeds = _seeds(reader, query)
        reached = _reached(reader, query, seeds)[: query.limit]
        answer = _told(reader, query, seeds, reached, stamp.seq)
    # The pages' files are read when the index is no longer held at one state.
    return answer if text_of is None else with_highlights(answer, query, text_of)


def _seeds(reader: Reader, query: Query) -> dict[str, float]:
    return reader.matches(
        matching.expression(query.text),
        2 * query.limit if query.hop else query.limit,
        title_weight=query.title_weight,
        content_weight=query.content_weight,
        structural=query.include_structural,
    )


def _reached(reader: Reader, query: Query, seeds: Mapping[str, float]) -> list[Reached]:
    return expand(
        seeds,
        lambda pages: reader.neighbours(pages, structural=query.include_structural),
        hop=query.hop,
        decay=query.decay,
        floor=_floor(query, seeds),
    )


def _floor(query: Query, seeds: Mapping[str, float]) -> float:
    if not query.hop:
        return 0.0
    if query.min_score is not None:
        return query.min_score
    return MIN_SCORE * max(seeds.values(), default=0.0)


# What is told of the pages


def _told(
    reader: Reader, query: Query, seeds: Mapping[str, float], reached: Sequence[Reached], seq: int
) -> Answer:
    ids = [one.page for one in reached]
    around = reader.neighbours(ids, structural=query.include_structural)
    degrees = reader.degrees({other for links in around.values() for other, _ in links})
    related = {page: _first_related(around.get(page, ()), degrees) for page in ids}
    walked = {page for one in reached for page in one.walk}
    known = reader.pages({*walked, *(other for links in related.values() for other, _ in links)})
    results = (_result(one, seeds, related[one.page], known, query.decay) for one in reached)
    return Answer(tuple(results), tuple(_links(ids, around, known)), seq)


def _first_related(
    links: Sequence[tuple[str, Direction]], degrees: Mapping[str, int]
) -> list[tuple[str, Direction]]:
    """The ten that have the most links themselves, then by id."""
    return sorted(links, key=lambda link: (-degrees[link[0]], link[0]))[:RELATED_LIMIT]


def _result(
    one: Reached,
    seeds: Mapping[str, float],
    related: Sequence[tuple[str, Direction]],
    known: Mapping[str, PageMeta],
    decay: float,
) -> Result:
    page = known[one.page]
    others = [(known[other], direction) for other, direction in related]
    return Result(
        page_id=page.page_id,
        path=page.rel_path,
        title=page.title,
        snippet=page.snippet,
        score=one.score,
        type=page.type,
        hop=one.hop,
        via=None if one.via is None else known[one.via].title,
        related=tuple(Related(o.title, o.rel_path, o.type, direction) for o, direction in others),
        way=tuple(_way(one, seeds, known, decay)),
        matched=seeds.get(one.page),
    )


def _way(
    one: Reached, seeds: Mapping[str, float], known: Mapping[str, PageMeta], decay: float
) -> Iterator[Step]:
    score = seeds[one.walk[0]]
    for page in one.walk:
        yield Step(page, known[page].title, score)
        score *= decay


def _links(
    ids: Sequence[str],
    around: Mapping[str, Sequence[tuple[str, Direction]]],
    known: Mapping[str, PageMeta],
) -> Iterator[ResultLink]:
    results = set(ids)
    told: set[frozenset[str]] = set()
    for page in ids:
        for other, direction in around.get(page, ()):
            pair = frozenset((page, other))
            if direction != "in" and other in results and pair not in told:
                told.add(pair)
                yield ResultLink(known[page].rel_path, known[other].rel_path)


def with_highlights(answer: Answer, query: Query, text_of: TextOf) -> Answer:
    """The same answer, each result with the part of its page's text that the query is about."""
    texts = [text_of(result.page_id) for result in answer.results]
    return replace(
        answer,
        results=tuple(
            result
            if text is None
            else replace(result, highlight=highlight(readable(text[:LOOKED_AT]), query.text))
            for result, text in zip(answer.results, texts, strict=True)
        ),
    )


# Bounds


def _is_whole(value: object, least: int, most: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def _is_number(value: object, most: float = math.inf) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and math.isfinite(value) and 0 <= value <= most  # type: ignore[arg-type, operator]
