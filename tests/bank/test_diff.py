"""What a person sees of a change: every line, every word, every invisible character."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bank.diff import (
    ROWS_LIMIT,
    SEGMENTS_LIMIT,
    WORDS_LIMIT,
    Allowance,
    Row,
    Segment,
    UnifiedRow,
    compare,
    drawn,
    mark_words,
    side_by_side,
    unified,
)


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
        assert not set(segment.text) & set("\0\r\u200b\u200e\u200f\u2028\u202e\u2060\ufeff\xa0\xad")


# Size


def test_a_huge_segment_is_cut_in_its_middle_and_says_so():
    segments = drawn("x" * 500_000, changed=True)
    assert [len(s.text) for s in segments] == [1_000, 1, 1_000]
    assert segments[1].name == "498,000 characters not drawn"


HALF_MEGABYTE = 524_288
LINES = HALF_MEGABYTE // 2
chance = random.Random(7)


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
        ("\u200b\u200ca\n" * (HALF_MEGABYTE // 8), "\u200c\u200ba\n" * (HALF_MEGABYTE // 8)),
        ("\n".join(chance.choices("ab", k=LINES)), "\n".join(chance.choices("ab", k=LINES))),
    ],
    ids=["unique", "same", "split", "line", "invisible", "word", "empty", "invisibles", "noise"],
)
@pytest.mark.parametrize("draw", [side_by_side, unified])
def test_the_rows_of_half_a_megabyte_are_bounded_in_number_and_in_size(draw, old: str, new: str):
    allowance = Allowance()
    rows = list(draw(compare(old, new), allowance=allowance))
    lines = [line for row in rows for line in sides(row)]
    assert 0 < len(rows) <= 2 * ROWS_LIMIT
    assert sum(len(line) for line in lines) <= SEGMENTS_LIMIT + 2 * WORDS_LIMIT
    assert all(len(segment.text) <= 2_000 for line in lines for segment in line)
    assert allowance.words.left > -WORDS_LIMIT


def sides(row: Row | UnifiedRow) -> list[tuple[Segment, ...]]:
    if isinstance(row, UnifiedRow):
        return [row.segments]
    return [line.segments for line in (row.left, row.right) if line]


def test_rows_that_are_left_out_are_told_and_counted_all_the_same():
    comparison = compare("".join(f"{n}\n" for n in range(9_000)), "")
    allowance = Allowance()
    assert len(list(unified(comparison, allowance=allowance))) == ROWS_LIMIT
    assert allowance.cut
    assert comparison.removed == 9_000


def test_a_difference_that_just_fits_is_not_cut():
    comparison = compare("a one\nb two", "a three\nb four")
    allowance = Allowance(rows=2)
    assert len(list(side_by_side(comparison, allowance=allowance))) == 2
    assert not allowance.cut
    allowance = Allowance(rows=1)
    assert len(list(side_by_side(comparison, allowance=allowance))) == 1
    assert allowance.cut


def test_words_of_all_lines_together_are_compared_within_one_bound():
    old = "\n".join(" ".join(chance.choices("abcdefgh", k=900)) for _ in range(280))
    new = "\n".join(" ".join(chance.choices("abcdefgh", k=900)) for _ in range(280))
    allowance = Allowance()
    rows = list(side_by_side(compare(old, new), allowance=allowance))
    assert [row.kind for row in rows] == ["changed"] * 280
    assert allowance.words.lacking
    assert allowance.words.left > -WORDS_LIMIT
