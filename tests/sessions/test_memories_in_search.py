"""Memories in POST /api/v1/search, and recall by words."""

from typing import Any

import pytest

from episodes import session_deletion
from memoryweb.core.actor import system
from search import recall


@pytest.fixture
def shop(transactional_db, memory) -> None:
    """The index is built in a thread, so the rows must be committed."""
    memory("Sort the locks of the order worker", "locks", [1.0, 0.0], type="decision")
    memory("The order worker deadlocks under load", "deadlock", [0.6, 0.8], type="error")
    memory("修复 docker 部署超时", "docker", [0.0, 1.0])
    memory("Locks elsewhere", "else", [1.0, 0.0], context="other")


def search(api: Any, **body: Any) -> dict[str, Any]:
    answer = api("read").post("/search", {"collections": ["memories"], **body})
    assert answer.status_code == 200, answer.content
    return answer.json()


def ids(answer: dict[str, Any]) -> list[str]:
    return [result["id"] for result in answer["results"]]


def test_memories_are_searched_by_words(api, shop):
    answer = search(api, query="order worker deadlocks")
    assert (answer["mode"], ids(answer)) == ("bm25", ["deadlock", "locks"])
    first = answer["results"][0]
    assert first["collection"] == "memories"
    assert first["summary"] == "The order worker deadlocks under load"
    assert first["url"] == "/sessions/memories/deadlock/"


def test_memories_are_searched_by_words_and_vector_together(api, shop):
    answer = search(api, query="locks", query_embedding=[0.6, 0.8])
    assert answer["mode"] == "hybrid"
    found = {result["id"]: result for result in answer["results"]}
    assert (found["deadlock"]["vector"], found["deadlock"]["bm25"]) == (pytest.approx(1.0), None)
    assert found["else"]["vector"] == pytest.approx(0.6)
    assert found["else"]["bm25"] == 1.0


def test_a_search_may_be_in_one_context_alone(api, shop):
    answer = search(api, query="locks", filters={"context_id": "other"})
    assert ids(answer) == ["else"]
    assert set(ids(search(api, query="locks"))) == {"else", "locks"}


def test_chinese_words_of_a_memory_are_found(api, shop):
    assert ids(search(api, query="部署")) == ["docker"]


def test_an_archived_or_deleted_memory_is_found_no_more(api, shop):
    agent = api("write")
    assert ids(search(api, query="docker")) == ["docker"]
    agent.patch("/sessions/memories/docker", {"archived": True})
    assert ids(search(api, query="docker")) == []
    agent.patch("/sessions/memories/docker", {"archived": False})
    assert ids(search(api, query="docker")) == ["docker"]
    receipt = session_deletion.delete_context(system(), "shop")
    assert (receipt.rows, receipt.index, receipt.verified) == (3, 3, True)
    assert ids(search(api, query="docker")) == []


def test_recall_by_words_scores_by_bm25_and_in_the_context_alone(api, shop):
    answer = api("read").post("/sessions/shop/recall", {"query": "the locks"}).json()
    assert answer["method"] == "keyword"
    assert [m["id"] for m in answer["memories"]] == ["locks"]
    assert answer["memories"][0]["score"] == 1.0


def test_a_word_in_every_memory_counts_less_than_a_rare_one(shop):
    found = recall.by_words("shop", "order deadlocks").memories
    assert [memory.pk for memory, _ in found] == ["deadlock", "locks"]
    scores = [score for _, score in found]
    assert scores[0] == 1.0
    assert 0 < scores[1] < 0.5
