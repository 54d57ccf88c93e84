"""What was found, made ready for a page: marked, explained, compared with the saved settings."""

import hashlib
import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal
from urllib.parse import unquote, urlsplit

from django.urls import Resolver404, resolve

from bank.markdown import readable
from memoryweb.core.errors import NotFound
from search import services, wording
from search.explaining import Ranking, Why, why
from search.live import live
from search.marking import Part, marked, piece, rest_of
from search.schemas import EVERYTHING, FiltersIn, SearchIn
from search.services import Found, Result
from search.sources import SOURCES, Shown

KINDS = {"episodes": "episode", "pages": "page", "memories": "session memory"}
Places = dict[tuple[str, str], int]


@dataclass(frozen=True)
class Move:
    """Where a result stood by the saved settings: `places` further up or down, or not at all."""

    to: Literal["up", "down", "same", "new"]
    places: int = 0


@dataclass(frozen=True)
class Row:
    """One result. `anchor` names it on the page; `vector` and `bm25` are the parts of 100 that
    the legs give to its bar, which is full at the score 1."""

    place: int
    anchor: str
    kind: str
    result: Result
    title: list[Part]
    text: list[Part]
    score: str
    vector: int
    bm25: int
    move: Move | None
    why: Why | None


def rows(found: Found, fusion: str, half_life_days: float, before: Places | None) -> list[Row]:
    """The results in their order; `before` has their places by the saved settings."""
    ranking = Ranking(found.answer.weights, fusion, found.answer.terms, half_life_days)
    return [
        _row(place, result, found, ranking, before)
        for place, result in enumerate(found.results, start=1)
    ]


def places_as_saved(request: SearchIn) -> Places:
    """The place of each result when the same is searched for by the saved settings."""
    unsaid = {"weights": None, "fusion": None, "recency_half_life_days": None, "explain": False}
    found = services.search(request.model_copy(update=unsaid))
    hits = (result.hit for result in found.results)
    return {(hit.collection, hit.id): place for place, hit in enumerate(hits, start=1)}


def why_nothing(request: SearchIn) -> Literal["empty", "floor", "filters", "nothing"]:
    """What left nothing: searches again without the floor, then without any filter."""
    indexes = live.view().indexes
    if indexes is not None and not any(len(index) for index in indexes.values()):
        return "empty"
    wider = request.model_copy(update={"min_score": None, "explain": False, "limit": 1})
    if request.min_score is not None and services.search(wider).results:
        return "floor"
    widest = wider.model_copy(update={"filters": FiltersIn(), "collections": EVERYTHING})
    return "filters" if services.search(widest).results else "nothing"


@dataclass(frozen=True)
class WhyNot:
    """The answer to "why is this not among the results?"; no reason: there is no such document."""

    asked: str
    shown: Shown | None = None
    reason: wording.Reason | None = None


def why_not(request: SearchIn, asked: str) -> WhyNot:
    """Why the document that was asked for, by its id or its address, is not found."""
    for collection in SOURCES:
        for document in _named(asked.strip()):
            with suppress(NotFound):
                missed = services.why_not(request, collection, document)
                reason = wording.why_not(missed, request.limit, request.min_score)
                return WhyNot(asked, missed.shown, reason)
    return WhyNot(asked)


def _named(text: str) -> Iterator[str]:
    """The ids that a text may mean: itself, or what an address of a document holds."""
    yield text
    try:
        address = urlsplit(text)
        match = resolve(address.path)
    except (ValueError, Resolver404):
        yield f"entity/{text}"
        return
    yield unquote(address.fragment)
    for value in match.kwargs.values():
        yield str(value)
        yield f"{match.url_name}/{value}"


def body(request: SearchIn) -> str:
    """The body of the API request that finds the same."""
    sent = request.model_dump(mode="json", exclude_defaults=True)
    return json.dumps(sent, ensure_ascii=False, indent=2)


def _row(place: int, result: Result, found: Found, ranking: Ranking, before: Places | None) -> Row:
    hit, shown, terms = result.hit, result.shown, found.answer.terms
    text = readable(shown.summary) if hit.collection == "pages" else shown.summary
    vector, bm25 = _bar(result)
    return Row(
        place=place,
        anchor=_anchor(hit.collection, hit.id),
        kind=KINDS[hit.collection] if len(SOURCES) > 1 else "",
        result=result,
        title=marked(shown.title, found.analyzer, terms),
        text=piece(rest_of(text, shown.title), found.analyzer, terms),
        score=f"{hit.score:.4f}",
        vector=vector,
        bm25=bm25,
        move=None if before is None else _move(place, before.get((hit.collection, hit.id))),
        why=why(hit, ranking),
    )


def _anchor(collection: str, document: str) -> str:
    """A name for an element, the same in every answer, whatever characters an id has."""
    return "r" + hashlib.sha256(f"{collection}\0{document}".encode()).hexdigest()[:16]


def _move(now: int, before: int | None) -> Move:
    if before is None:
        return Move("new")
    if now == before:
        return Move("same")
    return Move("up" if now < before else "down", abs(now - before))


def _bar(result: Result) -> tuple[int, int]:
    """The score as a bar of 100, shared by what each leg gave before age and directory."""
    explanation, whole = result.hit.explanation, min(100, round(100 * result.hit.score))
    given = explanation.contributions if explanation else {}
    vector, bm25 = given.get("vector", 0.0), given.get("bm25", 0.0)
    share = round(whole * vector / (vector + bm25)) if vector + bm25 else 0
    return share, whole - share
