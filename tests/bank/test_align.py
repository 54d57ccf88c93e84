"""Aligning two sequences: only what is equal matches, and hostile input ends soon."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bank.align import Hunk, Match, Work, align


def longest_common(old: list[str], new: list[str]) -> int:
    """The textbook table, as an independent check."""
    table = [[0] * (len(new) + 1) for _ in range(len(old) + 1)]
    for i, a in enumerate(old):
        for j, b in enumerate(new):
            table[i + 1][j + 1] = (
                table[i][j] + 1 if a == b else max(table[i][j + 1], table[i + 1][j])
            )
    return table[-1][-1]


def test_an_insertion_a_deletion_and_a_change_are_one_hunk_each():
    alignment = align(list("abcdefgh"), list("aXbcefYh"))
    assert alignment.matches == (Match(0, 0, 1), Match(1, 2, 2), Match(4, 4, 2), Match(7, 7, 1))
    assert alignment.hunks == (Hunk(1, 1, 1, 2), Hunk(3, 4, 4, 4), Hunk(6, 7, 6, 7))


def test_equal_sequences_have_no_hunk_and_disjoint_ones_no_match():
    assert align(["a", "b"], ["a", "b"]).hunks == ()
    assert align(["a"], ["b", "c"]).hunks == (Hunk(0, 1, 0, 2),)
    assert align([], []).matches == ()


def test_an_edit_between_repeated_lines_is_the_shortest_one():
    alignment = align(list("abababxabab"), list("ababababab"))
    assert sum(match.size for match in alignment.matches) == 10


sequences = st.lists(st.sampled_from("abcd"), max_size=25)


@given(sequences, sequences)
def test_matches_are_equal_in_order_and_hunks_are_the_rest(old: list[str], new: list[str]):
    alignment = align(old, new)
    at = Match(0, 0, 0)
    rest = []
    for match in (*alignment.matches, Match(len(old), len(new), 0)):
        gap = Hunk(at.old + at.size, match.old, at.new + at.size, match.new)
        assert gap.old_start <= gap.old_end
        assert gap.new_start <= gap.new_end
        rest += [gap] if gap.old_start < gap.old_end or gap.new_start < gap.new_end else []
        assert old[match.old : match.old + match.size] == new[match.new : match.new + match.size]
        at = match
    assert alignment.hunks == tuple(rest)


@given(st.lists(st.sampled_from("ab"), max_size=25), st.lists(st.sampled_from("ab"), max_size=25))
def test_between_lines_that_repeat_nothing_shorter_exists(old: list[str], new: list[str]):
    old, new = [*old, *old], [*new, *new]  # So that nothing stands once.
    found = sum(match.size for match in align(old, new).matches)
    assert found == longest_common(old, new)


chance = random.Random(7)
LINES = 262_144  # As many as 512 KiB can hold.
NUMBERED = [str(n) for n in range(87_000)]


@pytest.mark.parametrize(
    ("old", "new", "coarse"),
    [
        ([f"a{n}" for n in range(17_000)], [f"b{n}" for n in range(17_000)], False),
        (["a"] * LINES, ["a"] * (LINES - 100), False),
        (["a"] * LINES, ["b"] * LINES, False),
        (["a", "b"] * (LINES // 2), ["b", "a"] * (LINES // 2), False),
        (NUMBERED, NUMBERED[::-1], False),
        (NUMBERED, chance.sample(NUMBERED, len(NUMBERED)), False),
        (chance.choices("ab", k=LINES), chance.choices("ab", k=LINES), True),
        (["a"] * 131_072 + ["b"] * 131_072, ["b"] * 131_072 + ["a"] * 131_072, True),
    ],
    ids=["unique", "same", "disjoint", "alternating", "reversed", "shuffled", "noise", "swapped"],
)
def test_half_a_megabyte_of_lines_is_aligned_or_given_up_on(
    old: list[str], new: list[str], coarse: bool
):
    work = Work()
    assert align(old, new, work).coarse == coarse
    assert work.left > -LINES  # A run of equal lines is followed to its end.


def test_a_few_edits_in_many_repeated_lines_are_found_exactly():
    old = [str(n % 50) for n in range(20_000)]
    new = list(old)
    for at in (3, 9_999, 15_000):
        new[at] = "edited"
    assert [hunk[:2] for hunk in align(old, new).hunks] == [
        (3, 4),
        (9_999, 10_000),
        (15_000, 15_001),
    ]


def test_alignments_that_share_their_work_stop_where_it_ends():
    old, new = chance.choices("ab", k=300), chance.choices("ab", k=300)
    work = Work(50_000)
    coarse = [align(old, new, work).coarse for _ in range(9)]
    assert coarse[0] is False
    assert coarse[-1] is True
    assert work.lacking
    assert 0 <= work.left < 50_000
