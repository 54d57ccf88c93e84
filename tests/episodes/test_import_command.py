"""manage.py import_episodes"""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from episodes.models import Episode
from memoryweb import progress
from memoryweb.management.commands import import_episodes
from tests.episodes.builders import sent

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _prepared(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The test's database is set up already."""
    monkeypatch.setattr(import_episodes.house, "prepare", lambda: None)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "episodes.jsonl"
    rows = [{"summary": "a", "working_dir": "/b"}, {"summary": "poor"}, sent(id="one")]
    path.write_text("\n".join(json.dumps(row) for row in rows))
    return path


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def run(*arguments: Any, stderr: io.StringIO | None = None) -> tuple[str, str]:
    out, err = io.StringIO(), stderr or io.StringIO()
    call_command("import_episodes", *map(str, arguments), stdout=out, stderr=err, no_color=True)
    return out.getvalue(), err.getvalue()


def test_it_tells_what_landed_and_names_bad_rows_by_file_and_line(file: Path):
    out, err = run(file)
    assert "3 rows: 2 created, 0 unchanged, 1 bad" in out
    assert f"{file}:2: working_dir: Field required" in err
    out, _ = run(file)
    assert "3 rows: 0 created, 2 unchanged, 1 bad" in out


def test_agent_and_outcome_fill_the_rows_that_lack_them(file: Path):
    run(file, "--agent", "otter", "--outcome", "blocked")
    assert set(Episode.objects.values_list("agent_id", "outcome")) == {
        ("otter", "blocked"),
        ("otter", "success"),
    }


def test_a_dry_run_writes_nothing_and_says_so(file: Path):
    out, _ = run(file, "--dry-run")
    assert out.startswith("Dry run, nothing was written: 3 rows: 2 created")
    assert not Episode.objects.exists()


def test_on_a_terminal_there_is_a_bar_and_it_is_cleared(file: Path, monkeypatch):
    moments = iter(range(0, 1000, 1))
    monkeypatch.setattr(progress.time, "monotonic", lambda: float(next(moments)))
    _, err = run(file, stderr=Terminal())
    assert "100%" in err
    assert "rows/s" in err
    assert err.endswith("\r\x1b[K")


def test_the_directory_index_is_salvaged_and_both_numbers_are_told(file: Path, tmp_path: Path):
    index = tmp_path / "cwd.json"
    index.write_text(json.dumps({"/srv/shop": '["one","cut'}))
    out, _ = run(file, "--cwd-index", index)
    assert "1 ids salvaged in 1 directories, 1 dropped because they have no episode" in out
    assert "dropped in /srv/shop: cut" in out


def test_a_dry_run_salvages_as_if_the_rows_had_landed(file: Path, tmp_path: Path):
    index = tmp_path / "cwd.json"
    index.write_text(json.dumps({"/srv/shop": '["one","cut'}))
    out, _ = run(file, "--cwd-index", index, "--dry-run")
    assert "1 ids salvaged" in out


def test_a_file_that_is_not_there_stops_it_before_anything_is_imported(file: Path, tmp_path: Path):
    with pytest.raises(CommandError, match="nothing was imported"):
        run(file, tmp_path / "none.jsonl")
    with pytest.raises(CommandError, match="nothing was imported"):
        run(file, "--cwd-index", tmp_path / "none.json")
    assert not Episode.objects.exists()


def test_a_broken_directory_index_is_told_after_the_import(file: Path, tmp_path: Path):
    (tmp_path / "cwd.json").write_text("{broken")
    with pytest.raises(CommandError, match="the episodes are imported"):
        run(file, "--cwd-index", tmp_path / "cwd.json")
    assert Episode.objects.count() == 2
