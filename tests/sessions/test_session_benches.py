"""manage.py bench recall and bench session_index, on few rows and in a process of their own."""

import json
from pathlib import Path
from typing import Any

from tests.serving import manage


def tables(home: Path, *arguments: str) -> list[dict[str, Any]]:
    ran = manage(home, "bench", *arguments, "--json")
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)["tables"]


def test_recall_finds_what_its_peers_find(tmp_path: Path):
    [table] = tables(tmp_path, "recall", "--docs", "300")
    assert table["name"] == "the best 5 of 300 memories"
    ways = [row["way"] for row in table["rows"]]
    assert ways[:4] == [
        "memoryweb, end to end",
        "numpy alone",
        "SQL function, row by row",
        "blobs fetched and multiplied",
    ]
    assert not any("another order" in way for way in ways)


def test_indexing_is_measured_with_the_durable_commit_and_without(tmp_path: Path):
    [table] = tables(tmp_path, "session_index", "--docs", "20")
    assert [row["commit"] for row in table["rows"]] == ["durable"] * 3 + ["not durable"] * 3


def test_a_bench_leaves_the_home_as_it_was(tmp_path: Path):
    tables(tmp_path, "session_index", "--docs", "5")
    assert not (tmp_path / "memoryweb.sqlite3").exists()
