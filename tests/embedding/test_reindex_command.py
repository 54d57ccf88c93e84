"""`manage.py reindex` and `rebuild` in processes of their own, kill -9 in the middle included."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path

import pytest

from tests.embedding import double as doubles
from tests.embedding.double import Double
from tests.serving import ROOT, environment, manage

COUNT = 200


@pytest.fixture
def stocked(tmp_path: Path) -> Path:
    """A home with so many episodes and no vector."""
    home = tmp_path / "home"
    rows = tmp_path / "rows.jsonl"
    rows.write_text(
        "".join(
            json.dumps({"id": f"e{n:03}", "summary": f"text {n}", "working_dir": "/srv"}) + "\n"
            for n in range(COUNT)
        )
    )
    done = manage(home, "import_episodes", str(rows))
    assert done.returncode == 0, done.stderr
    return home


def by(double: Double) -> dict[str, str]:
    return {"MEMORYWEB_EMBEDDING_URL": f"{double.url}/v1", "MEMORYWEB_EMBEDDING_MODEL": "toy"}


def told(home: Path, query: str) -> list[tuple]:
    with sqlite3.connect(home / "memoryweb.sqlite3", timeout=30) as database:
        return database.execute(query).fetchall()


def test_without_a_provider_it_says_how_to_configure_one(stocked: Path):
    refused = manage(stocked, "reindex")
    assert refused.returncode == 1
    assert "MEMORYWEB_EMBEDDING_URL" in refused.stderr


def test_a_dry_run_lists_ten_and_the_count(stocked: Path):
    lines = manage(stocked, "reindex", "--dry-run").stdout.splitlines()
    assert lines[0] == "200 documents lack a current vector"
    assert lines[1] == "  episodes/e000: text 0"
    assert len(lines) == 12
    assert lines[-1] == "  and 190 more"


def test_it_embeds_what_is_missing_and_tells_the_coverage(stocked: Path, double: Double):
    done = manage(stocked, "reindex", **by(double))
    assert done.returncode == 0, done.stderr
    assert "200 embedded, 0 failed, of 200" in done.stdout
    assert done.stdout.splitlines()[0] == "200 embedded, 0 failed, of 200"
    assert "episodes: 0.0% covered before, 100.0% now" in done.stdout
    assert "switch" not in done.stdout
    again = manage(stocked, "reindex", **by(double))
    assert "0 embedded, 0 failed, of 0" in again.stdout
    beside = manage(stocked, "reindex", "--model", "newer", **by(double))
    assert "200 embedded" in beside.stdout
    assert "Searches compare toy still; switch to newer under Coverage." in beside.stdout
    counts = told(stocked, "SELECT model, count(*) FROM episodes_episodevector GROUP BY model")
    assert sorted(counts) == [("newer", COUNT), ("toy", COUNT)]


def test_what_fails_is_named_and_the_command_fails_when_nothing_could_be_done(
    stocked: Path, double: Double
):
    double.behave = doubles.sends({}, 401)
    failed = manage(stocked, "reindex", **by(double))
    assert failed.returncode == 1
    assert "does not accept the key (401)" in failed.stderr


def test_a_run_killed_in_the_middle_is_gone_on_with_and_nothing_is_stored_twice(
    stocked: Path, double: Double
):
    reached = threading.Event()

    def stuck_at_the_sixth(handler, body):
        if len(double.asked) == 6:
            reached.set()
            double.stopping.wait(30)
            return True
        return False

    double.behave = stuck_at_the_sixth
    process = subprocess.Popen(
        [sys.executable, "manage.py", "reindex"],
        cwd=ROOT,
        env=environment(stocked, **by(double)),
        stdout=subprocess.DEVNULL,
    )
    assert reached.wait(60)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert told(stocked, "SELECT state, done FROM search_run") == [("running", 64)]
    assert told(stocked, "SELECT count(*) FROM episodes_episodevector") == [(64,)]

    with sqlite3.connect(stocked / "memoryweb.sqlite3") as database:
        database.execute("UPDATE search_run SET lease_until = '2020-01-01 00:00:00'")
    double.behave = lambda handler, body: False
    done = manage(stocked, "reindex", **by(double))
    assert done.returncode == 0, done.stderr
    assert "is gone on with" in done.stdout
    assert "200 embedded, 0 failed, of 200" in done.stdout
    assert told(stocked, "SELECT count(*) FROM search_run") == [(1,)]
    sent = Counter(text for text in double.texts if text != "memoryweb")
    assert len(sent) == COUNT
    # Only what was under way when it was killed had to be asked for again.
    assert [count for count in sent.values() if count > 1] == [2] * 16
    assert "agree" in manage(stocked, "check_memory").stdout


def test_a_rebuild_reads_every_document(stocked: Path):
    assert "200 documents read" in manage(stocked, "rebuild").stdout
