"""What pages of a wiki may be called, and when two refs are one page."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bank import refs
from bank.names import NameRefused


@pytest.mark.parametrize(
    "ref",
    [
        "index",
        "guide/Getting started",
        "🍀 花园导览/x",
        "a/b/c/d/e/f/g/h/i/j",
        "He said what... ",
        "v1.2 notes",
        "What? “Quotes” & <brackets>",
        "x" * 240,
    ],
)
def test_refs_of_a_vault_stay_as_they_are(ref: str):
    assert refs.normal(ref.strip()) == ref.strip()


@pytest.mark.parametrize(
    ("ref", "why"),
    [
        ("", "empty part"),
        ("/etc/passwd", "empty part"),
        ("a//b", "empty part"),
        ("a/", "empty part"),
        ("../a", "begins with a dot"),
        ("a/../b", "begins with a dot"),
        ("a/./b", "begins with a dot"),
        (".hidden", "begins with a dot"),
        (".git/config", "begins with a dot"),
        ("a\0b", "U+0000"),
        ("a\nb", "U+000A"),
        ("a\\b", "U+005C"),
        ("C:/x", "names a drive"),
        ("c:x", "names a drive"),
        ("a/con", "device"),
        ("NUL.txt", "device"),
        ("com1/x", "device"),
        (" a", "begins or ends with a space"),
        ("a /b", "begins or ends with a space"),
        ("a./b", "ends with a dot"),
        ("...", "begins with a dot"),
        ("---", "at least one letter"),
        ("\u200b", "at least one letter"),
        ("abc\u202etxt", "U+202E"),
        ("\ud800", "U+D800"),
        ("x" * 241, "240 bytes"),
        ("字" * 81, "240 bytes"),
        ("/".join("abcdefghijk"), "9 folders"),
        ("/".join(["x" * 60] * 6), "300 characters"),
        ("x" * 10_000_000, "300 characters"),
        ("/".join(["\ufdfa" * 50] * 5), "300 characters"),
    ],
)
def test_what_cannot_be_a_ref_is_refused_with_the_reason(ref: str, why: str):
    with pytest.raises(NameRefused) as refused:
        refs.normal(ref)
    assert why in refused.value.reason


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Guide/Start", "guide/START"),
        ("ﬁle", "file"),
        ("Straße", "STRASSE"),
        ("🍀\ufe0f x", "🍀 x"),
        ("cafe\u0301", "café"),
    ],
)
def test_refs_that_look_alike_are_one_page(one: str, other: str):
    assert refs.key_of(one) == refs.key_of(other)


def test_a_character_whose_normal_form_holds_a_slash_makes_no_folder():
    assert refs.key_of("a／b") != refs.key_of("a/b")
    assert refs.key_of("℀") != refs.key_of("a/c")


@given(st.text(max_size=60))
def test_a_normal_ref_is_its_own_and_stays_below_its_folder(text: str):
    try:
        ref = refs.normal(text)
    except NameRefused:
        return
    assert refs.normal(ref) == ref
    assert all(part not in ("", ".", "..") for part in ref.split("/"))
    assert refs.of_file("w", refs.below("w", ref)) == ref


@pytest.mark.parametrize("wiki", ["", "A", "a b", "-a", "a-", "../x", "a/b", "con", "é", "x" * 41])
def test_an_id_that_no_address_can_have_is_refused(wiki: str):
    with pytest.raises(NameRefused):
        refs.check_id(wiki)
