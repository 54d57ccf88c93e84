"""The context over HTTP: one shape by GET and by POST, strict in what it takes."""

from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from bank import services
from bank.models import Kind
from memoryweb.core.actor import system
from search.pieces import tokens, weight

PATH = "/bank/context"


@pytest.fixture
def stored(home: Path, transactional_db: None) -> None:
    services.save(system(), Kind.MEMORY, "MEMORY", "# Rules\n\n" + "Sort the locks.\n\n" * 200)
    services.append_note(system(), "Drained the queue.", timezone.localdate())
    services.save(system(), Kind.ENTITY, "alice", "# Alice\n\nRuns the docks.\n")


def test_a_reader_is_given_the_context_with_its_figures(stored: None, api: Any):
    answer = api("read").get(f"{PATH}?max_tokens=300")
    assert answer.status_code == 200
    body = answer.json()
    assert list(body) == ["text", "tokens", "sections", "skipped_by_guard"]
    assert body["text"].startswith("## Long-term Memory\n\n# Rules\n\nSort the locks.")
    assert body["tokens"] == tokens(weight(body["text"])) <= 300
    memory, recent, today, bank = body["sections"]
    assert (memory["name"], memory["included"] + memory["omitted"]) == ("Long-term Memory", 200)
    assert recent == {"name": "Recent Activity", "tokens": 0, "included": 0, "omitted": 0}
    assert today == {"name": "Today's Notes", "tokens": 9, "included": 1, "omitted": 0}
    assert (bank["included"], bank["omitted"], body["skipped_by_guard"]) == (1, 0, 0)
    assert f"{memory['omitted']} of 200 paragraphs of Long-term Memory" in body["text"]


def test_by_default_there_are_2500_tokens(stored: None, api: Any):
    services.save(system(), Kind.MEMORY, "MEMORY", "Sort the locks.\n\n" * 3_000)
    assert 2_400 < api("read").get(PATH).json()["tokens"] <= 2_500


def test_post_answers_as_get_does_and_needs_no_more_than_reading(
    stored: None, api: Any, remember: Any
):
    remember("Sorted the locks of the queue")
    by_get = api("read").get(f"{PATH}?max_tokens=400&query=locks&prefer_working_dir=/srv").json()
    asked = {"max_tokens": 400, "query": "locks", "prefer_working_dir": "/srv"}
    assert api("read").post(PATH, asked).json() == by_get
    assert by_get["sections"][4]["name"] == "Relevant Past Experiences"
    assert by_get["search"] == {"mode": "bm25", "reasons": ["no_query_vector"]}


def test_a_vector_finds_experiences_by_both_methods(stored: None, api: Any, remember: Any):
    remember("Watered the plants", vector=[1.0, 0.0])
    for answer in (
        api("read").post(PATH, {"query": "growth", "query_embedding": [1, 0]}),
        api("read").get(f"{PATH}?query=growth&query_embedding=1&query_embedding=0"),
    ):
        body = answer.json()
        assert "Watered the plants" in body["text"]
        assert body["search"]["mode"] == "hybrid"


def test_a_vector_of_an_unknown_model_is_said_to_be_unused(stored: None, api: Any, remember: Any):
    remember("Watered the plants", vector=[1.0, 0.0])
    asked = {"query": "plants", "query_embedding": [1, 0], "embedding_model": "other"}
    assert api("read").post(PATH, asked).json()["search"]["reasons"] == ["unknown_model"]


@pytest.mark.parametrize(
    "query",
    ["max_tokens=0", "max_tokens=100001", "max_tokens=many", "tokens=5", "max_tokens=1e999"],
)
def test_get_refuses_what_it_does_not_understand(stored: None, api: Any, query: str):
    answer = api("read").get(f"{PATH}?{query}")
    assert answer.status_code == 422
    assert answer["Content-Type"] == "application/problem+json"


@pytest.mark.parametrize(
    "body",
    [
        {"max_tokens": "2500"},
        {"max_tokens": 2.5},
        {"max_tokens": True},
        {"budget": 10},
        {"query": 5},
        {"query_embedding": ["1"]},
        {"query_embedding": []},
        {"query": "a", "query_embedding": [0, 0]},
        '{"query_embedding": [NaN, 1]}',
        '{"query_embedding": [1e999]}',
        {"query": "a", "prefer_working_dir": ""},
    ],
)
def test_post_refuses_what_it_does_not_understand(stored: None, api: Any, body: Any):
    assert api("read").post(PATH, body).status_code == 422


def test_a_session_may_get_it(stored: None, signed_in: Any, viewer: Any):
    assert signed_in(viewer).get(f"/api/v1{PATH}").status_code == 200
