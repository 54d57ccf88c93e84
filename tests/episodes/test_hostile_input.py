"""What nobody sends by accident: a clear 4xx, bounded time, and nothing lost."""

import json
import time
from collections.abc import Iterator
from typing import Any

import pytest

from episodes.models import Episode
from tests.episodes.builders import sent

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _soon() -> Iterator[None]:
    """No input may hold a server for longer than a person waits, slow machines allowed for."""
    started = time.monotonic()
    yield
    assert time.monotonic() - started < 20


def status(answer: Any) -> int:
    """The status, once it is sure that the answer is a problem document and tells no internals."""
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert "Traceback" not in answer.content.decode()
    return answer.status_code


def test_a_summary_of_ten_megabytes_is_too_large(api):
    assert status(api("write").post("/episodes", sent(summary="a" * 10_000_000))) == 413
    assert not Episode.objects.exists()


def test_in_a_batch_it_is_one_bad_row_among_good_ones(api):
    rows = [sent(id="good"), sent(id="huge", summary="a" * 10_000_000)]
    answer = api("write").post("/episodes/batch", rows).json()
    assert (answer["created"], [f["id"] for f in answer["failed"]]) == (1, ["huge"])
    assert len(json.dumps(answer)) < 1000


def test_a_batch_beyond_its_limit_is_too_large(api):
    assert status(api("write").post("/episodes/batch", "[" + " " * 33 * 1024 * 1024 + "]")) == 413


@pytest.mark.parametrize("number", ["0", "0.25"])
def test_a_vector_of_two_million_numbers_is_refused_and_not_built(api, remember, number: str):
    remember()
    agent = api("write")
    body = f'{{"embedding": [{",".join([number] * 2_000_000)}]}}'
    assert status(agent.put("/episodes/one/embedding", body)) == 413
    items = f'[{{"id": "one", "embedding": [{",".join([number] * 2_000_000)}]}}]'
    answer = agent.post("/episodes/embeddings", items)
    assert answer.json()["failed"][0]["errors"][0]["msg"].startswith("The vector has more than")


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, '{"extra":' + "[" * 100_000])
@pytest.mark.parametrize("path", ["", "/batch", "/embeddings", "/delete"])
def test_endless_nesting_is_no_json(api, path: str, text: str):
    assert status(api("write").post(f"/episodes{path}", text)) == 400


def nested(depth: int) -> Any:
    value: Any = "x"
    for _ in range(depth):
        value = [value]
    return value


def test_extra_fields_may_nest_but_not_without_end(api):
    agent = api("write")
    assert agent.post("/episodes", sent(id="deep", deep=nested(30))).status_code == 201
    assert agent.get("/episodes/deep").json()["extra"] == {"deep": nested(30)}
    assert status(agent.post("/episodes", sent(deep=nested(31)))) == 422
    assert status(agent.post("/episodes", sent(extra={"deep": nested(300)}))) == 422


@pytest.mark.parametrize(
    "text",
    [
        '{"summary": "\\ud800"}',
        '{"id": "\\ud800"}',
        '{"working_dir": "/\\udfff"}',
        '{"key_decisions": ["\\ud800"]}',
        '{"note": "\\ud800"}',
        '{"no\\ud800te": 1}',
        '{"extra": {"a": ["\\ud800"]}}',
        '{"extra": {"\\ud800": 1}}',
        '{"note": "\\u0000"}',
        '{"no\\u0000te": 1}',
        '{"extra": {"a": {"b": "\\u0000"}}}',
        '{"agent_id": "\\u0000"}',
        '{"embedding_model": "\\ud800"}',
    ],
)
def test_half_characters_and_nul_are_refused_wherever_they_stand(api, text: str):
    body = json.dumps(sent())[:-1] + ", " + text[1:]
    assert status(api("write").post("/episodes", body)) == 422
    assert status(api("write").post("/episodes", body.encode("utf-8", "surrogatepass"))) == 422
    assert not Episode.objects.exists()


@pytest.mark.parametrize(
    "body", [b"\xff\xfe\xfd", b'{"summary": "\xed\xa0\x80"}', b"", b"\0", b"null"]
)
def test_a_body_that_is_no_json_text_is_refused(api, body: bytes):
    assert status(api("write").post("/episodes", body)) in (400, 422)


@pytest.mark.parametrize("number", ["1" + "0" * 400, "-1e400", "9" * 5000, "1e5"])
@pytest.mark.parametrize("field", ["schema_version", "summary", "id"])
def test_huge_numbers_are_refused(api, number: str, field: str):
    body = json.dumps(sent())[:-1] + f', "{field}": {number}}}'
    assert status(api("write").post("/episodes", body)) in (400, 422)


def test_a_whole_number_of_any_size_is_kept_as_it_is(api):
    agent = api("write")
    assert agent.post("/episodes", sent(id="one", n=10**400)).status_code == 201
    assert agent.get("/episodes/one").json()["extra"] == {"n": 10**400}


def test_names_of_python_and_of_the_database_are_only_names(api):
    fields = {"__class__": 1, "__proto__": 2, "pk": 3, "model_config": 4, "self": 5, "vectors": 6}
    agent = api("write")
    assert agent.post("/episodes", sent(id="one", **fields)).status_code == 201
    assert agent.get("/episodes/one").json()["extra"] == fields


@pytest.mark.parametrize(
    "id", ["..", "../../etc/passwd", "a\\b", "CON", "C:x", "e\u0301", "é", "x" * 200]
)
def test_hostile_ids_are_only_ids_and_two_spellings_are_two(api, id: str):
    agent = api("write")
    assert agent.post("/episodes", sent(id=id)).status_code == 201
    assert agent.get("/episodes").json()["items"][0]["id"] == id
    assert agent.post("/episodes/delete", {"ids": [id]}).json()["deleted"] == 1


@pytest.mark.parametrize(
    "query",
    [
        "q=%ff%fe",
        "q='; DROP TABLE episodes_episode; --",
        "working_dir_prefix=%25%5f",
        "agent_id=%00",
    ],
)
def test_a_hostile_filter_finds_nothing_and_breaks_nothing(api, remember, query: str):
    remember()
    answer = api("read").get(f"/episodes?{query}")
    assert answer.status_code in (200, 422)
    assert not answer.json().get("items")
    assert Episode.objects.count() == 1


def test_an_error_never_repeats_what_was_sent(api):
    secret = "my-secret-" * 20
    answer = api("write").post("/episodes", sent(outcome=secret, schema_version=secret))
    assert status(answer) == 422
    assert secret not in answer.content.decode()
