"""BM25 against the textbook, and against numbers worked out once and written down."""

import math

import numpy as np
import pytest

from memoryweb.core.analysis import ANALYZERS, analyzer
from search.engine import Index, QueryError
from search.engine.bm25 import idf, saturation
from tests.engine import textbook
from tests.engine.builders import ask, document, index_of, names, papers, scores

TEXTS = {
    "hindi": "हिन्दी भाषा में खोज",
    "hindi-2": "भाषा भाषा",
    "cyrillic": "Исправлена ошибка в модуле поиска",
    "cyrillic-2": "Ошибка, ошибка, ошибка",
    "arabic": "إصلاح خطأ في البحث",
    "chinese": "重构parser模块，修复知识图谱测试",
    "chinese-2": "中文测试",
    "english": "Fix the parser: fix a parser crash in the parser module",
    "english-2": "What is this",
    "short": "x",
    "accents": "Un café à Paris",
    "nul": "left\0right parser",
    "empty": "",
    "names": "C++ and node.js on .NET",
    "many": " ".join(f"word{number}" for number in range(10_000)) + " parser",
}
DOCUMENTS = [document(name, text) for name, text in TEXTS.items()]
QUERIES = [
    "भाषा",
    "हिन्दी खोज",
    "ошибка поиска",
    "خطأ البحث",
    "测试",
    "知识图谱",
    "parser模块",
    "parser",
    "parser parser crash",
    "x",
    "é",
    "cafe Paris",
    "what is this",
    "the",
    "left right",
    "c++ node.js",
    "word9999 word1 fix",
    "",
    "\0",
    "?! ...",
    "absent",
    "a\0b parser\0",
    " ".join(f"word{number}" for number in range(10_000)),
]


@pytest.fixture(scope="module", params=sorted(ANALYZERS))
def index(request: pytest.FixtureRequest) -> Index:
    return index_of(*DOCUMENTS, analysis=request.param)


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: repr(query[:20]))
def test_scores_are_those_of_the_textbook(index: Index, query: str):
    expected = textbook.bm25(papers(DOCUMENTS, index.analyzer), index.analyzer.query_tokens(query))
    answer = ask(index, query, limit=200, explain=True)
    raw = {hit.id: hit.explanation.bm25_raw for hit in answer.hits if hit.explanation}
    assert raw == pytest.approx(expected, abs=1e-9)
    assert scores(answer) == pytest.approx(textbook.normalised(expected), abs=1e-9)


# Worked out once by the formula from the n, df, lengths and counts of TEXTS without the long one.
@pytest.mark.parametrize(
    ("analysis", "query", "expected"),
    [
        ("cjk", "भाषा", {"hindi": 1.7512083, "hindi-2": 2.8405052}),
        ("octos", "भाषा", {"hindi": 1.4928923, "hindi-2": 2.7797139}),
        ("octos", "ошибка", {"cyrillic": 1.4928923, "cyrillic-2": 2.8813053}),
        ("cjk", "البحث", {"arabic": 2.2504729}),
        ("cjk", "测试", {"chinese": 1.0068393, "chinese-2": 1.7512083}),
        ("octos", "测试", {}),
        ("octos", "中文测试", {"chinese-2": 3.2304925}),
        ("cjk", "parser", {"chinese": 0.8177662, "english": 1.9348517, "nul": 1.5903139}),
        ("cjk", "parser parser", {"chinese": 1.6355324, "english": 3.8697033, "nul": 3.1806278}),
        ("octos", "parser parser", {"english": 3.9544916, "nul": 3.7465709}),
        ("cjk", "x", {"short": 3.2942506}),
        ("octos", "x", {}),
        ("cjk", "cafe", {"accents": 2.5162270}),
        ("octos", "cafe", {}),
        ("octos", "é", {}),
        ("cjk", "what is this", {"english-2": 11.6900474}),
        ("octos", "what is this", {"english-2": 7.2220616}),
        ("octos", "left\x00right", {"nul": 4.8147078}),
        ("cjk", "c++", {"names": 1.8580029}),
        ("cjk", "重构parser模块", {"chinese": 3.4055390, "english": 1.9348517, "nul": 1.5903139}),
    ],
)
def test_scores_are_the_numbers_written_down(analysis: str, query: str, expected: dict[str, float]):
    short = [one for one in DOCUMENTS if one.id != "many"]
    answer = ask(index_of(*short, analysis=analysis), query, limit=200, explain=True)
    raw = {hit.id: hit.explanation.bm25_raw for hit in answer.hits if hit.explanation}
    assert raw == pytest.approx(expected, abs=1e-6)


def test_idf_and_saturation_are_the_formulas_of_the_book():
    assert idf(10, 2) == pytest.approx(math.log(8.5 / 2.5 + 1))
    assert idf(1, 1) == pytest.approx(math.log(0.5 / 1.5 + 1))
    counts, lengths = np.array([1, 3]), np.array([4, 12])
    shares = saturation(counts, lengths, average=8.0, k1=1.2, b=0.75)
    assert shares == pytest.approx([2.2 / (1 + 1.2 * 0.625), 6.6 / (3 + 1.2 * 1.375)])


def test_a_term_in_every_document_still_counts_a_little():
    answer = ask(index_of(document("a", "fix"), document("b", "fix it now")), "fix")
    assert names(answer) == ["a", "b"]
    assert all(score > 0 for score in scores(answer).values())


def test_k1_and_b_are_settings_of_the_index():
    documents = [document("long", "fix fix fix and much more of it"), document("short", "fix")]
    flat = index_of(*documents, k1=0.0, b=0.0)
    assert scores(ask(flat, "fix")) == {"long": 1.0, "short": 1.0}
    other = ask(index_of(*documents, k1=2.0, b=0.3), "fix", explain=True)
    raw = {hit.id: hit.explanation.bm25_raw for hit in other.hits if hit.explanation}
    own = papers(documents, analyzer("cjk"))
    assert raw == pytest.approx(textbook.bm25(own, ["fix"], k1=2.0, b=0.3))


@pytest.mark.parametrize(("k1", "b"), [(-1.0, 0.5), (math.nan, 0.5), (1.2, 1.5), (1.2, math.nan)])
def test_k1_and_b_without_meaning_are_refused(k1: float, b: float):
    with pytest.raises(QueryError):
        Index(analyzer(), k1=k1, b=b)


def test_stop_words_lengthen_no_document_and_alone_still_find_it():
    plain = index_of(document("a", "parser crash"), document("b", "parser"))
    wordy = index_of(document("a", "the parser is in a crash"), document("b", "parser"))
    assert scores(ask(plain, "crash parser")) == scores(ask(wordy, "the crash of a parser"))
    assert names(ask(wordy, "what is the")) == ["a"]
    assert names(ask(wordy, "the parser")) == ["b", "a"]


def test_a_document_of_nothing_but_stop_words_is_found_by_them_and_by_nothing_else():
    index = index_of(document("a", "what is this"))
    assert scores(ask(index, "this")) == {"a": 1.0}
    assert names(ask(index, "this thing")) == []


def test_octos_does_not_find_a_part_of_a_chinese_run_and_cjk_does():
    text = document("a", "中文测试")
    assert names(ask(index_of(text, analysis="octos"), "测试")) == []
    assert names(ask(index_of(text, analysis="cjk"), "测试")) == ["a"]


@pytest.mark.parametrize("text", ["", " ", "\0", "?!", "\ud800"])
def test_a_query_without_terms_finds_nothing_and_says_so(text: str):
    answer = ask(index_of(document("a", "parser")), text)
    assert (answer.mode, answer.reasons, answer.hits) == ("bm25", ("no_terms",), ())


def test_an_empty_index_answers_with_nothing():
    answer = ask(Index(analyzer()), "parser")
    assert (answer.mode, answer.reasons, answer.hits) == ("bm25", ("no_query_vector",), ())
    assert ask({}, "parser").hits == ()


def test_a_best_score_of_next_to_nothing_is_no_match(monkeypatch: pytest.MonkeyPatch):
    index = index_of(document("a", "parser"), document("b", "docs"))
    assert names(ask(index, "parser")) == ["a"]
    monkeypatch.setattr("search.engine.bm25.NOTHING", 100.0)
    answer = ask(index, "parser")
    assert (answer.mode, answer.hits) == ("bm25", ())


def test_thousands_of_documents_rank_as_the_textbook_says():
    words = ["fix", "parser", "crash", "module", "test", "docs", "release"]
    documents = [
        document(f"d{n:04}", " ".join(words[(n * k) % 7] for k in range(1, 2 + n % 5)), created=n)
        for n in range(3000)
    ]
    expected = textbook.bm25(papers(documents, analyzer()), ["fix", "parser", "parser"])
    ranked = textbook.ranking(papers(documents, analyzer()), expected)
    assert names(ask(index_of(*documents), "fix parser parser", limit=200)) == ranked[:200]
