"""Any text as a query: it finds what it should, and nothing in it is an operator."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from search.wiki import matching

PAGES = {
    "languages": "C++ and C# are compiled, Node.js is not; .NET is a runtime",
    "cats": "Cats, cows and camels: no word here is a language",
    "hyphen": "the foo-bar flag",
    "todo": "TODO: fix the parser",
    "and": "A AND B is a conjunction, NEAR( is an operator",
    "hanzi": "我在用雾凇拼音输入法",
    "spaced": "雾凇 拼音 是一个输入方案",
    "docker": "用 docker 部署服务",
    "korean": "한국어 검색을 시험한다",
    "cafe": "Le café est fermé",
    "cat-in-chinese": "养了一只小猫",
}
BROTHERS = [f"filler-{number}" for number in range(20)]


@pytest.fixture
def shelf(wiki):
    return wiki.build({**PAGES, **{name: f"{name} plain words" for name in BROTHERS}})


@pytest.mark.parametrize(
    ("query", "pages"),
    [
        ("C++", {"languages"}),
        ("c#", {"languages"}),
        (".net", {"languages"}),
        ("node.js", {"languages"}),
        ("foo-bar", {"hyphen"}),
        ("TODO: fix", {"todo"}),
        ('"unclosed TODO', {"todo"}),
        ("NEAR(", {"and"}),
        ("雾凇拼音", {"hanzi", "spaced"}),
        ("雾凇 拼音", {"hanzi", "spaced"}),
        ("docker 部署", {"docker"}),
        ("한국어 검색", {"korean"}),
        ("한국어검색", {"korean"}),
        ("cafe", {"cafe"}),
        ("café", {"cafe"}),
        ("CAFÉ", {"cafe"}),
        ("养", {"cat-in-chinese"}),  # The first of its run,
        ("只", {"cat-in-chinese"}),  # one inside it,
        ("猫", {"cat-in-chinese"}),  # and the last.
        ("TO\0DO", {"todo"}),  # A NUL would end the expression.
    ],
)
def test_a_query_finds_its_pages(shelf, query, pages):
    assert set(shelf.found(query)) >= pages
    assert set(shelf.found(query)) & set(BROTHERS) == set()


def test_cpp_is_no_prefix_of_every_word_in_c(shelf):
    assert shelf.found("c++") == ["languages"]
    assert set(shelf.found("c")) >= {"languages", "cats", "cafe"}


def test_net_with_its_dot_is_no_prefix_of_network(wiki):
    wiki.build({"runtime": ".NET", "wires": "network"})
    assert wiki.found(".net") == ["runtime"]


@pytest.mark.parametrize("query", ["", " ", "*", "()", "-", '"', "\0", "^", "{}", ":", "'", "…"])
def test_a_query_without_words_finds_nothing(shelf, query):
    assert shelf.found(query) == []


@pytest.mark.parametrize(
    "query",
    [
        "a" * 3000,
        " ".join(f"word{number}" for number in range(5000)),
        "部署" * 5000,
        "".join(map(chr, range(0x4E00, 0x4E00 + 5000))),
        "(" * 5000,
        '" OR wiki_fts MATCH "x',
        "title_tok : docker",
        "NOT AND OR NEAR",
        string.punctuation,
        "\ud800 lone half",
    ],
)
def test_a_hostile_query_is_only_words(shelf, query):
    assert len(shelf.found(query, limit=200)) <= len(PAGES) + len(BROTHERS)


def test_of_a_query_of_5000_words_the_first_256_count(wiki):
    wiki.build({"early": "w255x", "late": "w256x"})
    assert wiki.found(" ".join(f"w{number}x" for number in range(5000))) == ["early"]


def test_every_term_stands_once_in_quotes_with_a_star():
    assert matching.expression("Docker docker 部署") == '"docker"* OR "部署"*'


def test_quotes_within_a_term_are_doubled():
    assert matching._quoted('a"b') == '"a""b"*'


def test_a_query_of_stop_words_finds_them_and_not_what_they_begin(wiki):
    wiki.build({"stop": "To be or not to be", "begin": "bearing tools", "an": "an apple"})
    assert wiki.found("to be") == ["stop"]
    assert wiki.found("a") == []


def test_a_chinese_stop_word_is_found_within_longer_runs_too(wiki):
    wiki.build({"alone": "A 是 B", "within": "是否需要", "without": "需要"})
    assert set(wiki.found("是")) == {"alone", "within"}


def test_stop_words_add_nothing_to_an_ordinary_query(wiki):
    wiki.build({"thesis": "thesis", "the": "the the the"})
    assert wiki.found("th") == ["thesis"]


@given(st.text(max_size=60))
def test_what_is_stored_is_what_a_query_for_it_asks_for(text):
    stored = set(matching.stored(text).split())
    asked = matching.terms(text)
    if matching.CJK.tokens(text):
        assert set(asked) <= stored


@given(st.text(max_size=60))
def test_an_expression_holds_nothing_but_quoted_terms(text):
    for part in matching.expression(text).split(" OR ") if matching.terms(text) else []:
        assert part.startswith('"')
        assert part.endswith('"*')
        assert '"' not in part[1:-2].replace('""', "")


def test_every_character_of_a_word_is_one_to_fts5_too(wiki):
    """Characters newer than FTS5's tables would cut a word in two."""
    wiki.build({"biang": "\U00030ede面", "deseret": "\U00010428\U00010429", "emoji": "x 🦊 y"})
    assert wiki.found("\U00030ede面") == ["biang"]
    assert wiki.found("\U00010428\U00010429") == ["deseret"]
