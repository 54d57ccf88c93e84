"""Which parts of a text are marked, and which piece of a long one is shown."""

import pytest

from memoryweb.core.analysis import analyzer
from search.marking import LENGTH, Part, marked, piece, rest_of

CJK = analyzer("cjk")


def text_of(parts: list[Part]) -> str:
    return "".join(part.text for part in parts)


def marks_of(parts: list[Part]) -> list[str]:
    return [part.text for part in parts if part.marked]


@pytest.mark.parametrize(
    ("text", "query", "marks"),
    [
        ("Fixed the Deadlock, deadlocked no more", "deadlock", ["Deadlock"]),
        ("在生产环境执行部署脚本", "部署", ["部署"]),
        ("ＤＯＣＫＥＲ build, naïve", "docker naive", ["ＤＯＣＫＥＲ", "naïve"]),
        ("مراجعة إعدادات النشر", "النشر", ["النشر"]),
        ("nothing of it", "deadlock", []),
        ("", "deadlock", []),
    ],
)
def test_the_words_of_the_query_are_marked_where_they_stand_in_the_original(text, query, marks):
    parts = marked(text, CJK, CJK.query_tokens(query))
    assert marks_of(parts) == marks
    assert text_of(parts) == text


def test_markup_in_a_text_is_left_for_the_template_to_escape():
    text = "<b>deadlock</b> & <script>deadlock()</script>"
    parts = marked(text, CJK, ["deadlock"])
    assert text_of(parts) == text
    assert marks_of(parts) == ["deadlock", "deadlock"]


def test_a_short_text_is_shown_whole():
    assert text_of(piece("A short text", CJK, ["text"])) == "A short text"


def test_a_long_text_is_shown_around_its_first_match_and_cut_at_words():
    text = "before " * 200 + "deadlock " + "after " * 200
    parts = piece(text, CJK, ["deadlock"])
    shown = text_of(parts)
    assert marks_of(parts) == ["deadlock"]
    assert shown.startswith("… before ")
    assert shown.endswith(" after …")
    assert len(shown) <= LENGTH + 4


def test_a_long_text_without_a_match_is_shown_from_its_beginning():
    shown = text_of(piece("word " * 400, CJK, ["deadlock"]))
    assert shown.startswith("word word")
    assert shown.endswith(" …")


def test_a_text_without_spaces_is_cut_between_characters():
    shown = text_of(piece("部署" * 4000, CJK, ["数据"]))
    assert len(shown) == LENGTH + 2


def test_a_match_that_reaches_over_the_cut_is_marked_up_to_it():
    text = "x" * 5 + " " + "部" * 2000
    parts = piece(text, CJK, ["部部"])
    assert parts[-2].marked
    assert len(text_of(parts)) == LENGTH + 2


@pytest.mark.parametrize(
    ("text", "title", "rest"),
    [
        ("Fixed it. Then more.", "Fixed it.", "Then more."),
        ("Fixed it", "Fixed it", ""),
        ("  Fixed it\n\nand tested", "Fixed it", "and tested"),
        ("One line that is too long", "One line…", "…that is too long"),
        ("# Deploying\n\nWith make ship.", "Deploying", "With make ship."),
        ("Text of a page", "Deploying", "Text of a page"),
        ("", "e-17", ""),
    ],
)
def test_the_title_is_not_said_twice(text, title, rest):
    assert rest_of(text, title) == rest
