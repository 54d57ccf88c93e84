"""The walk along links, against an independent one that tries every walk of every length."""

from collections import defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from search.wiki.expansion import EXPANDED_LIMIT, expand


def neighbours_of(edges, asked=None):
    """Links for `expand`; what it asks about is noted in `asked`, a list for each level."""
    around = defaultdict(set)
    for source, target in edges:
        around[source].add(target)
        around[target].add(source)

    def neighbours(pages):
        if asked is not None:
            asked.append(list(pages))
        return {page: [(other, "out") for other in sorted(around[page])] for page in pages}

    return neighbours


def told(seeds, edges, **options):
    options = {"hop": 1, "decay": 0.5, **options}
    reached = expand(seeds, neighbours_of(edges), **options)
    return {one.page: (one.score, one.hop, one.via) for one in reached}


def test_without_hops_there_are_the_seeds_alone():
    assert told({"a": 2.0}, [("a", "b")], hop=0) == {"a": (2.0, 0, None)}


def test_each_link_halves_the_score_whichever_way_it_points():
    assert told({"b": 8.0}, [("a", "b"), ("b", "c"), ("d", "c")], hop=2) == {
        "b": (8.0, 0, None),
        "a": (4.0, 1, "b"),
        "c": (4.0, 1, "b"),
        "d": (2.0, 2, "c"),
    }


def test_a_page_keeps_its_best_score_with_the_hop_and_via_of_that_very_walk():
    edges = [("strong", "one"), ("one", "two"), ("two", "page"), ("weak", "page")]
    assert told({"strong": 16.0, "weak": 1.0}, edges, hop=3)["page"] == (2.0, 3, "two")
    assert told({"strong": 16.0, "weak": 8.0}, edges, hop=3)["page"] == (4.0, 1, "weak")


def test_a_page_whose_score_improves_is_walked_from_again():
    edges = [("strong", "one"), ("one", "page"), ("weak", "page"), ("page", "beyond")]
    assert told({"strong": 16.0, "weak": 1.0}, edges, hop=3)["beyond"] == (2.0, 3, "page")


def test_a_better_but_longer_walk_does_not_hide_what_only_the_shorter_one_reaches():
    edges = [("strong", "one"), ("one", "page"), ("weak", "page"), ("page", "beyond")]
    assert told({"strong": 16.0, "weak": 1.0}, edges, hop=2) == {
        "strong": (16.0, 0, None),
        "one": (8.0, 1, "strong"),
        "page": (4.0, 2, "one"),
        "weak": (1.0, 0, None),
        "beyond": (0.25, 2, "page"),
    }


def test_a_weak_seed_beside_a_strong_one_gets_the_better_score():
    assert told({"strong": 8.0, "weak": 1.0}, [("strong", "weak")]) == {
        "strong": (8.0, 0, None),
        "weak": (4.0, 1, "strong"),
    }


def test_the_walk_runs_from_the_seed_to_the_page():
    (page,) = [
        one
        for one in expand({"a": 1.0}, neighbours_of([("a", "b"), ("b", "c")]), hop=2, decay=1.0)
        if one.page == "c"
    ]
    assert page.walk == ("a", "b", "c")


@pytest.mark.parametrize(("floor", "pages"), [(0.25, "abc"), (0.26, "ab"), (1.01, "")])
def test_what_is_below_the_floor_is_left_out_and_not_walked_from(floor, pages):
    edges = [("a", "b"), ("b", "c"), ("c", "d")]
    assert "".join(told({"a": 1.0}, edges, hop=5, floor=floor)) == pages


def test_a_decay_of_nothing_leaves_pages_without_a_score():
    assert told({"a": 1.0}, [("a", "b")], decay=0.0) == {"a": (1.0, 0, None), "b": (0.0, 1, "a")}
    assert "b" not in told({"a": 1.0}, [("a", "b")], decay=0.0, floor=0.001)


def test_two_hundred_pages_are_added_and_seeds_are_not_counted():
    seeds = {f"seed-{number:03}": 2.0 for number in range(200)}
    edges = [(seed, f"page-{seed}-{n}") for seed in seeds for n in range(2)]
    reached = expand(seeds, neighbours_of(edges), hop=1, decay=0.5)
    assert EXPANDED_LIMIT == 200
    assert len(reached) == 400
    assert sum(one.hop == 0 for one in reached) == 200


def test_the_two_hundred_are_the_best_ones_however_far():
    """A far page of a strong seed goes before a near page of a weak one."""
    near = [("weak", f"near-{number:03}") for number in range(300)]
    far = [("strong", "bridge"), ("bridge", "far")]
    reached = told({"weak": 1.0, "strong": 8.0}, near + far, hop=2)
    assert reached["far"] == (2.0, 2, "bridge")
    assert sum(hop > 0 for _, hop, _ in reached.values()) == 200


def test_links_are_asked_for_once_a_level_and_only_of_pages_that_are_walked_from():
    hub = [("hub", f"page-{number}") for number in range(3000)]
    asked = []
    expand({"a": 1.0}, neighbours_of([("a", "hub"), *hub], asked), hop=5, decay=0.5)
    assert asked[:2] == [["a"], ["hub"]]
    assert len(asked) <= 5
    assert sum(map(len, asked)) <= 2 + EXPANDED_LIMIT


# The reference

PAGES = st.sampled_from("abcdefghij")
EDGES = st.lists(st.tuples(PAGES, PAGES).filter(lambda edge: edge[0] != edge[1]), max_size=30)
SEEDS = st.dictionaries(PAGES, st.sampled_from([0.5, 1.0, 3.0, 7.0, 16.0]), max_size=5)


def every_walk(seeds, edges, hop, decay):
    """For each page and number of links the best score of a walk of exactly so many."""
    levels = [dict(seeds)]
    for _ in range(hop):
        level = {}
        for source, target in [*edges, *((b, a) for a, b in edges)]:
            if source in levels[-1]:
                level[target] = max(level.get(target, 0.0), levels[-1][source] * decay)
        levels.append(level)
    return levels


def reference(seeds, edges, hop, decay, floor):
    best = {}
    for number, level in enumerate(every_walk(seeds, edges, hop, decay)):
        for page, score in level.items():
            if page not in best or score > best[page][0]:
                best[page] = score, number
    return {page: found for page, found in best.items() if found[0] >= floor}


@given(
    SEEDS,
    EDGES,
    st.integers(0, 5),
    st.sampled_from([0.0, 0.3, 0.5, 0.9, 1.0]),
    st.sampled_from([0.0, 0.1, 1.0]),
)
def test_scores_and_hops_are_those_of_the_best_of_all_walks(seeds, edges, hop, decay, floor):
    reached = expand(seeds, neighbours_of(edges), hop=hop, decay=decay, floor=floor)
    assert {one.page: (one.score, one.hop) for one in reached} == reference(
        seeds, edges, hop, decay, floor
    )


@given(SEEDS, EDGES, st.integers(0, 5), st.sampled_from([0.3, 0.5, 1.0]))
def test_every_walk_told_is_one_along_links_with_that_score(seeds, edges, hop, decay):
    links = {frozenset(edge) for edge in edges}
    for one in expand(seeds, neighbours_of(edges), hop=hop, decay=decay):
        score = seeds[one.walk[0]]
        for step in zip(one.walk, one.walk[1:], strict=False):
            assert frozenset(step) in links
            score *= decay
        assert one.score == score
        assert one.page == one.walk[-1]


@given(SEEDS, EDGES, st.integers(0, 5), st.sampled_from([0.3, 0.5, 1.0]), st.integers(0, 4))
def test_a_cap_keeps_the_best_of_what_there_is_without_one(seeds, edges, hop, decay, most):
    options = {"hop": hop, "decay": decay}
    everything = expand(seeds, neighbours_of(edges), **options)
    capped = expand(seeds, neighbours_of(edges), most=most, **options)
    others = [one.page for one in everything if one.page not in seeds]
    assert [one.page for one in capped if one.page not in seeds] == others[:most]
    assert {one.page for one in capped} >= set(seeds)


@given(SEEDS, EDGES, st.integers(0, 5))
def test_the_order_is_the_same_whatever_the_order_of_seeds(seeds, edges, hop):
    backwards = dict(reversed(seeds.items()))
    options = {"hop": hop, "decay": 0.5}
    assert expand(seeds, neighbours_of(edges), **options) == expand(
        backwards, neighbours_of(edges), **options
    )
