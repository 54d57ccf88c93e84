"""What a page may be called: one rule for every door."""

import unicodedata
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bank.names import DEVICES, MAX_BYTES, RESERVED, NameRefused, key, proposals, slug


def refusal(name: str) -> NameRefused:
    with pytest.raises(NameRefused) as caught:
        slug(name)
    return caught.value


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Alice Chen", "alice-chen"),
        ("  Alice Chen\n", "alice-chen"),
        ("a  b", "a--b"),
        ("snake_case-2", "snake_case-2"),
        ("日本", "日本"),
        ("知识 图谱", "知识-图谱"),
        ("हिन्दी भाषा", "हिन्दी-भाषा"),
        ("สวัสดี", "สวัสดี"),
        ("ΣΟΦΟΣ", "σοφος"),
        ("١٢٣", "١٢٣"),
        ("2026-01-31", "2026-01-31"),
        ("clock", "clock"),
        ("com10", "com10"),
    ],
)
def test_letters_digits_hyphens_and_underscores_of_any_script_stay(name: str, expected: str):
    assert slug(name) == expected


def test_two_normal_forms_of_a_name_give_one_slug():
    assert slug("Cafe\u0301") == slug("Café") == "café"


def test_a_name_that_only_lowercases_into_a_decomposed_form_is_composed():
    assert slug("İstanbul") == unicodedata.normalize("NFC", "i\u0307stanbul")


@pytest.mark.parametrize(
    ("name", "character", "words"),
    [
        ("a/b", "/", "solidus, U+002F"),
        ("..", ".", "full stop, U+002E"),
        ("a.b", ".", "“.”"),
        ("a\\b", "\\", "reverse solidus"),
        ("c:notes", ":", "colon"),
        ("nul\0", "\0", "U+0000"),
        ("party 🎉", "🎉", "party popper"),
        ("a\tb", "\t", "U+0009"),
        ("a\u3000b", "\u3000", "ideographic space"),
        ("a\u200cb", "\u200c", "zero width non-joiner"),
        ("a\u202eb", "\u202e", "right-to-left override"),
        ("a\ufe0f", "\ufe0f", "variation selector-16"),
        ("\u3164", "\u3164", "hangul filler"),
        ("\u0301a", "\u0301", "combining acute accent"),
        ("x²", "²", "superscript two"),
        ("\ud800", "\ud800", "U+D800"),
        ("[[a]]", "[", "left square bracket"),
    ],
)
def test_any_other_character_is_refused_by_its_name(name: str, character: str, words: str):
    refused = refusal(name)
    assert refused.character == character
    assert words in refused.reason


def test_a_refusal_never_shows_an_unprintable_character():
    assert refusal("a\u202eb").reason.isprintable()


@pytest.mark.parametrize("name", ["", "   ", "\n"])
def test_an_empty_name_is_refused(name: str):
    assert refusal(name).reason == "A name cannot be empty."


def test_a_name_of_strokes_alone_is_refused():
    assert "at least one letter or digit" in refusal("-_-").reason


@pytest.mark.parametrize("name", sorted(RESERVED | DEVICES))
def test_reserved_names_and_devices_are_refused_in_any_case_and_width(name: str):
    full_width = "".join(chr(ord(c) + 0xFEE0) if c.isalnum() else c for c in name)
    assert refusal(name).reason == refusal(name.upper()).reason
    assert refusal(full_width).reason


def test_a_name_may_take_120_bytes_and_not_one_more():
    assert slug("a" * MAX_BYTES) == "a" * 120
    assert "takes 121" in refusal("a" * 121).reason
    assert slug("字" * 40) == "字" * 40
    assert "takes 123" in refusal("字" * 41).reason


def test_300_letters_and_half_a_million_marks_are_refused_at_once():
    assert "takes 300" in refusal("x" * 300).reason
    assert "120 bytes" in refusal("a" + "\u0301\u0323" * 250_000).reason


def test_two_spellings_of_one_page_share_a_key():
    assert key("Straße") == key("STRASSE")
    assert key("ｆｏｏ") == key("Foo")
    assert key("ﬁle") == key("FILE")
    assert key("alice") != key("alicia")


def accepted(name: str) -> bool:
    try:
        return bool(slug(name))
    except NameRefused:
        return False


@given(st.text(max_size=150).filter(accepted))
def test_a_slug_is_its_own_slug_and_safe_as_a_file_name(name: str):
    result = slug(name)
    assert slug(result) == result
    assert not set(result) & set("/\\.:\0 \n[]|#")
    assert 0 < len(result.encode()) <= MAX_BYTES


@given(st.text(max_size=150))
def test_every_text_has_legal_names_proposed_that_differ(name: str):
    proposed = list(islice(proposals(name), 3))
    assert [slug(one) for one in proposed] == proposed
    assert len({key(one) for one in proposed}) == 3


@given(st.text(max_size=150).filter(accepted))
def test_the_first_proposal_for_a_legal_name_is_its_slug(name: str):
    assert next(proposals(name)) == slug(name)


def test_a_proposal_drops_what_cannot_stay_and_is_cut_to_size():
    assert list(islice(proposals("∑ Maps (old)!"), 2)) == ["maps-old", "maps-old-2"]
    assert list(islice(proposals("字" * 50), 2)) == ["字" * 40, "字" * 39 + "-2"]
    assert list(islice(proposals("CON"), 2)) == ["con-2", "con-3"]
    assert next(proposals("😀")) == "page"
