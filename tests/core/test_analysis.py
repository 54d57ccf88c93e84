"""Text to terms: the two analyzers, and the way back from terms to places in the text."""

import time
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memoryweb.core.analysis import ANALYZERS, STOP_WORDS, analyzer

cjk = analyzer("cjk")
octos = analyzer("octos")


def test_the_default_analyzer_is_cjk_and_an_unknown_one_is_refused_by_name():
    assert analyzer() is cjk
    with pytest.raises(ValueError, match="cjk, octos"):
        analyzer("porter")


def test_a_stamp_names_the_analyzer_its_version_and_the_unicode_tables():
    assert cjk.stamp == f"cjk/1/unicode-{unicodedata.unidata_version}"
    assert octos.stamp != cjk.stamp


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("foo_bar-baz v2.1.0 C++ don't", ["foo", "bar", "baz", "v2", "don"]),
        ("हिन्दी भाषा", ["हिन", "दी", "भाषा"]),
        ("中文测试", ["中文测试"]),
        ("中文 测试", ["中文", "测试"]),
        ("重构parser模块", ["重构parser模块"]),
        ("a é 図 7 ٣", ["é", "図", "٣"]),
        ("Привет, МИР!", ["привет", "мир"]),
        ("مرحبا بالعالم", ["مرحبا", "بالعالم"]),
        ("x² ½ Ⅷ ①", ["x²", "½", "ⅷ", "①"]),
        ("İstanbul", ["stanbul"]),
        ("ΣΟΦΟΣ", ["σοφος"]),
        ("ab\0cd", ["ab", "cd"]),
        ("the the is", ["the", "the", "is"]),
        ("", []),
        ("a b c ! ? \0", []),
    ],
)
def test_octos_splits_at_what_rust_does_not_call_alphanumeric(text: str, tokens: list[str]):
    assert octos.tokens(text) == tokens
    assert octos.query_tokens(text) == tokens


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("知识图谱", ["知识", "识图", "图谱", "知识图谱"]),
        ("中文测试", ["中文", "文测", "测试", "中文测试"]),
        ("重构parser模块", ["重构", "parser", "模块"]),
        ("图", ["图"]),
        ("한국어 검색", ["한국", "국어", "한국어", "검색"]),
        ("ひらカナー", ["ひら", "らカ", "カナ", "ナー", "ひらカナー"]),
        ("雾凇拼音", ["雾凇", "凇拼", "拼音", "雾凇拼音"]),
        ("日本語版", ["日本", "本語", "語版", "日本語版"]),
        ("𠮷野家", ["𠮷野", "野家", "𠮷野家"]),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("Привет, МИР!", ["привет", "мир"]),
        ("مرحبا بالعالم", ["مرحبا", "بالعالم"]),
        ("foo_bar-baz v2.1.0 don't", ["foo", "bar", "baz", "v2", "1", "0", "don", "t"]),
        ("http://a.example/x?y=1", ["http", "example", "x", "y", "1"]),
        ("c", ["c"]),
        ("ab\0cd", ["ab", "cd"]),
        ("", []),
        ("\0 \n _ - ()", []),
    ],
)
def test_cjk_keeps_words_and_cuts_runs_into_pairs_and_themselves(text: str, tokens: list[str]):
    assert cjk.tokens(text) == tokens


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("C++ C# .NET", ["c++", "c#", ".net"]),
        ("C++11, C#9", ["c++", "11", "c#", "9"]),
        ("Node.js", ["node", "js", "node.js"]),
        ("ASP.NET example.network", ["asp", "net", "asp.net", "example", "network"]),
        ("使用.NET开发，用C++写", ["使用", ".net", "开发", "用", "c++", "写"]),
        ("issue#12 x+y a#b", ["issue", "12", "x", "y", "b"]),
    ],
)
def test_names_of_languages_and_platforms_survive_their_punctuation(text: str, tokens: list[str]):
    assert cjk.tokens(text) == tokens


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("cafe", "Café"),
        ("cafe", "cafe\u0301"),
        ("ABC１２", "ａｂｃ12"),
        ("ハンカク", "ﾊﾝｶｸ"),
        ("가", "\u1100\u1161"),
        ("cooperate", "co\u00adoperate"),
        ("葛飾", "葛\U000e0100飾"),
        ("می\u200cخواهم", "میخواهم"),
        ("python", "Python™"),
        ("ISTANBUL", "İstanbul"),
        ("σοφος", "ΣΟΦΟΣ"),
        ("Ζ.Σ", "ζ.σ"),
    ],
)
def test_cjk_gives_the_same_terms_for_what_readers_call_the_same_word(one: str, other: str):
    assert cjk.tokens(one) == cjk.tokens(other) != []


def test_accents_are_part_of_the_letter_outside_the_latin_script():
    assert cjk.tokens("й") != cjk.tokens("и")
    assert cjk.tokens("が") != cjk.tokens("か")


def test_stop_words_are_dropped_as_whole_pieces_only():
    assert cjk.analyse("The parser is broken") == (["parser", "broken"], ["the", "is"])
    assert cjk.analyse("这 是 的") == (["这"], ["是", "的"])
    assert cjk.tokens("什么") == []
    assert cjk.tokens("什么问题") == ["什么", "么问", "问题", "什么问题"]
    assert cjk.tokens("的模块") == ["的模", "模块", "的模块"]


def test_every_stop_word_alone_is_dropped_and_is_its_own_query():
    for word in STOP_WORDS:
        assert cjk.analyse(word) == ([], [word])
        assert cjk.query_tokens(word) == [word]


def test_a_query_of_stop_words_only_searches_for_them_and_any_other_query_does_not():
    assert cjk.query_tokens("what is this") == ["what", "is", "this"]
    assert cjk.query_tokens("what is rust") == ["rust"]
    assert cjk.query_tokens(" ?! ") == []


def test_repeated_words_are_kept_as_often_as_they_stand_there():
    assert cjk.tokens("fix fix Fix") == ["fix", "fix", "fix"]


def texts_at(text: str, spans: list[tuple[int, int]]) -> list[str]:
    return [text[start:end] for start, end in spans]


@pytest.mark.parametrize(
    ("text", "terms", "marked"),
    [
        ("Fix the Café parser", ["cafe", "fix"], ["Fix", "Café"]),
        ("un cafe\u0301 noir", ["cafe"], ["cafe\u0301"]),
        ("ﾊﾝｶｸのｶﾞﾗｽ", ["ハンカクのガラス"], ["ﾊﾝｶｸのｶﾞﾗｽ"]),
        ("前ＡＢＣ後", ["abc"], ["ＡＢＣ"]),
        ("关于知识图谱的说明", ["知识", "识图"], ["知识图"]),
        ("关于知识图谱的说明", ["说明", "关于"], ["关于", "说明"]),
        ("１０㎏ of ﬁsh", ["10kg", "fish"], ["１０㎏", "ﬁsh"]),
        ("co\u00adoperate now", ["cooperate"], ["co\u00adoperate"]),
        ("한국어 검색", ["국어"], ["국어"]),
        ("Node.js, C++ and .NET", ["js", "c++", ".net"], ["js", "C++", ".NET"]),
        ("what is this", ["is"], ["is"]),
        ("nothing here", ["absent"], []),
        ("", ["absent"], []),
        ("text", [], []),
    ],
)
def test_terms_lead_back_to_the_words_as_they_were_written(
    text: str, terms: list[str], marked: list[str]
):
    assert texts_at(text, cjk.spans(text, terms)) == marked


def test_words_that_begin_as_asked_are_marked_whole():
    text = "Ｄeployments deploy, redeploy; 部署deployed"
    marked = ["Ｄeployments", "deploy", "deployed"]
    assert texts_at(text, cjk.spans(text, [], ("deploy",))) == marked


def test_octos_terms_lead_back_past_the_letter_that_grows_when_lowered():
    assert texts_at("İİ Foo é", octos.spans("İİ Foo é", ["foo", "é"])) == ["Foo", "é"]


ODD_LETTERS = "ab Zé\u0301\u0307İΣςǅﬁ™\u00ad\u200c\u200d\ufe0f\u3099가\u1100\u1161\u11a8ㅎㅏㄴﾡￂ"
ODD_LETTERS += (
    "，。「＋·‐“\u3000・ＡＢ知识ハﾊﾞー\u0915\u094d\u09c7\u09be\U0001f468c+#.netjs2½\0\n\ud800"
)
odd_texts = st.text(st.sampled_from(ODD_LETTERS), max_size=30) | st.text(max_size=30)


@pytest.mark.parametrize("name", ANALYZERS)
@given(text=odd_texts)
@example(text="ㅎㅏㄴ 가ㄳ")
def test_the_places_of_terms_agree_with_the_terms(name: str, text: str):
    chosen = analyzer(name)
    folded = chosen.fold(text)
    located = list(chosen.locate(folded))
    assert all(folded[start : start + len(term)] == term for term, start in located)
    analysis = chosen.analyse(text)
    assert sorted(term for term, _ in located) == sorted(analysis.tokens + analysis.stopped)


@pytest.mark.parametrize("name", ANALYZERS)
@given(text=odd_texts)
def test_every_marked_span_alone_gives_the_term_it_was_marked_for(name: str, text: str):
    chosen = analyzer(name)
    for term in {*chosen.tokens(text)}:
        spans = chosen.spans(text, [term])
        assert spans == sorted(spans)
        assert all(0 <= start < end <= len(text) for start, end in spans)
        # Whether a capital sigma lowers to σ or ς depends on the letters around it.
        marked = [chosen.fold(part).replace("ς", "σ") for part in texts_at(text, spans)]
        assert all(term.replace("ς", "σ") in part for part in marked)


@pytest.mark.parametrize("name", ANALYZERS)
@pytest.mark.parametrize(
    "unit", ["parser ", "a+", "知识图谱", "é", "a.js.", "\u0301", "ㅎㅏㄴ", "#", "\0"]
)
def test_two_million_hostile_characters_are_analysed_in_seconds(name: str, unit: str):
    text = unit * (2_000_000 // len(unit))
    began = time.perf_counter()
    analyzer(name).analyse(text)
    assert time.perf_counter() - began < 20


def test_ten_thousand_words_are_ten_thousand_terms():
    text = " ".join(f"word{number}" for number in range(10_000))
    assert len(cjk.tokens(text)) == len(octos.tokens(text)) == 10_000
