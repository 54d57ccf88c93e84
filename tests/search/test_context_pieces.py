"""Where a text may be cut: borders of paragraphs, rows, sentences, words; never in a character."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from search.pieces import LONG, MARK, QUARTERS, brief, pieces, tokens, weight

WORDS = "Roll back first, find the cause afterwards. "


def texts_of(text: str, **more: bool) -> list[str]:
    return [piece.text for piece in pieces(text, **more)]


def bare(text: str) -> str:
    return re.sub(r"\s+", "", text)


@pytest.mark.parametrize(
    ("text", "estimate"),
    [
        ("", 0),
        ("a", 1),
        ("abcd", 1),
        ("abcde", 2),
        ("é", 1),
        ("部署", 2),
        ("ab部", 2),
        ("👩‍👩‍👧", 5),
    ],
)
def test_four_ascii_characters_are_a_token_and_every_other_one_is(text: str, estimate: int):
    assert tokens(weight(text)) == estimate


@given(st.text(), st.text())
def test_what_two_texts_weigh_adds_up(one: str, other: str):
    assert weight(one) + weight(other) == weight(one + other)


def test_a_paragraph_a_row_and_an_item_are_units_and_a_heading_stays_with_what_follows():
    text = "# How\n\nShort and plain.\n\n\n- one\n  more of it\n- two\n1. three\n\nEnd.\n"
    assert texts_of(text) == [
        "# How\n\nShort and plain.",
        "- one\n  more of it",
        "- two",
        "1. three",
        "End.",
    ]
    assert [piece.gap for piece in pieces(text)] == ["", "\n\n", "\n", "\n", "\n\n"]


def test_the_head_of_a_table_stays_with_its_first_row():
    text = "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n| 5 | 6 |"
    assert texts_of(text) == ["| a | b |\n|---|---|\n| 1 | 2 |", "| 3 | 4 |", "| 5 | 6 |"]


def test_a_long_paragraph_may_end_with_each_of_its_sentences_and_a_short_one_only_as_a_whole():
    assert len(pieces(WORDS * 7)) == 1
    long = pieces(WORDS * 8)
    assert {piece.text for piece in long} == {WORDS.strip()}
    assert [piece.ends for piece in long] == [False] * 7 + [True]
    assert [piece.mark for piece in long] == [MARK] * 7 + [""]


def test_an_abbreviation_and_a_number_are_no_end_of_a_sentence():
    unit = f"1. Use e.g. {'a queue ' * 50}, version 2.5 of it."
    assert texts_of(unit)[0].startswith("1. Use e.g. a queue")


def test_a_long_sentence_is_cut_at_words_and_a_chinese_one_after_a_comma():
    assert all(re.fullmatch(r"word( word)*", text) for text in texts_of("word " * 400))
    clauses = texts_of("先在预发环境验证数据库迁移，" * 40)
    assert len(clauses) > 1
    assert all(clause.endswith("，") for clause in clauses)


def test_no_reader_s_character_is_cut():
    for character in ("👩‍👩‍👧‍👦", "e\u0301", "की", "🏴󠁧󠁢󠁥󠁮󠁧󠁿"):
        for text in texts_of(character * 900):
            assert text == character * (len(text) // len(character))


def test_marks_without_end_on_one_letter_do_not_make_one_piece():
    assert max(len(text) for text in texts_of("a" + "\u0301" * 50_000)) <= 128


def test_code_is_cut_at_lines_and_closed_where_it_is_cut():
    code = "```python\n" + "total = total + price * count\n" * 60 + "```\n\nAfter."
    first, *others, closing, after = pieces(code)
    assert first.text.startswith("```python\ntotal")
    assert first.mark == f"\n{MARK}\n```"
    assert closing.text.endswith("count\n```")
    assert (closing.mark, closing.ends, after.text) == ("", True, "After.")
    assert not any(piece.ends for piece in others)


def test_code_that_is_never_closed_is_closed_at_its_end():
    assert [piece.mark for piece in pieces("~~~\nx = 1\n\ny = 2")] == ["\n~~~"]


def test_a_blank_line_in_code_is_no_border():
    assert texts_of("```\na\n\n- b\n# c\n```") == ["```\na\n\n- b\n# c\n```"]


def test_the_opening_is_in_a_few_words_each():
    first, *_ = pieces(WORDS * 3, opening=True)
    assert first.text == "Roll back first, find the cause"
    assert not first.ends


@given(st.text(alphabet=st.sampled_from("ab .!?。\n\r-#|`~1)\u0301é部👩\u200d，"), max_size=600))
def test_the_pieces_are_the_text_again_and_none_is_much_longer_than_allowed(text: str):
    for opening in (False, True):
        found = pieces(text, opening=opening)
        assert bare("".join(piece.gap + piece.text for piece in found)) == bare(text)
        assert all(piece.text == piece.text.rstrip() and piece.text for piece in found)
        assert not found or found[-1].ends
        assert all(piece.mark for piece in found if not piece.ends)
        assert max((weight(piece.text) for piece in found), default=0) <= LONG + 64 * QUARTERS


@given(st.text(alphabet="ab .\n-|`部", max_size=400))
def test_with_each_piece_more_is_given(text: str):
    found, before, given = pieces(text * 3, opening=True), 0, 0
    for piece in found:
        given += weight(piece.gap + piece.text)
        assert given + weight(piece.mark) >= before
        before = given + weight(piece.mark)


def test_half_a_megabyte_is_cut_in_time_that_grows_with_its_length():
    for hostile in ("a", "```\n", "|\n", "# \n", ". ", "、", "~", "\n", "-"):
        assert len(pieces(hostile * (500_000 // len(hostile)))) < 300_000


def test_a_brief_is_the_text_or_its_first_sentences():
    assert brief("Roll back first.", LONG) == "Roll back first."
    short = brief(WORDS * 20, LONG)
    assert short == (WORDS * 7).strip() + MARK
    assert weight(short) <= LONG
    assert brief("word" * 100, 3 * QUARTERS) == MARK
