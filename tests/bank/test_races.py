"""Many writers at once, in threads and in processes: every acknowledged text is there."""

import json
import re
import sqlite3
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.serving import ROOT, environment, manage, set_up

PROCESSES, ROUNDS = 4, 6


@pytest.fixture
def home(tmp_path: Path) -> Path:
    set_up(tmp_path)
    return tmp_path


def race(home: Path, role: str) -> list[dict[str, Any]]:
    """What all of the writers were answered, two threads in each of four processes."""
    running = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.bank.racing", role, str(number), str(ROUNDS)],
            cwd=ROOT,
            env=environment(home),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for number in range(PROCESSES)
    ]
    ended = [process.communicate(timeout=300) for process in running]
    assert [process.returncode for process in running] == [0] * PROCESSES, ended
    assert not any("Traceback" in errors for _, errors in ended), ended
    return [answer for output, _ in ended for answer in json.loads(output)]


def rows(home: Path, query: str) -> list[tuple[Any, ...]]:
    with sqlite3.connect(home / "memoryweb.sqlite3") as database:
        return database.execute(query).fetchall()


def check_settled(home: Path) -> None:
    """Nothing is left to do, no conflict was made up, and no file is left beside the pages."""
    assert rows(home, "SELECT count(*) FROM bank_fileoperation WHERE done_at IS NULL") == [(0,)]
    assert rows(home, "SELECT count(*) FROM bank_page WHERE conflict IS NOT NULL") == [(0,)]
    assert not list((home / "memory").rglob(".memoryweb-*"))
    current = rows(home, "SELECT path, content FROM bank_page WHERE archived_at IS NULL")
    files = (home / "memory").rglob("*.md")
    assert {str(f.relative_to(home / "memory")): f.read_text() for f in files} == dict(current)


def test_a_note_loses_nothing_to_eight_who_append_at_once(home: Path):
    answers = race(home, "append")
    text = (home / "memory" / "2026-03-01.md").read_text()
    assert len(answers) == PROCESSES * 2 * ROUNDS
    assert sorted(re.findall(r"Line \S+", text)) == sorted(answer["text"] for answer in answers)
    assert text.count("## 2026-03-01") == 1
    assert rows(home, "SELECT revision FROM bank_page") == [(len(answers),)]
    check_settled(home)


def test_no_update_is_lost_and_every_stale_save_is_refused(home: Path):
    (home / "memory/bank/entities/shared.md").write_text("# Shared\n\nBy all.\n")
    manage(home, "worker", "--once")
    answers = race(home, "save")
    acknowledged = [answer["text"] for answer in answers if "text" in answer]
    text = (home / "memory" / "bank/entities/shared.md").read_text()
    assert Counter(re.findall(r"Line \S+", text)) == Counter(acknowledged)
    assert len(acknowledged) == PROCESSES * 2 * ROUNDS
    assert rows(home, "SELECT revision FROM bank_page") == [(1 + len(acknowledged),)]
    check_settled(home)


def test_only_one_of_many_makes_a_new_page(home: Path):
    answers = race(home, "create")
    assert Counter(answer["created"] for answer in answers) == {
        f"page-{n}": 1 for n in range(ROUNDS)
    }
    for answer in answers:
        text = (home / "memory/bank/entities" / f"{answer['created']}.md").read_text()
        assert f"By {answer['by']}." in text
    check_settled(home)


def test_a_page_made_and_archived_by_many_keeps_every_text_in_its_history(home: Path):
    answers = race(home, "archive")
    kept = {text for (text,) in rows(home, "SELECT content FROM bank_revision")}
    assert {answer["text"] for answer in answers} <= kept
    check_settled(home)
