"""One request: filters, floor, ties, boosts, several collections, and the explanation."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from search.engine import Document, Filters, Index, Query, QueryError, Weights
from tests.engine import textbook
from tests.engine.builders import DAY, NOW, ask, document, index_of, names, papers, scores

EAST, NORTH = [1.0, 0.0], [0.0, 1.0]

SHELF = [
    document("a", "parser", created=NOW - 30, working_dir="/w/app", agent_id="x", outcome="success",
             source="task", kind="note"),
    document("b", "parser", created=NOW - 20, working_dir="/w/app/sub", agent_id="y",
             outcome="failure", source="task"),
    document("c", "parser", created=NOW - 10, working_dir="/w/application", agent_id="x",
             outcome="success", source="conversation"),
    document("d", "parser", created=NOW),
]  # fmt: skip


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        (Filters(), "abcd"),
        (Filters(working_dir="/w/app"), "a"),
        (Filters(working_dir="/w"), ""),
        (Filters(working_dir_prefix="/w/app"), "ab"),
        (Filters(working_dir_prefix="/w/app/"), "ab"),
        (Filters(working_dir_prefix="/w"), "abc"),
        (Filters(working_dir_prefix="/"), "abc"),
        (Filters(working_dir_prefix="w"), ""),
        (Filters(agent_id="x"), "ac"),
        (Filters(agent_id="nobody"), ""),
        (Filters(outcome="failure"), "b"),
        (Filters(source="conversation"), "c"),
        (Filters(kind="note"), "a"),
        (Filters(since=NOW - 20), "bcd"),
        (Filters(until=NOW - 20), "ab"),
        (Filters(since=NOW - 20, until=NOW - 10), "bc"),
        (Filters(ids=frozenset({"a", "d", "absent"})), "ad"),
        (Filters(ids=frozenset()), ""),
        (Filters(agent_id="x", outcome="success", since=NOW - 15), "c"),
    ],
)
def test_filters_take_exactly_what_they_name(filters: Filters, expected: str):
    assert sorted(names(ask(index_of(*SHELF), "parser", filters=filters))) == list(expected)
    assert [one.id for one in SHELF if filters.accept(one)] == list(expected)


def test_filtered_out_documents_still_count_in_frequencies_but_not_in_the_best_score():
    documents = [document("a", "parser parser", kind="x"), document("b", "parser and more words")]
    raw = textbook.bm25(papers(documents, index_of().analyzer), ["parser"])
    answer = ask(index_of(*documents), "parser", filters=Filters(ids=frozenset("b")), explain=True)
    explanation = answer.hits[0].explanation
    assert explanation is not None
    assert explanation.bm25_raw == explanation.bm25_best == pytest.approx(raw["b"])
    assert scores(answer) == {"b": 1.0}


def test_ties_break_newest_first_and_then_by_id():
    index = index_of(
        document("b", "parser", EAST, created=NOW - 1),
        document("c", "parser", EAST, created=NOW),
        document("a", "parser", EAST, created=NOW - 1),
        document("d", "parser", EAST, created=NOW - 2),
    )
    for options in ({"text": "parser"}, {"vector": EAST}, {"text": "parser", "vector": EAST}):
        assert names(ask(index, **options)) == ["c", "a", "b", "d"]
        assert names(ask(index, limit=2, **options)) == ["c", "a"]


def test_a_cut_through_a_thousand_ties_takes_the_newest():
    documents = [document(f"d{n:04}", "parser", created=NOW - n % 100) for n in range(1000)]
    expected = [f"d{n:04}" for n in range(0, 1000, 100)]
    assert names(ask(index_of(*documents), "parser")) == expected


def test_the_floor_is_inclusive_and_on_the_better_of_the_two_legs():
    documents = [
        document("vector", "nothing", EAST),
        document("half", "nothing", [1.0, math.sqrt(3)]),
        document("text", "parser", NORTH),
        document("neither", "nothing", NORTH),
    ]
    index = index_of(*documents)
    assert sorted(names(ask(index, "parser", vector=EAST, min_score=1.0))) == ["text", "vector"]
    assert sorted(names(ask(index, "parser", vector=EAST, min_score=0.5))) == [
        "half", "text", "vector",
    ]  # fmt: skip
    assert names(ask(index, "parser", vector=EAST, min_score=1.01)) == []
    assert len(ask(index, "parser", vector=EAST, min_score=0.0).hits) == 4


def test_a_floor_leaves_scores_as_they_are():
    documents = [document(f"d{n}", "parser " * n, [float(n), 3.0]) for n in range(1, 30)]
    index = index_of(*documents)
    plain = scores(ask(index, "parser", vector=EAST, limit=100))
    floored = scores(ask(index, "parser", vector=EAST, limit=100, min_score=0.9))
    assert 0 < len(floored) < len(plain)
    assert floored == {name: plain[name] for name in floored}


def test_with_a_floor_no_qualifying_document_is_missed():
    documents = [document(f"d{n:03}", "parser " * (n % 9 + 1)) for n in range(500)]
    text = textbook.normalised(textbook.bm25(papers(documents, index_of().analyzer), ["parser"]))
    qualifying = [one for one, score in text.items() if score >= 0.9]
    assert len(qualifying) > 40
    answer = ask(index_of(*documents), "parser", limit=10, min_score=0.9)
    assert answer.total_candidates == len(qualifying)
    assert len(answer.hits) == 10


def test_recency_halves_a_score_with_every_half_life_and_zero_is_off():
    documents = [
        document("now", "parser", created=NOW),
        document("old", "parser", created=NOW - 10 * DAY),
        document("older", "parser", created=NOW - 20 * DAY),
        document("ahead", "parser", created=NOW + DAY),
    ]
    index = index_of(*documents)
    aged = scores(ask(index, "parser", recency_half_life_days=10))
    assert aged == pytest.approx({"ahead": 1.0, "now": 1.0, "old": 0.5, "older": 0.25})
    assert set(scores(ask(index, "parser")).values()) == {1.0}


def test_the_preferred_directory_and_below_gain_a_quarter_and_nobody_is_left_out():
    answer = ask(index_of(*SHELF), "parser", prefer_working_dir="/w/app")
    assert scores(answer) == {"b": 1.25, "a": 1.25, "d": 1.0, "c": 1.0}
    assert names(answer) == ["b", "a", "d", "c"]


def test_boosts_lift_what_would_have_been_cut_before_them():
    documents = [document(f"d{n:03}", "parser " * 5, created=NOW - DAY) for n in range(200)]
    documents.append(document("mine", "parser", created=NOW, working_dir="/w"))
    index = index_of(*documents)
    assert "mine" not in names(ask(index, "parser", limit=1))
    assert names(ask(index, "parser", limit=1, prefer_working_dir="/w", recency_half_life_days=1)) \
        == ["mine"]  # fmt: skip


def test_boosts_lift_neighbours_too_and_ranks_stay_those_of_the_score_alone():
    documents = [document(f"d{n:03}", vector=[1.0, n / 1000], created=NOW) for n in range(200)]
    documents.append(document("mine", vector=[1.0, 0.5], working_dir="/w"))
    for exact_threshold in (100, 10_000):
        index = index_of(*documents, exact_threshold=exact_threshold)
        assert "mine" not in names(ask(index, vector=EAST, limit=2))
        [first, second] = ask(index, vector=EAST, limit=2, prefer_working_dir="/w").hits
        assert (first.id, first.rank_vector) == ("mine", 8)
        assert (second.id, second.rank_vector) == ("d000", 1)


def test_collections_keep_their_own_statistics_and_share_the_best_score():
    episodes = [document("e1", "parser parser"), document("e2", "other words")]
    notes = [document("n1", "parser"), document("n2", "parser docs"), document("n3", "docs")]
    answer = ask({"episodes": index_of(*episodes), "memories": index_of(*notes)}, "parser")
    chosen = index_of().analyzer
    raw = textbook.bm25(papers(episodes, chosen), ["parser"])
    raw |= textbook.bm25(papers(notes, chosen), ["parser"])
    assert scores(answer) == pytest.approx(textbook.normalised(raw))
    assert {hit.id: hit.collection for hit in answer.hits} == {
        "e1": "episodes", "n1": "memories", "n2": "memories",
    }  # fmt: skip


def test_one_id_in_two_collections_is_two_results():
    indexes = {
        "pages": index_of(document("a", "parser")),
        "episodes": index_of(document("a", "parser")),
    }
    answer = ask(indexes, "parser")
    assert [(hit.collection, hit.id) for hit in answer.hits] == [("episodes", "a"), ("pages", "a")]


def test_a_collection_of_another_width_is_searched_by_text_and_named_as_a_reason():
    indexes = {
        "episodes": index_of(document("e", "parser", EAST)),
        "memories": index_of(document("m", "parser", [1.0, 0.0, 0.0])),
        "pages": index_of(document("p", "parser")),
    }
    answer = ask(indexes, "parser", vector=EAST)
    assert (answer.mode, answer.reasons) == ("hybrid", ("wrong_width",))
    assert scores(answer) == pytest.approx({"e": 1.0, "m": 0.3, "p": 0.3})


def test_the_same_query_gives_the_same_answer():
    documents = [document(f"d{n}", f"parser word{n % 5}", [float(n % 3), 1.0]) for n in range(200)]
    index = index_of(*documents)
    first = ask(index, "parser word1", vector=EAST, explain=True)
    assert all(ask(index, "parser word1", vector=EAST, explain=True) == first for _ in range(3))


OPTIONS: list[dict[str, Any]] = [
    {"text": "parser crash parser"},
    {"text": "parser crash", "vector": [1.0, 0.2]},
    {"vector": [1.0, 0.2]},
    {"text": "parser", "vector": EAST, "fusion": "rrf"},
    {"text": "why does the parser crash?", "vector": EAST, "fusion": "auto"},
    {"text": "parser", "vector": EAST, "recency_half_life_days": 3},
    {"text": "parser", "vector": EAST, "prefer_working_dir": "/w", "fusion": "rrf"},
    {"text": "crash docs", "recency_half_life_days": 3, "prefer_working_dir": "/w"},
    {"text": "parser", "vector": EAST, "weights": Weights(0, 1), "min_score": 0.1},
]


def explained() -> Index:
    return index_of(
        document("a", "parser crash in the parser", EAST, created=NOW - DAY, working_dir="/w/x"),
        document("b", "parser docs", NORTH, created=NOW - 9 * DAY),
        document("c", "crash", [0.5, -0.5], created=NOW - 2 * DAY, working_dir="/w"),
        document("d", "docs and more docs", created=NOW),
        document("e", "other", [-1.0, 0.1], created=NOW),
    )


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_contributions_add_up_to_the_score_and_terms_to_the_text(options: dict[str, Any]):
    answer = ask(explained(), explain=True, **options)
    assert answer.hits
    for hit in answer.hits:
        assert hit.explanation is not None
        contributions = hit.explanation.contributions
        assert sum(contributions.values()) == pytest.approx(hit.score, abs=1e-12)
        shares = sum(share.contribution for share in hit.explanation.terms)
        assert shares == pytest.approx(contributions.get("bm25", 0.0), abs=1e-12)


def test_contributions_that_do_not_apply_are_left_out():
    def parts(**options: Any) -> list[str]:
        explanation = ask(explained(), explain=True, **options).hits[0].explanation
        assert explanation is not None
        return list(explanation.contributions)

    assert parts(text="parser") == ["bm25"]
    assert parts(vector=EAST) == ["vector"]
    assert parts(text="parser", vector=EAST) == ["vector", "bm25"]
    assert parts(text="parser", recency_half_life_days=1, prefer_working_dir="/w") == [
        "bm25", "recency", "prefer_working_dir",
    ]  # fmt: skip


def test_recency_takes_away_and_the_directory_adds_to_what_is_left():
    answer = ask(
        explained(), "crash", recency_half_life_days=2, prefer_working_dir="/w", explain=True
    )
    hit = next(hit for hit in answer.hits if hit.id == "c")
    assert hit.explanation is not None
    assert hit.bm25 == 1.0
    assert hit.explanation.contributions == pytest.approx(
        {"bm25": 1.0, "recency": -0.5, "prefer_working_dir": 0.125}
    )
    assert hit.score == pytest.approx(0.625)


def test_the_explanation_shows_terms_ranks_and_raw_values():
    answer = ask(explained(), "parser parser the missing", vector=EAST, explain=True)
    hit = answer.hits[0]
    assert (hit.id, hit.rank_vector, hit.rank_bm25) == ("a", 1, 1)
    explanation = hit.explanation
    assert explanation is not None
    assert explanation.matched == ("parser",)
    [term] = explanation.terms
    assert (term.term, term.tf, term.df) == ("parser", 2, 2)
    assert term.idf == pytest.approx(math.log(3.5 / 2.5 + 1))
    assert explanation.bm25_raw == explanation.bm25_best
    assert term.contribution == pytest.approx(0.3)
    assert explanation.cosine == pytest.approx(1.0)
    assert explanation.rank_before == 1
    assert answer.terms == ("parser", "missing")


def test_the_rank_before_is_the_rank_without_the_boosts():
    index = index_of(
        document("old", "parser parser", created=NOW - 30 * DAY), document("new", "parser")
    )
    answer = ask(index, "parser", recency_half_life_days=1, explain=True)
    ranks = {hit.id: hit.explanation.rank_before for hit in answer.hits if hit.explanation}
    assert names(answer) == ["new", "old"]
    assert ranks == {"old": 1, "new": 2}


def test_without_explain_there_is_no_explanation():
    assert ask(explained(), "parser").hits[0].explanation is None


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"limit": 0}, "limit"),
        ({"limit": 201}, "limit"),
        ({"now": math.nan}, "now"),
        ({"fusion": "magic"}, "fusion"),
        ({"min_score": math.nan}, "min_score"),
        ({"min_score": -0.1}, "min_score"),
        ({"recency_half_life_days": -1.0}, "recency_half_life_days"),
        ({"recency_half_life_days": math.inf}, "recency_half_life_days"),
    ],
)
def test_a_query_without_meaning_is_refused_by_the_name_of_its_field(
    options: dict[str, Any], field: str
):
    with pytest.raises(QueryError) as refusal:
        Query(**{"now": NOW, **options})
    assert refusal.value.field == field


def test_filters_without_meaning_are_refused():
    with pytest.raises(QueryError, match="working_dir_prefix"):
        Filters(working_dir_prefix="")
    with pytest.raises(QueryError, match="since"):
        Filters(since=math.nan)
    with pytest.raises(ValueError, match="created_at"):
        Document("a", "text", math.nan)


def test_extreme_boosts_never_give_a_number_that_is_none():
    index = index_of(document("a", "parser", created=-1e12), document("b", "parser", EAST, 1e12))
    answer = ask(index, "parser", vector=EAST, recency_half_life_days=1e-300, explain=True)
    assert all(math.isfinite(hit.score) for hit in answer.hits)


words = st.sampled_from(["parser", "the", "知识图谱", "c++", "भाषा", "é", "\0", "?", "x_y"])


@given(st.lists(words, max_size=8).map(" ".join), st.lists(words, max_size=30).map(" ".join))
def test_scores_are_finite_and_between_nothing_and_one_for_any_text(text: str, query: str):
    index = index_of(document("a", text, EAST), document("b", text * 2), document("c", "parser"))
    for vector in (None, EAST):
        for hit in ask(index, query, vector=vector).hits:
            assert 0.0 <= hit.score <= 1.0 + 1e-12
