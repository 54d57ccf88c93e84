"""Views and the way back from them to the text."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryweb.core.guard.disguises import views
from memoryweb.core.guard.views import View


def named(text: str, name: str) -> View:
    return next(view for view in views(text) if view.name == name)


def shown(view: View, part: str, text: str) -> str:
    """What of the text a part of a view was made from."""
    start = view.folded.text.index(part)
    begin, end = view.folded.origin((start, start + len(part)))
    return text[begin:end]


@pytest.mark.parametrize(
    ("text", "name", "part", "original"),
    [
        ("one  TWO\n three", "raw", "two three", "TWO\n three"),
        ("a\u200bb c\u2060d", "plain", "cd", "c\u2060d"),
        ("say ｏｎｅ two", "plain", "one", "ｏｎｅ"),
        ("see раssword now", "skeleton", "password", "раssword"),
        ("one_two-three four", "separators", "two three", "two-three"),
        ("i g n o r e it", "segmented", "ignore", "i g n o r e"),
        ("i.g.n.o.r.e. .i.t", "segmented", "ignore it", "i.g.n.o.r.e. .i.t"),
        ("now ignoreallprevious", "segmented", "ignore all", "ignoreallprevious"),
        ("my pass word here", "rejoined", "password", "pass word"),
        ("pa**ss**word <b>one</b>", "markup", "password", "pa**ss**word"),
        ("my p4ssw0rd here", "leet", "password", "p4ssw0rd"),
        ("x &#104;ello", "html-entity", "hello", "&#104;ello"),
        ("cafe%20bar", "percent", "cafe bar", "cafe%20bar"),
        ("run aGVsbG8gd29ybGQgYWdhaW4= now", "base64", "world", "aGVsbG8gd29ybGQgYWdhaW4="),
        ("id 68656c6c6f20776f726c6420 end", "hex", "hello world", "68656c6c6f20776f726c6420"),
        ("hi\U000e0068\U000e006f there", "tags", "ho", "\U000e0068\U000e006f"),
    ],
)
def test_a_view_reads_a_disguise_and_knows_where_it_stood(
    text: str, name: str, part: str, original: str
) -> None:
    assert shown(named(text, name), part, text) == original


def test_the_first_view_is_the_text_itself() -> None:
    assert next(views("Plain text.")).text == "Plain text."


def test_plain_prose_has_no_view_but_itself() -> None:
    assert [view.name for view in views("The build is green again.")] == ["raw"]


@pytest.mark.parametrize(
    "text",
    [
        "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "018f4e5a-7c2b-7d3e-9a41-0c5d2f1e6b7a",
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk",
        "deleteByQueryAndReturnTheParameters",
        "src/components/HelloWorldWithAVeryLongName/index",
    ],
)
def test_what_decodes_to_no_readable_text_is_not_decoded(text: str) -> None:
    decoded = {"hex", "base32", "base64", "binary", "character-codes"}
    assert not decoded & {view.name for view in views(text)}


def test_an_encoding_within_itself_is_undone_twice_and_not_thrice() -> None:
    text = "hello, this is plain text"
    once = base64.b64encode(text.encode())
    twice = base64.b64encode(once)
    thrice = base64.b64encode(twice)
    assert any(text in view.text for view in views(twice.decode()))
    assert all(text not in view.text for view in views(thrice.decode()))


@given(st.text(max_size=200))
def test_every_character_of_every_view_leads_back_into_the_text(text: str) -> None:
    for view in views(text):
        length = len(view.folded.text)
        for position in {0, length // 2, length - 1} if length else ():
            start, end = view.folded.origin((position, position + 1))
            assert 0 <= start <= end <= len(text)


@given(st.text(alphabet="aB İ\n\t_-*<b>é\u200bа&#x4e;%41", min_size=1, max_size=80))
def test_the_whole_of_a_view_comes_from_within_the_whole_text(text: str) -> None:
    for view in views(text):
        if length := len(view.folded.text):
            start, end = view.folded.origin((0, length))
            assert 0 <= start <= end <= len(text)
