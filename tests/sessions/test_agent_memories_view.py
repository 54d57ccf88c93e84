"""The view agent_memories and the SQL functions, in plain SQL."""

import numpy as np
import pytest
from django.db import connection

from memoryweb.core.models import ActiveModel
from tests.episodes.builders import ATTACK

COLUMNS = [
    "id", "context_id", "memory_type", "content", "created_at", "embedding", "embedding_model",
    "indexed_at", "importance", "source", "archived",
]  # fmt: skip


def rows(sql: str, *params: object) -> list[tuple[object, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql, params)
        return cursor.fetchall()


def test_the_view_has_devbases_columns(memory):
    memory("Sort the locks", "m1", [1.0, 0.0], type="decision")
    with connection.cursor() as cursor:
        cursor.execute("SELECT * FROM agent_memories")
        assert [column[0] for column in cursor.description] == COLUMNS
        row = dict(zip(COLUMNS, cursor.fetchone(), strict=True))
    assert (row["context_id"], row["memory_type"]) == ("shop", "decision")
    assert row["embedding"] == np.array([1, 0], "<f4").tobytes()
    assert row["embedding_model"] == "m"
    assert row["indexed_at"]


def test_plain_sql_ranks_by_cosine_and_no_bad_row_ends_it(memory):
    memory("east", "east", [1.0, 0.0])
    memory("north", "north", [0.0, 1.0])
    memory("none", "none")
    memory("wide", "wide", [1.0, 0.0, 0.0])
    memory("damaged", "damaged", [1.0, 0.0])
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE episodes_memoryvector SET vector = x'000080' WHERE memory_id = 'damaged'"
        )
    ranked = rows(
        "SELECT id, cosine_similarity(embedding, %s) AS score FROM agent_memories"
        " WHERE context_id = 'shop' ORDER BY cosine_similarity(embedding, %s) DESC, id",
        *[np.array([1.0, 0.2], "<f4").tobytes()] * 2,
    )
    assert [row[0] for row in ranked] == ["east", "north", "damaged", "none", "wide"]
    assert ranked[0][1] == pytest.approx(0.9805807, abs=1e-6)
    assert [row[1] for row in ranked[2:]] == [None, None, None]


def test_a_vector_can_be_typed(memory):
    memory("east", "east", [1.0, 0.0])
    sql = "SELECT cosine_similarity(embedding, vector('[3, 4]')) FROM agent_memories"
    assert rows(sql) == [(pytest.approx(0.6),)]


@pytest.mark.parametrize("text", ["'no'", "'[]'", "'[0]'", "'[\"1\"]'", "NULL", "7", "'[NaN]'"])
def test_what_is_no_vector_is_null(db, text: str):
    assert rows(f"SELECT vector({text})") == [(None,)]


def test_the_view_shows_the_active_models_vector_of_the_text_as_it_is(api, memory):
    memory("one", "m1", [1.0, 0.0])
    memory("two", "m2", [1.0, 0.0], model="next")
    memory("three", "m3", [1.0, 0.0])
    api("write").patch("/sessions/memories/m3", {"content": "edited"})
    sql = "SELECT id FROM agent_memories WHERE embedding IS NOT NULL"
    assert rows(sql) == [("m1",)]
    ActiveModel.objects.update(model="next")
    assert rows(sql) == [("m2",)]


def test_the_view_holds_nothing_that_waits_in_quarantine(memory):
    memory(ATTACK, "bad")
    assert rows("SELECT count(*) FROM agent_memories") == [(0,)]


def test_the_cosine_is_deterministic_so_that_an_index_may_use_it(db):
    rows("SELECT 1")
    with connection.cursor() as cursor:
        cursor.execute("CREATE TEMP TABLE t (a, b)")
        cursor.execute("CREATE INDEX temp.t_cosine ON t (cosine_similarity(a, b))")
        cursor.execute("DROP TABLE temp.t")
