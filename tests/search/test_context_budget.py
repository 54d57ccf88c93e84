"""The budget: never exceeded, nothing lost when it grows, and nothing starved by one token."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from search.budget import (
    BANK,
    EXPERIENCES,
    LONG_TERM,
    ORDER,
    RECENT,
    TODAY,
    Fitted,
    Section,
    fit,
)
from search.pieces import LONG, QUARTERS, Piece, pieces, tokens, weight

ROWS = (BANK, EXPERIENCES)
sentence = st.text(alphabet="abcdefgh  ,部署é", min_size=1, max_size=90).map(
    lambda text: f"{text}."
)
paragraph = st.lists(sentence, min_size=1, max_size=6).map(" ".join)
block = st.one_of(paragraph, paragraph.map(lambda text: f"- {text}"), st.just("```\nx\n\ny\n```"))
text = st.lists(block, max_size=12).map("\n\n".join)
contents = st.fixed_dictionaries(dict.fromkeys(ORDER, text))
budgets = st.integers(1, 10_000)


def section(name: str, content: str) -> Section:
    if name in ROWS:
        rows = [" ".join(row.split())[:200] for row in content.split("\n\n")]
        found = [Piece("\n", f"- **{row}**") for row in rows if row.strip("` ")]
        return Section(name, "page", found, len(found))
    found = pieces(content, opening=True)
    return Section(name, "paragraph", found, sum(piece.ends for piece in found))


def sections(of: dict[str, str]) -> list[Section]:
    return [section(name, of[name]) for name in ORDER if name in of]


def tokens_of(fitted: Fitted) -> dict[str, int]:
    return {each.name: each.tokens for each in fitted.sections}


@settings(max_examples=300)
@given(contents, budgets, st.integers(0, 5))
def test_no_budget_is_ever_exceeded(of: dict[str, str], budget: int, skipped: int):
    fitted = fit(sections(of), budget, skipped)
    assert fitted.tokens == tokens(weight(fitted.text)) <= budget
    assert sum(tokens_of(fitted).values()) <= fitted.tokens


@settings(max_examples=300)
@given(contents, budgets, st.integers(1, 400), st.integers(0, 3))
def test_no_section_shrinks_when_the_budget_grows(
    of: dict[str, str], budget: int, more: int, skipped: int
):
    smaller = fit(sections(of), budget, skipped)
    larger = fit(sections(of), budget + more, skipped)
    for before, after in zip(smaller.sections, larger.sections, strict=True):
        assert after.tokens >= before.tokens
        assert after.included >= before.included
        assert after.omitted <= before.omitted
        assert after.text.startswith(before.text.rstrip("\n…`~"))


@settings(max_examples=300)
@given(contents, st.integers(100, 10_000), st.sampled_from([" x", "\n\nx", ".", "字"]))
def test_a_token_more_of_long_term_memory_takes_no_more_than_a_piece_from_the_rest(
    of: dict[str, str], budget: int, added: str
):
    was = fit(sections(of), budget)
    now = fit(sections(of | {LONG_TERM: of[LONG_TERM] + added}), budget)
    line = weight(now.last_line) - weight(was.last_line)
    lost = [
        weight(before.text) - weight(after.text)
        for before, after in zip(was.sections[1:], now.sections[1:], strict=True)
    ]
    assert sum(lost) <= LONG + max(line, 0) + 40 * QUARTERS


@given(contents, st.integers(1_000, 10_000))
def test_from_a_thousand_tokens_on_every_section_that_has_something_is_there(
    of: dict[str, str], budget: int
):
    of = {name: f"A word.\n\n{content}" for name, content in of.items()}
    of[LONG_TERM] *= 40
    assert all(each.included for each in fit(sections(of), budget).sections)


def test_the_cliff_of_one_token_over_is_a_slope():
    note = "Deployed the queue.\n\n" * 40
    memory = "Sorted locks. " * 700
    exactly = tokens(weight(f"## {LONG_TERM}\n\n{memory.strip()}\n"))
    for budget in (exactly - 1, exactly, exactly + 1):
        given = tokens_of(fit(sections({LONG_TERM: memory, TODAY: note, BANK: note}), budget))
        assert given[TODAY] > 100
        assert given[BANK] > 100
        assert given[LONG_TERM] > budget / 2


def test_everything_fits_exactly_and_nothing_is_said_to_be_left_out():
    whole = sections({LONG_TERM: "Sort the locks.", TODAY: "Deployed the queue."})
    text = "## Long-term Memory\n\nSort the locks.\n\n## Today's Notes\n\nDeployed the queue.\n"
    exactly = tokens(weight(text))
    fitted = fit(whole, exactly)
    assert (fitted.text, fitted.tokens, fitted.last_line) == (text, exactly, "")
    assert fit(whole, exactly - 1).text != text


def test_the_sections_stand_in_their_order_and_what_a_query_found_comes_last():
    of = dict.fromkeys(ORDER, "Sort the locks.")
    headings = [line for line in fit(sections(of), 500).text.split("\n") if line.startswith("## ")]
    assert headings == [
        "## Long-term Memory",
        "## Recent Activity",
        "## Today's Notes",
        "## Memory Bank",
        "## Relevant Past Experiences",
    ]


def test_long_term_memory_begins_then_today_then_the_bank_then_the_days_before():
    of = dict.fromkeys(ORDER, "Sort the locks by id before each commit. " * 60)
    first: dict[str, int] = {}
    for budget in range(1, 600):
        for each in fit(sections(of | {BANK: "A page.\n\n" * 50}), budget).sections:
            if each.included:
                first.setdefault(each.name, budget)
    assert first[LONG_TERM] < first[TODAY] < first[BANK] < first[EXPERIENCES] < first[RECENT]


def test_what_one_section_does_not_need_goes_to_the_others():
    many = "Sort the locks.\n\n" * 300
    alone = tokens_of(fit(sections({LONG_TERM: "", TODAY: "", RECENT: "", BANK: many}), 1000))
    assert alone[BANK] > 900
    both = tokens_of(fit(sections({LONG_TERM: many, TODAY: many}), 1000))
    assert 1.8 < both[LONG_TERM] / both[TODAY] < 2.3


def test_the_last_line_names_what_was_left_out():
    of = {LONG_TERM: "Sort the locks.\n\n" * 100, TODAY: "Deployed.", BANK: "A page.\n\n" * 40}
    fitted = fit(sections(of), 300, skipped=2)
    memory, _, bank = fitted.sections
    assert fitted.last_line == (
        f"Left out for lack of room: {memory.omitted} of 100 paragraphs of Long-term Memory; "
        f"{bank.omitted} of 40 pages of Memory Bank. Kept out by the guard: 2."
    )
    assert fitted.text.endswith(f"\n\n{fitted.last_line}\n")
    assert 0 < memory.included == 100 - memory.omitted


@pytest.mark.parametrize("budget", [60, 80, 100, 120, 160, 200, 300])
def test_a_small_budget_ends_with_the_names_of_what_was_left_out(budget: int):
    many = "Sort the locks.\n\n" * 100
    fitted = fit(sections({LONG_TERM: many, RECENT: many, TODAY: many, BANK: many}), budget)
    last = fitted.text.splitlines()[-1]
    assert last == fitted.last_line
    assert all(name in last for name in (LONG_TERM, RECENT, TODAY, BANK))
    assert any(each.included for each in fitted.sections)


def test_a_tiny_budget_has_room_for_words_but_not_for_the_last_line():
    fitted = fit(sections({LONG_TERM: "Sort the locks by id before each commit. " * 9}), 15)
    assert fitted.text == "## Long-term Memory\n\nSort the locks by id before…\n"
    assert fitted.last_line == ""
    [memory] = fitted.sections
    assert (memory.included, memory.omitted) == (1, 1)


def test_a_budget_below_the_first_heading_gives_nothing():
    fitted = fit(sections({LONG_TERM: "Sort the locks."}), 5)
    assert (fitted.text, fitted.tokens) == ("", 0)


def test_without_anything_there_is_no_text_and_no_line():
    fitted = fit(sections(dict.fromkeys(ORDER, "")), 2500)
    assert (fitted.text, fitted.tokens, fitted.last_line) == ("", 0, "")
    assert [each.omitted for each in fitted.sections] == [0] * 5


def test_pieces_beyond_the_budget_need_not_be_there_to_be_counted():
    row = Piece("\n", "- **a**: page")
    bounded = Section(BANK, "page", [row] * 30, 10_000)
    [bank] = fit([bounded], 60).sections
    assert bank.omitted == 10_000 - bank.included


@pytest.mark.parametrize("budget", [50, 100, 250, 500, 1000, 2500])
def test_at_most_a_piece_of_the_budget_stays_unused(budget: int):
    of = dict.fromkeys((LONG_TERM, TODAY), "Sort the locks by id before each commit. " * 200)
    fitted = fit(sections(of | {BANK: "A page of it.\n\n" * 200}), budget)
    assert budget - fitted.tokens <= LONG / QUARTERS + 8
