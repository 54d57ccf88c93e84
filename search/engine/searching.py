"""One request over any number of collections: two legs, fused, ranked, cut and explained."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from search.engine import fusion
from search.engine.growing import BoolArray, FloatArray, IntArray
from search.engine.index import Index
from search.engine.legs import (
    ROUNDING,
    Leg,
    Request,
    Shard,
    cosines,
    text_leg,
    text_scores,
    vector_leg,
)
from search.engine.model import (
    Answer,
    Explanation,
    Hit,
    Mode,
    Query,
    QueryKind,
    TermShare,
    Weights,
)


def search(indexes: Mapping[str, Index], query: Query) -> Answer:
    """The best documents of all the given collections, each in one consistent state."""
    request = request_to(indexes, query)
    ranked = ranking(request)
    fused = ranked.fused
    asked = request.has_terms or query.vector is not None
    return Answer(
        mode=_mode(request, has_neighbours=bool(ranked.vector)),
        reasons=ranked.reasons if asked else ("no_terms",),
        hits=tuple(_hits(request, fused, ranked.text.best)),
        total_candidates=len(fused.keys),
        weights=ranked.weights,
        query_kind=ranked.query_kind,
        terms=request.terms,
    )


def request_to(indexes: Mapping[str, Index], query: Query) -> Request:
    """The query beside each collection as it stands now."""
    return Request(
        query,
        [
            Shard(number, name, index.collection, index.analyzer, query)
            for number, (name, index) in enumerate(indexes.items())
        ],
    )


def ranking(request: Request) -> "Ranked":
    """Both legs, fused by the weights that the query calls for."""
    query, text = request.query, text_leg(request)
    vector, reasons = vector_leg(request)
    weights, kind = fusion.weights_for(query.text, query.fusion, query.weights)
    legs = _legs(request, text, vector)
    parts = _leg_parts(request, legs, weights, has_neighbours=bool(vector))
    candidates = Fused(np.union1d(vector.keys, text.keys), legs, parts)
    parts.update(_boost_parts(request, candidates.keys, candidates.combined))
    kept = _kept(request, legs, weights, has_neighbours=bool(vector))
    return Ranked(text, vector, reasons, weights, kind, candidates, kept)


def _mode(request: Request, *, has_neighbours: bool) -> Mode:
    if request.has_terms and has_neighbours:
        return "hybrid"
    return "bm25" if request.has_terms or request.query.vector is None else "vector"


@dataclass(frozen=True, slots=True)
class Fused:
    """Candidates, what the legs know of them (NaN where a leg does not have one) and the parts
    that their scores are the sums of."""

    keys: IntArray
    legs: dict[str, FloatArray]
    parts: dict[str, FloatArray]

    @property
    def scores(self) -> FloatArray:
        return self._sum(self.parts)

    @property
    def combined(self) -> FloatArray:
        """The legs together, without recency and the preferred directory."""
        return self._sum(name for name in self.parts if name in ("vector", "bm25"))

    def only(self, chosen: BoolArray) -> "Fused":
        legs = {name: values[chosen] for name, values in self.legs.items()}
        parts = {name: values[chosen] for name, values in self.parts.items()}
        return Fused(self.keys[chosen], legs, parts)

    def _sum(self, names: Iterable[str]) -> FloatArray:
        total = np.zeros(len(self.keys))
        for name in names:
            total += self.parts[name]
        return total


@dataclass(frozen=True, slots=True)
class Ranked:
    """All candidates of a request, and which of them the floor and the weights keep."""

    text: Leg
    vector: Leg
    reasons: tuple[str, ...]
    weights: Weights
    query_kind: QueryKind | None
    candidates: Fused
    kept: BoolArray

    @property
    def fused(self) -> Fused:
        return self.candidates.only(self.kept)


def _legs(request: Request, text: Leg, vector: Leg) -> dict[str, FloatArray]:
    """What the legs know of the candidates of both, by rising key.

    A candidate of one leg has its score in the other too, beyond that one's best: what it is
    worth must not hang on how many were asked for.
    """
    keys = np.union1d(vector.keys, text.keys)
    cosine, raw = vector.at(keys, vector.raw), text.at(keys, text.raw)
    if text and vector:
        beyond = np.isnan(cosine)
        cosine[beyond] = cosines(request, keys[beyond])
        beyond = np.isnan(raw)
        raw[beyond] = text_scores(request, keys[beyond])
    return {
        "vector": np.maximum(cosine, 0.0),
        "bm25": raw / text.best,
        "rank_vector": vector.at(keys, vector.ranks),
        "rank_bm25": text.at(keys, text.ranks),
        "cosine": cosine,
        "bm25_raw": raw,
    }


def _leg_parts(
    request: Request, legs: dict[str, FloatArray], weights: Weights, *, has_neighbours: bool
) -> dict[str, FloatArray]:
    """What the legs give. One that is alone gives its score as it is, whatever the weights."""
    if not has_neighbours:
        return {"bm25": legs["bm25"]}
    if not request.has_terms:
        return {"vector": legs["vector"]}
    if request.query.fusion == "rrf":
        return fusion.reciprocal(legs["rank_vector"], legs["rank_bm25"], weights)._asdict()
    return fusion.linear(legs["vector"], legs["bm25"], weights)._asdict()


def _boost_parts(request: Request, keys: IntArray, combined: FloatArray) -> dict[str, FloatArray]:
    """What recency takes away (it multiplies), then what the directory adds to what is left."""
    parts = {}
    if request.query.recency_half_life_days:
        faded = combined * request.by_row(keys, lambda shard, rows: shard.freshness[rows])
        parts["recency"] = faded - combined
        combined = faded
    if request.query.prefer_working_dir:
        gains = request.by_row(keys, lambda shard, rows: shard.preference[rows])
        parts["prefer_working_dir"] = combined * gains
    return parts


def _kept(
    request: Request, legs: dict[str, FloatArray], weights: Weights, *, has_neighbours: bool
) -> BoolArray:
    """The floor is on the better leg. Of two legs, one of weight 0 brings no candidates."""
    kept = np.ones(len(legs["vector"]), np.bool_)
    if request.query.min_score is not None:
        kept &= np.fmax(legs["vector"], legs["bm25"]) >= request.query.min_score - ROUNDING
    if has_neighbours and request.has_terms:
        kept &= (weights.vector > 0) | ~np.isnan(legs["rank_bm25"])
        kept &= (weights.bm25 > 0) | ~np.isnan(legs["rank_vector"])
    return kept


def _hits(request: Request, fused: Fused, best: float) -> list[Hit]:
    scores = fused.scores
    order = request.best_first(fused.keys, scores)[: request.query.limit].tolist()
    explanations = _explanations(request, fused, best, order) if request.query.explain else {}
    hits = []
    for position in order:
        shard, row = request.place(int(fused.keys[position]))
        legs = {name: _known(values[position]) for name, values in fused.legs.items()}
        hits.append(
            Hit(
                collection=shard.name,
                id=shard.collection.id_of(row),
                created_at=float(shard.collection.created[row]),
                score=float(scores[position]),
                vector=legs["vector"],
                bm25=legs["bm25"],
                rank_vector=_rank(legs["rank_vector"]),
                rank_bm25=_rank(legs["rank_bm25"]),
                explanation=explanations.get(position),
            )
        )
    return hits


def _explanations(
    request: Request, fused: Fused, best: float, positions: list[int]
) -> dict[int, Explanation]:
    before = request.best_first(fused.keys, fused.combined).tolist()
    rank_before = {position: rank for rank, position in enumerate(before, start=1)}
    return {
        position: _explanation(request, fused, best, position, rank_before[position])
        for position in positions
    }


def _explanation(
    request: Request, fused: Fused, best: float, position: int, rank_before: int
) -> Explanation:
    shard, row = request.place(int(fused.keys[position]))
    contributions = {name: float(values[position]) for name, values in fused.parts.items()}
    raw = _known(fused.legs["bm25_raw"][position])
    weighed = shard.collection.term_weights(row, shard.terms)
    # By rank, a document that matches but was no candidate of the text leg got nothing for it.
    scale = contributions.get("bm25", 0.0) / raw if raw else 0.0
    return Explanation(
        contributions=contributions,
        terms=tuple(TermShare(t.term, t.tf, t.df, t.idf, t.score * scale) for t in weighed),
        matched=tuple(t.term for t in weighed),
        rank_before=rank_before,
        bm25_raw=raw,
        bm25_best=None if raw is None else best,
        cosine=_known(fused.legs["cosine"][position]),
    )


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _rank(value: float | None) -> int | None:
    return None if value is None else int(value)
