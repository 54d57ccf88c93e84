"""Memories in the coverage report and in check_memory."""

import pytest
from django.db import connection

from episodes.code_vectors import store
from episodes.models import CodeVector, Memory, MemoryVector
from episodes.session_schemas import CodeVectorIn
from memoryweb import checking
from memoryweb.core.actor import system


@pytest.mark.usefixtures("impatient")
def test_coverage_counts_memories_by_the_state_of_their_vectors(api, memory):
    memory("current", "m1", [1.0, 0.0])
    memory("stale", "m2", [1.0, 0.0])
    memory("wide", "m3", [1.0, 0.0, 0.0])
    memory("other", "m4", [1.0, 0.0], model="next")
    memory("missing", "m5")
    agent = api("write")
    agent.patch("/sessions/memories/m2", {"content": "edited"})
    told = agent.get("/search/coverage").json()["collections"]["memories"]
    assert (told["total"], told["vectorized"], told["missing"]) == (5, 1, 1)
    assert (told["stale"], told["wrong_width"], told["other_model"]) == (1, 1, 1)
    assert told["ratio"] == 0.2


def test_memories_and_vectors_that_agree_are_not_named(memory):
    memory("fine", "m1", [1.0, 0.0])
    assert [*checking.memories(), *checking.vectors()] == []


@pytest.mark.parametrize("bad", [b"\0\0\x80", b"\0" * 8, "text"])
def test_what_was_changed_by_hand_is_named(memory, bad: object):
    memory("as written", "m1", [1.0, 0.0])
    store(system(), "shop", CodeVectorIn(symbol_name="lock", embedding=[1.0, 0.0]))
    Memory.objects.update(content="changed")
    with connection.cursor() as cursor:
        for table in (MemoryVector, CodeVector):
            cursor.execute(f"UPDATE {table._meta.db_table} SET vector = %s", [bad])
    assert [fault.partition(":")[0] for fault in checking.memories()] == ["memory m1"]
    assert [fault.partition(":")[0] for fault in checking.vectors()] == ["memory m1", "symbol lock"]
