"""manage.py import_devbase"""

import io
import sqlite3
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from episodes.models import CodeVector, Context, Memory, MemoryVector
from memoryweb.core import clock
from memoryweb.core.vectors import decode_blob
from tests.episodes.builders import ATTACK

SCHEMA = """
CREATE TABLE agent_contexts (
    id TEXT PRIMARY KEY, name TEXT NOT NULL, intent TEXT, status TEXT DEFAULT 'active',
    created_at DATETIME DEFAULT current_timestamp, updated_at DATETIME DEFAULT current_timestamp);
CREATE TABLE agent_memories (
    id INTEGER PRIMARY KEY AUTOINCREMENT, context_id TEXT NOT NULL, memory_type TEXT NOT NULL,
    content TEXT NOT NULL, created_at DATETIME DEFAULT current_timestamp,
    embedding BLOB, embedding_model TEXT, indexed_at DATETIME);
CREATE TABLE code_embeddings (
    repo_id TEXT NOT NULL, symbol_name TEXT NOT NULL, embedding BLOB NOT NULL,
    generated_at TEXT NOT NULL, PRIMARY KEY (repo_id, symbol_name));
"""


def blob(*values: float) -> bytes:
    return np.array(values, "<f4").tobytes()


@pytest.fixture
def registry(tmp_path: Path) -> Path:
    path = tmp_path / "registry.db"
    with sqlite3.connect(path) as db:
        db.executescript(SCHEMA)
        db.executemany(
            "INSERT INTO agent_contexts VALUES (?, ?, ?, ?, ?, ?)",
            [
                ("shop", "Shop", "Fewer deadlocks", "active",
                 "2026-05-01T10:00:00+00:00", "2026-05-02T10:00:00+00:00"),
                ("old", "Old", None, "archived", "2026-04-01 08:00:00", "2026-04-01 08:00:00"),
            ],
        )  # fmt: skip
        db.executemany(
            "INSERT INTO agent_memories (context_id, memory_type, content, created_at, embedding,"
            " embedding_model) VALUES (?, ?, ?, ?, ?, ?)",
            [
                (
                    "shop",
                    "decision",
                    "Sort the locks",
                    "2026-05-01T10:01:00+00:00",
                    blob(1, 0),
                    "m",
                ),
                ("shop", "note", "No vector here", "2026-05-01 10:02:00", None, None),
                ("old", "error", "Deadlock", "2026-04-01 08:00:00", blob(0, 1), "m"),
            ],
        )
        db.execute("INSERT INTO code_embeddings VALUES ('acme/shop', 'lock', ?, 'x')", [blob(3, 4)])
    db.close()
    return path


def ran(path: Path, *options: str) -> tuple[str, str]:
    out, err = io.StringIO(), io.StringIO()
    call_command("import_devbase", str(path), *options, stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


def add(path: Path, *row: object) -> None:
    with sqlite3.connect(path) as db:
        db.execute(
            "INSERT INTO agent_memories (context_id, memory_type, content, created_at, embedding,"
            " embedding_model) VALUES (?, ?, ?, ?, ?, ?)",
            row,
        )
    db.close()


def test_a_registry_comes_in_whole_with_its_times(transactional_db, home, registry):
    out, _ = ran(registry)
    assert "6 rows: 6 created, 0 changed, 0 unchanged, 0 bad" in out
    shop = Context.objects.get(pk="shop")
    assert (shop.name, shop.intent, shop.status) == ("Shop", "Fewer deadlocks", "active")
    assert shop.created_at == datetime(2026, 5, 1, 10, tzinfo=UTC)
    assert shop.updated_at == datetime(2026, 5, 2, 10, tzinfo=UTC)
    assert Context.objects.get(pk="old").status == "archived"
    first = Memory.objects.get(pk="devbase-1")
    assert (first.context_id, first.type, first.content) == ("shop", "decision", "Sort the locks")
    second = Memory.objects.get(pk="devbase-2")
    assert second.created_at == datetime(2026, 5, 1, 10, 2, tzinfo=UTC)
    vectors = {
        v.memory_id: decode_blob(bytes(v.vector)).tolist() for v in MemoryVector.objects.all()
    }
    assert vectors == {"devbase-1": [1.0, 0.0], "devbase-3": [0.0, 1.0]}
    symbol = CodeVector.objects.get()
    assert (symbol.collection, symbol.symbol_name) == ("acme/shop", "lock")


def test_importing_again_changes_nothing(transactional_db, home, registry):
    ran(registry)
    seq = clock.current_seq()
    out, _ = ran(registry)
    assert "6 rows: 0 created, 0 changed, 6 unchanged, 0 bad" in out
    assert clock.current_seq() == seq


def test_what_came_since_is_taken_in(transactional_db, home, registry):
    ran(registry)
    add(registry, "shop", "action", "Deployed", "2026-06-01 10:00:00", blob(1, 1), "m")
    out, _ = ran(registry)
    assert "7 rows: 1 created, 0 changed, 6 unchanged, 0 bad" in out
    assert Memory.objects.get(pk="devbase-4").content == "Deployed"


def test_a_dry_run_says_the_same_and_writes_nothing(transactional_db, home, registry):
    out, _ = ran(registry, "--dry-run")
    assert "Dry run, nothing was written: 6 rows: 6 created" in out
    assert not Context.objects.exists()
    assert clock.current_seq() == 0


def test_bad_rows_are_named_and_good_ones_land(transactional_db, home, registry):
    add(registry, "shop", "fact", "of no known type", "2026-05-01 10:00:00", None, None)
    add(registry, "none", "note", "of no context", "2026-05-01 10:00:00", None, None)
    add(registry, "shop", "note", " ", "2026-05-01 10:00:00", None, None)
    add(registry, "shop", "note", "at no time", "yesterday", None, None)
    add(registry, "shop", "note", "zero vector", "2026-05-01 10:00:00", blob(0, 0), "m")
    add(registry, "shop", "note", "odd blob", "2026-05-01 10:00:00", b"\0\0\x80", "m")
    add(registry, "shop", "note", "good", "2026-05-01 10:00:00", blob(1, 2), "m")
    out, err = ran(registry)
    assert "13 rows: 7 created, 0 changed, 0 unchanged, 6 bad" in out
    assert [line.partition(":")[0] for line in sorted(err.splitlines())] == [
        f"agent_memories {n}" for n in (4, 5, 6, 7, 8, 9)
    ]
    assert set(Memory.objects.values_list("content", flat=True)) == {
        "Sort the locks", "No vector here", "Deadlock", "zero vector", "odd blob", "good",
    }  # fmt: skip


def test_what_was_edited_here_is_not_overwritten(transactional_db, home, registry):
    ran(registry)
    Memory.objects.filter(pk="devbase-1").update(content="Sort all locks")
    _, err = ran(registry)
    assert "agent_memories 1: it was edited here" in err
    assert Memory.objects.get(pk="devbase-1").content == "Sort all locks"


def test_a_context_is_that_of_its_last_edit_wherever_it_was_made(transactional_db, home, registry):
    ran(registry)
    call = "UPDATE agent_contexts SET name = ?, updated_at = ? WHERE id = 'shop'"
    for name, edited, expected in [
        ("Earlier", "2026-05-01T00:00:00+00:00", "Shop"),
        ("Later", "2026-06-01T00:00:00+00:00", "Later"),
    ]:
        with sqlite3.connect(registry) as db:
            db.execute(call, [name, edited])
        db.close()
        ran(registry)
        assert Context.objects.get(pk="shop").name == expected


def test_what_the_guard_objects_to_waits_in_review(transactional_db, home, registry):
    add(registry, "shop", "note", ATTACK, "2026-05-01 10:00:00", None, None)
    out, _ = ran(registry)
    assert "In quarantine, as the guard objects to them: 1" in out
    assert Memory.objects.get(pk="devbase-4").quarantined


def test_an_older_registry_without_vectors_is_read_too(transactional_db, home, tmp_path):
    path = tmp_path / "old.db"
    with sqlite3.connect(path) as db:
        db.executescript(SCHEMA.split("CREATE TABLE code")[0])
        db.execute("ALTER TABLE agent_memories DROP COLUMN embedding")
        db.execute("INSERT INTO agent_contexts (id, name) VALUES ('a', 'A')")
        db.execute(
            "INSERT INTO agent_memories (context_id, memory_type, content) VALUES ('a','note','x')"
        )
    db.close()
    out, _ = ran(path)
    assert "2 rows: 2 created" in out


@pytest.mark.parametrize("content", [b"", b"no database at all" * 100])
def test_a_file_that_is_no_registry_is_refused(transactional_db, home, tmp_path, content: bytes):
    path = tmp_path / "file.db"
    path.write_bytes(content)
    with pytest.raises(CommandError, match="nothing was imported"):
        ran(path)


def test_a_file_that_is_not_there_is_refused(transactional_db, home, tmp_path):
    with pytest.raises(CommandError, match="is not a file"):
        ran(tmp_path / "none.db")


def test_rows_that_hold_what_cannot_be_kept_are_named_on_one_line_and_hide_no_other(
    transactional_db, home, registry
):
    with sqlite3.connect(registry) as db:
        more = "INSERT INTO agent_memories (context_id, memory_type, content, created_at)"
        for content, at in [
            ("'early'", "'0001-01-01T00:00:00+23:59'"),
            ("'late'", "'9999-12-31T23:59:59-23:59'"),
            ("CAST(x'ff80' AS TEXT)", "NULL"),
            ("'good'", "NULL"),
        ]:
            db.execute(f"{more} VALUES ('shop', 'note', {content}, {at})")
        db.execute("INSERT INTO code_embeddings VALUES ('r', char(27) || '[2J', x'00', 'x')")
    out, err = ran(registry)
    assert "11 rows: 7 created, 0 changed, 0 unchanged, 4 bad" in out
    assert [line.partition(":")[0] for line in err.splitlines()] == [
        "agent_memories 4", "agent_memories 5", "agent_memories 6",
        "code_embeddings r \\x1b[2J",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        ("CREATE TABLE agent_contexts (x); CREATE TABLE agent_memories (y)", "has no id, name"),
        (
            "CREATE VIEW agent_contexts AS WITH RECURSIVE t(id) AS"
            " (SELECT 1 UNION ALL SELECT id + 1 FROM t) SELECT id, 'n' AS name FROM t",
            "is no table",
        ),
    ],
)
def test_tables_of_another_shape_are_refused_by_name(
    transactional_db, home, tmp_path, schema: str, why: str
):
    with sqlite3.connect(tmp_path / "odd.db") as db:
        db.executescript(schema)
    with pytest.raises(CommandError, match=f"its agent_contexts {why}; nothing was imported"):
        ran(tmp_path / "odd.db")


def test_a_registry_that_is_damaged_further_on_gives_what_came_before(
    transactional_db, home, registry
):
    with sqlite3.connect(registry) as db:
        db.executemany(
            "INSERT INTO code_embeddings VALUES ('r', ?, ?, 'x')",
            [(f"symbol {n}", blob(*[1.0] * 200)) for n in range(200)],
        )
    content = bytearray(registry.read_bytes())
    half = len(content) // 2 // 4096 * 4096
    content[half : half + 40 * 4096] = b"\xa5" * (40 * 4096)
    registry.write_bytes(bytes(content))
    with pytest.raises(CommandError, match="what was read before that is kept"):
        ran(registry)
