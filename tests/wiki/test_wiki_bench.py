"""manage.py bench wiki, on few pages and in a process of its own."""

import json
from pathlib import Path

from tests.serving import manage


def test_a_wiki_is_fed_searched_here_and_over_http_and_judged(tmp_path: Path):
    folder, queries = tmp_path / "pages", tmp_path / "queries.jsonl"
    folder.mkdir()
    for number in range(12):
        link = f"[[Page {(number + 1) % 12}]]"
        (folder / f"Page {number}.md").write_text(f"# Topic{number}\n\nword{number} {link}\n")
    query = {"text": "word3", "type": "near", "gold": ["Page 4.md"], "source_page": "Page 3.md"}
    queries.write_text(json.dumps(query))
    given = ("--folder", str(folder), "--queries", str(queries), "--json")
    ran = manage(tmp_path / "home", "bench", "wiki", *given)
    assert ran.returncode == 0, ran.stderr
    fed, short, long, recall, edits, http = json.loads(ran.stdout)["tables"]
    assert [row["pages"] for row in fed["rows"]] == [12, 12, 12]
    assert [row["hop"] for row in short["rows"]] == [0, 1, 3]
    assert [row["way"] for row in http["rows"]] == ["over HTTP"] * 3
    assert long["rows"][0]["queries"] >= 1
    # The page that answers does not say the word: only its link leads there.
    assert recall["rows"] == [
        {
            "queries": "near",
            "how many": 1,
            "recall@10 at hop 0": 0.0,
            "recall@10 at hop 1": 1.0,
            "recall@10 at hop 3": 1.0,
        }
    ]
    rows = next(row for row in edits["rows"] if row["what"] == "index rows")
    assert 2 <= rows["median"] <= 3
    assert not (tmp_path / "home" / "memoryweb.sqlite3").exists()


def test_an_option_that_a_bench_does_not_take_is_refused(tmp_path: Path):
    ran = manage(tmp_path / "home", "bench", "guard", "--folder", str(tmp_path))
    assert ran.returncode != 0
    assert "takes no --folder" in ran.stderr
