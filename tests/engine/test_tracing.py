"""The stage that drops a document agrees with what a search finds."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memoryweb.core.analysis import analyzer
from search.engine import Document, Filters, Index, Query, Trace, Weights, search, trace
from tests.engine.builders import NOW, document, index_of

EAST, NORTH = [1.0, 0.0], [0.0, 1.0]


def traced(index: Index, name: str, text: str = "", **options: object) -> Trace:
    query = Query(text=text, **{"now": NOW, **options})
    return trace({"episodes": index}, query, "episodes", name)


@pytest.fixture
def shop() -> Index:
    return index_of(
        document("best", "parser parser", EAST, outcome="success", working_dir="/srv/shop"),
        document("good", "parser and more words", outcome="failure", working_dir="/srv/pay"),
        document("near", "lexer", [0.6, 0.8], outcome="success", working_dir="/srv/shop/web"),
    )


def test_a_document_of_a_collection_that_is_not_asked_is_not_searched(shop: Index):
    query = Query(text="parser", now=NOW)
    assert trace({"episodes": shop}, query, "pages", "best").stage == "not_searched"
    assert trace({}, query, "episodes", "best").stage == "not_searched"


def test_a_document_that_was_never_put_or_was_removed_is_not_in_the_index(shop: Index):
    shop.remove(["good"])
    assert traced(shop, "good", "parser").stage == "not_in_index"
    assert traced(shop, "nobody", "parser").stage == "not_in_index"


def test_every_filter_that_a_document_fails_is_named_and_no_other(shop: Index):
    filters = Filters(
        outcome="success", working_dir_prefix="/srv/shop", since=NOW - 1, ids=frozenset({"best"})
    )
    found = traced(shop, "good", "parser", filters=filters)
    assert found == Trace("filtered", filters=("working_dir_prefix", "outcome", "ids"))
    late = traced(shop, "best", "parser", filters=Filters(since=NOW + 1))
    assert late.filters == ("since",)


def test_a_document_with_no_word_and_no_comparable_vector_is_not_matched(shop: Index):
    found = traced(shop, "good", "lexer crash", vector=EAST)
    assert (found.stage, found.matched, found.missing) == ("not_matched", (), ("lexer", "crash"))
    assert (found.vector, found.bm25) == (None, None)
    assert traced(shop, "near", "parser").stage == "not_matched"
    assert traced(shop, "near", "parser", vector=[1.0, 0.0, 0.0]).stage == "not_matched"


def test_the_floor_drops_what_is_under_it_in_both_legs(shop: Index):
    found = traced(shop, "near", "lexer parser", vector=EAST, min_score=0.5)
    assert (found.stage, found.vector) == ("found", pytest.approx(0.6))
    low = traced(shop, "near", vector=EAST, min_score=0.7)
    assert (low.stage, low.vector, low.rank) == ("below_floor", pytest.approx(0.6), None)
    assert traced(shop, "near", vector=EAST, min_score=0.6).stage == "found"


def test_a_match_that_is_not_among_the_best_of_its_leg_lies_outside_of_the_pool():
    index = index_of(*(document(f"d{n}", "parser " * (9 - n) + "word " * n) for n in range(9)))
    found = traced(index, "d8", "parser", limit=2)
    assert (found.stage, found.pool, found.rank) == ("outside_pool", 8, None)
    assert found.bm25 is not None
    assert 0 < found.bm25 < 1
    assert traced(index, "d8", "parser", limit=3).stage == "beyond_limit"


def test_the_only_leg_that_finds_it_may_weigh_nothing(shop: Index):
    found = traced(shop, "near", "parser", vector=EAST, weights=Weights(0.0, 1.0))
    assert (found.stage, found.vector) == ("weightless", pytest.approx(0.6))
    words = traced(shop, "good", "parser", vector=EAST, weights=Weights(1.0, 0.0))
    assert words.stage == "weightless"


def test_a_rank_beyond_the_limit_is_told_and_so_is_one_within(shop: Index):
    found = traced(shop, "good", "parser", limit=1)
    assert (found.stage, found.rank, found.matched) == ("beyond_limit", 2, ("parser",))
    best = traced(shop, "best", "parser", limit=1)
    assert (best.stage, best.rank, best.score) == ("found", 1, 1.0)


texts = st.lists(st.sampled_from(["parser", "lexer", "crash", "fix"]), max_size=5).map(" ".join)
directions = st.lists(st.sampled_from([-1.0, 0.5, 2.0]), min_size=2, max_size=2) | st.none()
places = st.sampled_from(["/a", "/a/b", "/c"]).map(lambda place: {"working_dir": place})
collections = st.lists(st.tuples(texts, places, directions), min_size=1, max_size=12).map(
    lambda rows: [Document(f"d{n}", text, NOW, at, v) for n, (text, at, v) in enumerate(rows)]
)
queries = st.builds(
    Query,
    text=st.sampled_from(["parser", "lexer fix", "", "nothing"]),
    vector=directions,
    now=st.just(NOW),
    limit=st.integers(1, 3),
    weights=st.sampled_from([Weights(), Weights(0, 1), Weights(1, 0)]),
    fusion=st.sampled_from(["linear", "rrf"]),
    filters=st.sampled_from([Filters(), Filters(working_dir_prefix="/a")]),
    min_score=st.sampled_from([None, 0.5, 1.0]),
    prefer_working_dir=st.sampled_from(["", "/c"]),
)


@settings(max_examples=300)
@given(documents=collections, query=queries)
def test_exactly_the_results_are_traced_as_found_by_their_ranks(
    documents: list[Document], query: Query
):
    index = Index(analyzer(), dimension=2)
    index.put(documents)
    hits = {hit.id: hit for hit in search({"episodes": index}, query).hits}
    ranks = {name: rank for rank, name in enumerate(hits, start=1)}
    for one in documents:
        found = trace({"episodes": index}, query, "episodes", one.id)
        assert (found.rank if found.stage == "found" else None) == ranks.get(one.id)
        assert (found.stage == "filtered") == (not query.filters.accept(one))
        if one.id in hits:
            assert found.score == hits[one.id].score
        for leg in ("vector", "bm25"):
            if one.id in hits and (known := getattr(hits[one.id], leg)) is not None:
                assert getattr(found, leg) == pytest.approx(known)
