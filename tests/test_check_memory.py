"""check_memory names each thing that does not agree, and repairs files when asked."""

import sqlite3
from pathlib import Path

import pytest

from tests.serving import manage


@pytest.fixture
def filled(tmp_path: Path) -> Path:
    """A home with the sample, left by a program that has ended."""
    script = (
        "from memoryweb import house; house.prepare()\n"
        "from memoryweb.demo.load import load; print(load())"
    )
    manage(tmp_path, "migrate", "-v0")
    loaded = manage(tmp_path, "shell", "-v0", "-c", script)
    assert "sample is loaded" in loaded.stdout, loaded.stderr
    return tmp_path


def write(home: Path, statement: str) -> None:
    with sqlite3.connect(home / "memoryweb.sqlite3") as database:
        database.execute(statement)


def test_a_sound_home_is_said_to_be_sound(filled: Path):
    checked = manage(filled, "check_memory")
    assert (checked.returncode, checked.stderr) == (0, "")
    assert "agree" in checked.stdout


def test_each_fault_is_named(filled: Path):
    page = filled / "memory" / "bank" / "entities" / "harbor-api.md"
    page.write_text(page.read_text() + "\nEdited outside.\n")
    (page.parent / "mei.md").unlink()
    (page.parent / "stray.md").write_text("# Stray\n\nNew.\n")
    write(filled, "UPDATE episodes_episode SET summary = 'forged' WHERE id = 'harbor-001'")
    write(
        filled, "UPDATE episodes_episodevector SET vector = x'00' WHERE episode_id = 'harbor-002'"
    )
    write(filled, "DROP TRIGGER audit_refuses_update")
    write(filled, "UPDATE core_auditentry SET target = 'forged' WHERE id = 2")
    checked = manage(filled, "check_memory")
    assert checked.returncode == 1
    for fault in (
        "harbor-api.md: it holds another text than the record",
        "mei.md: it is missing",
        "stray.md: it is not in the record yet",
        "episode harbor-001: its summary has another hash",
        "episode harbor-002: vector of",
        "audit: it is not as it was written from here on: entry 2",
    ):
        assert fault in checked.stdout, checked.stdout
    assert "6 things do not agree" in checked.stderr


def test_repair_takes_in_what_was_edited_and_writes_what_was_lost(filled: Path):
    folder = filled / "memory" / "bank" / "entities"
    lost = (folder / "mei.md").read_bytes()
    (folder / "mei.md").unlink()
    (folder / "stray.md").write_text("# Stray\n\nNew.\n")
    assert manage(filled, "check_memory").returncode == 1
    repaired = manage(filled, "check_memory", "--repair")
    assert repaired.returncode == 0, repaired.stdout + repaired.stderr
    assert (folder / "mei.md").read_bytes() == lost
    assert manage(filled, "check_memory").returncode == 0
