"""PUT …/embedding, POST …/embeddings and an indexer's work list."""

from datetime import timedelta
from typing import Any
from urllib.parse import quote

import numpy as np
import pytest
from django.utils import timezone

from episodes.models import MemoryVector
from memoryweb.core import clock
from memoryweb.core.models import ActiveModel
from memoryweb.core.times import render
from memoryweb.core.vectors import decode_blob
from tests.episodes.builders import b64

EMBEDDING = "/sessions/memories/m1/embedding"


def test_a_memory_gets_its_vector_to_the_last_bit(api, memory):
    memory("x", "m1")
    body = {"embedding": [0.1, -2, 3e30], "embedding_model": "m"}
    answer = api("write").put(EMBEDDING, body)
    assert (answer.status_code, answer.json()["state"]) == (200, "current")
    assert answer.headers["X-Change-Seq"] == str(clock.current_seq())
    row = MemoryVector.objects.get()
    assert decode_blob(bytes(row.vector)).tolist() == np.float32([0.1, -2, 3e30]).tolist()
    assert (row.model, row.dimension, row.context_id) == ("m", 3, "shop")
    assert abs(row.indexed_at - timezone.now()) < timedelta(minutes=1)
    assert ActiveModel.objects.get().model == "m"


def test_a_second_vector_of_a_model_takes_the_place_of_the_first(api, memory):
    memory("x", "m1", [1.0, 0.0])
    api("write").put(EMBEDDING, {"embedding_b64": b64(0, 1), "embedding_model": "m"})
    assert bytes(MemoryVector.objects.get().vector) == np.array([0, 1], "<f4").tobytes()


def test_another_width_and_another_model_are_stored_as_what_they_are(api, memory):
    memory("x", "m1", [1.0, 0.0])
    agent = api("write")
    other = agent.put(EMBEDDING, {"embedding": [1, 2], "embedding_model": "next"})
    wide = agent.put(EMBEDDING, {"embedding": [1, 2, 3], "embedding_model": "m"})
    assert (other.json()["state"], wide.json()["state"]) == ("other_model", "wrong_width")
    assert MemoryVector.objects.count() == 2
    assert ActiveModel.objects.get().dimension == 2


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ({"embedding": []}, "empty"),
        ({"embedding": [0, 0]}, "zero"),
        ({"embedding": [1e-8]}, "zero"),
        ({"embedding": [1e39]}, "not_finite"),
        ({"embedding": ["1.0"]}, "not_numbers"),
        ({"embedding": [True]}, "not_numbers"),
        ({"embedding": [0.5] * 8193}, "too_wide"),
        ({"embedding_b64": "AACAPwA="}, "odd_length"),
        ({"embedding_b64": "not base64!"}, "not_base64"),
    ],
)
def test_a_vector_that_cannot_be_compared_is_refused_with_its_reason(api, memory, body, reason):
    memory("x", "m1")
    answer = api("write").put(EMBEDDING, {**body, "embedding_model": "m"})
    assert (answer.status_code, answer.json()["reason"]) == (422, reason)
    assert not MemoryVector.objects.exists()


@pytest.mark.parametrize(
    "body",
    [
        {"embedding": [1.0]},
        {"embedding": [1.0], "embedding_model": ""},
        {"embedding_model": "m"},
        {"embedding": [1.0], "embedding_b64": "AACAPw==", "embedding_model": "m"},
        {"embedding": [1.0], "embedding_model": "m", "state": "current"},
        '{"embedding": [NaN], "embedding_model": "m"}',
    ],
)
def test_a_body_without_model_or_vector_is_refused(api, memory, body):
    memory("x", "m1")
    assert api("write").put(EMBEDDING, body).status_code == 422


def test_a_vector_may_have_one_value_and_8192(api, memory):
    memory("x", "m1")
    for width in (1, 8192):
        body = {"embedding": [0.5] * width, "embedding_model": f"w{width}"}
        assert api("write").put(EMBEDDING, body).status_code == 200


def test_the_vector_of_a_memory_that_is_not_there_is_404(api, db):
    body = {"embedding": [1.0], "embedding_model": "m"}
    assert api("write").put("/sessions/memories/none/embedding", body).status_code == 404


def test_many_vectors_land_and_each_bad_one_is_named(api, memory):
    memory("one", "m1")
    memory("two", "m2")
    items: list[Any] = [
        {"memory_id": "m1", "embedding": [1, 0]},
        {"memory_id": "none", "embedding": [1, 0]},
        {"memory_id": "m2", "embedding": [0, 0]},
        {"id": "m2", "embedding": [0, 1], "embedding_model": "own"},
        {"embedding": [0, 1]},
        7,
    ]
    answer = api("write").post(
        "/sessions/memories/embeddings", {"items": items, "embedding_model": "m"}
    )
    assert answer.status_code == 200
    told = answer.json()
    assert told["stored"] == 2
    assert told["states"] == {"current": 1, "other_model": 1}
    assert [(f["index"], f["id"]) for f in told["failed"]] == [
        (1, "none"), (2, "m2"), (4, None), (5, None),
    ]  # fmt: skip
    assert {(v.memory_id, v.model) for v in MemoryVector.objects.all()} == {
        ("m1", "m"), ("m2", "own"),
    }  # fmt: skip


@pytest.mark.parametrize(("count", "status"), [(0, 422), (1, 200), (1000, 200), (1001, 422)])
def test_one_call_takes_1_to_1000_vectors(api, memory, count: int, status: int):
    memory("x", "m1")
    items = [{"memory_id": "m1", "embedding": [1.0], "embedding_model": "m"}] * count
    assert api("write").post("/sessions/memories/embeddings", items).status_code == status


def test_the_work_list_names_what_has_no_vector_of_its_text(api, memory):
    memory("has one", "m1", [1.0, 0.0])
    memory("has none", "m2")
    memory("has a wrong width", "m3", [1.0, 0.0, 0.0])
    memory("is edited", "m4", [0.0, 1.0])
    agent = api("write")
    agent.patch("/sessions/memories/m4", {"content": "is another text"})
    path = "/sessions/shop/memories?needs_vector="
    needs = agent.get(path + "true").json()
    assert {m["id"] for m in needs["items"]} == {"m2", "m3", "m4"}
    assert needs["total"] == 3
    assert {m["id"] for m in agent.get(path + "false").json()["items"]} == {"m1"}


def test_the_work_list_of_another_model_is_its_own(api, memory):
    memory("one", "m1", [1.0, 0.0])
    memory("two", "m2", [1.0, 0.0, 0.0], model="wide")
    agent = api("read")
    path = "/sessions/memories?needs_vector=true&model="
    assert [m["id"] for m in agent.get(path + "wide").json()["items"]] == ["m1"]
    assert [m["id"] for m in agent.get(path + "m").json()["items"]] == ["m2"]


def test_an_incremental_run_asks_for_what_was_indexed_before_a_moment(api, memory):
    memory("old", "m1", [1.0, 0.0])
    MemoryVector.objects.update(indexed_at=timezone.now() - timedelta(days=2))
    memory("new", "m2", [1.0, 0.0])
    memory("never", "m3")
    yesterday = quote(render(timezone.now() - timedelta(days=1)))
    found = api("read").get(f"/sessions/memories?indexed_before={yesterday}").json()["items"]
    assert {m["id"] for m in found} == {"m1", "m3"}


@pytest.mark.parametrize(
    "query", ["needs_vector=perhaps", "indexed_before=2026-01-01T00:00:00", "limit=501", "kind=x"]
)
def test_a_work_list_with_a_filter_that_means_nothing_is_refused(api, memory, query: str):
    memory()
    assert api("read").get(f"/sessions/shop/memories?{query}").status_code == 422
