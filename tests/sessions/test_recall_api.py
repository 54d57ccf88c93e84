"""POST /api/v1/sessions/{id}/recall"""

import math
from datetime import timedelta
from typing import Any

import numpy as np
import pytest
from django.db import connection
from django.utils import timezone

from episodes import session_deletion
from episodes.models import Memory, MemoryVector
from memoryweb.core import clock
from memoryweb.core.actor import system
from memoryweb.core.vectors import encode_blob
from search import recall
from search.recall import warm
from tests.episodes.builders import b64

RECALL = "/sessions/shop/recall"


@pytest.fixture
def shop(memory) -> None:
    memory("east", "east", [1.0, 0.0])
    memory("north", "north", [0.0, 1.0])
    memory("north-east", "northeast", [1.0, 1.0])
    memory("elsewhere", "other", [1.0, 0.0], context="else")


def found(api: Any, **body: Any) -> dict[str, Any]:
    answer = api("read").post(RECALL, {"query_embedding": [1.0, 0.1], **body})
    assert answer.status_code == 200, answer.content
    return answer.json()


def ids(answer: dict[str, Any]) -> list[str]:
    return [memory["id"] for memory in answer["memories"]]


def test_the_nearest_memories_of_the_context_come_first_with_their_cosines(api, shop):
    answer = found(api)
    assert ids(answer) == ["east", "northeast", "north"]
    length = math.hypot(1.0, 0.1)
    cosines = [1.0 / length, 1.1 / length / math.sqrt(2), 0.1 / length]
    assert [m["score"] for m in answer["memories"]] == pytest.approx(cosines, abs=1e-6)
    assert answer["skipped"] == {"no_vector": 0, "dimension": 0, "model": 0}
    assert (answer["method"], answer["model"]) == ("semantic", "m")


def test_a_memory_that_points_the_other_way_has_a_negative_score(api, memory):
    memory("west", "west", [-1.0, 0.0])
    assert found(api, query_embedding=[1, 0])["memories"][0]["score"] == -1.0


def test_ties_are_newest_first_whatever_the_lengths_of_the_vectors(api, memory):
    now = timezone.now()
    for n, id in enumerate(["b", "d", "a", "c"]):
        memory(id, id, [0.3 * (n + 1), 0.7 * (n + 1)])
        Memory.objects.filter(pk=id).update(created_at=now + timedelta(seconds=n))
    assert ids(found(api)) == ["c", "a", "d", "b"]


@pytest.mark.parametrize(
    ("limit", "status"), [(0, 422), (1, 200), (20, 200), (21, 422), ("5", 422), (1.5, 422)]
)
def test_the_limit_is_1_to_20(api, shop, limit: Any, status: int):
    body = {"query_embedding": [1, 0], "limit": limit}
    assert api("read").post(RECALL, body).status_code == status


def test_five_are_given_where_no_limit_is(api, memory):
    for n in range(8):
        memory(f"memory {n}", vector=[1.0, n])
    assert len(found(api)["memories"]) == 5
    assert len(found(api, limit=7)["memories"]) == 7


def test_a_floor_is_inclusive(api, shop):
    assert ids(found(api, query_embedding=[1, 0], min_score=1.0)) == ["east"]
    half = found(api, query_embedding=[1, 0], min_score=0.0)
    assert ids(half) == ["east", "northeast", "north"]
    assert ids(found(api, query_embedding=[1, 0], min_score=0.0000002)) == ["east", "northeast"]


@pytest.mark.parametrize("min_score", [-1.01, 1.01, "0.5", None])
def test_a_floor_that_is_no_cosine_is_refused(api, shop, min_score: Any):
    body = {"query_embedding": [1, 0], "min_score": min_score}
    expected = 200 if min_score is None else 422
    assert api("read").post(RECALL, body).status_code == expected


@pytest.mark.parametrize(
    ("vector", "reason"),
    [([], "empty"), ([0, 0], "zero"), (["1"], "not_numbers"), ([1e39], "not_finite"),
     ([0.1] * 8193, "too_wide")],
)  # fmt: skip
def test_a_query_that_is_no_vector_is_refused_with_the_reason(api, shop, vector, reason):
    answer = api("read").post(RECALL, {"query_embedding": vector})
    assert (answer.status_code, answer.json()["reason"]) == (422, reason)
    assert answer.json()["errors"][0]["loc"] == ["body", "query_embedding"]


@pytest.mark.parametrize(
    "body", [{}, {"query_embedding": None}, {"query": " "}, {"query_embedding": [1], "k": 3}]
)
def test_a_recall_without_a_query_is_refused(api, shop, body):
    assert api("read").post(RECALL, body).status_code == 422


def test_an_unknown_context_is_404(api, shop):
    body = {"query_embedding": [1, 0]}
    assert api("read").post("/sessions/none/recall", body).status_code == 404


def test_both_forms_of_the_query_find_the_same(api, shop):
    plain, packed = found(api), api("read").post(RECALL, {"query_embedding_b64": b64(1.0, 0.1)})
    assert [m["score"] for m in packed.json()["memories"]] == [
        m["score"] for m in plain["memories"]
    ]


def test_what_cannot_be_compared_is_counted_and_hides_nothing(api, shop, memory):
    memory("no vector", "none")
    memory("wide", "wide", [1.0, 0.0, 0.0])
    memory("other model", "next", [1.0, 0.0], model="next")
    answer = found(api)
    assert ids(answer) == ["east", "northeast", "north"]
    assert answer["skipped"] == {"no_vector": 1, "dimension": 1, "model": 1}


def test_a_model_that_is_named_is_the_one_that_is_compared(api, shop, memory):
    memory("next", "next", [1.0, 0.0], model="next")
    answer = found(api, embedding_model="next")
    assert (ids(answer), answer["model"]) == (["next"], "next")
    assert answer["skipped"] == {"no_vector": 0, "dimension": 0, "model": 3}


@pytest.mark.parametrize(
    "bad",
    [b"", b"\0\0\x80", b"\0" * 8, np.array([math.nan, 1], "<f4").tobytes(),
     np.array([math.inf, 1], "<f4").tobytes(), "text", 7],
)  # fmt: skip
def test_a_damaged_row_never_hides_the_others(api, shop, bad: Any):
    """Written by hand, past every check of ours."""
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE episodes_memoryvector SET vector = %s WHERE memory_id = 'north'", [bad]
        )
    answer = found(api)
    assert ids(answer) == ["east", "northeast"]
    assert answer["skipped"]["no_vector"] == 1


def test_a_recall_sees_every_change_that_came_before_it(api, shop, memory):
    agent = api("write")
    assert ids(found(api)) == ["east", "northeast", "north"]
    memory("new", "new", [1.0, 0.1])
    assert ids(found(api, limit=1)) == ["new"]
    agent.delete("/sessions/memories/new")
    agent.patch("/sessions/memories/east", {"archived": True})
    assert ids(found(api)) == ["northeast", "north"]
    body = {"embedding": [1.0, 0.1], "embedding_model": "m"}
    agent.put("/sessions/memories/north/embedding", body)
    assert ids(found(api)) == ["north", "northeast"]
    agent.patch("/sessions/memories/north", {"content": "its vector is stale now"})
    answer = found(api)
    assert (ids(answer), answer["skipped"]["no_vector"]) == (["northeast"], 1)


def test_a_warm_recall_is_that_of_a_cold_one_after_any_history(memory):
    random = np.random.default_rng(7)
    names = [f"m{n}" for n in range(40)]
    for name in names:
        memory(name, name, random.standard_normal(4).tolist())
    query = np.float32([1, 2, 3, 4])
    for _ in range(30):
        name = names[random.integers(40)]
        if random.random() < 0.2:
            memory("no vector", f"none{random.integers(5)}")
        elif random.random() < 0.3 and Memory.objects.filter(pk=name).exists():
            session_deletion.delete_memory(system(), name)
        elif not Memory.objects.filter(pk=name).exists():
            memory(name, name, random.standard_normal(4).tolist())
        kept = recall.recall("shop", query, limit=20)
        warm.forget()
        cold = recall.recall("shop", query, limit=20)
        assert [(m.pk, s) for m, s in kept.memories] == [(m.pk, s) for m, s in cold.memories]
        assert kept.skipped == cold.skipped


def test_scores_are_those_of_plain_arithmetic(memory):
    random = np.random.default_rng(1)
    vectors = random.standard_normal((50, 16)).astype(np.float32)
    for n, values in enumerate(vectors):
        memory(f"memory {n}", f"m{n}", values.tolist())
    query = random.standard_normal(16).astype(np.float32)
    expected = vectors @ query / np.linalg.norm(vectors, axis=1) / np.linalg.norm(query)
    best = np.argsort(-expected)[:20]
    got = recall.recall("shop", query, limit=20).memories
    assert [m.pk for m, _ in got] == [f"m{n}" for n in best]
    assert [s for _, s in got] == pytest.approx(expected[best].tolist(), abs=1e-6)


def test_a_context_of_many_memories_is_read_in_pieces_and_whole(memory):
    memory("first", "first", [0.0, 1.0])
    now, blob = timezone.now(), encode_blob(np.float32([1, 0]))
    names = [f"m{n:04}" for n in range(2500)]
    Memory.objects.bulk_create(
        Memory(id=n, context_id="shop", content=n, content_sha="s", created_at=now, updated_at=now)
        for n in names
    )
    MemoryVector.objects.bulk_create(
        MemoryVector(
            memory_id=n, context_id="shop", model="m", dimension=2, text_sha="s", indexed_at=now,
            vector=blob,
        )
        for n in names
    )  # fmt: skip
    warm.forget()
    answer = recall.recall("shop", np.float32([1, 0]), limit=3)
    assert [m.pk for m, _ in answer.memories] == ["m0000", "m0001", "m0002"]
    assert clock.current_seq() > 0
