"""The numbers under "why" are those of the engine, and they add up as they are shown."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryweb.core.analysis import analyzer
from search.engine import Document, Filters, Index, Query, Weights, search
from search.explaining import Ranking, Why, add_up, in_places, why

NOW = 1_800_000_000.0
DAY = 86_400.0


@pytest.fixture
def index() -> Index:
    index = Index(analyzer("cjk"))
    index.put(
        [
            Document("a", "Fixed the deadlock in the worker", NOW - 10 * DAY,
                     {"working_dir": "/srv/shop"}, [1.0, 0.0]),
            Document("b", "A deadlock and another deadlock in payments", NOW - DAY,
                     {"working_dir": "/srv/pay"}, [0.6, 0.8]),
            Document("c", "Upgraded the compiler", NOW, {"working_dir": "/srv/shop"}, [-1.0, 0.1]),
        ]
    )  # fmt: skip
    return index


def explained(index: Index, **query: object) -> dict[str, Why]:
    asked = Query(**{"text": "deadlock worker", "now": NOW, "explain": True, **query})
    answer = search({"episodes": index}, asked)
    ranking = Ranking(answer.weights, asked.fusion, answer.terms, asked.recency_half_life_days)
    found = {hit.id: why(hit, ranking) for hit in answer.hits}
    return {id: each for id, each in found.items() if each is not None}


def number(shown: str) -> Decimal:
    return Decimal(shown.replace("−", "-"))


@pytest.mark.parametrize("fusion", ["linear", "rrf", "auto"])
@pytest.mark.parametrize("weights", [Weights(0.7, 0.3), Weights(1, 2), Weights(0, 1)])
def test_what_is_shown_adds_up_to_what_is_shown(index, fusion, weights):
    found = explained(
        index, vector=[0.9, 0.3], fusion=fusion, weights=weights,
        recency_half_life_days=30, prefer_working_dir="/srv/shop",
    )  # fmt: skip
    assert found
    for each in found.values():
        assert sum(number(share.gives) for share in each.shares) == number(each.score)
        text = [share for share in each.shares if share.name == "bm25"]
        if each.terms:
            assert sum(number(term.gives) for term in each.terms) == number(text[0].gives)


def test_a_linear_part_is_said_as_weight_times_score(index):
    best = explained(index, vector=[1.0, 0.0])["a"]
    vector, text = best.shares
    assert (vector.label, vector.found, vector.rank) == ("Vector", "cosine 1.0000", 1)
    assert (vector.how, vector.gives) == ("0.70 × 1.0000", "0.7000")
    assert text.found.startswith("BM25 ")
    assert text.found.endswith(" = 1.0000")
    assert (text.how, text.gives) == ("0.30 × 1.0000", "0.3000")
    assert best.score == "1.0000"


def test_a_part_by_rank_is_said_by_its_rank(index):
    best = explained(index, vector=[1.0, 0.0], fusion="rrf")["a"]
    assert best.shares[0].how == "0.70 ÷ (60 + 1), of the best sum"


def test_a_leg_that_is_alone_is_said_to_be(index):
    best = explained(index)["a"]
    [text] = best.shares
    assert text.how == "the only leg, so as it is"
    assert best.score == "1.0000"


def test_a_negative_cosine_is_shown_and_counts_as_nothing(index):
    share = explained(index, vector=[1.0, 0.0])["c"].shares[0]
    assert share.found.startswith("cosine −0.99")
    assert share.found.endswith("counts as 0")
    assert share.gives == "0.0000"


def test_words_that_are_not_in_the_text_are_named(index):
    found = explained(index, vector=[1.0, 0.0])
    assert found["b"].missing == ["worker"]
    assert found["c"].missing == ["deadlock", "worker"]
    assert found["c"].shares[1].found == "holds none of the words"


def test_each_word_has_its_counts(index):
    [term] = explained(index)["b"].terms
    assert (term.term, term.tf, term.df) == ("deadlock", 2, 2)
    assert term.idf == "0.470"  # ln((3 - 2 + .5) / (2 + .5) + 1)


def test_age_and_directory_are_parts_of_their_own_and_the_place_before_them_is_named(index):
    found = explained(
        index, vector=[0.9, 0.3], recency_half_life_days=10, prefer_working_dir="/srv/shop"
    )
    age, directory = found["a"].shares[2:]
    assert (age.label, age.found, age.how) == ("Age", "halves every 10 days", "× 0.5000")
    assert number(age.gives) < 0
    assert (directory.label, directory.how) == ("Preferred directory", "+ 25%")
    assert found["b"].shares[3].found == "lies elsewhere"
    assert {each.rank_before for each in found.values()} == {1, 2, 3}


def test_without_them_no_place_before_is_named(index):
    assert explained(index)["a"].rank_before is None


def test_a_hit_that_was_not_asked_to_explain_itself_has_no_explanation(index):
    answer = search({"episodes": index}, Query(text="deadlock", now=NOW, filters=Filters()))
    assert why(answer.hits[0], Ranking(answer.weights, "linear", answer.terms, 0)) is None


@given(st.lists(st.floats(-2, 2), min_size=1, max_size=8))
def test_rounded_parts_add_up_to_the_rounded_total_and_none_is_off_by_a_unit(values):
    units = add_up(values, sum(values))
    assert sum(units) == round(sum(values) * 10_000)
    pairs = zip(units, values, strict=True)
    assert all(abs(unit - value * 10_000) <= 1.001 for unit, value in pairs)


def test_a_negative_number_has_a_minus():
    assert in_places(-1234) == "−0.1234"
    assert in_places(5) == "0.0005"
