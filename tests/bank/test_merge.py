"""Three-way merge: nobody's change is lost, and what meets is left to a person."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bank.merge import HUNKS_LIMIT, PLACES_LIMIT, merge

BASE = "# Alice\n\nLikes tea.\n\n- born in Lagos\n- works at sea\n\nLast line.\n"


def test_changes_in_different_places_are_both_kept():
    ours = BASE.replace("Likes tea.", "Likes green tea.")
    theirs = BASE.replace("Last line.\n", "Last line.\nOne more.\n")
    merged = merge(BASE, ours, theirs)
    assert merged.text == (
        "# Alice\n\nLikes green tea.\n\n- born in Lagos\n- works at sea\n\nLast line.\nOne more.\n"
    )
    assert [chunk.kind for chunk in merged.chunks] == ["same", "ours", "same", "theirs", "same"]


def test_the_same_change_on_both_sides_is_taken_once():
    ours = BASE.replace("tea", "coffee")
    merged = merge(BASE, ours, ours)
    assert merged.text == ours
    assert [chunk.kind for chunk in merged.chunks] == ["same", "both", "same"]


def test_two_changes_of_one_line_are_a_conflict_as_data():
    ours, theirs = BASE.replace("tea", "mate"), BASE.replace("tea", "coffee")
    merged = merge(BASE, ours, theirs)
    assert merged.text is None
    (conflict,) = merged.conflicts
    assert conflict.base == ("Likes tea.",)
    assert conflict.ours == ("Likes mate.",)
    assert conflict.theirs == ("Likes coffee.",)


def test_a_conflict_does_not_hide_the_changes_that_are_clean():
    ours = BASE.replace("tea", "mate").replace("Lagos", "Accra")
    theirs = BASE.replace("tea", "coffee").replace("Last", "Final")
    merged = merge(BASE, ours, theirs)
    assert merged.resolved([["theirs"]]) == (
        "# Alice\n\nLikes coffee.\n\n- born in Accra\n- works at sea\n\nFinal line.\n"
    )


def test_a_conflict_is_decided_by_one_side_both_or_neither():
    merged = merge("a\nb\nc", "a\nX\nc", "a\nY\nc")
    assert merged.resolved([["ours"]]) == "a\nX\nc"
    assert merged.resolved([["ours", "theirs"]]) == "a\nX\nY\nc"
    assert merged.resolved([["base"]]) == "a\nb\nc"
    assert merged.resolved([[]]) == "a\nc"


def test_a_choice_missing_or_too_many_is_refused():
    merged = merge("a", "b", "c")
    with pytest.raises(ValueError, match="1 conflicts and 0 choices"):
        merged.resolved([])
    with pytest.raises(ValueError, match="1 conflicts and 2 choices"):
        merged.resolved([["ours"], ["ours"]])


def test_changes_of_neighbouring_lines_are_a_conflict():
    assert merge("a\nb\nc\nd", "a\nB\nc\nd", "a\nb\nC\nd").text is None
    assert merge("a\nb\nc\nd", "A\nb\nc\nd", "a\nb\nC\nd").text == "A\nb\nC\nd"


def test_two_lines_added_at_one_place_are_a_conflict_whose_order_a_person_knows():
    merged = merge("a\n", "a\nours\n", "a\ntheirs\n")
    assert merged.conflicts[0].base == ()
    assert merged.resolved([["theirs", "ours"]]) == "a\ntheirs\nours\n"


def test_a_deletion_and_a_change_elsewhere_are_both_kept():
    assert merge("a\nb\nc\nd\ne", "b\nc\nd\ne", "a\nb\nc\nd\nE").text == "b\nc\nd\nE"


def test_a_deletion_of_what_the_other_changed_is_a_conflict():
    assert merge("a\nb\nc", "a\nc", "a\nB\nc").text is None


def test_a_last_line_without_a_newline_is_no_change_of_its_own():
    assert merge("a\nb\nc", "A\nb\nc", "a\nb\nc\nd").text == "A\nb\nc\nd"
    assert merge("a\nb\nc", "a\nb\nc\n", "A\nb\nc").text == "A\nb\nc\n"


def test_everything_may_be_deleted():
    assert merge("a\nb", "", "a\nb").text == ""
    assert merge("", "", "").text == ""


texts = st.lists(st.sampled_from(["a", "b", "c", ""]), max_size=8).map("\n".join)


@given(texts, texts)
def test_one_side_unchanged_gives_the_other(base: str, changed: str):
    assert merge(base, changed, base).text == changed
    assert merge(base, base, changed).text == changed
    assert merge(base, changed, changed).text == changed


@given(texts, texts, texts)
def test_choosing_one_side_everywhere_keeps_all_of_its_changes(base: str, ours: str, theirs: str):
    merged = merge(base, ours, theirs)
    for side in ("base", "ours", "theirs"):
        lines = [line for chunk in merged.chunks for line in getattr(chunk, side)]
        assert "\n".join(lines) == {"base": base, "ours": ours, "theirs": theirs}[side]


@given(texts, texts, texts)
def test_merging_is_the_same_from_both_sides(base: str, ours: str, theirs: str):
    assert merge(base, ours, theirs).text == merge(base, theirs, ours).text


@given(st.lists(st.sampled_from("xyz"), min_size=1, max_size=5), st.data())
def test_changes_apart_never_conflict_and_both_arrive(extra: list[str], data: st.DataObject):
    lines = [f"line {n}" for n in range(12)]
    first = data.draw(st.integers(0, 4))
    second = data.draw(st.integers(first + 2, 11))
    ours = [*lines[:first], *extra, *lines[first + 1 :]]
    theirs = [*lines[:second], *lines[second + 1 :]]
    both = [*lines[:first], *extra, *lines[first + 1 : second], *lines[second + 1 :]]
    assert merge("\n".join(lines), "\n".join(ours), "\n".join(theirs)).text == "\n".join(both)


# Size


def test_conflicts_past_counting_are_one_with_all_that_lies_between_them():
    base = "\n".join(f"{n}\nkept {n}" for n in range(500))
    ours, theirs = (base.replace("\nkept", f" {who}\nkept") for who in ("ours", "theirs"))
    merged = merge(base, ours, theirs)
    assert merged.joined
    assert len(merged.conflicts) == 1
    assert merged.resolved([["ours"]]) == ours
    assert merged.resolved([["theirs"]]) == theirs
    assert merged.resolved([["base"]]) == base


def test_as_many_conflicts_as_can_be_asked_about_stay_apart():
    base = "\n".join(f"{n}\nkept {n}" for n in range(100))
    ours, theirs = (base.replace("\nkept", f" {who}\nkept") for who in ("ours", "theirs"))
    merged = merge(base, ours, theirs)
    assert (len(merged.conflicts), merged.joined) == (100, False)


def test_half_a_megabyte_of_alternating_lines_merges_into_few_conflicts_that_lose_nothing():
    base, ours, theirs = "a\nb\n" * 131_072, "c\nb\n" * 131_072, "d\nb\n" * 131_072
    merged = merge(base, ours, theirs)
    assert len(merged.ours.hunks) > HUNKS_LIMIT
    assert len(merged.chunks) <= 2 * PLACES_LIMIT + 1
    assert merged.joined
    assert merged.resolved([["ours"]] * len(merged.conflicts)) == ours
    assert merged.resolved([["theirs"]] * len(merged.conflicts)) == theirs
