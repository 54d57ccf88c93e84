"""Measures of a ranking: worked by hand, and the bootstrap's promises."""

import math

import numpy as np
import pytest

from search.measures import bootstrap, ndcg, recall, reciprocal_rank

RANKED = ["a", "b", "c", "d"]
JUDGED = {"b": 3, "c": 0, "d": 2, "z": 1}


def test_recall_is_the_share_of_the_relevant_that_came_back():
    assert recall(RANKED, JUDGED, 4) == pytest.approx(2 / 3)
    assert recall(RANKED, JUDGED, 2) == pytest.approx(1 / 3)
    assert recall(RANKED, JUDGED, 1) == 0.0


def test_ndcg_discounts_each_grade_by_its_rank_and_divides_by_the_best_order():
    # 3 / log2(3) + 2 / log2(5), over 3 / log2(2) + 2 / log2(3) + 1 / log2(4).
    assert ndcg(RANKED, JUDGED, 10) == pytest.approx(2.7541422 / 4.7618595, abs=1e-7)
    # The first two alone, and what the best two could have brought.
    assert ndcg(RANKED, JUDGED, 2) == pytest.approx((3 / math.log2(3)) / (3 + 2 / math.log2(3)))
    assert ndcg(["b", "d", "z"], JUDGED, 10) == pytest.approx(1.0)


def test_the_reciprocal_rank_is_that_of_the_first_relevant_one_that_was_shown():
    assert reciprocal_rank(RANKED, JUDGED) == 0.5
    assert reciprocal_rank(["c", "a", "d"], JUDGED, 10) == pytest.approx(1 / 3)
    assert reciprocal_rank(["c", "a", "d"], JUDGED, 2) == 0.0


@pytest.mark.parametrize("judged", [{}, {"a": 0}, {"a": -1}])
def test_nothing_relevant_and_nothing_found_measure_0(judged: dict[str, int]):
    for measure in (recall, ndcg, reciprocal_rank):
        assert measure(RANKED, judged, 10) == 0.0
        assert measure([], {"a": 1}, 10) == 0.0


def test_an_interval_holds_its_mean_is_always_the_same_and_narrows_with_more_queries():
    few, many = np.tile([[0.0], [1.0]], (10, 1)), np.tile([[0.0], [1.0]], (1000, 1))
    [wide], [narrow] = bootstrap(few), bootstrap(many)
    assert wide == bootstrap(few)[0]
    assert wide.mean == narrow.mean == 0.5
    # The mean of n coin tosses lies within 1.96 * 0.5 / sqrt(n) of a half.
    assert wide.high - wide.low == pytest.approx(2 * 1.96 * 0.5 / math.sqrt(20), rel=0.15)
    assert narrow.high - narrow.low == pytest.approx(2 * 1.96 * 0.5 / math.sqrt(2000), rel=0.15)


def test_a_difference_that_every_query_has_is_certain_however_much_the_queries_differ():
    queries = np.random.default_rng(1).uniform(size=200)
    better = np.column_stack([queries, queries + 0.01, np.full(200, 0.01)])
    low, high, difference = bootstrap(better)
    assert low.high > high.low  # Their intervals overlap,
    assert difference.low == pytest.approx(0.01)  # and yet one is better, query by query.
    assert difference.high == pytest.approx(0.01)
