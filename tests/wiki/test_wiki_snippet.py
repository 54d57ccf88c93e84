"""What is shown of a page: the same words always, and those around what was asked for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from search.wiki.snippet import HIGHLIGHT_LENGTH, LOOKED_AT, SNIPPET_LENGTH, highlight, snippet


@pytest.mark.parametrize(
    ("text", "description", "shown"),
    [
        ("# Title\nFirst line\nsecond line", "", "First line second line"),
        ("# Title\r\nFirst line\r\nsecond\r\n", "", "First line second"),
        ("---\ntitle: x\n---\n# Title\nBody", "", "Body"),
        ("\ufeff---\ntitle: x\n---\nBody", "", "Body"),
        ("---\nbroken: [\n---\nBody", "", "Body"),
        ("---\nno front matter ends here", "", "--- no front matter ends here"),
        ("Title\n=====\nBody", "", "Body"),
        ("Body\n\n## Second\nmore", "", "Body  more"),
        ("#tag is no heading", "", "#tag is no heading"),
        ("Text\n# Heading\n===\nmore", "", "Text === more"),
        ("```\n# a comment, no heading\n```", "", "``` # a comment, no heading ```"),
        ("Body", "What it says\nof itself", "What it says of itself"),
        ("Body", "   ", "Body"),
        ("", "", ""),
        ("# Only a heading", "", ""),
    ],
)
def test_a_snippet_is_the_description_else_the_body_without_headings(text, description, shown):
    assert snippet(text, description) == shown


def test_a_snippet_is_eighty_characters_and_a_description_is_whole():
    assert SNIPPET_LENGTH == 80
    assert snippet("字" * 80) == "字" * 80
    assert snippet("字" * 81) == "字" * 80
    assert snippet("", "字" * 300) == "字" * 300


def test_a_snippet_ends_where_a_readers_character_does():
    family = "👨‍👩‍👧‍👦"
    assert snippet("x" * 76 + family + "y") == "x" * 76


# Highlights


def marked(text, query):
    found = highlight(text, query)
    return [found.text[start:end] for start, end in found.spans]


@pytest.mark.parametrize(
    ("text", "query", "words"),
    [
        ("We deploy with docker; deployments are slow", "deploy", ["deploy", "deployments"]),
        ("Le CAFÉ est fermé", "cafe", ["CAFÉ"]),
        ("我在用雾凇拼音输入法", "雾凇 拼音", ["雾凇拼音"]),
        ("我在用雾凇 拼音", "雾凇拼音", ["雾凇", "拼音"]),
        ("知识图谱是一种图", "知识", ["知识"]),
        ("养了一只小猫和小猫咪", "猫", ["猫", "猫"]),
        ("한국어 검색을 시험한다", "검색", ["검색"]),
        ("हिन्दी में खोज", "हिन्दी", ["हिन्दी"]),
        ("C++ and C, not D", "c++", ["C++"]),
        ("nothing of it", "docker", []),
        ("to be or not to be", "to be", ["to", "be", "to", "be"]),
        ("ＡＢＣ ﬁne", "abc fine", ["ＡＢＣ", "ﬁne"]),
        ("", "word", []),
        ("text", "", []),
    ],
)
def test_the_words_asked_for_are_marked(text, query, words):
    assert marked(text, query) == words


def test_the_cut_is_around_the_most_different_matches():
    text = "docker " * 40 + "x " * 200 + "how docker and 部署 meet " + "y " * 200
    found = highlight(text, "docker 部署")
    assert "how docker and 部署 meet" in found.text
    assert [found.text[start:end] for start, end in found.spans] == ["docker", "部署"]


@pytest.mark.parametrize(
    ("text", "query", "words"),
    [
        ("无关的话。" * 100 + "收藏者谬误", "谬误", ["谬误"]),
        ("other words " * 100 + "He has three sisters", "three", ["three"]),
        ("docking " * 100 + "xdock dock", "dock", ["dock"]),
        ("ＴＨＲＥＥ words " * 100, "three", ["ＴＨＲＥＥ"]),
        ("文" * 400 + "docker文件", "docker", ["docker"]),
        ("a" * LOOKED_AT, "a", ["a" * HIGHLIGHT_LENGTH]),
    ],
)
def test_what_is_asked_for_is_found_deep_in_a_long_text(text, query, words):
    assert marked(text, query)[-1:] == words


def test_without_a_match_it_is_the_beginning():
    assert highlight("abc " * 100, "zebra").text == ("abc " * 100)[:HIGHLIGHT_LENGTH]


def test_it_is_one_line():
    assert highlight("one\ntwo\tthree\u2028four", "two").text == "one two three four"


def test_a_match_longer_than_the_cut_is_marked_as_far_as_it_is_shown():
    found = highlight("x" * 5000, "x" * 5000)
    assert found.text == "x" * HIGHLIGHT_LENGTH
    assert found.spans == ((0, HIGHLIGHT_LENGTH),)


def test_it_is_never_cut_within_a_readers_character():
    family = "👨‍👩‍👧‍👦"
    found = highlight(family * 30 + " docker " + family * 30, "docker")
    assert found.text.replace("docker", "").replace(" ", "").replace(family, "") == ""


def test_what_stands_beyond_the_first_part_of_a_long_text_is_not_looked_at():
    assert marked("x " * (LOOKED_AT // 2) + "docker", "docker") == []


@given(st.text(max_size=400), st.text(max_size=20))
def test_spans_are_ordered_within_the_piece_and_the_piece_is_within_the_text(text, query):
    found = highlight(text, query)
    ends = [place for span in found.spans for place in span]
    assert ends == sorted(ends)
    assert all(start < end for start, end in found.spans)
    assert all(0 <= place <= len(found.text) for place in ends)
    assert len(found.text) <= HIGHLIGHT_LENGTH + 64


@given(st.text(max_size=400))
def test_a_snippet_of_any_text_is_one_short_line(text):
    shown = snippet(text)
    assert len(shown) <= SNIPPET_LENGTH
    assert "\n" not in shown
    assert "\r" not in shown
