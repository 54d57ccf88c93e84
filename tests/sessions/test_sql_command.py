"""manage.py sql"""

import io
import sqlite3
import sys

import pytest
from django.core.management import CommandError, call_command

from memoryweb.core.models import User
from memoryweb.management.commands.sql import shown, statements


@pytest.fixture
def shop(transactional_db, memory) -> None:
    memory("east", "east", [1.0, 0.0])
    memory("two\nlines", "north", [0.0, 1.0])


def printed(statement: str) -> list[str]:
    out = io.StringIO()
    call_command("sql", statement, stdout=out, stderr=io.StringIO())
    return out.getvalue().splitlines()


def test_a_table_is_printed_plainly(shop):
    sql = "SELECT id, content, 1.5 AS half, NULL AS none FROM agent_memories ORDER BY id"
    assert printed(sql) == [
        "id     content     half  none",
        "-----  ----------  ----  ----",
        "east   east        1.5   NULL",
        "north  two\\nlines  1.5   NULL",
    ]


def test_memories_are_ranked_by_cosine(shop):
    sql = (
        "SELECT id, round(cosine_similarity(embedding, vector('[3, 4]')), 3) AS score "
        "FROM agent_memories ORDER BY score DESC"
    )
    assert printed(sql)[2:] == ["north  0.8", "east   0.6"]


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM episodes_memory",
        "UPDATE core_user SET role = 'administrator'",
        "INSERT INTO episodes_context (id) VALUES ('x')",
        "CREATE TABLE t (x)",
        "DROP VIEW agent_memories",
        "PRAGMA query_only = OFF",
        "PRAGMA journal_mode = DELETE",
        "PRAGMA user_version = 7",
        "ATTACH DATABASE 'other.sqlite3' AS other",
        "VACUUM INTO 'copy.sqlite3'",
        "BEGIN IMMEDIATE",
        "REINDEX",
        "WITH x AS (SELECT 1) DELETE FROM episodes_memory",
    ],
)
def test_nothing_can_be_written(shop, statement: str, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CommandError):
        printed(statement)
    assert not list(tmp_path.iterdir())
    assert printed("SELECT count(*) FROM episodes_memory")[-1] == "2"
    assert not User.objects.filter(role="administrator").exists()


def test_the_schema_can_be_looked_at(shop):
    assert any("content" in line for line in printed("PRAGMA table_info(episodes_memory)"))
    assert printed("PRAGMA quick_check")[-1] == "ok"
    assert len(printed("EXPLAIN QUERY PLAN SELECT * FROM agent_memories")) > 2


def test_a_mistake_is_told_in_sqlites_words(shop):
    with pytest.raises(CommandError, match="no such column: nonsense"):
        printed("SELECT nonsense FROM agent_memories")
    with pytest.raises(CommandError, match="Could not decode") as told:
        printed("SELECT CAST(x'1bff' AS TEXT)")
    assert "\x1b" not in str(told.value)


def test_statements_come_from_standard_input(shop, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO("SELECT 1\n AS one;\nSELECT 2 AS two"))
    out = io.StringIO()
    call_command("sql", stdout=out, stderr=io.StringIO())
    assert out.getvalue().split() == ["one", "---", "1", "two", "---", "2"]


def test_an_empty_table_still_has_its_names(shop):
    assert printed("SELECT id FROM episodes_memory WHERE 0") == ["id"]


def test_a_value_is_one_line_and_no_terminal_obeys_it():
    assert shown("a\nb\t\x1b[2J\x00") == "a\\nb\\t\\x1b[2J\\x00"
    assert shown(b"\0" * 3072) == "<3,072 bytes>"
    assert shown("日本語 é") == "日本語 é"
    assert shown("x" * 100, 80) == "x" * 79 + "…"


def test_a_semicolon_in_a_text_ends_no_statement():
    lines = iter(["SELECT ';'\n", "AS x;\n", "SELECT 2\n"])
    assert list(statements(lines)) == ["SELECT ';'\nAS x;\n", "SELECT 2\n"]
    assert sqlite3.sqlite_version_info >= (3, 44, 6)
