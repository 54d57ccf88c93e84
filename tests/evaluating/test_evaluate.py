"""`manage.py evaluate`: the product's own search on a set small enough to work out by hand."""

import json
import math
from collections.abc import Sequence
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from memoryweb.evaluating.vectors import KeptVectors
from search.embedding.problems import Failed, ProviderError, TextRejected

DOCUMENTS = [
    {"id": "red", "text": "red apples", "scope": "a"},
    {"id": "sky", "text": "blue sky", "scope": "a"},
    {"id": "other", "text": "red apples", "scope": "b"},
    {"id": "cloud", "text": "weather above us", "scope": "a"},
]
QUERIES = [
    {"id": "q1", "text": "red apples", "scope": "a"},
    {"id": "q2", "text": "sky", "scope": "a"},
]
# The second query's best answer says nothing that the query does.
QRELS = "query_id\tdoc_id\trel\nq1\tred\t1\nq2\tcloud\t2\nq2\tsky\t1\n"


class Fake:
    """A model that knows that clouds are in the sky; it counts what it is asked."""

    model = "fake"
    identity = "here"

    def __init__(self, error: ProviderError | None = None) -> None:
        self.asked: list[str] = []
        self.error = error

    def embed(self, texts: Sequence[str], seconds: float = 0) -> Any:
        self.asked += texts
        if self.error is not None:
            raise self.error
        return np.array([[1, 0] if "red" in text else [0, 1] for text in texts], np.float32)

    def of(self, model: str) -> "Fake":
        return self


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "small"
    made.mkdir()
    for name, rows in (("corpus", DOCUMENTS), ("queries", QUERIES)):
        (made / f"{name}.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    (made / "qrels.tsv").write_text(QRELS)
    return made


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Fake:
    made = Fake()
    monkeypatch.setattr("memoryweb.management.commands.evaluate.Local", lambda: made)
    return made


def evaluated(folder: Path, *arguments: str) -> dict[str, Any]:
    out = StringIO()
    call_command("evaluate", str(folder), *arguments, "--json", stdout=out, stderr=StringIO())
    [found] = json.loads(out.getvalue())
    return found


def test_words_alone_are_measured_for_each_analyzer_within_the_querys_scope(folder: Path):
    found = evaluated(folder)
    assert (found["set"], found["documents"], found["queries"]) == ("small", 4, 2)
    assert found["model"] is None
    assert [(row["analyzer"], row["ranking"]) for row in found["rows"]] == [
        ("cjk", "bm25"),
        ("octos", "bm25"),
    ]
    for row in found["rows"]:
        # The first finds red alone, and not the same words of another scope; the second sky alone.
        assert row["recall"]["mean"] == (1.0 + 0.5) / 2
        best = 2 + 1 / math.log2(3)
        assert row["ndcg"]["mean"] == pytest.approx((1.0 + 1 / best) / 2)
        assert row["mrr"]["mean"] == 1.0


def test_vectors_weights_and_fusions_are_compared_with_the_default_query_by_query(
    folder: Path, home: Path, fake: Fake
):
    found = evaluated(folder, "--provider", "local", "--analyzer", "cjk")
    rows = {row["ranking"]: row for row in found["rows"]}
    assert found["model"] == "fake"
    assert found["baseline"]["ranking"] == "linear 0.70/0.30"
    assert list(rows) == ["bm25", "vector"] + [
        f"linear 0.{n}0/0.{10 - n}0" for n in (9, 7, 5, 3, 1)
    ] + ["rrf 0.70/0.30", "auto"]
    assert rows["linear 0.70/0.30"]["recall"]["mean"] == 1.0
    assert rows["bm25"]["difference"]["recall"]["mean"] == -0.25
    assert rows["linear 0.70/0.30"]["difference"]["ndcg"] == {"mean": 0, "low": 0, "high": 0}


def test_each_text_is_embedded_once_and_never_again(folder: Path, home: Path, fake: Fake):
    first = evaluated(folder, "--provider", "local")
    assert sorted(fake.asked) == ["blue sky", "red apples", "sky", "weather above us"]
    assert evaluated(folder, "--provider", "local") == first
    assert len(fake.asked) == 4
    assert (home / "cache" / "evaluate.sqlite3").exists()


def test_given_weights_and_fusions_are_the_only_ones_beside_the_legs(
    folder: Path, home: Path, fake: Fake
):
    chosen = ("--analyzer", "octos", "--fusion", "rrf", "--weights", "1,3", "--k", "1")
    found = evaluated(folder, "--provider", "local", *chosen)
    assert [row["ranking"] for row in found["rows"]] == ["bm25", "vector", "rrf 0.25/0.75"]
    assert found["rows"][0]["recall"]["mean"] == (1.0 + 0.5) / 2
    assert found["k"] == 1


def test_the_table_names_the_set_each_way_and_what_was_left_out(folder: Path):
    with (folder / "qrels.tsv").open("a") as file:
        file.write("q9\tsky\t1\n")
    out = StringIO()
    call_command("evaluate", str(folder), stdout=out, stderr=StringIO())
    lines = out.getvalue().splitlines()
    assert lines[0] == "small: 4 documents, 2 queries, words alone"
    assert lines[1].split()[:4] == ["analyzer", "ranking", "recall@10", "nDCG@10"]
    assert lines[2].split()[:3] == ["cjk", "bm25", "0.750"]
    assert lines[4] == "  left out: qrels.tsv line 5: there is no query 'q9'"


def test_a_text_that_the_provider_refuses_is_told_and_found_by_its_words(
    folder: Path, home: Path, fake: Fake
):
    fake.error = TextRejected("it is too long")
    found = evaluated(folder, "--provider", "local", "--analyzer", "cjk")
    assert {row["recall"]["mean"] for row in found["rows"] if row["ranking"] != "vector"} == {0.75}
    assert found["left_out"]["rows"] == ["4 texts have no vector: it is too long"]


def test_a_provider_that_fails_ends_it_with_the_reason(
    folder: Path, home: Path, fake: Fake, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(KeptVectors.__init__, "__defaults__", (lambda seconds: None,))
    fake.error = Failed("the provider failed")
    with pytest.raises(CommandError, match="the provider failed"):
        evaluated(folder, "--provider", "local")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--weights", "0,0"], "must not both be 0"),
        (["--weights", "0.7"], "two numbers such as"),
        (["--k", "0"], "--k must be"),
        (["--b", "2"], "b: must be 0 to 1"),
    ],
)
def test_what_has_no_meaning_is_refused(folder: Path, arguments: list[str], told: str):
    with pytest.raises(CommandError, match=told):
        call_command("evaluate", str(folder), *arguments, stdout=StringIO(), stderr=StringIO())


def test_a_folder_that_is_no_set_is_named(tmp_path: Path):
    with pytest.raises(CommandError, match="is no retrieval set"):
        call_command("evaluate", str(tmp_path), stdout=StringIO(), stderr=StringIO())


@pytest.mark.django_db
def test_without_a_provider_the_configured_one_is_asked_for_in_vain(
    folder: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("memoryweb.house.enter", lambda: None)
    with pytest.raises(CommandError, match="no embedding provider is configured"):
        evaluated(folder, "--provider", "configured")
