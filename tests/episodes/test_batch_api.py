"""POST /api/v1/episodes/batch"""

import json

from django.db import connection
from django.test.utils import CaptureQueriesContext

from episodes.models import Episode, RefusedVector
from memoryweb.core import clock
from memoryweb.core.models import QuarantineItem
from tests.episodes.builders import ATTACK, sent

NDJSON = "application/x-ndjson"


def test_good_rows_land_and_bad_rows_are_named(api):
    agent = api("write")
    agent.post("/episodes", sent(id="known"))
    agent.post("/episodes", sent(id="taken"))
    answer = agent.post(
        "/episodes/batch",
        [
            sent(id="new"),
            sent(id="known"),
            sent(id="taken", summary="Another"),
            {"id": "poor"},
            "no episode",
            sent(id="bad", summary=ATTACK),
            sent(id="half", embedding=[0, 0]),
        ],
    ).json()
    seq = clock.current_seq()
    assert {k: v for k, v in answer.items() if k != "failed"} == {
        "created": 3, "unchanged": 1, "replaced": 0, "quarantined": 1, "change_seq": seq,
    }  # fmt: skip
    assert [(f["index"], f["id"]) for f in answer["failed"]] == [
        (2, "taken"), (3, "poor"), (4, None),
    ]  # fmt: skip
    assert [e["loc"] for e in answer["failed"][1]["errors"]] == [
        ["agent_id"], ["working_dir"], ["summary"], ["outcome"],
    ]  # fmt: skip
    assert Episode.objects.get(pk="taken").summary == sent()["summary"]


def test_an_empty_batch_tells_the_number_that_holds(api):
    agent = api("write")
    agent.post("/episodes", sent(id="known"))
    answer = agent.post("/episodes/batch", [])
    assert answer.json()["change_seq"] == clock.current_seq() > 0
    assert answer.headers["X-Change-Seq"] == str(clock.current_seq())


def test_lines_of_json_are_a_batch_too_and_a_broken_line_is_a_bad_row(api):
    lines = [json.dumps(sent(id="one")), "", "{broken", json.dumps(sent(id="two")), "[NaN]"]
    answer = api("write").post("/episodes/batch", "\r\n".join(lines), content_type=NDJSON)
    assert answer.status_code == 200
    assert answer.json()["created"] == 2
    assert [f["index"] for f in answer.json()["failed"]] == [1, 3]


def test_the_second_row_with_an_id_is_compared_with_the_first(api):
    rows = [sent(id="one"), sent(id="one"), sent(id="one", summary="Another")]
    answer = api("write").post("/episodes/batch", rows).json()
    assert (answer["created"], answer["unchanged"], len(answer["failed"])) == (1, 1, 1)


def test_with_replace_the_last_row_with_an_id_stays(api):
    agent = api("write")
    agent.post("/episodes", sent(id="old"))
    rows = [sent(id="one"), sent(id="one", summary="B"), sent(id="old", summary="B")]
    answer = agent.post("/episodes/batch?replace=true", rows).json()
    assert (answer["created"], answer["replaced"], answer["failed"]) == (1, 2, [])
    assert set(Episode.objects.values_list("summary", flat=True)) == {"B"}


def test_every_row_is_one_change(api):
    answer = api("write").post("/episodes/batch", [sent(id=f"{i}") for i in range(1200)]).json()
    assert answer["created"] == 1200
    changed = [c.document for c in clock.changes_since(answer["change_seq"] - 1200)]
    assert sorted(changed) == sorted(f"{i}" for i in range(1200))


def test_an_empty_batch_stores_nothing(api):
    answer = api("write").post("/episodes/batch", [])
    assert (answer.status_code, answer.json()["created"]) == (200, 0)


def test_more_than_ten_thousand_rows_are_refused_whole(api):
    answer = api("write").post("/episodes/batch", [0] * 10_001)
    assert answer.status_code == 422
    assert "10,000" in answer.json()["detail"]


def test_a_body_that_is_no_array_is_refused(api):
    agent = api("write")
    assert agent.post("/episodes/batch", sent()).status_code == 422
    assert agent.post("/episodes/batch", "{broken").status_code == 400


def test_rows_of_other_agents_are_bad_rows_for_a_bound_token(api):
    rows = [sent(id="mine"), sent(id="theirs", agent_id="heron")]
    answer = api("write", "otter").post("/episodes/batch", rows).json()
    assert answer["created"] == 1
    assert [f["id"] for f in answer["failed"]] == ["theirs"]


def test_a_reader_stores_no_batch(api):
    assert api("read").post("/episodes/batch", [sent()]).status_code == 403


def queries_to_store(agent, rows: int) -> int:
    """How many queries it takes to store episodes that are held, each with a refused vector."""
    batch = [
        sent(id=f"{rows}-{n}", summary=ATTACK, embedding=[0.0, 0.0], embedding_model="m")
        for n in range(rows)
    ]
    with CaptureQueriesContext(connection) as queries:
        answer = agent.post("/episodes/batch", batch)
    assert answer.json()["quarantined"] == rows
    assert QuarantineItem.objects.filter(document__startswith=f"{rows}-").count() == rows
    assert RefusedVector.objects.filter(episode__in=[one["id"] for one in batch]).count() == rows
    return len(queries)


def test_what_is_held_and_refused_takes_as_many_queries_for_two_rows_as_for_fifty(api):
    agent = api("write")
    queries_to_store(agent, 1)
    assert queries_to_store(agent, 2) == queries_to_store(agent, 50)


def test_a_vector_that_is_refused_again_is_counted(api):
    agent = api("write")
    rows = [sent(id="one", embedding=[0.0, 0.0], embedding_model="m")] * 2
    agent.post("/episodes/batch", rows)
    agent.post("/episodes/batch", rows[:1])
    refused = RefusedVector.objects.get()
    assert (refused.count, refused.dimension, refused.reason) == (3, 2, "zero")
