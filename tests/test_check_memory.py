"""check_memory names each thing that does not agree, and repairs files when asked."""

import os
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.db import DatabaseError

from bank import services
from bank.models import Kind
from memoryweb import checking
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


def test_what_cannot_be_read_is_a_fault_and_ends_no_check(filled: Path):
    folder = filled / "memory" / "bank" / "entities"
    (folder / "mei.md").unlink()
    (folder / "mei.md").mkdir()
    (folder / "harbor-api.md").write_bytes(b"x" * (16 * 1024 * 1024 + 1))
    checked = manage(filled, "check_memory")
    assert "Traceback" not in checked.stderr
    assert "file bank/entities/mei.md: It is a folder, not a file." in checked.stdout
    assert "harbor-api.md: The file is larger than 16,777,216 bytes." in checked.stdout
    assert "2 things do not agree" in checked.stderr
    shutil.move(folder, filled / "away")
    folder.write_text("no folder")
    checked = manage(filled, "check_memory")
    assert "folder bank/entities: The folder cannot be read" in checked.stdout
    assert "1 things do not agree" in checked.stderr


def test_an_edit_that_keeps_size_and_time_is_a_fault(filled: Path):
    file = filled / "memory" / "bank" / "entities" / "mei.md"
    before = file.stat()
    file.write_text(file.read_text().swapcase())
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    checked = manage(filled, "check_memory")
    assert "mei.md: it holds another text than the record" in checked.stdout
    assert manage(filled, "check_memory", "--repair").returncode == 0


@pytest.mark.django_db
def test_pages_are_checked_by_as_many_queries_however_many_there_are(
    home: Path, administrator, django_assert_num_queries
):
    for number in range(3):
        services.save(administrator.actor("page"), Kind.ENTITY, f"page-{number}", "# A\n\nB.\n")
    with django_assert_num_queries(1):
        assert list(checking.pages()) == []


@pytest.mark.django_db
def test_a_check_that_fails_is_a_fault_and_keeps_no_other_from_its_turn(
    home: Path, monkeypatch: pytest.MonkeyPatch
):
    def audit() -> Iterator[str]:
        yield "audit: the first"
        raise DatabaseError("database disk image is malformed")

    monkeypatch.setattr(checking, "audit", audit)
    (home / "memory" / "stray.md").write_text("no page")
    (home / "memory" / "MEMORY.md").write_text("# Memory\n")
    assert list(checking.faults()) == [
        "audit: the first",
        "audit: the check cannot go on: database disk image is malformed",
        "file MEMORY.md: it is not in the record yet",
    ]
