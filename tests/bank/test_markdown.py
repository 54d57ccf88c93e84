"""A page's text: nothing of it is lost, and its HTML can do nothing."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bank.markdown import (
    abstract,
    read,
    readable,
    shape_problem,
    split,
    summary_row,
    title,
    words,
)
from bank.templatetags import markdown_words


def front(yaml: str):
    return split(f"---\n{yaml}\n---\nbody\n")


# Front matter


@pytest.mark.parametrize(
    "text",
    [
        "---\ntitle: A\n---\nbody\n",
        "---\r\ntitle: A\r\n---\r\nbody\n",
        "\ufeff---\ntitle: A\n---\nbody\n",
        "\ufeff---\r\ntitle: A\r\n---\r\nbody\n",
    ],
)
def test_front_matter_is_read_with_any_line_ends_and_a_byte_order_mark(text: str):
    cut = split(text)
    assert (cut.data, cut.error, cut.body) == ({"title": "A"}, "", "body\n")
    assert cut.raw + cut.body == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "body",
        "----\ntitle: A\n----\nbody",
        "--- \ntitle: A\n---\nbody",
        "\n---\ntitle: A\n---\nbody",
        "intro\n---\ntitle: A\n---\nbody",
        "---\ntitle: A\nbody without an end",
        "---\ntitle: A\n----\nbody",
        "---",
    ],
)
def test_anything_else_is_body(text: str):
    cut = split(text)
    assert (cut.raw, cut.data, cut.error, cut.body) == ("", None, "", text)


def test_a_byte_order_mark_alone_is_kept_out_of_the_body():
    cut = split("\ufeff# A")
    assert (cut.raw, cut.body) == ("\ufeff", "# A")


def test_front_matter_may_be_empty_and_may_be_all_there_is():
    assert split("---\n---\nbody").data == {}
    assert split("---\n# a comment\n---").data == {}
    assert split("---\na: 1\n---").body == ""


@pytest.mark.parametrize(
    ("yaml", "words"),
    [
        ("title: a: b", "line 2: mapping values are not allowed here"),
        ("a: 1\nb: [", "line"),
        ("- a list", "not made of `name: value` lines"),
        ("Just prose.", "not made of `name: value` lines"),
        ("a: &x [1]\nb: *x", "line 3: aliases are not read"),
        ("a: !!python/object/apply:os.system [id]", "line 2: types are not read"),
        ("a: !!int x", "types are not read"),
        ("[" * 10_000, "nested too deep"),
        ("? [a]\n: b", "unhashable"),
        ("a: \0", "a character that YAML does not allow"),
        ("\tа: b", "line 2"),
        ('a: "\\ud83d\\ude00"', "a character that there is not"),
        ('a: {b: ["\\0"]}', "a character that there is not"),
        ('"\\ud800": 1', "a character that there is not"),
        ("a: 'open", "line"),
        ("a: " + "x" * 17_000, "over 16,384 characters"),
    ],
)
def test_broken_front_matter_says_why_and_loses_nothing(yaml: str, words: str):
    text = f"---\n{yaml}\n---\nbody"
    cut = split(text)
    assert cut.data is None
    assert words in cut.error
    assert cut.raw + cut.body == text
    assert cut.body == "body"
    assert "front_matter_unreadable" in read(text, "page").flags


def test_dates_times_no_and_long_numbers_stay_the_text_that_was_typed():
    data = front(
        "day: 2026-01-31\nat: 12:30:45\nanswer: no\nport: on\ncode: 007\n"
        "big: 12345678901234567890\nhuge: 1e999\nnan: .nan\nhex: 0x1F"
    ).data
    assert data == {
        "day": "2026-01-31",
        "at": "12:30:45",
        "answer": "no",
        "port": "on",
        "code": "007",
        "big": "12345678901234567890",
        "huge": "1e999",
        "nan": ".nan",
        "hex": "0x1F",
    }


def test_numbers_booleans_null_lists_and_mappings_keep_their_type():
    cut = front("n: 3\nf: -1.5\nyes: true\nnone:\ntilde: ~\nl: [a, 2]\nm: {x: {y: z}}\n2026: k")
    assert cut.data == {
        "n": 3,
        "f": -1.5,
        "yes": True,
        "none": None,
        "tilde": None,
        "l": ["a", 2],
        "m": {"x": {"y": "z"}},
        "2026": "k",
    }


yaml_like = st.text(alphabet="ab:-?[]{}&*!|>'\"#%@`, \t\n\r0123456789~.<=\ufeff知", max_size=60)


@given(yaml_like)
def test_what_is_read_is_always_json_and_never_an_exception(yaml: str):
    cut = front(yaml)
    if cut.data is not None:
        assert json.loads(json.dumps(cut.data, allow_nan=False)) == cut.data
    assert (cut.data is None) == bool(cut.error)


@given(st.text(alphabet="-\n\r \ufeffab:#", max_size=40))
def test_raw_and_body_join_to_the_text_whatever_it_is(text: str):
    cut = split(text)
    assert cut.raw + cut.body == text
    assert not cut.body.startswith("\ufeff") or text.startswith("\ufeff" + cut.raw)


# Title, abstract, tags


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("---\ntitle: Alice\n---\n# Heading", "Alice"),
        ("---\ntitle: [a, list]\n---\n# Heading", "Heading"),
        ("---\ntitle: 7\n---\n# Heading", "Heading"),
        ("---\ntitle: a: b\n---\n# Heading", "Heading"),
        ("---\ntitle: '  '\n---\ntext\n\n### Third level", "Third level"),
        ("text only", "name"),
        ("", "name"),
        ("#hashtag\n# Real", "Real"),
        ("```\n# in code\n```\n# Real", "Real"),
        ("# Closed ##", "Closed"),
        ("# C#", "C#"),
        ("# The `id` of **[[alice|Alice]]** [here](http://x)", "The id of Alice here"),
        ("# snake_case \\# 1", "snake_case # 1"),
        ("# Windows\r\nline", "Windows"),
        ("\ufeff# With a mark", "With a mark"),
        ("Underlined\n======\ntext", "Underlined"),
        ("# 知识图谱", "知识图谱"),
        ("#\n# Second", "Second"),
    ],
)
def test_the_title_is_front_matters_text_else_the_first_heading_else_the_name(
    text: str, expected: str
):
    assert title(text, "name") == expected
    assert read(text, "name").title == expected


def test_a_title_is_at_most_200_characters():
    assert len(title("# " + "x" * 100_000, "name")) == 200


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# Alice\n\nLikes tea.\nMore.", "Likes tea."),
        ("---\ntitle: A\n---\n# Alice\nLikes tea.", "Likes tea."),
        ("\ufeff---\r\ntitle: A\r\n---\r\n# Alice\r\n\r\nLikes tea.\r\n", "Likes tea."),
        ("----\ntitle: A\n----\n", "----"),
        ("intro\n---\nnot: front\n---\n", "intro"),
        ("# Only\n## headings\n#tags", ""),
        ("", ""),
        ("   \n\t\n  indented  ", "indented"),
        ("a" * 100, "a" * 100),
        ("a" * 101, "a" * 100 + "..."),
        ("字" * 101, "字" * 100 + "..."),
        ("---\ntitle: a: b\n---\nStill there.", "Still there."),
    ],
)
def test_the_abstract_is_the_first_line_that_is_no_heading(text: str, expected: str):
    assert abstract(text) == expected


@pytest.mark.parametrize(
    ("line", "read"),
    [
        ("With [[mei]] and [[wei|阿蔚]].", "With mei and 阿蔚."),
        ("See [[deploy#Steps]], ![[plan]].", "See deploy › Steps, plan."),
        ("The **docks** at [the map](http://x/) run `lift`.", "The docks at the map run lift."),
        ("a" * 90 + " [[wei|阿...", "a" * 90 + " 阿..."),
        ("a" * 90 + " [[wei|阿蔚]...", "a" * 90 + " 阿蔚..."),
        ("a" * 90 + " [[long-na...", "a" * 90 + " long-na..."),
        ("no link [ here ]", "no link [ here ]"),
    ],
)
def test_a_page_shows_the_words_of_an_abstract_and_no_link_that_was_cut(line: str, read: str):
    assert words(line) == read


def test_a_list_of_pages_shows_no_mark_of_a_list_before_an_abstract():
    assert markdown_words.words("- Tea with [[mei]].") == "Tea with mei."
    assert markdown_words.words("2. Then - rest.") == "Then - rest."
    assert markdown_words.words("-5 degrees, 3.5 knots") == "-5 degrees, 3.5 knots"


def test_a_text_is_read_without_its_marks_and_code_as_it_stands():
    text = (
        "## Locks\n\n> See [[order-worker|the worker]].\n- **Sorted** by `id`\n---\n"
        "| lock | id |\n|---|---|\n```sh\n# [[not a link]]\n```\na - b *c*"
    )
    assert readable(text) == (
        "Locks\n\nSee the worker.\nSorted by id\n| lock | id |\n# [[not a link]]\na - b *c*"
    )


def test_an_abstract_never_ends_within_what_a_reader_sees_as_one_character():
    family = "👨‍👩‍👧‍👦"
    assert abstract("a" * 98 + family + "b") == "a" * 98 + "..."
    assert abstract("a" * 99 + "e\u0301" + "b") == "a" * 99 + "..."
    assert abstract("a" + "\u0301" * 200) == "a" + "\u0301" * 99 + "..."


@pytest.mark.parametrize(
    ("yaml", "tags"),
    [
        ("tags: [one, two]", ("one", "two")),
        ("tags: one, two three", ("one", "two", "three")),
        ("tags:\n- '#one'\n- one\n- One\n- 2026", ("one", "2026")),
        ("tag: one", ("one",)),
        ("tags: 7", ("7",)),
        ("tags:", ()),
        ("tags: [~, a,]", ("a",)),
        ("tags: [a, {b: c}, [d]]", ("a",)),
        ("tags: {a: b}", ()),
        ("other: x", ()),
    ],
)
def test_tags_are_read_however_they_are_written(yaml: str, tags: tuple[str, ...]):
    page = read(f"---\n{yaml}\n---\n# A\nb", "page")
    assert page.tags == tags
    assert ("tags_not_text" in page.flags) == ("{" in yaml)


def test_an_alias_may_hold_spaces():
    page = read("---\naliases: Alice Chen, 陈爱丽\n---\n# A\nb", "page")
    assert page.aliases == ("Alice Chen", "陈爱丽")


def test_a_sound_page_has_no_flags_and_an_empty_one_says_what_it_lacks():
    assert read("# Alice\nLikes tea.", "alice").flags == ()
    assert read("", "alice").flags == ("no_title", "no_summary")
    assert read("---\ntitle: [a]\naliases: {a: b}\n---\n# A\nb", "alice").flags == (
        "title_not_text",
        "aliases_not_text",
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("# Alice\nLikes tea.", ""),
        ("---\ntags: a\n---\n\n# Alice\n\nLikes tea.\n", ""),
        ("Likes tea.", "starts with a heading"),
        ("#alice\nLikes tea.", "starts with a heading"),
        ("", "starts with a heading"),
        ("# Alice", "summary of one line"),
        ("# Alice\n## Facts\nx", "summary of one line"),
    ],
)
def test_a_page_starts_with_a_heading_and_a_one_line_summary(text: str, words: str):
    assert words in shape_problem(text)
    assert bool(shape_problem(text)) == bool(words)


def test_a_summary_row_reads_as_octos_writes_it():
    assert summary_row("alice-chen", "Likes tea.") == "- **alice-chen**: Likes tea."
