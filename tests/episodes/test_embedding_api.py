"""PUT /api/v1/episodes/{id}/embedding and POST /api/v1/episodes/embeddings"""

from typing import Any

import numpy as np
import pytest

from episodes.models import EpisodeVector, RefusedVector
from memoryweb.core import clock
from memoryweb.core.models import ActiveModel
from memoryweb.core.vectors import decode_blob
from tests.episodes.builders import b64, sent


def state(api: Any, id: str = "one") -> str:
    return api("read").get(f"/episodes/{id}").json()["vector"]["state"]


def test_a_vector_is_kept_to_the_last_bit(api, remember):
    remember()
    answer = api("write").put(
        "/episodes/one/embedding", {"embedding": [0.1, -2, 3e30], "model": "m"}
    )
    assert (answer.status_code, answer.json()["state"]) == (200, "current")
    assert answer.headers["X-Change-Seq"] == str(clock.current_seq())
    stored = EpisodeVector.objects.get()
    assert decode_blob(bytes(stored.vector)).tolist() == np.float32([0.1, -2, 3e30]).tolist()
    assert (stored.model, stored.dimension) == ("m", 3)


def test_both_forms_of_a_vector_are_the_same_vector(api, remember):
    remember()
    agent = api("write")
    agent.put("/episodes/one/embedding", {"embedding": [0.5, 0.25]})
    listed = bytes(EpisodeVector.objects.get().vector)
    agent.put("/episodes/one/embedding", {"embedding_b64": b64(0.5, 0.25)})
    assert bytes(EpisodeVector.objects.get().vector) == listed


def test_a_model_that_nobody_named_is_the_active_one(api, remember):
    remember(vector=[1.0, 2.0], model="m")
    api("write").put("/episodes/one/embedding", {"embedding": [2, 1]})
    assert EpisodeVector.objects.get().model == "m"


def test_another_width_is_stored_as_such_and_never_becomes_the_active_one(api, remember):
    remember(vector=[1.0, 2.0])
    answer = api("write").put("/episodes/one/embedding", {"embedding": [1, 2, 3]})
    assert (answer.status_code, answer.json()["state"]) == (200, "wrong_width")
    assert state(api) == "wrong_width"
    assert ActiveModel.objects.get().dimension == 2


def test_a_vector_of_another_model_lies_beside_the_active_one(api, remember):
    remember(vector=[1.0, 2.0])
    agent = api("write")
    answer = agent.put("/episodes/one/embedding", {"embedding": [2, 1], "model": "next"})
    assert answer.json()["state"] == "other_model"
    wider = agent.put("/episodes/one/embedding", {"embedding": [1, 2, 3], "model": "wide"})
    assert wider.json()["state"] == "wrong_width"
    assert state(api) == "current"


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ({"embedding": []}, "empty"),
        ({"embedding": [0, 0]}, "zero"),
        ({"embedding": [1e-8, 0]}, "zero"),
        ({"embedding": [1e39]}, "not_finite"),
        ({"embedding": [10**30_0]}, "not_finite"),
        ({"embedding": ["1.0"]}, "not_numbers"),
        ({"embedding": [True]}, "not_numbers"),
        ({"embedding": [[1.0]]}, "not_numbers"),
        ({"embedding": {"0": 1}}, "not_numbers"),
        ({"embedding": 1.5}, "not_numbers"),
        ({"embedding": [0.5] * 8193}, "too_wide"),
        ({"embedding_b64": ""}, "empty"),
        ({"embedding_b64": "AAAAAA=="}, "zero"),
        ({"embedding_b64": "AACAPwA="}, "odd_length"),
        ({"embedding_b64": b64(float("inf"))}, "not_finite"),
        ({"embedding_b64": "no base64"}, "not_base64"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_refused_vector_is_422_with_its_reason_and_is_recorded(
    api, remember, body: dict[str, Any], reason: str
):
    remember()
    agent = api("write")
    for _ in range(2):
        answer = agent.put("/episodes/one/embedding", body | {"model": "m"})
        assert answer.status_code == 422
        assert answer.json()["reason"] == reason
    refused = RefusedVector.objects.get()
    assert (refused.reason, refused.model, refused.count) == (reason, "m", 2)
    assert state(api) == ("zero" if reason == "zero" else "missing")
    assert not ActiveModel.objects.exists()


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_a_number_that_is_none_is_422(api, remember, number: str):
    remember()
    answer = api("write").put("/episodes/one/embedding", f'{{"embedding": [{number}]}}')
    assert answer.status_code == 422
    assert not EpisodeVector.objects.exists()


def test_a_good_vector_takes_the_refusal_back(api, remember):
    remember()
    agent = api("write")
    agent.put("/episodes/one/embedding", {"embedding": [0, 0], "model": "m"})
    agent.put("/episodes/one/embedding", {"embedding": [1, 0], "model": "m"})
    assert state(api) == "current"
    assert not RefusedVector.objects.exists()


def test_a_refused_vector_leaves_the_good_one_in_place(api, remember):
    remember(vector=[1.0, 2.0])
    api("write").put("/episodes/one/embedding", {"embedding": [0, 0]})
    assert state(api) == "current"


@pytest.mark.parametrize(
    "body", [{}, {"embedding": [1], "embedding_b64": "AACAPw=="}, {"vector": [1]}]
)
def test_a_body_without_one_vector_is_refused(api, remember, body: dict[str, Any]):
    remember()
    assert api("write").put("/episodes/one/embedding", body).status_code == 422


def test_an_unknown_episode_has_no_vector(api):
    assert api("write").put("/episodes/none/embedding", {"embedding": [1]}).status_code == 404


def test_a_bound_token_and_a_reader_give_no_vector_to_others(api, remember):
    remember(agent_id="heron")
    assert (
        api("write", "otter").put("/episodes/one/embedding", {"embedding": [1]}).status_code == 403
    )
    assert api("read").put("/episodes/one/embedding", {"embedding": [1]}).status_code == 403
    assert not EpisodeVector.objects.exists()


def test_many_vectors_at_once_are_counted_and_failures_named(api, remember):
    for id in ("one", "two", "three", "four"):
        remember(id=id)
    body = {
        "model": "m",
        "items": [
            {"id": "one", "embedding": [1, 2]},
            {"id": "none", "embedding": [1, 2]},
            {"id": "two", "embedding_b64": b64(3, 4)},
            {"id": "three", "embedding": [0, 0]},
            {"embedding": [1, 2]},
            {"id": "four", "embedding": [1, 2, 3]},
        ],
    }
    answer = api("write").post("/episodes/embeddings", body)
    assert answer.status_code == 200
    told = answer.json()
    assert (told["stored"], told["states"]) == (3, {"current": 2, "wrong_width": 1})
    assert [(f["index"], f["id"]) for f in told["failed"]] == [(1, "none"), (3, "three"), (4, None)]
    assert answer.headers["X-Change-Seq"] == str(told["change_seq"]) == str(clock.current_seq())
    assert [state(api, id) for id in ("one", "two", "three", "four")] == [
        "current", "current", "zero", "wrong_width",
    ]  # fmt: skip


def test_a_bare_array_of_vectors_is_taken_too(api, remember):
    remember()
    items = [{"id": "one", "embedding": [1, 2], "model": "mine"}]
    assert api("write").post("/episodes/embeddings", items).json()["stored"] == 1
    assert EpisodeVector.objects.get().model == "mine"
    api("write").post("/episodes/embeddings?model=query", [{"id": "one", "embedding": [1, 2]}])
    assert EpisodeVector.objects.filter(model="query").exists()


@pytest.mark.parametrize("items", [[], [{"id": "one", "embedding": [1]}] * 1001, "one", None])
def test_no_vector_and_more_than_a_thousand_are_refused(api, items: Any):
    assert api("write").post("/episodes/embeddings", {"items": items}).status_code == 422


def test_the_last_of_two_vectors_for_one_episode_stays(api, remember):
    remember()
    items = [{"id": "one", "embedding": [1, 0]}, {"id": "one", "embedding": [0, 1]}]
    assert api("write").post("/episodes/embeddings", items).json()["stored"] == 2
    assert decode_blob(bytes(EpisodeVector.objects.get().vector)).tolist() == [0, 1]


def test_an_episode_that_came_with_a_vector_can_be_found_by_its_state(api):
    agent = api("write")
    agent.post("/episodes", sent(id="with", embedding=[1, 2]))
    agent.post("/episodes", sent(id="without"))
    found = agent.get("/episodes?vector=current").json()
    assert [item["id"] for item in found["items"]] == ["with"]
