"""After any changes an index answers like one that was built from scratch, and like the book."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memoryweb.core.analysis import ANALYZERS, analyzer
from search.engine import Document, Filters, Index, Weights
from search.engine import index as index_module
from search.engine import numbering as numbering_module
from search.engine import postings as postings_module
from search.engine import vectors as vectors_module
from search.engine.collection import Analysed, Collection
from tests.engine import textbook
from tests.engine.builders import NOW, ask, document, index_of, names, papers, scores

WORDS = ["parser", "fix", "crash", "the", "what", "知识图谱", "图谱", "भाषा", "c++", "café", "a"]
QUERIES = ["parser fix fix", "图谱", "the what", "c++ cafe भाषा crash", ""]
IDS = ["a", "b", "c", "d", "e", "f", "g"]

texts = st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join)
directions = st.lists(st.sampled_from([-1.0, -0.5, 0.5, 2.0]), min_size=3, max_size=3)
vectors = directions | directions | st.none()
times = st.sampled_from([NOW, NOW - 1000.0])
places = st.sampled_from(["/a", "/a/b", "/c"]).map(lambda place: {"working_dir": place})
documents = st.builds(Document, st.sampled_from(IDS), texts, times, places, vectors)
changes = st.lists(
    st.tuples(st.just("put"), documents)
    | st.tuples(st.just("remove"), st.sampled_from(IDS))
    | st.tuples(st.sampled_from(["compact", "build_graph"]), st.none()),
    min_size=4,
    max_size=30,
)
# Enough vectors at the start for a graph to be built, which the changes then wear out.
beginnings = st.lists(
    st.builds(Document, st.sampled_from(IDS), texts, times, places, directions),
    min_size=5,
    max_size=len(IDS),
    unique_by=lambda one: one.id,
).map(lambda found: [("put", one) for one in found])
histories = st.builds(list.__add__, beginnings, changes)


@pytest.fixture(scope="module", autouse=True)
def small_steps() -> Iterator[None]:
    """Thresholds so low that a handful of documents reaches every branch."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(index_module, "COMPACT_AT_LEAST", 4)
        patch.setattr(index_module, "CHUNK", 2)
        patch.setattr(numbering_module, "MOST_MOVED", 3)
        patch.setattr(postings_module, "TAIL", 6)
        patch.setattr(vectors_module, "FRESH_AT_LEAST", 2)
        yield


def apply(index: Index, model: dict[str, Document], change: tuple[str, Any]) -> None:
    """The same change to the index and to a plain dictionary."""
    kind, what = change
    if kind == "put":
        assert index.put([what]) == []
        model.pop(what.id, None)
        model[what.id] = what
    elif kind == "remove":
        assert index.remove([what]) == (what in model)
        model.pop(what, None)
    else:
        getattr(index, kind)()


@pytest.mark.parametrize("name", sorted(ANALYZERS))
@settings(max_examples=150)
@given(steps=histories, query=st.sampled_from(QUERIES), vector=vectors)
def test_after_any_changes_scores_are_those_of_an_index_built_from_scratch(
    name: str, steps: list[tuple[str, Any]], query: str, vector: list[float] | None
):
    index, model = Index(analyzer(name), dimension=3, exact_threshold=3), {}
    for step in steps:
        apply(index, model, step)
    scratch = index_of(*model.values(), analysis=name, dimension=3)
    for filters in (Filters(), Filters(working_dir_prefix="/a")):
        options = {"vector": vector, "filters": filters, "limit": 20}
        answer, expected = ask(index, query, **options), ask(scratch, query, **options)
        assert names(answer) == names(expected)
        assert scores(answer) == pytest.approx(scores(expected), abs=1e-6)
        assert (answer.mode, answer.reasons) == (expected.mode, expected.reasons)
    assert_counts(index, model)


def assert_counts(index: Index, model: dict[str, Document]) -> None:
    found = papers(model.values(), index.analyzer)
    lengths = [len(paper.words) for paper in found]
    statistics = index.statistics
    assert statistics.total == len(index) == len(model)
    assert sorted(index.ids) == sorted(model)
    assert statistics.vectorized == sum(one.vector is not None for one in model.values())
    assert statistics.average_length == pytest.approx(sum(lengths) / (len(model) or 1))
    assert statistics.terms == len({word for one in found for word in [*one.words, *one.hidden]})


@settings(max_examples=100)
@given(steps=histories, query=st.sampled_from(QUERIES[:4]), vector=vectors)
def test_after_any_changes_scores_are_those_of_the_textbook(
    steps: list[tuple[str, Any]], query: str, vector: list[float] | None
):
    index, model = Index(analyzer(), dimension=3, exact_threshold=3), {}
    for step in steps:
        apply(index, model, step)
    own = papers(model.values(), analyzer())
    text = textbook.normalised(textbook.bm25(own, analyzer().query_tokens(query)))
    near = textbook.similarities(own, vector) if vector else {}
    expected = textbook.linear(near, text, (0.7, 0.3))
    assert scores(ask(index, query, vector=vector, limit=20)) == pytest.approx(expected, abs=1e-6)


def test_a_replaced_document_is_found_by_its_new_text_only():
    index = index_of(document("a", "old words"), document("b", "other"))
    index.put([document("a", "new words")])
    assert names(ask(index, "old")) == []
    assert names(ask(index, "new")) == ["a"]
    assert len(index) == 2


def test_the_last_of_several_documents_with_one_id_wins():
    index = index_of(document("a", "first"), document("a", "second"), document("a", "third"))
    assert (names(ask(index, "third")), names(ask(index, "first second"))) == (["a"], [])


def test_removing_what_is_not_there_changes_nothing():
    index = index_of(document("a", "parser"))
    assert index.remove(["b", "b"]) == 0
    assert index.remove(["a", "a"]) == 1
    assert index.remove(["a"]) == 0
    assert len(index) == 0


def test_a_removed_document_leaves_no_trace_in_any_score():
    index = index_of(document("a", "parser fix"), document("b", "parser"), document("c", "docs"))
    before = scores(ask(index, "parser fix docs"))
    index.put([document("d", "parser parser parser docs and many more words")])
    assert scores(ask(index, "parser fix docs")) != before
    index.remove(["d"])
    assert scores(ask(index, "parser fix docs")) == before


def test_compaction_forgets_dropped_rows_and_words_and_keeps_every_answer():
    index = index_of(*(document(f"d{n}", f"parser number{n}", [1.0, n, 0.0]) for n in range(40)))
    index.remove([f"d{n}" for n in range(0, 40, 2)])
    before = scores(ask(index, "parser number7", vector=[1.0, 7.0, 0.0], limit=50))
    index.compact()
    assert scores(ask(index, "parser number7", vector=[1.0, 7.0, 0.0], limit=50)) == before
    assert index.statistics.deletions == 0
    assert index.statistics.terms == 21


def test_many_removals_are_cleared_away_without_being_asked():
    index = index_of(*(document(f"d{n}", "parser") for n in range(20)))
    index.remove([f"d{n}" for n in range(18)])
    assert index.statistics.deletions == 0


def test_a_vector_is_given_changed_and_taken_by_putting_its_document_again():
    index = index_of(document("a", "parser"))
    assert index.vector("a") is None
    index.put([document("a", "parser", [3.0, 4.0])])
    assert index.vector("a") == pytest.approx(np.array([0.6, 0.8]))
    index.put([document("a", "parser", [0.0, 5.0])])
    assert scores(ask(index, vector=[0.0, 1.0])) == {"a": 1.0}
    index.put([document("a", "parser")])
    assert index.vector("a") is None
    assert names(ask(index, "parser")) == ["a"]
    assert index.vector("nobody") is None


@settings(max_examples=100)
@given(steps=histories, later=histories, query=st.sampled_from(QUERIES), vector=vectors)
def test_a_collection_that_a_search_holds_on_to_is_not_changed_by_anything_after_it(
    steps: list[tuple[str, Any]],
    later: list[tuple[str, Any]],
    query: str,
    vector: list[float] | None,
):
    index, model = Index(analyzer(), dimension=3, exact_threshold=3), {}
    for step in steps:
        apply(index, model, step)
    held = Held(index)
    filters = Filters(working_dir_prefix="/a", ids=frozenset("abcd"))
    asked = [{"vector": vector}, {"filters": filters}, {"explain": True}]
    before = [ask(held, query, **options) for options in asked]
    for step in later:
        apply(index, model, step)
    assert [ask(held, query, **options) for options in asked] == before
    assert sorted(held.collection.ids) == sorted(held.ids_before)


class Held(Index):
    """What another index holds now, as a search that began now sees it to its end."""

    def __init__(self, index: Index) -> None:
        self.analyzer = index.analyzer
        self._collection = index.collection
        self.ids_before = index.ids


def test_a_change_that_breaks_off_leaves_the_index_as_it_was(monkeypatch: pytest.MonkeyPatch):
    index = index_of(document("a", "parser", [1.0, 0.0]), document("b", "lexer"))
    before = ask(index, "parser lexer new", vector=[1.0, 1.0])
    put = Collection.put

    def broken(self: Collection, ready: Analysed) -> None:
        if ready.id == "d":
            raise MemoryError
        put(self, ready)

    with monkeypatch.context() as patch:
        patch.setattr(Collection, "put", broken)
        for first in (document("a", "new words", [0.0, 1.0]), document("c", "new")):
            with pytest.raises(MemoryError):
                index.put([first, document("d")])
    assert ask(index, "parser lexer new", vector=[1.0, 1.0]) == before
    index.put([document("e", "other words"), document("c", "parser words")])
    assert names(ask(index, "new")) == []
    assert sorted(names(ask(index, "parser other"))) == ["a", "c", "e"]
    assert sorted(index.ids) == ["a", "b", "c", "e"]
    assert "d" not in index
    scratch = index_of(
        document("a", "parser", [1.0, 0.0]), document("b", "lexer"),
        document("e", "other words"), document("c", "parser words"),
    )  # fmt: skip
    for query in ("parser words", "other lexer"):
        assert scores(ask(index, query)) == scores(ask(scratch, query))


def test_documents_put_again_many_times_are_still_known_by_their_ids():
    index = index_of(*(document(f"d{n}", "old") for n in range(20)))
    for turn in range(50):
        index.put([document(f"d{n}", f"turn{turn}") for n in range(10)])
    assert len(index) == 20
    assert sorted(names(ask(index, "turn49", limit=50))) == sorted(f"d{n}" for n in range(10))
    found = ask(index, "turn49 old", filters=Filters(ids=frozenset({"d3", "d15", "gone"})))
    assert sorted(names(found)) == ["d15", "d3"]


def test_a_vector_that_comes_later_leaves_the_text_where_it_lies():
    bare = [document(f"d{n}", f"parser word{n}") for n in range(5)]
    index = index_of(*bare)
    before = index.collection
    index.put([replace(one, vector=[float(n), 1.0]) for n, one in enumerate(bare)])
    now = index.statistics
    assert (now.total, now.vectorized, now.deletions, now.terms) == (5, 5, 0, 6)
    assert names(ask(index, vector=[0.0, 1.0]))[0] == "d0"
    assert names(ask(index, "word3", vector=[0.0, 1.0], weights=Weights(0.1, 0.9)))[0] == "d3"
    assert before.vectors.live == 0  # Who reads the collection as it was sees it as it was.


def test_a_vector_is_replaced_and_taken_away_where_the_text_stays():
    one, other = document("a", "parser", [1.0, 0.0]), document("b", "parser", [0.0, 1.0])
    index = index_of(one, other)
    before = index.collection
    index.put([replace(one, vector=[0.0, 2.0]), replace(other, vector=None)])
    assert index.vector("a").tolist() == [0.0, 1.0]
    assert index.vector("b") is None
    assert [hit.id for hit in ask(index, vector=[0.0, 1.0]).hits] == ["a"]
    assert [before.vectors.of(row).tolist() for row in (0, 1)] == [[1.0, 0.0], [0.0, 1.0]]
    index.put([replace(other, vector=[1.0, 0.0])])
    index.compact()
    assert (index.vector("a").tolist(), index.vector("b").tolist()) == ([0.0, 1.0], [1.0, 0.0])
    assert index.statistics.deletions == 0


def test_the_same_document_twice_in_one_batch_counts_as_it_came_last():
    index = index_of(document("a", "parser", [1.0, 0.0]))
    index.put([document("a", "lexer"), document("a", "parser", [0.0, 1.0])])
    assert (names(ask(index, "parser")), names(ask(index, "lexer"))) == (["a"], [])
    assert index.vector("a").tolist() == [0.0, 1.0]
    assert len(index) == 1


def test_a_document_of_which_only_the_time_or_an_attribute_changed_is_put_anew():
    index = index_of(document("a", "parser", created=1.0, kind="x"))
    index.put([document("a", "parser", created=2.0, kind="x")])
    assert ask(index, "parser").hits[0].created_at == 2.0
    index.put([document("a", "parser", created=2.0, kind="y")])
    assert names(ask(index, "parser", filters=Filters(kind="y"))) == ["a"]
