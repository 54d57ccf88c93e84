"""Two legs to one score: each rule of fusion as a sentence, against the textbook."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from search.engine import Document, Filters, Query, QueryError, Weights
from search.engine.fusion import kind_of, linear, reciprocal
from tests.engine import textbook
from tests.engine.builders import NOW, ask, document, index_of, names, papers, scores

EAST, NORTH, NORTH_EAST = [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]
DOCUMENTS = [
    document("both", "parser crash", NORTH_EAST),
    document("text-only", "parser"),
    document("near", "unrelated words", EAST),
    document("far", "unrelated words too", NORTH),
]


def many(count: int) -> list[Document]:
    rows = np.random.default_rng(5).standard_normal((count, 8)).tolist()
    return [
        document(f"d{n:03}", "parser " * (n % 7 + 1) + "word " * (n % 11), row, created=NOW - n)
        for n, row in enumerate(rows)
    ]


def test_linear_fusion_is_seven_parts_vector_and_three_parts_text():
    answer = ask(index_of(*DOCUMENTS), "parser", vector=EAST)
    raw = textbook.bm25(papers(DOCUMENTS, index_of().analyzer), ["parser"])
    both = raw["both"] / raw["text-only"]
    assert answer.mode == "hybrid"
    assert answer.reasons == ()
    assert scores(answer) == pytest.approx(
        {
            "both": 0.7 * math.sqrt(0.5) + 0.3 * both,
            "near": 0.7,
            "text-only": 0.3,
            "far": 0.0,
        },
        abs=1e-7,
    )


def test_a_leg_that_does_not_have_a_document_counts_nothing_for_it():
    hits = {hit.id: hit for hit in ask(index_of(*DOCUMENTS), "parser", vector=EAST).hits}
    assert (hits["text-only"].vector, hits["text-only"].rank_vector) == (None, None)
    assert (hits["near"].bm25, hits["near"].rank_bm25) == (None, None)
    assert (hits["near"].vector, hits["near"].rank_vector) == (1.0, 1)
    assert (hits["both"].rank_vector, hits["both"].rank_bm25) == (2, 2)


def test_each_leg_brings_four_times_the_limit_and_the_union_is_ranked_by_both_scores():
    documents = many(300)
    query = [1.0, 0.5, -0.5, 0.2, 0.1, 0.0, 0.3, 1.0]
    own = papers(documents, index_of().analyzer)
    text = textbook.normalised(textbook.bm25(own, ["parser", "word"]))
    vector = textbook.similarities(own, query)
    brought = {*textbook.candidates(own, text, 10), *textbook.candidates(own, vector, 10)}
    every = textbook.linear(vector, text, (0.7, 0.3))
    expected = {one: every[one] for one in brought}
    answer = ask(index_of(*documents), "parser word", vector=query, limit=10)
    assert answer.total_candidates == len(expected)
    assert names(answer) == textbook.ranking(own, expected)[:10]
    assert scores(answer) == pytest.approx(
        {name: expected[name] for name in names(answer)}, abs=1e-6
    )


def test_a_document_brought_by_one_leg_counts_in_the_other_too():
    crowd = [document(f"n{n:03}", "other", vector=EAST) for n in range(50)]
    wordy = [document(f"w{n:03}", "parser", vector=NORTH_EAST) for n in range(50)]
    answer = ask(index_of(*crowd, *wordy), "parser", vector=EAST, weights=Weights(0.5, 0.5))
    best = answer.hits[0]
    assert (best.rank_vector, best.rank_bm25, best.bm25) == (None, 1, 1.0)
    assert best.vector == pytest.approx(math.sqrt(0.5))
    assert best.score == pytest.approx((math.sqrt(0.5) + 1) / 2)


def test_a_document_has_the_same_score_however_many_are_asked_for():
    documents = many(300)
    index, query = index_of(*documents), [1.0, 0.5, -0.5, 0.2, 0.1, 0.0, 0.3, 1.0]
    few = scores(ask(index, "parser word", vector=query, limit=5))
    many_more = scores(ask(index, "parser word", vector=query, limit=200))
    assert {one: many_more[one] for one in few} == few


def test_rrf_adds_weighted_reciprocal_ranks_over_their_maximum():
    documents = many(60)
    query = [1.0, 0.5, -0.5, 0.2, 0.1, 0.0, 0.3, 1.0]
    own = papers(documents, index_of().analyzer)
    text = textbook.ranking(own, textbook.bm25(own, ["parser", "word"]))[:80]
    vector = textbook.ranking(own, textbook.similarities(own, query))[:80]
    expected = textbook.reciprocal(vector, text, (0.7, 0.3))
    answer = ask(index_of(*documents), "parser word", vector=query, limit=20, fusion="rrf")
    assert names(answer) == textbook.ranking(own, expected)[:20]
    assert scores(answer) == pytest.approx({one: expected[one] for one in names(answer)})
    assert answer.hits[0].score == 1.0


def test_when_the_vector_leg_gives_nothing_the_text_score_stands_unweighted():
    documents = [document("a", "parser crash"), document("b", "parser")]
    for fusion in ("linear", "rrf", "auto"):
        answer = ask(index_of(*documents), "crash", vector=EAST, fusion=fusion)
        assert (answer.mode, answer.reasons) == ("bm25", ("no_vectors",))
        assert scores(answer) == {"a": 1.0}


def test_a_filter_that_leaves_no_vectors_leaves_the_text_score_unweighted():
    documents = [document("a", "parser", kind="x"), document("b", "parser", EAST, kind="y")]
    answer = ask(index_of(*documents), "parser", vector=EAST, filters=Filters(kind="x"))
    assert (answer.mode, scores(answer)) == ("bm25", {"a": 1.0})


def test_without_a_query_vector_the_answer_is_text_alone_and_says_so():
    answer = ask(index_of(*DOCUMENTS), "parser")
    assert (answer.mode, answer.reasons) == ("bm25", ("no_query_vector",))
    assert max(scores(answer).values()) == 1.0


@pytest.mark.parametrize("text", ["", "?!"])
def test_without_text_the_answer_is_the_vector_alone(text: str):
    answer = ask(index_of(*DOCUMENTS), text, vector=EAST)
    assert (answer.mode, answer.reasons) == ("vector", ())
    assert scores(answer) == pytest.approx({"near": 1.0, "both": math.sqrt(0.5), "far": 0.0})


def test_text_that_matches_nothing_leaves_the_vector_its_weight():
    answer = ask(index_of(*DOCUMENTS), "absent", vector=EAST)
    assert answer.mode == "hybrid"
    assert scores(answer)["near"] == pytest.approx(0.7)


def test_weights_are_divided_by_their_sum():
    index = index_of(*DOCUMENTS)
    answer = ask(index, "parser", vector=EAST, weights=Weights(7, 3))
    assert scores(answer) == scores(ask(index, "parser", vector=EAST))
    assert (answer.weights.vector, answer.weights.bm25) == pytest.approx((0.7, 0.3))
    assert Weights(1e308, 1e308).shares() == Weights(0.5, 0.5)
    assert Weights(5e-324, 0.0).shares() == Weights(1.0, 0.0)


@pytest.mark.parametrize(
    ("vector", "bm25", "field"),
    [
        (-0.1, 1.0, "weights.vector"),
        (1.0, -1.0, "weights.bm25"),
        (math.nan, 1.0, "weights.vector"),
        (1.0, math.inf, "weights.bm25"),
        (0.0, 0.0, "weights"),
    ],
)
def test_weights_without_meaning_are_refused_by_name(vector: float, bm25: float, field: str):
    with pytest.raises(QueryError) as refusal:
        Weights(vector, bm25)
    assert refusal.value.field == field


def test_a_leg_of_weight_zero_brings_no_candidates_of_its_own():
    index = index_of(*DOCUMENTS)
    text = ask(index, "parser", vector=EAST, weights=Weights(0, 1))
    assert names(text) == ["text-only", "both"]
    vector = ask(index, "parser", vector=EAST, weights=Weights(1, 0))
    assert names(vector) == ["near", "both", "far"]
    assert ask(index, "absent", vector=EAST, weights=Weights(0, 1)).hits == ()


@pytest.mark.parametrize(
    "text",
    [
        '"exact words"',
        "what does `parse` do?",
        "parse_config",
        "how does parseConfig work?",
        "std::vector",
        "run()",
        "--no-input",
        "src/app/views.py",
        "/etc/hosts",
        "settings.py",
        "fixed in 8b9d78a9fa8a",
        "E1234",
        "CVE-2024",
        "upgrade to 2.1",
        "#4711",
        "「知识图谱」",
        "__init__",
    ],
)
def test_auto_leans_on_text_for_quotes_and_identifiers(text: str):
    assert kind_of(text) == "identifier"


@pytest.mark.parametrize(
    "text",
    [
        "how do I stop the worker",
        "Why is the queue slow?",
        "the queue is slow, why?",
        "如何停止任务",
        "为什么队列很慢",
        "队列很慢吗",
        "what happened in 2024 and/or before",
    ],
)
def test_auto_leans_on_vectors_for_questions(text: str):
    assert kind_of(text) == "question"


@pytest.mark.parametrize("text", ["", "queue slow", "停止任务", "a deadbeef", "don't stop", "U.S."])
def test_auto_leaves_other_queries_their_weights(text: str):
    assert kind_of(text) == "ordinary"


def test_auto_reports_the_kind_and_the_weights_it_used():
    index = index_of(*DOCUMENTS)
    question = ask(index, "why does the parser crash?", vector=EAST, fusion="auto")
    assert (question.query_kind, question.weights) == ("question", Weights(0.7, 0.3))
    identifier = ask(index, "parse_config", vector=EAST, fusion="auto")
    assert (identifier.query_kind, identifier.weights) == ("identifier", Weights(0.2, 0.8))
    other = ask(index, "parser", vector=EAST, fusion="auto", weights=Weights(1, 1))
    assert (other.query_kind, other.weights) == ("ordinary", Weights(0.5, 0.5))
    assert ask(index, "parse_config", vector=EAST).query_kind is None


numbers = st.floats(0, 1) | st.just(math.nan)
ranks = st.integers(1, 500).map(float) | st.just(math.nan)


@given(st.lists(st.tuples(numbers, numbers), max_size=20), st.floats(0, 1))
def test_linear_parts_are_finite_and_never_negative(pairs: list[tuple[float, float]], w: float):
    vector, bm25 = np.array([p[0] for p in pairs]), np.array([p[1] for p in pairs])
    parts = linear(vector, bm25, Weights(w, 1 - w + 1e-9).shares())
    assert all(np.isfinite(part).all() and (part >= 0).all() for part in parts)


@given(st.lists(st.tuples(ranks, ranks), max_size=20))
def test_reciprocal_parts_are_finite_and_at_most_one_together(pairs: list[tuple[float, float]]):
    vector, bm25 = np.array([p[0] for p in pairs]), np.array([p[1] for p in pairs])
    parts = reciprocal(vector, bm25, Weights(0.7, 0.3))
    assert np.isfinite(parts.vector + parts.bm25).all()
    assert (parts.vector + parts.bm25 <= 1 + 1e-12).all()


def test_a_query_holds_its_own_defaults():
    query = Query(now=NOW)
    assert (query.limit, query.fusion, query.weights) == (10, "linear", Weights(0.7, 0.3))
