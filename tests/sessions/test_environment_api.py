"""GET and POST /api/v1/sessions/{id}/environment"""

import json
from typing import Any

import pytest

from episodes.models import Memory
from search import injection
from tests.episodes.builders import ATTACK

PATH = "/sessions/shop/environment"


@pytest.fixture
def shop(transactional_db, memory) -> None:
    memory("Sort the locks of the order worker", "locks", [1.0, 0.0], type="decision")
    memory("The order worker deadlocks under load", "deadlock", [0.6, 0.8], type="error")
    memory("Deploys take six minutes", "deploy", [0.0, 1.0])


def memories(answer: Any) -> list[dict[str, Any]]:
    assert answer.status_code == 200, answer.content
    told = answer.json()
    environment = told["environment"]
    assert set(environment) == {
        "DEVBASE_CONTEXT_MEMORIES",
        "DEVBASE_CONTEXT_MEMORY_COUNT",
        "DEVBASE_CONTEXT_RECALL_METHOD",
    }
    found = json.loads(environment["DEVBASE_CONTEXT_MEMORIES"])
    assert environment["DEVBASE_CONTEXT_MEMORY_COUNT"] == str(len(found))
    assert environment["DEVBASE_CONTEXT_RECALL_METHOD"] == told["method"]
    assert found == told["memories"]
    return found


def test_a_vector_recalls_by_meaning(api, shop):
    answer = api("read").post(PATH, {"query_embedding": [0.6, 0.8], "query": "locks"})
    found = memories(answer)
    assert answer.json()["method"] == "semantic"
    assert [m["id"] for m in found] == ["deadlock", "deploy", "locks"]
    assert found[0] == {
        "id": "deadlock",
        "type": "error",
        "content": "The order worker deadlocks under load",
        "score": 1.0,
        "model": "m",
    }


def test_words_recall_by_bm25_and_what_does_not_match_is_not_given(api, shop):
    answer = api("read").get(f"{PATH}?query=order+deadlocks")
    found = memories(answer)
    assert answer.json()["method"] == "keyword"
    assert [m["id"] for m in found] == ["deadlock", "locks"]
    assert (found[0]["score"], found[0]["model"]) == (1.0, None)


def test_a_vector_that_nothing_compares_with_gives_way_to_the_words(api, shop):
    answer = api("read").post(PATH, {"query_embedding": [1, 0, 0], "query": "deploys"})
    assert answer.json()["method"] == "keyword"
    assert [m["id"] for m in memories(answer)] == ["deploy"]


def test_without_a_query_the_context_itself_is_it_and_the_newest_fill_up(api, shop):
    api("write").patch("/sessions/shop", {"intent": "deploys without waiting"})
    found = memories(api("read").get(PATH))
    assert [m["id"] for m in found] == ["deploy", "deadlock", "locks"]
    assert [m["score"] for m in found] == [1.0, 0.0, 0.0]


def test_at_most_five_are_given(transactional_db, api, memory):
    for n in range(7):
        memory(f"lock number {n}", f"m{n}")
    assert len(memories(api("read").get(f"{PATH}?query=lock"))) == 5
    assert len(memories(api("read").get(PATH))) == 5


def test_what_the_guard_objects_to_today_is_left_out_and_counted(api, shop):
    Memory.objects.filter(pk="deadlock").update(content=ATTACK)  # from before the rule was made
    answer = api("read").post(PATH, {"query_embedding": [0.6, 0.8]})
    assert [m["id"] for m in memories(answer)] == ["deploy", "locks"]
    assert answer.json()["skipped_by_guard"] == 1


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({}, 200), ({"limit": 20}, 200), ({"limit": 21}, 422), ({"query_embedding": []}, 422),
        ({"query": "x" * 20_000}, 200), ({"query": "x" * 20_001}, 422), ({"top": 5}, 422),
    ],
)  # fmt: skip
def test_the_bounds_of_a_request(api, shop, body: dict[str, Any], status: int):
    assert api("read").post(PATH, body).status_code == status


def test_an_unknown_context_is_404(api, shop):
    assert api("read").get("/sessions/none/environment").status_code == 404


def test_long_memories_share_the_room_and_never_exceed_it(transactional_db, memory):
    for n in range(5):
        memory(f"lock {n} " + "長い話" * 7_000, f"m{n}")
    memory("lock, short", "short")
    injected = injection.inject("shop", query="lock")
    text = injected.environment["DEVBASE_CONTEXT_MEMORIES"]
    assert len(text) <= injection.MOST_BYTES
    assert len(injected.memories) == 5
    assert injected.shortened == 4
    assert injected.memories[0]["content"] == "lock, short"
    assert all(m["content"].endswith("…") for m in injected.memories[1:])


def test_what_cannot_be_cut_to_fit_is_left_out_and_counted(transactional_db, memory):
    memory("lock " * 100, "m1")
    injected = injection.inject("shop", query="lock", most_bytes=120)
    assert (injected.memories, injected.left_out) == ([], 1)
