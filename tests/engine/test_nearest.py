"""The vector leg: exact cosine, the graph above the threshold, and vectors that are refused."""

import math
from typing import Any

import numpy as np
import pytest

from memoryweb.core.analysis import analyzer
from memoryweb.core.vectors import VectorRefused
from search.engine import Document, Filters, Index
from search.engine import graph as graph_module
from tests.engine import textbook
from tests.engine.builders import ask, document, index_of, names, scores

WIDTH = 16


def random_documents(count: int, seed: int = 1, prefix: str = "d") -> list[Document]:
    rows = np.random.default_rng(seed).standard_normal((count, WIDTH))
    return [
        document(f"{prefix}{n:04}", f"text {n % 10}", row.tolist(), working_dir=f"/w/{n % 20}")
        for n, row in enumerate(rows)
    ]


def graphed(documents: list[Document], **options: Any) -> Index:
    index = index_of(*documents, exact_threshold=100, **options)
    assert index.statistics.mode == "hnsw"
    return index


QUERY = np.random.default_rng(99).standard_normal(WIDTH).tolist()


def true_neighbours(documents: list[Document], query: list[float], count: int) -> list[str]:
    nearest = {one.id: textbook.cosine(one.vector, query) for one in documents}
    return sorted(nearest, key=lambda name: -nearest[name])[:count]


def test_similarity_is_the_cosine_and_never_below_zero():
    index = index_of(
        document("same", vector=[2.0, 0.0]),
        document("near", vector=[3.0, 4.0]),
        document("across", vector=[0.0, 1.0]),
        document("against", vector=[-1.0, 0.0]),
        document("unknown"),
    )
    answer = ask(index, vector=[5.0, 0.0], explain=True)
    assert answer.mode == "vector"
    assert answer.reasons == ()
    expected = {"same": 1.0, "near": 0.6, "across": 0.0, "against": 0.0}
    assert scores(answer) == pytest.approx(expected, abs=1e-7)
    cosines = {hit.id: hit.explanation.cosine for hit in answer.hits if hit.explanation}
    assert cosines["against"] == pytest.approx(-1.0)


def test_exact_neighbours_are_those_of_the_textbook():
    documents = random_documents(500)
    answer = ask(index_of(*documents), vector=QUERY)
    assert names(answer) == true_neighbours(documents, QUERY, 10)
    best = answer.hits[0]
    row = next(one.vector for one in documents if one.id == best.id)
    assert best.score == pytest.approx(textbook.cosine(row, QUERY), abs=1e-6)


def test_equal_vectors_score_equally_wherever_they_lie():
    row = np.random.default_rng(3).standard_normal(384).tolist()
    others = np.random.default_rng(4).standard_normal((200, 384)).tolist()
    documents = [document(f"o{n:03}", vector=other) for n, other in enumerate(others)]
    for place in (0, 50, 133, 203):
        documents.insert(place, document(f"same{place:03}", vector=row))
    answer = ask(index_of(*documents), vector=row, limit=4)
    assert names(answer) == ["same000", "same050", "same133", "same203"]
    assert len({hit.score for hit in answer.hits}) == 1


@pytest.mark.parametrize(
    ("vector", "reason"),
    [
        ([], "empty"),
        ([0.0, 0.0, 0.0], "zero"),
        ([math.nan, 1.0, 0.0], "not_finite"),
        ([math.inf, 1.0, 0.0], "not_finite"),
        ([1e300, 1.0, 0.0], "not_finite"),
        ([1.0, 2.0], "wrong_width"),
        (["1", "2", "3"], "not_numbers"),
        ([[1.0, 2.0, 3.0]], "not_numbers"),
        ("abc", "not_numbers"),
        ({}, "not_numbers"),
    ],
)
def test_a_refused_vector_is_named_and_its_document_stays_findable_by_text(
    vector: Any, reason: str
):
    index = index_of(document("good", "parser", [1.0, 0.0, 0.0]))
    refusals = index.put([document("bad", "parser", vector)])
    assert [(one.id, one.reason) for one in refusals] == [("bad", reason)]
    assert names(ask(index, "parser")) == ["bad", "good"]
    assert names(ask(index, vector=[1.0, 0.0, 0.0])) == ["good"]
    assert index.statistics.vectorized == 1


def test_the_first_accepted_vector_fixes_the_width_and_a_given_width_is_fixed_from_the_start():
    index = Index(analyzer())
    assert index.dimension is None
    refusals = index.put(
        [document("a", vector=[0.0, 0.0]), document("b", vector=[1.0, 2.0, 3.0]),
         document("c", vector=[1.0, 2.0])]
    )  # fmt: skip
    assert [(one.id, one.reason) for one in refusals] == [("a", "zero"), ("c", "wrong_width")]
    assert index.dimension == 3
    given = Index(analyzer(), dimension=2)
    assert given.put([document("b", vector=[1.0, 2.0, 3.0])])[0].reason == "wrong_width"


@pytest.mark.parametrize("vector", [[], [0.0, 0.0], [math.nan, 1.0], "ab", [[1.0, 2.0]]])
def test_a_query_vector_that_compares_with_nothing_is_refused(vector: Any):
    with pytest.raises(VectorRefused):
        ask(index_of(document("a", vector=[1.0, 0.0])), vector=vector)


@pytest.mark.parametrize("exact_threshold", [1, 10_000])
def test_a_query_of_the_wrong_width_is_answered_from_text_and_says_so(exact_threshold: int):
    index = index_of(*random_documents(300), exact_threshold=exact_threshold)
    answer = ask(index, "text 3", vector=[1.0, 0.0])
    assert (answer.mode, answer.reasons) == ("bm25", ("wrong_width",))
    assert answer.hits
    alone = ask(index, vector=[1.0, 0.0])
    assert (alone.mode, alone.reasons, alone.hits) == ("vector", ("wrong_width",), ())


def test_above_the_threshold_the_graph_finds_what_exact_search_finds():
    documents = random_documents(2000)
    index = graphed(documents)
    found = names(ask(index, vector=QUERY))
    assert len(set(found) & set(true_neighbours(documents, QUERY, 10))) >= 9
    recall = index.recall_at_10()
    assert recall is not None
    assert recall >= 0.95


def test_recall_is_one_while_exact_and_unknown_without_vectors():
    assert index_of(*random_documents(50)).recall_at_10() == 1.0
    assert index_of(document("a", "text")).recall_at_10() is None


def test_scores_by_graph_are_exact_cosines():
    documents = random_documents(1000)
    answer = ask(graphed(documents), vector=QUERY)
    by_name = {one.id: one.vector for one in documents}
    expected = {hit.id: textbook.cosine(by_name[hit.id], QUERY) for hit in answer.hits}
    assert scores(answer) == pytest.approx(expected, abs=1e-6)


def test_what_was_added_after_the_graph_was_built_is_found_beside_it():
    index = graphed(random_documents(1000))
    index.put([document("fresh", "text", QUERY)])
    assert (index.statistics.graph, index.statistics.unindexed) == (1000, 1)
    assert names(ask(index, vector=QUERY))[0] == "fresh"


def test_what_was_dropped_since_is_never_found_again():
    documents = random_documents(1000)
    index = graphed(documents)
    gone = true_neighbours(documents, QUERY, 40)
    index.remove(gone)
    left = [one for one in documents if one.id not in gone]
    assert index.statistics.mode == "hnsw"
    found = names(ask(index, vector=QUERY))
    assert len(set(found) & set(true_neighbours(left, QUERY, 10))) >= 9
    assert not set(found) & set(gone)


def test_a_changed_vector_is_found_by_its_new_direction_only():
    documents = random_documents(1000)
    index = graphed(documents)
    best = true_neighbours(documents, QUERY, 1)[0]
    index.put([document(best, "text", [-value for value in QUERY])])
    assert best not in names(ask(index, vector=QUERY))
    assert names(ask(index, vector=[-value for value in QUERY]))[0] == best


def test_a_graph_outlives_compaction_and_what_came_after_it_is_still_found():
    documents = random_documents(1000)
    index = graphed(documents)
    index.remove(one.id for one in documents[::10])
    index.compact()
    index.put([document("fresh", "text", QUERY)])
    assert (index.statistics.graph, index.statistics.unindexed) == (900, 1)
    left = [one for one in documents if one.id in index]
    found = names(ask(index, vector=QUERY))
    assert found[0] == "fresh"
    assert len(set(found[1:]) & set(true_neighbours(left, QUERY, 9))) >= 8


def test_too_many_drops_lead_back_to_exact_search_until_the_graph_is_built_anew():
    documents = random_documents(1000)
    index = graphed(documents)
    index.auto_graph = False
    index.remove([one.id for one in documents[:300]])
    assert index.statistics.mode == "exact"
    assert names(ask(index, vector=QUERY)) == true_neighbours(documents[300:], QUERY, 10)
    index.build_graph()
    assert index.statistics.mode == "hnsw"
    assert index.statistics.graph == 700


def test_a_filtered_query_is_exact_on_the_rows_that_match():
    documents = random_documents(2000)
    index = graphed(documents)
    answer = ask(index, vector=QUERY, filters=Filters(working_dir="/w/7"))
    matching = [one for one in documents if one.attributes["working_dir"] == "/w/7"]
    assert names(answer) == true_neighbours(matching, QUERY, 10)


def test_a_floor_misses_nothing_although_the_graph_gives_only_so_many():
    documents = random_documents(2000)
    expected = [one.id for one in documents if textbook.cosine(one.vector, QUERY) >= 0.2]
    assert len(expected) > 200
    answer = ask(graphed(documents), vector=QUERY, min_score=0.2, limit=10)
    assert answer.total_candidates == len(expected)


def test_below_the_threshold_no_graph_is_built():
    index = index_of(*random_documents(100), exact_threshold=100)
    assert index.statistics.mode == "exact"
    assert index.statistics.graph == 0


def test_without_hnswlib_everything_is_exact_and_the_statistics_say_so(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(graph_module, "find_spec", lambda name: None)
    documents = random_documents(300)
    index = index_of(*documents, exact_threshold=100)
    assert not index.statistics.hnsw_available
    assert index.statistics.mode == "exact"
    assert names(ask(index, vector=QUERY)) == true_neighbours(documents, QUERY, 10)


def test_a_graph_never_sees_a_query_of_another_width():
    built = graph_module.Graph(np.eye(4, dtype=np.float32))
    with pytest.raises(ValueError, match="width"):
        built.nearest(np.ones(3, np.float32), 2)


def test_the_capacity_only_warns_and_counts_live_vectors_alone():
    index = index_of(*(document(f"t{n}", "text") for n in range(20)), capacity=10)
    assert index.statistics.warning is None
    documents = random_documents(10)
    index.put(documents[:8])
    assert index.statistics.warning == 80
    index.put(documents[8:])
    assert index.statistics.warning == 100
    assert index.statistics.vectorized == 10
    index.remove([one.id for one in documents[:3]])
    assert index.statistics.warning is None
