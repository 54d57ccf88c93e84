"""What a person sees of a change: every line, every word, every invisible character."""

from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bank.diff import Row, Segment, compare, drawn, mark_words, side_by_side, unified


def sketch(old: str, new: str, context: int | None = 3) -> list[str]:
    """The unified rows as one line of text each."""
    marks = {"same": " ", "removed": "-", "added": "+"}
    return [
        f"… {row.hidden}"
        if row.kind == "folded"
        else marks[row.kind] + "".join(segment.text for segment in row.segments)
        for row in unified(compare(old, new), context)
    ]


def marked(segments: tuple[Segment, ...]) -> str:
    return "".join(f"[{s.text}]" if s.changed else s.text for s in segments)


# Lines


def test_a_change_a_removal_and_an_addition_are_rows_in_order():
    rows = list(side_by_side(compare("a\nlikes tea\nb\nc\n", "a\nlikes green tea\nc\nd\n")))
    assert [row.kind for row in rows] == ["same", "changed", "removed", "same", "added"]
    numbers = [(row.left and row.left.number, row.right and row.right.number) for row in rows]
    assert numbers == [(1, 1), (2, 2), (3, None), (4, 3), (None, 4)]


def test_in_one_column_a_stretch_is_removed_before_it_is_added():
    assert sketch("a\none x\ntwo x\nb", "a\none y\ntwo y\nb") == [
        " a",
        "-one x",
        "-two x",
        "+one y",
        "+two y",
        " b",
    ]


def test_counts_of_lines_added_and_removed():
    comparison = compare("a\nb\nc\n", "a\nB\nB2\nc\n")
    assert (comparison.removed, comparison.added, comparison.coarse) == (1, 2, False)


def test_equal_texts_have_no_hunk_and_one_fold():
    assert compare("a\nb\n", "a\nb\n").hunks == ()
    assert list(side_by_side(compare("a\nb\nc\n", "a\nb\nc\n"))) == [Row("folded", hidden=3)]


def test_unchanged_stretches_are_folded_to_their_context():
    old = "\n".join(str(n) for n in range(30))
    new = old.replace("15", "fifteen")
    assert sketch(old, new, context=2) == [
        "… 13",
        " 13",
        " 14",
        "-15",
        "+fifteen",
        " 16",
        " 17",
        "… 12",
    ]
    assert len(sketch(old, new, context=None)) == 31


def test_a_single_line_is_shown_rather_than_folded():
    assert sketch("1\n2\n3\nx", "1\n2\n3\ny", context=2) == [" 1", " 2", " 3", "-x", "+y"]


def test_a_newline_at_the_end_is_a_line_only_where_one_side_lacks_it():
    assert sketch("a\n", "a\n", None) == [" a"]
    assert sketch("a", "a\n", None) == [" a", "+"]
    assert sketch("", "") == []


def test_only_newlines_end_a_line():
    assert sketch("a\u2028b\x0cc", "a\u2028b\x0cd") == ["-aLSbU+000Cc", "+aLSbU+000Cd"]


lines = st.lists(st.sampled_from(["a b", "a c", "d", "", "x y z"]), max_size=10).map("\n".join)


@given(lines, lines)
def test_each_side_shown_whole_is_its_text(old: str, new: str):
    rows = list(side_by_side(compare(old, new), None))
    for text, side in ((old, "left"), (new, "right")):
        shown = [getattr(row, side) for row in rows if getattr(row, side)]
        assert [line.number for line in shown] == list(range(1, len(shown) + 1))
        texts = ["".join(segment.text for segment in line.segments) for line in shown]
        assert "\n".join(texts) in (text, text.removesuffix("\n"))


@given(lines, lines)
def test_folding_hides_exactly_what_it_counts(old: str, new: str):
    comparison = compare(old, new)
    shown, folded = (list(side_by_side(comparison, n)) for n in (None, 1))
    hidden = sum(row.hidden for row in folded)
    assert len(folded) - sum(row.kind == "folded" for row in folded) + hidden == len(shown)


# Which line became which


def test_a_line_added_above_a_changed_one_does_not_take_its_place():
    rows = list(side_by_side(compare("alice likes tea", "new line\nalice likes green tea")))
    assert [row.kind for row in rows] == ["added", "changed"]


def test_two_lines_with_nothing_in_common_are_not_called_one_line():
    rows = list(side_by_side(compare("alice likes tea", "see the harbour plan")))
    assert [row.kind for row in rows] == ["removed", "added"]


# Words


@pytest.mark.parametrize(
    ("old", "new", "left", "right"),
    [
        ("alice likes tea", "alice drinks green tea", "alice [likes] tea", None),
        ("知识图谱很好", "知识图书很好", "知识图[谱]很好", "知识图[书]很好"),
        ("重构parser模块", "重构lexer模块", "重构[parser]模块", "重构[lexer]模块"),
        ("snake_case", "snake_cases", "[snake_case]", "[snake_cases]"),
        ("a  b", "a b", "a[  ]b", "a[ ]b"),
        ("हिन्दी भाषा", "हिन्दी भाषाएँ", "हिन्दी [भाषा]", "हिन्दी [भाषाएँ]"),
        ("same", "same", "same", "same"),
        ("", "new", "", "[new]"),
    ],
)
def test_what_changed_within_a_line_is_marked(old: str, new: str, left: str, right: str | None):
    shown_left, shown_right = mark_words(old, new)
    assert marked(shown_left) == left
    assert marked(shown_right) == (right or "alice [drinks green] tea")


def test_in_a_very_long_line_the_middle_between_the_equal_ends_is_marked():
    old, new = "a b " * 2_000 + "x" + " c d" * 2_000, "a b " * 2_000 + "y" + " c d" * 2_000
    left, right = mark_words(old, new)
    assert [s.text for s in left if s.changed] == ["x"]
    assert [s.text for s in right if s.changed] == ["y"]


# Invisible characters


@pytest.mark.parametrize(
    ("text", "short", "name"),
    [
        ("\u200b", "ZWSP", "zero width space, U+200B"),
        ("\u202e", "RLO", "right-to-left override, U+202E"),
        ("\xa0", "NBSP", "no-break space, U+00A0"),
        ("\ufeff", "BOM", "zero width no-break space, U+FEFF"),
        ("\r", "CR", "control character, U+000D"),
        ("\0", "NUL", "control character, U+0000"),
        ("\u2003", "U+2003", "em space, U+2003"),
        ("\ufe0f", "U+FE0F", "variation selector-16, U+FE0F"),
        ("\U000e0101", "U+E0101", "variation selector-18, U+E0101"),
        ("\u3164", "U+3164", "hangul filler, U+3164"),
        ("\u2060\u2060\u2060", "WJ×3", "word joiner, U+2060"),
        (
            "\U000e0068\U000e0069",
            "TAG hi",
            "invisible tag characters that spell “hi”",
        ),
    ],
)
def test_what_cannot_be_seen_is_drawn_and_named(text: str, short: str, name: str):
    assert drawn(f"a{text}b") == (Segment("a"), Segment(short, name=name), Segment("b"))


@pytest.mark.parametrize(
    "text", ["a\tb", "全角　空格", "👨‍👩‍👧‍👦", "❤️", "👍🏽", "1️⃣", "שלום", "e\u0301"]
)
def test_what_can_be_seen_stays_as_it_is(text: str):
    assert drawn(text) == (Segment(text),)


def test_selectors_piled_on_an_emoji_are_drawn():
    assert [s.text for s in drawn("😀\ufe0f\ufe0f\ufe0f")] == ["😀\ufe0f", "U+FE0F×2"]


def test_an_invisible_change_is_visible_in_the_rows():
    assert sketch("safe text", "safe\u200b text") == ["-safe text", "+safeZWSP text"]


@given(st.text(max_size=60))
def test_nothing_drawn_is_without_a_shape(text: str):
    for segment in drawn(text):
        assert segment.text
        assert not set(segment.text) & set(
            "\0\r\n\u200b\u200e\u200f\u2028\u202e\u2060\ufeff\xa0\xad"
        )


# Size


def test_a_huge_segment_is_cut_in_its_middle_and_says_so():
    segments = drawn("x" * 500_000, changed=True)
    assert [len(s.text) for s in segments] == [1_000, 1, 1_000]
    assert segments[1].name == "498,000 characters not drawn"


HALF_MEGABYTE = 524_288


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            "".join(f"old line {n}\n" for n in range(30_000)),
            "".join(f"{n} new\n" for n in range(30_000)),
        ),
        ("a\n" * (HALF_MEGABYTE // 2), "b\n" * (HALF_MEGABYTE // 2)),
        ("ab\n" * (HALF_MEGABYTE // 3), "a\nb\n" * (HALF_MEGABYTE // 4)),
        ("a b c " * (HALF_MEGABYTE // 6), "a c b " * (HALF_MEGABYTE // 6)),
        ("\u200b\u200c" * (HALF_MEGABYTE // 6), "\u200c\u200b" * (HALF_MEGABYTE // 6)),
        ("x" * HALF_MEGABYTE, "y" * HALF_MEGABYTE),
        ("", "a\n" * (HALF_MEGABYTE // 2)),
    ],
    ids=["unique", "same", "split", "one line", "invisible", "one word", "empty"],
)
def test_the_first_rows_of_half_a_megabyte_come_without_the_rest(old: str, new: str):
    rows = list(islice(side_by_side(compare(old, new)), 1_000))
    assert 0 < len(rows) <= 1_000
    assert all(len(s.text) <= 2_000 for row in rows if row.left for s in row.left.segments)
