"""POST /api/v1/episodes/delete"""

from typing import Any

import pytest

from episodes import deletion, store
from episodes.models import DeletedEpisode, Episode, EpisodeVector
from memoryweb.core import clock
from memoryweb.core.actor import system
from memoryweb.core.models import AuditEntry
from tests.episodes.builders import sent


@pytest.fixture
def three(remember) -> None:
    remember("one", vector=[1.0])
    remember("two", working_dir="/srv/shop/web", vector=[1.0])
    remember("three", working_dir="/srv/shopping")


def left() -> set[str]:
    return set(Episode.objects.values_list("pk", flat=True))


@pytest.mark.usefixtures("impatient")
def test_named_episodes_are_deleted_and_looked_for_again(api, three):
    answer = api("write").post("/episodes/delete", {"ids": ["one", "none", "one"]})
    assert answer.status_code == 200
    told = answer.json()
    assert (told["deleted"], told["dry_run"], told["change_seq"]) == (1, False, clock.current_seq())
    receipt = told["receipt"]
    assert (receipt["rows"], receipt["vectors"], receipt["verified"]) == (1, 1, True)
    assert left() == {"two", "three"}
    assert EpisodeVector.objects.count() == 1
    assert not DeletedEpisode.objects.exists()


def test_what_matches_a_filter_is_deleted_and_nothing_else(api, three):
    body = {"filter": {"working_dir_prefix": "/srv/shop", "vector": "current"}}
    answer = api("write").post("/episodes/delete", body).json()
    assert (answer["deleted"], answer["receipt"]["vectors"]) == (2, 2)
    assert left() == {"three"}
    deleted = {c.document for c in clock.changes_since(0) if c.op == "delete"}
    assert deleted == {"one", "two"}


def test_a_dry_run_counts_and_deletes_nothing(api, three):
    agent = api("write")
    seq = clock.current_seq()
    answer = agent.post(
        "/episodes/delete", {"filter": {"agent_id": "otter"}, "dry_run": True}
    ).json()
    assert (answer["deleted"], answer["dry_run"], answer["change_seq"]) == (0, True, seq)
    assert (answer["receipt"]["rows"], answer["receipt"]["vectors"]) == (3, 2)
    assert left() == {"one", "two", "three"}


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"filter": {}},
        {"filter": {"outcome": None}},
        {"filter": {"outcom": "failure"}},
        {"filter": {"outcome": "done"}},
        {"filter": {"since": "2026-03-01"}},
        {"filter": {"q": ""}},
        {"filter": {"q": "x", "order": "-created_at"}},
        {"filter": "all"},
        {"ids": []},
        {"ids": "one"},
        {"ids": [1]},
        {"ids": ["one"] * 10_001},
        {"ids": ["one"], "filter": {"q": "x"}},
        {"ids": ["one"], "dry_run": "false"},
        {"ids": ["one"], "dry_run": 0},
        {"all": True},
    ],
    ids=lambda body: str(body)[:40],
)
def test_a_request_that_is_not_understood_deletes_nothing(api, three, body: dict[str, Any]):
    assert api("write").post("/episodes/delete", body).status_code == 422
    assert left() == {"one", "two", "three"}


def test_the_receipt_tells_what_an_index_still_answers_with(api, three, monkeypatch):
    monkeypatch.setattr(deletion, "_index_check", lambda collection, ids: {"one"} & set(ids))
    receipt = api("write").post("/episodes/delete", {"ids": ["one", "two"]}).json()["receipt"]
    assert receipt == {"rows": 2, "vectors": 2, "index": 1, "verified": False}


def test_more_than_one_transaction_deletes_all_of_them(api, remember):
    list(store.store_many(system(), (store.parse(sent(id=f"{i}")) for i in range(1100))))
    answer = api("write").post("/episodes/delete", {"ids": [f"{i}" for i in range(1100)]})
    assert (answer.json()["deleted"], answer.json()["receipt"]["verified"]) == (1100, True)
    assert left() == set()


def test_a_bound_token_deletes_nothing_when_others_are_among_them(api, three, remember):
    remember("theirs", agent_id="heron")
    agent = api("write", "otter")
    assert agent.post("/episodes/delete", {"ids": ["one", "theirs"]}).status_code == 403
    assert agent.post("/episodes/delete", {"filter": {"q": "locks"}}).status_code == 403
    assert left() == {"one", "two", "three", "theirs"}
    assert agent.post("/episodes/delete", {"filter": {"agent_id": "otter"}}).json()["deleted"] == 3


def test_the_audit_counts_what_was_deleted(api, three):
    api("write").post("/episodes/delete", {"ids": ["one", "two"]})
    assert AuditEntry.objects.get(action="episode.delete").facts == {"count": 2, "undoable": False}


def test_a_reader_deletes_nothing(api, three):
    assert api("read").post("/episodes/delete", {"ids": ["one"]}).status_code == 403
    assert left() == {"one", "two", "three"}
