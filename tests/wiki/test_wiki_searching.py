"""A search of a wiki: its order, its bounds, its neighbours, and why each page is there."""

import math

import pytest

from memoryweb.core.errors import Invalid
from search.wiki import expansion, matching, reading, searching, snippet
from search.wiki.opening import NeedsRebuild
from search.wiki.searching import Query, Related, ResultLink

FILLERS = {f"filler-{number:02}": "plain words" for number in range(20)}


def garden(wiki, new_entry):
    """apple matches; it links to pear, which links to plum, which fig links to."""
    pages = {
        "apple": new_entry("apple", "about an apple tree", title="Apple", kind="concept"),
        "pear": new_entry("pear", "about a pear tree", title="Pear"),
        "plum": new_entry("plum", "about plums", title="Plum"),
        "fig": new_entry("fig", "about figs", title="Fig"),
    }
    return wiki.build(
        {**pages, **FILLERS}, {"apple": ["pear"], "pear": ["plum", "apple"], "fig": ["plum"]}
    )


# Every constant and bound of the specification


@pytest.mark.parametrize(
    ("value", "promised"),
    [
        (Query("x").limit, 20),
        (Query("x").hop, 0),
        (Query("x").decay, 0.5),
        (Query("x").min_score, None),
        (searching.MIN_SCORE, 0.1),
        (Query("x").title_weight, 5.0),
        (Query("x").content_weight, 1.0),
        (Query("x").include_structural, False),
        (searching.RELATED_LIMIT, 10),
        (expansion.EXPANDED_LIMIT, 200),
        (snippet.SNIPPET_LENGTH, 80),
        (matching.CJK.name, "cjk"),
        (set(reading.STRUCTURAL), {"index", "log", "schema", "purpose", "overview"}),
    ],
)
def test_defaults_are_those_of_the_specification(value, promised):
    assert value == promised


@pytest.mark.parametrize(
    ("field", "allowed", "refused"),
    [
        ("limit", [1, 200], [0, 201, -1, 20.0, "20", True, None]),
        ("hop", [0, 5], [-1, 6, 0.5, 1.0, "1", True, None]),
        ("decay", [0, 1, 0.0, 1.0], [-0.01, 1.01, math.nan, math.inf, "0.5", True, None]),
        ("min_score", [0, 0.0, 1e9, None], [-0.01, math.nan, math.inf, "0.1", False]),
        ("title_weight", [0, 10.0], [-1, math.nan, math.inf, None]),
        ("content_weight", [0, 10.0], [-1, math.nan, math.inf, None]),
    ],
)
def test_a_bound_takes_what_lies_on_it_and_names_its_field_beyond(field, allowed, refused):
    for value in allowed:
        assert getattr(Query("x", **{field: value}), field) == value
    for value in refused:
        with pytest.raises(Invalid) as error:
            Query("x", **{field: value})
        assert [one.loc for one in error.value.errors] == [(field,)]


def test_every_field_out_of_bounds_is_named_at_once():
    with pytest.raises(Invalid) as error:
        Query("x", limit=0, hop=6, decay=2)
    assert [one.loc[0] for one in error.value.errors] == ["limit", "hop", "decay"]


# Order


def test_a_word_in_the_title_weighs_five_times_one_in_the_text(wiki, new_entry):
    words = {"title": new_entry("title", "one two three", title="quince four")}
    words["text"] = new_entry("text", "one two three quince", title="four")
    wiki.build({**words, **FILLERS})
    assert wiki.found("quince") == ["title", "text"]
    assert wiki.found("quince", title_weight=1, content_weight=5) == ["text", "title"]
    equal = wiki.ask("quince", title_weight=1, content_weight=1).results
    assert equal[0].score == equal[1].score


def test_scores_are_positive_and_fall(wiki):
    wiki.build({"one": "quince", "two": "quince quince quince", **FILLERS})
    scores = [result.score for result in wiki.ask("quince").results]
    assert scores == sorted(scores, reverse=True)
    assert min(scores) > 0


def test_pages_of_one_score_are_ordered_by_id_whatever_was_written_last(wiki):
    wiki.build(dict.fromkeys(("c", "a", "b", "d"), "quince") | FILLERS)
    assert wiki.found("quince") == ["a", "b", "c", "d"]
    assert wiki.found("quince", limit=2) == ["a", "b"]


def test_limit_bounds_what_is_given(wiki):
    wiki.build({f"p{number:03}": "quince" for number in range(250)})
    assert len(wiki.found("quince")) == 20
    assert len(wiki.found("quince", limit=200)) == 200
    assert wiki.ask("quince", limit=1).count == 1


# Small wikis


def test_in_a_wiki_of_one_page_the_page_is_found_at_every_hop(wiki):
    """FTS5 gives a term in half of the pages or more a weight of a millionth."""
    wiki.build({"only": "quince"})
    for hop in range(6):
        (result,) = wiki.ask("quince", hop=hop).results
        assert result.page_id == "only"
        assert 0 < result.score < 0.1


def test_the_default_floor_is_a_tenth_of_the_best_match(wiki):
    wiki.build(
        {"a": "quince", "b": "", "c": "", "d": "", "e": ""},
        {"a": ["b"], "b": ["c"], "c": ["d"], "d": ["e"]},
    )
    assert wiki.found("quince", hop=5) == ["a", "b", "c", "d"]  # 1, .5, .25, .125, and no .0625
    assert wiki.found("quince", hop=5, decay=0.6) == ["a", "b", "c", "d", "e"]


def test_a_floor_that_is_given_is_absolute_even_if_it_is_the_default_one(wiki):
    wiki.build({"only": "quince"})
    assert wiki.found("quince", hop=1, min_score=0.1) == []
    assert wiki.found("quince", hop=1, min_score=0) == ["only"]


def test_a_floor_is_used_with_hops_only(wiki):
    wiki.build({"only": "quince"})
    assert wiki.found("quince", hop=0, min_score=1000) == ["only"]


def test_a_floor_is_on_the_scale_of_the_score_that_is_given(wiki, new_entry):
    garden(wiki, new_entry)
    best = wiki.ask("apple").results[0].score
    assert wiki.found("apple", hop=2, min_score=best) == ["apple"]
    assert wiki.found("apple", hop=2, min_score=best / 2) == ["apple", "pear"]
    assert wiki.found("apple", hop=2, min_score=best * 1.001) == []


# Along links


def test_each_hop_leads_one_link_further(wiki, new_entry):
    garden(wiki, new_entry)
    assert wiki.found("apple") == ["apple"]
    assert wiki.found("apple", hop=1) == ["apple", "pear"]
    assert wiki.found("apple", hop=2) == ["apple", "pear", "plum"]
    assert wiki.found("apple", hop=3) == ["apple", "pear", "plum", "fig"]


def test_a_result_tells_hop_via_and_the_way_from_its_seed(wiki, new_entry):
    seed, pear, plum = garden(wiki, new_entry).ask("apple", hop=2).results
    assert (seed.hop, seed.via, seed.matched) == (0, None, seed.score)
    assert (pear.hop, pear.via, pear.score) == (1, "Apple", seed.score / 2)
    assert (plum.hop, plum.via, plum.score) == (2, "Pear", seed.score / 4)
    assert plum.matched is None
    assert [(step.page_id, step.title, step.score) for step in plum.way] == [
        ("apple", "Apple", seed.score),
        ("pear", "Pear", seed.score / 2),
        ("plum", "Plum", seed.score / 4),
    ]


def test_a_result_has_what_a_list_shows(wiki, new_entry):
    (result,) = garden(wiki, new_entry).ask("apple").results
    assert (result.path, result.title, result.type) == ("apple.md", "Apple", "concept")
    assert result.snippet == "about an apple tree"
    assert result.related == (Related("Pear", "pear.md", "other", "both"),)


def test_related_pages_tell_which_way_the_link_points(wiki, new_entry):
    garden(wiki, new_entry)
    (plum,) = wiki.ask("plums").results
    assert {(page.title, page.direction) for page in plum.related} == {
        ("Pear", "in"),
        ("Fig", "in"),
    }
    (fig,) = wiki.ask("figs").results
    assert [(page.title, page.direction) for page in fig.related] == [("Plum", "out")]


def test_of_many_related_pages_there_are_the_ten_with_the_most_links(wiki):
    pages = {f"p{number:02}": "" for number in range(12)}
    edges = {"hub": [*pages], "p11": ["p07"]}
    wiki.build({"hub": "quince", **pages, **FILLERS}, edges)
    (hub,) = wiki.ask("quince").results
    assert [page.title for page in hub.related] == [
        *("p07", "p11"),
        *(f"p{number:02}" for number in (0, 1, 2, 3, 4, 5, 6, 8)),
    ]


def test_links_are_those_among_results_once_for_both_directions(wiki, new_entry):
    answer = garden(wiki, new_entry).ask("apple", hop=3)
    assert answer.links == (
        ResultLink("apple.md", "pear.md", 1),
        ResultLink("pear.md", "plum.md", 1),
        ResultLink("fig.md", "plum.md", 1),
    )
    assert wiki.ask("apple").links == ()


def test_twice_as_many_seeds_as_the_limit_are_walked_from(wiki):
    """The third match is beyond the limit, and what it alone links to is reached all the same."""
    pages = {f"m{number}": "quince" for number in range(3)}
    wiki.build({**pages, "near": "", **FILLERS}, {"m1": ["near"], "m2": ["near"]})
    assert wiki.found("quince", limit=1) == ["m0"]
    assert "near" not in wiki.found("quince", limit=2, hop=1)
    assert wiki.ask("quince", limit=4, hop=1).results[3].via == "m1"
    only_third = wiki.build({**pages, "near": "", **FILLERS}, {"m2": ["near"]}, seq=2)
    assert only_third.found("quince", limit=2, hop=1, decay=1) == ["m0", "m1"]
    assert only_third.found("quince", limit=4, hop=1, decay=1) == ["m0", "m1", "m2", "near"]


def test_a_limit_of_two_hundred_still_leaves_room_for_expansion(wiki):
    """Seeds are not counted among the two hundred."""
    pages = {f"m{number:03}": "quince" for number in range(400)}
    wiki.build({**pages, "near": new_page(), "far": ""}, {"m000": ["near"]})
    reached = wiki.ask("quince", limit=200, hop=1, decay=1, min_score=0)
    assert len(reached.results) == 200


def new_page():
    return "nothing of it"


# Structural pages


@pytest.mark.parametrize("kind", ["index", "log", "schema", "purpose", "overview", "Index"])
def test_structural_pages_are_left_out_unless_asked_for(wiki, new_entry, kind):
    wiki.build({"s": new_entry("s", "quince", kind=kind), "a": "quince", **FILLERS})
    assert wiki.found("quince") == ["a"]
    assert wiki.found("quince", include_structural=True) == ["a", "s"]


@pytest.mark.parametrize("name", ["index", "log", "schema", "purpose", "overview", "Index"])
def test_a_page_of_such_a_name_at_the_top_is_structural_and_one_further_down_is_not(wiki, name):
    wiki.build({name: "quince", f"docs/{name}": "quince", **FILLERS})
    assert wiki.found("quince") == [f"docs/{name}"]


def test_structural_pages_take_no_seats_of_the_limit(wiki, new_entry):
    pages = {f"log-{n}": new_entry(f"log-{n}", "quince quince", kind="log") for n in range(30)}
    wiki.build({**pages, "a": "quince", "b": "quince", **FILLERS})
    assert wiki.found("quince", limit=2) == ["a", "b"]


def test_nobody_is_reached_through_an_index_that_links_to_everything(wiki):
    wiki.build({"a": "quince", "b": "", "index": "", **FILLERS}, {"index": ["a", "b"]})
    assert wiki.found("quince", hop=2) == ["a"]
    assert wiki.ask("quince").results[0].related == ()
    assert wiki.found("quince", hop=2, include_structural=True) == ["a", "index", "b"]


# Highlights and trust


def test_a_highlight_is_cut_from_the_text_of_its_page(wiki):
    wiki.build({"a": "quince", "b": "quince", **FILLERS})
    texts = {"a": "about the quince"}
    first, second = wiki.ask("quince", texts.get).results
    assert first.highlight.text == "about the quince"
    assert first.highlight.spans == ((10, 16),)
    assert second.highlight is None


def test_damage_that_a_question_meets_needs_a_rebuild(wiki):
    import pysqlite3

    wiki.build({"a": "quince"})
    connection = pysqlite3.connect(str(wiki.file.path))
    connection.execute("UPDATE wiki_fts_data SET block = x'ffffffffffffffff' WHERE id > 10")
    connection.commit()
    connection.close()
    with pytest.raises(NeedsRebuild, match="damaged"):
        wiki.ask("quince")


def test_an_answer_tells_the_last_change_that_is_in_it(wiki):
    assert wiki.build({"a": "quince"}, seq=12).ask("quince").seq == 12
