"""[[Wikilinks]]: which text is one, where it leads, and what a rename changes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bank.links import extract, mask_code, names_page, rewrite


def targets(body: str) -> list[str]:
    return [link.target for link in extract(body)]


# Finding


def test_a_link_carries_target_section_label_and_where_it_stands():
    body = "See [[people/Alice Chen#Early years|our Alice]]."
    (link,) = extract(body)
    assert (link.target, link.section, link.label) == (
        "people/Alice Chen",
        "Early years",
        "our Alice",
    )
    assert not link.embed
    assert body[slice(*link.span)] == "people/Alice Chen"


def test_spaces_around_the_target_do_not_belong_to_it():
    (link,) = extract("[[  Alice  | a ]]")
    assert (link.target, link.label, link.span) == ("Alice", "a", (4, 9))


def test_what_a_reader_sees_is_the_label_else_target_and_section():
    shown = [link.shown for link in extract("[[a]] [[a#b]] [[a|c]]")]
    assert shown == ["a", "a › b", "c"]


def test_what_is_embedded_and_is_no_page_is_no_link():
    body = "![[diagram.png]] ![[a/Talk.PDF#page=3]] [[diagram.png]] ![[board.canvas|300]]"
    assert targets(body) == []
    assert targets("![[plan.md]] [[Node.js]] ![[v1.2]] ![[Dr. No]]") == [
        "plan.md",
        "Node.js",
        "v1.2",
        "Dr. No",
    ]


def test_embeds_are_links():
    assert [(link.target, link.embed) for link in extract("![[plan]] [[plan]]")] == [
        ("plan", True),
        ("plan", False),
    ]


def test_links_in_any_script_are_found_in_order():
    assert targets("[[知识图谱]] と [[日本]] و [[عربى]]") == ["知识图谱", "日本", "عربى"]


def test_a_pipe_escaped_for_a_table_starts_the_label():
    (link,) = extract("| [[alice\\|Alice]] |")
    assert (link.target, link.label) == ("alice", "Alice")


@pytest.mark.parametrize(
    "body",
    [
        "[[#a section of this page]]",
        "[[]] [[ ]] [[|label]]",
        "[[a\nb]]",
        "[[a] ]",
        "[a](b)",
        "\\[[a]]",
        "[\\[a]]",
        "[[" + "x" * 501 + "]]",
    ],
)
def test_what_only_looks_like_a_link_is_none(body: str):
    assert targets(body) == []


def test_a_backslash_before_the_mark_of_an_embed_leaves_a_link():
    (link,) = extract("\\![[a]]")
    assert not link.embed


def test_two_backslashes_are_a_backslash_and_the_link_stays():
    assert targets("\\\\[[a]]") == ["a"]


@pytest.mark.parametrize(
    "body",
    [
        "```\n[[a]]\n```",
        "```python\n[[a]]\n",
        "~~~ `x`\n[[a]]\n~~~",
        "````\n```\n[[a]]\n```\n````",
        "  ```\n  [[a]]\n  ```",
        "- item\n\n      ```\n      [[a]]\n      ```",
        "- ```\n  [[a]]\n  ```",
        "> ```\n> [[a]]\n> ```",
        "```\r\n[[a]]\r\n```\r\n",
        "`[[a]]`",
        "``a ` [[a]]``",
        "`[[a\n]] [[a]]`",
    ],
)
def test_code_fences_and_code_spans_hold_no_links(body: str):
    assert targets(body) == []


@pytest.mark.parametrize(
    "body",
    [
        "`open [[a]]",
        "``open [[a]] `",
        "`para\n\n[[a]]`",
        "\\`[[a]]\\`",
        "```\ncode\n```\n[[a]]",
        "``` not `a` fence\n[[a]]",
        "    - nested\n      [[a]]",
    ],
)
def test_ticks_that_close_nothing_hide_no_link(body: str):
    assert targets(body) == ["a"]


@given(st.text(alphabet="`~[]|#!\\ab\n> -", max_size=80))
def test_masking_code_keeps_length_and_lines_and_changes_only_to_backticks(text: str):
    masked = mask_code(text)
    assert len(masked) == len(text)
    changed = [(a, b) for a, b in zip(text, masked, strict=True) if a != b]
    assert all(new == "`" and old != "\n" for old, new in changed)


@given(st.text(alphabet="`[]|#!\\ab\n ", max_size=80))
def test_every_span_is_its_target(text: str):
    assert all(text[slice(*link.span)] == link.target for link in extract(text))


@pytest.mark.parametrize("piece", ["[", "[[", "![[", "[[a|", "[[a#", "`", "`x", "\\", "[[a]]", ">"])
def test_half_a_megabyte_of_brackets_and_ticks_is_read_through(piece: str):
    body = (piece * 524_288)[:524_288]
    assert len(extract(body)) == (524_288 // 5 if piece == "[[a]]" else 0)


# Renaming


def test_a_rewrite_gives_links_another_target_and_keeps_section_and_label():
    body = "[[alice-chen]] [[Alice Chen#Early|her]] ![[people/alice-chen]] [[bob]] [[ alice-chen ]]"
    targets = {"alice-chen", "Alice Chen", "people/alice-chen"}
    assert rewrite(body, targets, "alice-smith") == (
        "[[alice-smith]] [[alice-smith#Early|her]] ![[alice-smith]] [[bob]] [[ alice-smith ]]"
    )


def test_a_rewrite_touches_no_code_no_prose_and_no_other_target():
    body = "alice-chen `[[alice-chen]]` [[alice-chen-2]] [[not-alice-chen]]\n```\n[[alice-chen]]\n"
    assert rewrite(body, {"alice-chen"}, "x") == body


def test_names_page_knows_ends_of_paths():
    assert names_page("old/plan", "archive/old/plan")
    assert names_page("PLAN.md", "archive/old/plan")
    assert not names_page("projects/plan", "archive/old/plan")


@given(st.text(alphabet="`[]|#!\\a \n", max_size=60))
def test_a_rewrite_to_the_same_target_changes_nothing(body: str):
    assert rewrite(body, {"a"}, "a") == body
