"""GET /api/v1/episodes"""

from typing import Any
from urllib.parse import urlencode

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from episodes import store
from memoryweb.core.actor import system
from tests.episodes.builders import ATTACK, sent

ROWS = [
    sent(id="a", created_at="2026-03-01T00:00:00Z", summary="Fixed the Deadlock of 100 %"),
    sent(id="b", created_at="2026-03-02T00:00:00Z", working_dir="/srv/shop/web", outcome="failure"),
    sent(id="c", created_at="2026-03-03T00:00:00Z", working_dir="/srv/shopping", agent_id="heron"),
    sent(id="d", created_at="2026-03-04T00:00:00Z", working_dir="/SRV/shop", source="conversation"),
    sent(id="e", created_at="2026-03-05T00:00:00Z", task_id="t 1", summary="重建索引，修复部署"),
    sent(id="f", created_at="2026-03-06T00:00:00Z", working_dir="C:\\src\\app", summary=ATTACK),
]  # fmt: skip


@pytest.fixture
def rows(db: None) -> None:
    outcomes = list(store.store_many(system(), [store.parse(row) for row in ROWS]))
    assert [outcome.status for outcome in outcomes] == ["created"] * len(ROWS)


def listed(api: Any, **query: Any) -> list[str]:
    answer = api("read").get(f"/episodes?{urlencode(query)}")
    assert answer.status_code == 200, answer.json()
    assert answer.json()["total"] == len(answer.json()["items"])
    return [item["id"] for item in answer.json()["items"]]


def test_an_empty_store_lists_nothing(api):
    assert api("read").get("/episodes").json() == {"items": [], "next_cursor": None, "total": 0}


def test_the_newest_comes_first(api, rows):
    assert listed(api) == list("fedcba")
    assert listed(api, order="created_at") == list("abcdef")


def test_the_last_changed_comes_first_when_asked_for(api, rows):
    api("write").patch("/episodes/b", {"outcome": "blocked"})
    assert listed(api, order="-updated_at")[0] == "b"
    assert listed(api, order="updated_at")[-1] == "b"


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({"working_dir": "/srv/shop"}, "ea"),
        ({"working_dir_prefix": "/srv/shop"}, "eba"),
        ({"working_dir_prefix": "/srv/shop/"}, "eba"),
        ({"working_dir_prefix": "/srv"}, "ecba"),
        ({"working_dir_prefix": "/srv/sho"}, ""),
        ({"working_dir_prefix": "/"}, "edcba"),
        ({"working_dir_prefix": "C:\\src"}, "f"),
        ({"working_dir_prefix": "%"}, ""),
        ({"agent_id": "heron"}, "c"),
        ({"task_id": "t 1"}, "e"),
        ({"outcome": "failure"}, "b"),
        ({"source": "conversation"}, "d"),
        ({"since": "2026-03-05T00:00:00Z"}, "fe"),
        ({"until": "2026-03-02T08:00:00+08:00"}, "ba"),
        ({"since": "2026-03-02T00:00:00Z", "until": "2026-03-03T00:00:00Z"}, "cb"),
        ({"q": "deadlock"}, "a"),
        ({"q": "100 %"}, "a"),
        ({"q": "_"}, ""),
        ({"q": "索引"}, "e"),
        ({"quarantined": "true"}, "f"),
        ({"quarantined": "false"}, "edcba"),
        ({"outcome": "failure", "agent_id": "heron"}, ""),
        ({"vector": "missing"}, "fedcba"),
        ({"vector": "current"}, ""),
    ],
)
def test_every_given_filter_must_hold(api, rows, query: dict[str, str], found: str):
    assert "".join(listed(api, **query)) == found


@pytest.mark.parametrize(
    "query",
    [
        "outcom=failure",
        "outcome=done",
        "outcome=",
        "agent_id=",
        "since=2026-03-01",
        "since=2026-03-01T00:00:00",
        "vector=broken",
        "order=summary",
        "limit=0",
        "limit=501",
        "limit=1000000",
        "limit=ten",
        "cursor=abc",
        "q=%00",
        f"q={'x' * 1001}",
    ],
    ids=lambda query: query[:20],
)
def test_a_filter_that_is_not_understood_is_refused_and_never_dropped(api, rows, query: str):
    answer = api("read").get(f"/episodes?{query}")
    assert answer.status_code == 422
    assert answer.json()["errors"]


def test_the_pages_of_a_list_hold_every_row_once(api, rows):
    agent, cursor, seen = api("read"), "", []
    for _ in range(3):
        page = agent.get(f"/episodes?limit=2&cursor={cursor}").json()
        seen += [item["id"] for item in page["items"]]
        assert page["total"] == 6
        cursor = page["next_cursor"]
    assert seen == list("fedcba")
    assert cursor is None


def queries_of_a_list(api: Any) -> int:
    agent = api("read")
    agent.get("/episodes")  # The token's last use is noted once a minute.
    with CaptureQueriesContext(connection) as captured:
        assert agent.get("/episodes?limit=500&vector=missing").status_code == 200
    return len(captured)


def test_a_list_asks_the_database_the_same_number_of_times_at_any_length(api):
    list(store.store_many(system(), [store.parse(sent(id="first"))]))
    few = queries_of_a_list(api)
    many = (store.parse(sent(id=f"{i}")) for i in range(10_000))
    assert (
        sum(outcome.status == "created" for outcome in store.store_many(system(), many)) == 10_000
    )
    assert queries_of_a_list(api) == few


def test_a_stranger_lists_nothing(api, rows):
    assert api("").get("/episodes").status_code == 401


def test_a_person_who_signed_in_reads_the_same_list(signed_in, viewer, rows):
    assert signed_in(viewer).get("/api/v1/episodes").json()["total"] == 6
