"""The last resort: a scan over documents when there is no index."""

from memoryweb.core.analysis import analyzer
from search.engine import Answer, Document, Filters, Query, scan
from tests.engine.builders import DAY, NOW, document, names

DOCUMENTS = [
    document("one", "the parser crash", created=NOW - DAY, working_dir="/w/app"),
    document("two", "parser crash docs", created=NOW - 2 * DAY, working_dir="/other"),
    document("newer", "parser crash again", created=NOW, working_dir="/other"),
    document("below", "a crash", created=NOW - 9 * DAY, working_dir="/w/app/sub"),
    document("none", "nothing", created=NOW, working_dir="/w/app"),
]


def scanned(text: str, documents: list[Document] = DOCUMENTS, **options: object) -> Answer:
    return scan({"episodes": documents}, Query(text=text, now=NOW, **options), analyzer())


def test_the_score_is_the_number_of_query_terms_that_are_present():
    answer = scanned("parser parser crash docs")
    assert {hit.id: hit.score for hit in answer.hits} == {
        "two": 3.0, "newer": 2.0, "one": 2.0, "below": 1.0,
    }  # fmt: skip
    assert answer.mode == "scan"
    assert answer.terms == ("parser", "crash", "docs")


def test_ties_are_newest_first_and_what_holds_no_term_is_dropped():
    assert names(scanned("parser crash docs")) == ["two", "newer", "one", "below"]


def test_the_preferred_directory_and_below_come_first_whatever_the_score():
    answer = scanned("parser crash docs", prefer_working_dir="/w/app")
    assert names(answer) == ["one", "below", "two", "newer"]


def test_filters_and_limit_hold_as_in_a_search():
    answer = scanned("crash", filters=Filters(working_dir_prefix="/w"), limit=1)
    assert names(answer) == ["one"]
    assert answer.total_candidates == 2


def test_the_same_analyzer_serves_the_scan():
    documents = [document("a", "中文测试"), document("b", "the thing")]
    assert names(scanned("测试", documents)) == ["a"]
    assert names(scanned("the", documents)) == ["b"]
    assert names(scanned("", documents)) == []


def test_the_reasons_are_those_the_caller_gives():
    answer = scan({"episodes": []}, Query(text="x", now=NOW), analyzer(), ("index_building",))
    assert (answer.reasons, answer.hits) == (("index_building",), ())


def test_several_collections_are_one_list():
    documents = {"pages": [document("p", "parser")], "episodes": [document("e", "parser docs")]}
    answer = scan(documents, Query(text="parser docs", now=NOW), analyzer())
    assert [(hit.collection, hit.id) for hit in answer.hits] == [("episodes", "e"), ("pages", "p")]
