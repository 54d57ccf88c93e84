"""Retrieval sets as they lie on disk, with every kind of bad row."""

from pathlib import Path

import pytest

from memoryweb.evaluating.sets import NotASet, opened


def write(folder: Path, corpus: str, queries: str, qrels: str) -> Path:
    (folder / "corpus.jsonl").write_text(corpus)
    (folder / "queries.jsonl").write_text(queries)
    (folder / "qrels.tsv").write_text(qrels)
    return folder


def test_a_title_leads_its_text_and_times_and_scopes_are_read(tmp_path: Path):
    found = opened(
        write(
            tmp_path,
            '\ufeff{"id": "d", "text": "body", "title": "Head", "scope": "s", "more": 1,'
            ' "created_at": "1970-01-02T00:00:00"}\n\n'
            '{"id": "e", "text": "", "title": "", "created_at": "someday"}\n',
            '{"id": "q", "text": "body?", "scope": "s", "answers": []}\n',
            "query_id\tdoc_id\trel\nq\td\t2\n",
        )
    )
    first, second = found.documents()
    assert (first.text, first.scope, first.created_at) == ("Head\nbody", "s", 86_400.0)
    assert (second.text, second.scope, second.created_at) == ("", "", 0.0)
    assert found.judged == {"q": {"d": 2}}
    assert (found.size, found.problems.count) == (2, 0)


def test_every_bad_row_is_told_once_by_its_line_and_the_good_ones_are_used(tmp_path: Path):
    corpus = ["{", "[1]", '{"text": "x"}', '{"id": 3, "text": "x"}', '{"id": "a"}', "[" * 100_000]
    corpus += [
        '{"id": "d", "text": "x"}',
        '{"id": "d", "text": "y"}',
        '{"id":"t","text":"","title":1}',
    ]
    queries = (
        '{"id": "q", "text": "x"}\n{"id": "blank", "text": " "}\n{"id": "none", "text": "x"}\n'
    )
    qrels = "q\td\t1\nq\td\nq\tgone\t1\nnobody\td\t1\nq\td\tvery\nnone\td\t0\nblank\td\t1\n"
    found = opened(write(tmp_path, "\n".join(corpus), queries, "query_id\tdoc_id\trel\n" + qrels))
    assert [one.id for one in found.queries] == ["q"]
    assert [one.text for one in found.documents()] == ["x"]
    assert found.problems.count == 12
    lines = [told.partition(":")[0] for told in found.problems.told]
    assert lines[:8] == [f"corpus.jsonl line {n}" for n in (1, 2, 3, 4, 5, 6, 8, 9)]
    assert lines[8:] == [f"qrels.tsv line {n}" for n in (3, 4, 5, 6)]


def test_half_a_character_and_a_grade_past_all_measure_are_told_and_end_nothing(tmp_path: Path):
    corpus = '{"id": "d", "text": "x"}\n{"id": "half", "text": "\\ud800"}\n'
    queries = '{"id": "q", "text": "x"}\n{"id": "\\udc00", "text": "x"}\n'
    found = opened(write(tmp_path, corpus, queries, f"q\td\t{'9' * 400}\nq\td\t1\n"))
    assert found.judged == {"q": {"d": 1}}
    lines = [told.partition(":")[0] for told in found.problems.told]
    assert lines == ["corpus.jsonl line 2", "queries.jsonl line 2", "qrels.tsv line 1"]


def test_a_judgement_outside_the_querys_scope_is_told(tmp_path: Path):
    corpus = '{"id": "d", "text": "x", "scope": "a"}\n{"id": "e", "text": "x", "scope": "b"}\n'
    found = opened(
        write(tmp_path, corpus, '{"id": "q", "text": "x", "scope": "a"}', "q\td\t1\nq\te\t1\n")
    )
    assert found.judged == {"q": {"d": 1}}
    assert found.problems.told == ["qrels.tsv line 2: 'e' lies outside the scope of 'q'"]


def test_a_folder_without_its_files_or_without_an_answer_is_no_set(tmp_path: Path):
    with pytest.raises(NotASet, match=r"it has no corpus\.jsonl, queries\.jsonl, qrels\.tsv"):
        opened(tmp_path)
    write(tmp_path, '{"id": "d", "text": "x"}', '{"id": "q", "text": "x"}', "q\td\t0\n")
    with pytest.raises(NotASet, match="no query has a document"):
        opened(tmp_path)
