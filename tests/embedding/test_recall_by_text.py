"""Recall by a typed text: the provider's vector of it where there is one, else its words."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from episodes import memory_vectors
from memoryweb.core.actor import system
from search import injection
from tests.embedding.double import Double, vector_of

PATH = "/sessions/harbor/recall"


@pytest.fixture
def harbor(memory: Callable[..., str]) -> None:
    for id, text in (("crane", "the crane lifts"), ("tide", "high tide at noon"), ("quay", "quay")):
        memory_vectors.index(
            system(), memory_vectors.Sent(memory(id, text), vector_of(text), model="toy")
        )


def recalled(api: Any, **body: Any) -> dict[str, Any]:
    answer = api("read").post(PATH, body)
    assert answer.status_code == 200, answer.content
    return answer.json()


def test_a_typed_text_is_recalled_by_the_vector_the_provider_makes_of_it(api, harbor, provider):
    told = recalled(api, query="high tide", limit=3)
    assert (told["method"], told["model"], told["reasons"]) == ("semantic", "toy", [])
    texts = {"crane": "the crane lifts", "tide": "high tide at noon", "quay": "quay"}
    cosines = {one: np.dot(vector_of(text), vector_of("high tide")) for one, text in texts.items()}
    expected = sorted(cosines, key=lambda one: -cosines[one])
    assert [one["id"] for one in told["memories"]] == expected
    scores = [one["score"] for one in told["memories"]]
    assert scores == pytest.approx([cosines[one] for one in expected], abs=1e-6)
    assert provider.texts == ["high tide"]


def test_a_floor_holds_for_what_was_compared(api, harbor, provider):
    told = recalled(api, query="high tide", min_score=1.0)
    assert (told["method"], told["memories"]) == ("semantic", [])


def test_without_a_provider_words_are_compared_and_the_answer_says_so(api, harbor):
    told = recalled(api, query="tide", min_score=-0.5)
    assert (told["method"], told["model"]) == ("keyword", None)
    assert told["reasons"] == ["no_query_vector"]
    assert [one["id"] for one in told["memories"]] == ["tide"]


def test_a_provider_that_fails_leaves_the_words_and_its_reason(api, harbor, provider: Double):
    provider.behave = lambda handler, body: handler.answer({"error": "no"}, 500) or True
    told = recalled(api, query="tide")
    assert (told["method"], told["reasons"]) == ("keyword", ["provider_failed"])
    assert [one["id"] for one in told["memories"]] == ["tide"]


def test_a_model_that_is_not_the_active_one_is_not_asked_for(api, harbor, provider: Double):
    told = recalled(api, query="tide", embedding_model="older")
    assert (told["method"], told["reasons"]) == ("keyword", ["unknown_model"])
    assert provider.texts == []


def test_memories_without_vectors_are_recalled_by_words(api, memory, harbor, provider: Double):
    memory("lamp", "the lamp burns", "lighthouse")
    told = api("read").post("/sessions/lighthouse/recall", {"query": "lamp"}).json()
    assert (told["method"], told["reasons"]) == ("keyword", ["no_vectors"])
    assert [one["id"] for one in told["memories"]] == ["lamp"]


def test_what_a_shell_is_given_is_recalled_in_the_same_way(api, harbor, provider: Double):
    injected = injection.inject("harbor", query="high tide at noon", limit=1)
    assert (injected.method, injected.memories[0]["id"]) == ("semantic", "tide")
    provider.behave = lambda handler, body: handler.answer({"error": "no"}, 500) or True
    told = api("read").get("/sessions/harbor/environment?query=quay").json()
    assert (told["method"], told["reasons"]) == ("keyword", ["provider_failed"])


def test_the_page_says_which_way_was_used_and_why_not_the_other(
    signed_in, viewer, harbor, provider: Double, settings
):
    browser = signed_in(viewer)
    page = browser.get("/sessions/harbor/recall/", {"query": "high tide"}).content.decode()
    assert re.search(r"semantic</span>.*?by cosine, vectors of <span class=\"id\">toy", page)
    provider.behave = lambda handler, body: handler.answer({"error": "no"}, 500) or True
    page = browser.get("/sessions/harbor/recall/", {"query": "tide"}).content.decode()
    assert "The embedding provider answered that it failed." in page
    assert re.search(r"keyword</span>.*?by words, BM25</span>", page)
    settings.MEMORYWEB_EMBEDDING_URL = ""
    page = browser.get("/sessions/harbor/recall/", {"query": "tide"}).content.decode()
    assert "by words, BM25: no embedding provider is configured" in page
