"""/api/v1/sessions: saving, listing, resuming, editing and deleting contexts and memories."""

from typing import Any
from urllib.parse import quote

import pytest

from episodes.identifiers import session_address
from episodes.models import Context, Memory, MemoryVector
from memoryweb.core import clock
from memoryweb.core.models import AuditEntry

SHOP = {"context_id": "shop", "name": "Shop", "intent": "Fewer deadlocks"}


def saved(api: Any, **fields: Any) -> dict[str, Any]:
    answer = api("write").post("/sessions", {**SHOP, **fields})
    assert answer.status_code in (200, 201), answer.content
    return answer.json()


def test_a_new_context_is_saved_with_its_memories_in_one_go(api, db):
    memories = [{"type": "decision", "content": "Sort the locks"}, {"content": "Eight workers"}]
    answer = api("write").post("/sessions", {**SHOP, "memories": memories})
    assert answer.status_code == 201
    told = answer.json()
    assert (told["id"], told["name"], told["intent"], told["status"]) == (
        "shop", "Shop", "Fewer deadlocks", "active",
    )  # fmt: skip
    assert (told["memories_added"], told["memory_count"]) == (2, 2)
    assert told["change_seq"] == clock.current_seq() == int(answer.headers["X-Change-Seq"])
    first, second = (Memory.objects.get(pk=pk) for pk in told["memory_ids"])
    assert (first.type, first.content) == ("decision", "Sort the locks")
    assert (second.type, second.importance, second.source) == ("note", 0.5, "")
    assert first.pk[14] == "7"
    changed = {(c.collection, c.document, c.op) for c in clock.changes_since(0)}
    assert {("memories", pk, "put") for pk in told["memory_ids"]} <= changed
    assert AuditEntry.objects.get(action="context.create").facts["memories"] == 2


def test_an_omitted_field_is_left_alone(api, db):
    saved(api)
    answer = api("write").post("/sessions", {"context_id": "shop", "name": "Shop 2"})
    assert answer.status_code == 200
    assert (answer.json()["name"], answer.json()["intent"]) == ("Shop 2", "Fewer deadlocks")
    api("write").post("/sessions", {"context_id": "shop", "intent": ""})
    context = Context.objects.get()
    assert (context.name, context.intent) == ("Shop 2", "")


def test_saving_the_same_again_changes_nothing(api, db):
    agent, body = api("write"), {**SHOP, "memories": [{"id": "m1", "content": "Sort the locks"}]}
    agent.post("/sessions", body)
    seq = clock.current_seq()
    again = agent.post("/sessions", body).json()
    assert (again["memories_added"], again["memory_ids"]) == (0, ["m1"])
    assert clock.current_seq() == seq


def test_an_id_with_other_content_is_a_conflict_and_nothing_is_saved(api, db):
    saved(api, memories=[{"id": "m1", "content": "Sort the locks"}])
    body = {**SHOP, "name": "Other", "memories": [{"content": "a"}, {"id": "m1", "content": "b"}]}
    assert api("write").post("/sessions", body).status_code == 409
    assert Context.objects.get().name == "Shop"
    assert Memory.objects.count() == 1


def test_a_new_context_needs_a_name(api, db):
    answer = api("write").post("/sessions", {"context_id": "shop"})
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["loc"] == ["body", "name"]
    assert not Context.objects.exists()


@pytest.mark.parametrize(
    "body",
    [
        {"name": "Shop"},
        {**SHOP, "context_id": ""},
        {**SHOP, "context_id": "x" * 201},
        {**SHOP, "name": ""},
        {**SHOP, "name": "  "},
        {**SHOP, "name": "two\nlines"},
        {**SHOP, "name": "x" * 501},
        {**SHOP, "name": 7},
        {**SHOP, "intent": "x" * 65_537},
        {**SHOP, "intent": "nul \0"},
        {**SHOP, "status": "deleted"},
        {**SHOP, "unknown": 1},
        {**SHOP, "memories": [{"content": ""}]},
        {**SHOP, "memories": [{"content": " \n"}]},
        {**SHOP, "memories": [{"content": "x" * 65_537}]},
        {**SHOP, "memories": [{"content": "x", "type": "fact"}]},
        {**SHOP, "memories": [{"content": "x", "type": "Decision"}]},
        {**SHOP, "memories": [{"type": "note"}]},
        {**SHOP, "memories": [{"content": "x", "importance": 1.01}]},
        {**SHOP, "memories": [{"content": "x", "importance": -0.01}]},
        {**SHOP, "memories": [{"content": "x", "created_at": "2026-01-01T00:00:00"}]},
        {**SHOP, "memories": [{"content": "x", "embedding": [1.0]}]},
        {**SHOP, "memories": [{"content": "x"}] * 1001},
        {**SHOP, "memories": {"content": "x"}},
        [SHOP],
        '{"context_id": "shop", "name": "Shop", "memories": [{"content": "x", "importance": NaN}]}',
    ],
)
def test_a_save_that_breaks_a_rule_is_refused_and_changes_nothing(api, db, body):
    answer = api("write").post("/sessions", body)
    assert answer.status_code == 422
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert not Context.objects.exists()


@pytest.mark.parametrize(
    "body",
    [
        {**SHOP, "context_id": "x" * 200},
        {**SHOP, "name": "x" * 500},
        {**SHOP, "intent": "x" * 65_536},
        {**SHOP, "memories": [{"content": "x" * 65_536, "importance": 1, "source": "s" * 200}]},
        {**SHOP, "memories": [{"content": "x", "importance": 0}]},
        {**SHOP, "memories": [{"content": f"memory {n}"} for n in range(1000)]},
    ],
)
def test_every_limit_itself_is_taken(api, db, body):
    assert api("write").post("/sessions", body).status_code == 201


@pytest.mark.parametrize("kind", ["decision", "constraint", "note", "discovery", "error", "action"])
def test_every_type_of_memory_is_kept(api, db, kind: str):
    told = saved(api, memories=[{"content": "x", "type": kind}])
    assert Memory.objects.get(pk=told["memory_ids"][0]).type == kind


def test_contexts_are_listed_newest_first_with_a_cursor_that_holds_still(api, db):
    for name in ("one", "two", "three"):
        saved(api, context_id=name)
    reader = api("read")
    first = reader.get("/sessions?limit=2").json()
    assert [c["id"] for c in first["items"]] == ["three", "two"]
    assert first["total"] == 3
    saved(api, context_id="four")
    rest = reader.get(f"/sessions?limit=2&cursor={quote(first['next_cursor'])}").json()
    assert [c["id"] for c in rest["items"]] == ["one"]
    assert rest["next_cursor"] is None


def test_the_order_may_be_that_of_the_last_save(api, db):
    saved(api, context_id="one")
    saved(api, context_id="two")
    saved(api, context_id="one", memories=[{"content": "later"}])
    listed = api("read").get("/sessions?order=-updated_at").json()["items"]
    assert [c["id"] for c in listed] == ["one", "two"]


def test_contexts_are_listed_by_status(api, db):
    saved(api, context_id="one")
    saved(api, context_id="two", status="archived")
    for status, ids in {"active": ["one"], "archived": ["two"]}.items():
        listed = api("read").get(f"/sessions?status={status}").json()
        assert [c["id"] for c in listed["items"]] == ids


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("limit=1", 200), ("limit=500", 200), ("limit=0", 422), ("limit=501", 422),
        ("limit=ten", 422), ("status=gone", 422), ("cursor=nonsense", 422), ("state=active", 422),
        ("q=", 422), ("order=name", 422),
    ],
)  # fmt: skip
def test_the_list_takes_its_bounds_and_nothing_beyond(api, db, query: str, status: int):
    assert api("read").get(f"/sessions?{query}").status_code == status


def test_resuming_gives_the_context_and_its_memories_newest_first(api, db):
    saved(api, memories=[{"content": "first", "type": "error"}])
    saved(api, memories=[{"content": "second"}])
    answer = api("read").get("/sessions/shop").json()
    assert answer["context"]["id"] == "shop"
    assert [m["content"] for m in answer["memories"]] == ["second", "first"]
    assert answer["memories"][1]["type"] == "error"
    assert answer["memories"][0]["vector"] == {
        "state": "missing", "model": None, "dimension": None, "indexed_at": None,
    }  # fmt: skip


def test_resuming_may_ask_for_some_types_alone(api, db):
    kinds = ("error", "note", "decision")
    saved(api, memories=[{"content": kind, "type": kind} for kind in kinds])
    path = "/sessions/shop?memory_types=error&memory_types=decision"
    found = api("read").get(path).json()["memories"]
    assert {m["type"] for m in found} == {"error", "decision"}
    assert api("read").get("/sessions/shop?memory_types=fact").status_code == 422


def test_what_is_not_there_is_404(api, db):
    agent = api("write")
    for method, path in [
        ("GET", "/sessions/none"), ("PATCH", "/sessions/none"), ("DELETE", "/sessions/none"),
        ("GET", "/sessions/none/memories"), ("GET", "/sessions/memories/none"),
        ("PATCH", "/sessions/memories/none"), ("DELETE", "/sessions/memories/none"),
    ]:  # fmt: skip
        body = {"status": "active"} if "memories" not in path else {"archived": True}
        answer = agent(method, path, body if method == "PATCH" else None)
        assert answer.status_code == 404, (method, path)


IDS = ["a/b", "x/memories", "memories", "recall", "x/recall", "~tilde", "..", "日本語", "a b?c#d%e"]


@pytest.mark.parametrize("id", IDS)
def test_every_id_has_an_address(api, db, id: str):
    saved(api, context_id=id, memories=[{"content": "x", "id": id}])
    path = quote(session_address(id))
    assert api("read").get(f"/sessions/{path}").json()["context"]["id"] == id
    assert api("read").get(f"/sessions/memories/{path}").json()["id"] == id
    assert api("read").get(f"/sessions/{path}/memories").json()["total"] == 1


def test_a_context_is_archived_and_brought_back(api, db):
    saved(api)
    agent = api("write")
    answer = agent.patch("/sessions/shop", {"status": "archived"})
    assert (answer.status_code, answer.json()["status"]) == (200, "archived")
    assert agent.get("/sessions?status=active").json()["total"] == 0
    assert agent.patch("/sessions/shop", {"status": "active"}).json()["status"] == "active"


@pytest.mark.parametrize(
    ("path", "edit", "later"),
    [
        ("/sessions/shop", {"name": "A"}, {"name": "B"}),
        ("/sessions/memories/m1", {"type": "error"}, {"type": "action"}),
    ],
)
def test_a_stale_edit_is_refused_and_changes_nothing(api, memory, path, edit, later):
    memory("x", "m1")
    agent = api("write")
    read = {"If-Match": agent.get(path).headers["ETag"]}
    assert agent.patch(path, edit, headers=read).status_code == 200
    stale = agent.patch(path, later, headers=read)
    assert stale.status_code == 409
    assert stale.json()["etag"] == agent.get(path).headers["ETag"]
    told = agent.get(path).json()
    assert edit.items() <= told.get("context", told).items()


def test_an_edited_memory_has_a_stale_vector_and_loses_no_field(api, memory):
    memory("Sorted the locks", "m1", [1.0, 0.0], source="review", importance=0.9)
    agent = api("write")
    assert agent.get("/sessions/memories/m1").json()["vector"]["state"] == "current"
    answer = agent.patch("/sessions/memories/m1", {"content": "Sorted the queues"}).json()
    assert answer["content"] == "Sorted the queues"
    assert (answer["source"], answer["importance"], answer["type"]) == ("review", 0.9, "note")
    assert answer["vector"]["state"] == "stale"


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/sessions/shop", {"name": None}),
        ("/sessions/shop", {"id": "other"}),
        ("/sessions/memories/m1", {"content": None}),
        ("/sessions/memories/m1", {"content": " "}),
        ("/sessions/memories/m1", {"archived": 1}),
        ("/sessions/memories/m1", {"context_id": "other"}),
    ],
)
def test_an_edit_that_breaks_a_rule_is_refused(api, memory, path: str, body: dict[str, Any]):
    memory("x", "m1")
    assert api("write").patch(path, body).status_code == 422


def test_an_archived_memory_is_listed_on_request_alone(api, memory):
    memory("kept", "m1")
    memory("put away", "m2")
    agent = api("write")
    assert agent.patch("/sessions/memories/m2", {"archived": True}).json()["archived"] is True
    assert [m["id"] for m in agent.get("/sessions/shop").json()["memories"]] == ["m1"]
    archived = agent.get("/sessions/shop/memories?archived=true").json()["items"]
    assert [m["id"] for m in archived] == ["m2"]
    assert agent.get("/sessions/shop").json()["context"]["memory_count"] == 1


def test_a_deleted_memory_is_gone_with_its_vector(api, memory):
    memory("x", "m1", [1.0])
    answer = api("write").delete("/sessions/memories/m1")
    assert answer.status_code == 200
    told = answer.json()
    assert told["deleted"] == 1
    assert (told["receipt"]["rows"], told["receipt"]["vectors"]) == (1, 1)
    assert told["receipt"]["verified"] is True
    assert not MemoryVector.objects.exists()
    [change] = clock.changes_since(told["change_seq"] - 1)
    assert (change.collection, change.document, change.op) == ("memories", "m1", "delete")


def test_a_deleted_context_takes_all_its_memories_along(api, memory):
    for n in range(3):
        memory(f"memory {n}", f"m{n}", [1.0, n])
    memory("stays", "other", context="else")
    told = api("write").delete("/sessions/shop").json()
    assert (told["deleted"], told["receipt"]["vectors"]) == (3, 3)
    assert told["receipt"]["verified"] is True
    assert [c.pk for c in Context.objects.all()] == ["else"]
    assert [m.pk for m in Memory.objects.all()] == ["other"]
    deleted = {c.document for c in clock.changes_since(0) if c.op == "delete"}
    assert {"m0", "m1", "m2"} <= deleted


@pytest.mark.parametrize("path", ["/sessions/memories/m1", "/sessions/shop"])
def test_a_stale_delete_is_refused_and_deletes_nothing(api, memory, path):
    memory("x", "m1")
    agent = api("write")
    stale = {"If-Match": '"1"'}
    assert agent.delete(path, headers=stale).status_code == 409
    assert Memory.objects.get().pk == "m1"
    fresh = {"If-Match": agent.get(path).headers["ETag"]}
    assert agent.delete(path, headers=fresh).status_code == 200


def test_deleted_content_can_be_saved_again(api, memory):
    memory("x", "m1")
    api("write").delete("/sessions/memories/m1")
    assert saved(api, memories=[{"id": "m1", "content": "x"}])["memories_added"] == 1


def test_a_list_takes_the_same_number_of_queries_whatever_its_length(
    api, memory, django_assert_max_num_queries
):
    reader = api("read")
    for n in range(30):
        memory(f"memory {n}", vector=[1.0, n])
    reader.get("/sessions/shop")
    with django_assert_max_num_queries(10):
        assert len(reader.get("/sessions/shop").json()["memories"]) == 30
    with django_assert_max_num_queries(8):
        reader.get("/sessions")
