"""The list of sessions and the page of one, as a curator, a viewer and an agent meet them."""

import html
import re
from typing import Any
from urllib.parse import parse_qs

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from episodes import session_queries, sessions
from episodes.models import Context, DeletedSession, Memory
from episodes.session_schemas import ContextPatch, MemoryIn
from memoryweb.core.actor import Actor, Role, system
from memoryweb.core.errors import Refused
from tests.episodes.builders import ATTACK

# Transactions that end: the index is built by a thread, which sees no others.
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def browser(signed_in, curator) -> Client:
    return signed_in(curator)


@pytest.fixture
def onlooker(signed_in, viewer) -> Client:
    return signed_in(viewer)


def text(response: Any) -> str:
    return html.unescape(response.content.decode())


def listed(page: str) -> list[str]:
    return re.findall(r'name="id" value="([^"]*)" data-select', page)


def test_an_empty_list_says_how_an_agent_fills_it(browser):
    page = text(browser.get("/sessions/"))
    assert "No sessions yet" in page
    assert "curl -s http://testserver/api/v1/sessions" in page
    assert "devkit_session_save" in page
    assert "http://testserver/mcp" in page


def test_the_command_of_the_empty_list_fills_it(browser, token):
    page = text(browser.get("/sessions/"))
    body = re.search(r"-d '(.*?)'", page, re.DOTALL)[1]
    agent = Client(headers={"Authorization": f"Bearer {token('write')}"})
    answer = agent.post("/api/v1/sessions", body, content_type="application/json")
    assert answer.status_code == 201
    assert "Order worker" in text(browser.get("/sessions/"))


def test_a_row_says_what_a_session_holds(browser, memory):
    memory("one", "m1", [1.0, 0.0], type="decision")
    memory("two", "m2", type="decision")
    memory("three", "m3", type="error")
    memory("gone", "m4")
    sessions.set_archived(system(), ["m4"], True)
    memory(ATTACK, "m5")
    page = text(browser.get("/sessions/"))
    [row] = re.findall(r"<tr data-item>.*?</tr>", page, re.DOTALL)
    assert "2 decisions" in row
    assert "1 error<" in row
    assert "1 of 3" in row
    assert "note" not in row


def test_counts_of_the_page_are_those_of_the_api(browser, memory, api):
    memory("one", "m1", [1.0])
    memory("two", "m2")
    memory("three", "m3", context="other")
    memory(ATTACK, "m4")
    sessions.set_archived(system(), ["m2"], True)
    agent = api("read")
    for item in agent.get("/sessions").json()["items"]:
        resumed = agent.get(f"/sessions/{item['id']}").json()
        context = browser.get(f"/sessions/{item['id']}/").context
        assert item["memory_count"] == resumed["total"] == context["page"].total
        assert session_queries.figures([item["id"]])[item["id"]].total == resumed["total"]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("", {"shop", "old", "tools"}),
        ("status=archived", {"old"}),
        ("status=active", {"shop", "tools"}),
        ("q=SHOP", {"shop"}),
        ("type=error", {"tools"}),
        ("type=error&status=archived", set()),
    ],
)
def test_filters_and_the_json_beside_them_list_the_same(browser, memory, api, query, found):
    memory("x")
    memory("x", context="old")
    memory("x", context="tools", type="error")
    sessions.set_status(system(), ["old"], "archived")
    response = browser.get(f"/sessions/?{query}")
    assert set(listed(text(response))) == found
    items = api("read").client.get(response.context["json_url"]).json()["items"]
    assert {item["id"] for item in items} == found


def test_a_type_counts_only_where_the_memory_is_served(browser, memory):
    memory("x", "m1", type="error")
    sessions.set_archived(system(), ["m1"], True)
    assert listed(text(browser.get("/sessions/?type=error"))) == []


def test_each_filter_can_be_taken_off(browser, memory):
    memory("x")
    page = text(browser.get("/sessions/?status=active&q=shop&type=note"))
    off = re.findall(r'class="chip chip-on" href="\?([^"]*)"', page)
    assert [set(parse_qs(query)) for query in off] == [
        {"status", "type"},
        {"q", "type"},
        {"q", "status"},
    ]


@pytest.mark.parametrize("query", ["status=gone", "type=fact", f"q={'x' * 1001}", "order=name"])
def test_a_filter_with_a_mistake_lists_nothing_and_says_so(browser, memory, query: str):
    memory("x")
    page = text(browser.get(f"/sessions/?{query}"))
    assert "This filter has a mistake" in page
    assert "data-item" not in page


def test_pages_follow_each_other_without_gaps(browser, db):
    for n in range(120):
        sessions.save(system(), context_id=f"s{n}", name=f"S{n}")
    seen: list[str] = []
    address = "/sessions/"
    while address:
        page = text(browser.get(address))
        seen += listed(page)
        found = re.search(r'rel="next" href="([^"]*)"', page)
        address = f"/sessions/{found[1]}" if found else ""
    assert sorted(seen) == sorted(f"s{n}" for n in range(120))


def test_the_list_costs_the_same_queries_however_much_it_holds(browser, memory):
    memory("x", vector=[1.0])
    browser.get("/sessions/")
    with CaptureQueriesContext(connection) as few:
        browser.get("/sessions/")
    for n in range(20):
        memory("x", context=f"c{n}", vector=[1.0])
        memory("y", context=f"c{n}")
    with CaptureQueriesContext(connection) as many:
        browser.get("/sessions/")
    assert len(many) == len(few)


def test_a_session_costs_the_same_queries_however_much_it_holds(browser, memory):
    memory("x", vector=[1.0])
    browser.get("/sessions/shop/")
    with CaptureQueriesContext(connection) as few:
        browser.get("/sessions/shop/")
    for n in range(30):
        memory(f"y{n}", vector=[float(n + 1)])
    with CaptureQueriesContext(connection) as many:
        browser.get("/sessions/shop/")
    assert len(many) == len(few)


def test_htmx_gets_the_part_alone(browser, memory):
    memory("x")
    for path in ("/sessions/", "/sessions/shop/", "/sessions/memories/"):
        part = browser.get(path, headers={"HX-Request": "true"})
        assert b"<!doctype" not in part.content
        assert b"data-item" in part.content
        assert "HX-Request" in part["Vary"]


# One session


def test_a_session_shows_its_intent_and_memories_newest_first(browser, memory):
    memory("older", "m1", created_at="2026-03-01T10:00:00Z")
    memory("newer", "m2", created_at="2026-03-02T10:00:00Z", type="decision", source="worker.py")
    sessions.edit_context(system(), "shop", ContextPatch(intent="Deploys without waiting"))
    page = text(browser.get("/sessions/shop/"))
    assert "Deploys without waiting" in page
    assert listed(page) == ["m2", "m1"]
    assert "from <bdi>worker.py</bdi>" in page


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("", ["m3", "m2", "m1"]),
        ("type=error", ["m2"]),
        ("vector=current", ["m1"]),
        ("vector=missing", ["m3", "m2"]),
        ("q=LOCK", ["m1"]),
        ("state=archived", ["m4"]),
    ],
)
def test_filters_of_memories_and_the_json_beside_them_list_the_same(
    browser, memory, api, query, found
):
    for n, (content, kind) in enumerate(
        [("Sorted the locks", "note"), ("Failed", "error"), ("Asked", "action"), ("Old", "note")], 1
    ):
        memory(content, f"m{n}", [1.0] if n == 1 else None, type=kind,
               created_at=f"2026-03-0{n}T10:00:00Z")  # fmt: skip
    memory(ATTACK, "held")
    sessions.set_archived(system(), ["m4"], True)
    response = browser.get(f"/sessions/shop/?{query}")
    assert listed(text(response)) == found
    answer = api("read").client.get(response.context["json_url"]).json()
    rows = answer.get("items", answer.get("memories"))
    assert [row["id"] for row in rows] == found
    assert answer["total"] == len(found)


def test_what_is_held_is_in_a_list_of_its_own_and_leads_to_review(browser, memory):
    memory("served", "m1")
    memory(ATTACK, "held")
    page = text(browser.get("/sessions/shop/"))
    assert "1 text of this session waits in Review." in page
    assert re.search(r'href="/review/\d+/">Review', page)
    held = browser.get("/sessions/shop/?state=quarantined")
    assert listed(text(held)) == ["held"]
    assert held.context["json_url"] == ""


def test_a_proposal_of_an_agent_that_the_guard_holds_is_told_of(browser, memory):
    memory("served", "m1")
    agent = Actor("token", "otter", "api", Role.CURATOR)
    with pytest.raises(Refused):
        sessions.save(agent, context_id="shop", memories=[MemoryIn(content=ATTACK)])
    assert "1 text of this session waits in Review." in text(browser.get("/sessions/shop/"))


ODD = [
    "a/b", "a?b#c", "%2F", "memories", "vectors/x", "../up", "x/edit", "x/recall", "会话", "جلسة",
    "~tilde", "with space", "back\\slash", "x" * 200, "undo", "new", "new/", "/", "a'b\"c<d>",
]  # fmt: skip


@pytest.mark.parametrize("id", ODD)
def test_every_id_has_pages_that_work(browser, memory, id: str):
    memory("text", id, context=id)
    assert Context.objects.get().get_absolute_url().startswith("/sessions/")
    for path in re.findall(
        r'href="(/sessions/[^"#?]*)"', browser.get("/sessions/").content.decode()
    ):
        assert browser.get(html.unescape(path)).status_code == 200, path
    for name in ("session", "edit_session", "delete_session", "add_memory", "recall",
                 "session_environment", "memory", "edit_memory", "delete_memory",
                 "similar_memories"):  # fmt: skip
        response = browser.get(reverse(name, args=[id]))
        assert response.status_code == 200, name
        assert response.resolver_match.url_name == name
    page = browser.get(reverse("session", args=[id]))
    assert page.context["json_url"]
    assert browser.get(page.context["json_url"]).json()["context"]["id"] == id


def test_an_unknown_session_is_not_found(browser):
    for path in ("", "edit/", "delete/", "add/", "recall/", "environment/"):
        assert browser.get(f"/sessions/none/{path}").status_code == 404


# Changing


def test_a_session_is_begun_from_the_empty_list(browser, db):
    page = browser.get("/sessions/")
    assert text(page).count(f'href="{reverse("new_session")}"') == 2
    sent = {"name": "Order worker", "context_id": "team/order worker", "intent": "No\r\ndeadlocks"}
    answer = browser.post("/sessions/new/", sent, follow=True)
    assert answer.status_code == 200
    found = Context.objects.get()
    assert (found.pk, found.name, found.status) == ("team/order worker", "Order worker", "active")
    assert found.intent == "No\ndeadlocks"
    assert answer.redirect_chain == [(found.get_absolute_url(), 302)]


def test_a_session_that_is_there_is_not_overwritten_by_a_new_one(browser, memory):
    memory("x")
    sent = {"name": "Mine", "context_id": "shop", "intent": "other"}
    answer = browser.post("/sessions/new/", sent)
    assert answer.status_code == 409
    assert answer.context["form"].errors["context_id"] == [
        "There is a session with this id already."
    ]
    assert 'value="Mine"' in text(answer)
    assert answer.context["taken"].get_absolute_url() == "/sessions/shop/"
    assert (Context.objects.get().name, Context.objects.get().intent) == ("shop", "")


@pytest.mark.parametrize(
    ("context_id", "name", "wrong"),
    [("", "n", "context_id"), ("x" * 201, "n", "context_id"), ("a\0b", "n", "context_id"),
     (" ", "n", "context_id"), ("a", "", "name"), ("a", "x" * 501, "name")],
)  # fmt: skip
def test_a_new_session_that_is_none_is_refused_at_its_field(browser, db, context_id, name, wrong):
    answer = browser.post("/sessions/new/", {"context_id": context_id, "name": name})
    assert answer.status_code == 422
    assert answer.context["form"].errors[wrong]
    assert not Context.objects.exists()


@pytest.mark.parametrize("field", ["context_id", "name", "intent"])
def test_a_new_session_the_guard_objects_to_is_marked_and_not_saved(browser, db, field: str):
    sent = {"context_id": "shop", "name": "Shop", "intent": ""} | {field: ATTACK}
    answer = browser.post("/sessions/new/", sent)
    assert answer.status_code == 422
    assert '<mark class="finding">' in text(answer)
    assert not Context.objects.exists()


def test_name_and_intent_are_edited_and_only_what_was_changed_is_sent(browser, memory):
    memory("x")
    form = browser.get("/sessions/shop/edit/").context
    sent = {"etag": form["etag"], "name": "shop", "intent": "One\r\ntwo"}
    answer = browser.post("/sessions/shop/edit/", sent, follow=True)
    assert "The session is saved." in text(answer)
    found = Context.objects.get()
    assert (found.name, found.intent) == ("shop", "One\ntwo")


def test_a_stale_save_shows_what_it_would_replace_and_changes_nothing(browser, memory):
    memory("x")
    etag = browser.get("/sessions/shop/edit/").context["etag"]
    sessions.edit_context(system(), "shop", ContextPatch(intent="theirs"))
    sent = {"etag": etag, "name": "shop", "intent": "mine"}
    answer = browser.post("/sessions/shop/edit/", sent)
    assert answer.status_code == 409
    assert "Somebody changed this session" in text(answer)
    assert "theirs" in text(answer)
    assert Context.objects.get().intent == "theirs"
    sent["etag"] = answer.context["etag"]
    browser.post("/sessions/shop/edit/", sent)
    assert Context.objects.get().intent == "mine"


def test_an_intent_the_guard_objects_to_is_marked_and_not_saved(browser, memory):
    memory("x")
    etag = browser.get("/sessions/shop/edit/").context["etag"]
    answer = browser.post("/sessions/shop/edit/", {"etag": etag, "name": "shop", "intent": ATTACK})
    assert answer.status_code == 422
    assert '<mark class="finding">' in text(answer)
    assert Context.objects.get().intent == ""


@pytest.mark.parametrize("name", ["", "two\nlines", "x" * 501, " "])
def test_a_name_that_is_none_is_refused_at_its_field(browser, memory, name: str):
    memory("x")
    answer = browser.post("/sessions/shop/edit/", {"name": name, "intent": ""})
    assert answer.status_code == 422
    assert answer.context["form"].errors["name"]
    assert Context.objects.get().name == "shop"


def test_archiving_from_its_page_leads_back_to_it(browser, memory):
    memory("x")
    sent = {"id": "shop", "action": "archive", "from": "session"}
    answer = browser.post("/sessions/change/", sent)
    assert (answer.status_code, answer["Location"]) == (302, "/sessions/shop/")
    assert Context.objects.get().status == "archived"
    browser.post("/sessions/change/", sent | {"action": "activate"})
    assert Context.objects.get().status == "active"


def test_many_are_archived_and_the_filters_stay(browser, memory):
    for name in ("a", "b", "c"):
        memory("x", context=name)
    sent = {"id": ["a", "b"], "action": "archive", "back": "status=active"}
    answer = browser.post("/sessions/change/", sent, follow=True)
    assert "2 sessions archived." in text(answer)
    assert answer.redirect_chain[-1][0] == "/sessions/?status=active"
    assert listed(text(answer)) == ["c"]


def test_deleting_shows_first_what_goes_and_can_be_undone(browser, memory):
    memory("one", "m1", [1.0])
    memory("two", "m2")
    memory("x", context="other")
    asked = browser.post("/sessions/change/", {"id": ["shop", "other"], "action": "delete"})
    assert Context.objects.count() == 2
    page = text(asked)
    assert "Delete 2 sessions?" in page
    assert "3 memories and 1 vector" in page
    sent = {"id": ["shop", "other"], "action": "delete", "confirm": "1"}
    done = browser.post("/sessions/change/", sent, follow=True)
    assert "Deleted 2 sessions with 3 memories and 1 vector. Looked again" in text(done)
    assert Context.objects.count() == Memory.objects.count() == 0
    batch = DeletedSession.objects.first().batch
    assert "2 sessions with 3 memories" in text(browser.get("/sessions/"))
    back = browser.post(f"/sessions/undo/{batch}/", follow=True)
    assert "2 sessions with 3 memories restored." in text(back)
    assert Context.objects.count() == 2


def test_the_page_of_a_deleted_session_offers_to_bring_it_back(browser, onlooker, memory):
    memory("x")
    browser.post("/sessions/change/", {"id": "shop", "action": "delete", "confirm": "1"})
    answer = browser.get("/sessions/shop/")
    assert answer.status_code == 404
    assert "This session was deleted" in text(answer)
    assert "This session was deleted" not in text(onlooker.get("/sessions/shop/"))


def test_a_deletion_of_nothing_says_so(browser, db):
    assert "No session was selected" in text(
        browser.post("/sessions/change/", {"action": "delete"})
    )


@pytest.mark.parametrize("action", ["", "destroy"])
def test_an_unknown_action_changes_nothing(browser, memory, action: str):
    memory("x")
    assert browser.post("/sessions/change/", {"id": "shop", "action": action}).status_code == 422
    assert Context.objects.get().status == "active"


# Who may


def test_a_viewer_sees_everything_and_no_button(onlooker, memory):
    memory("one", "m1", [1.0])
    for path in ("/sessions/", "/sessions/shop/", "/sessions/memories/", "/sessions/memories/m1/"):
        page = text(onlooker.get(path))
        for word in ("New session", ">Archive", "Delete…", " Edit<", "Add a memory", "data-select"):
            assert word not in page, (path, word)


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("get", "/sessions/new/"), ("post", "/sessions/new/"),
        ("get", "/sessions/shop/edit/"), ("post", "/sessions/shop/edit/"),
        ("get", "/sessions/shop/delete/"), ("get", "/sessions/shop/add/"),
        ("post", "/sessions/shop/add/"), ("post", "/sessions/change/"),
        ("post", "/sessions/undo/x/"), ("post", "/sessions/memories/change/"),
        ("get", "/sessions/memories/m1/edit/"), ("post", "/sessions/memories/m1/edit/"),
        ("get", "/sessions/memories/m1/delete/"), ("post", "/sessions/vectors/repo/delete/"),
    ],
)  # fmt: skip
def test_a_viewer_changes_nothing(onlooker, memory, method: str, path: str):
    memory("one", "m1")
    answer = getattr(onlooker, method)(path, {"id": "shop", "action": "delete", "confirm": "1"})
    assert answer.status_code == 403
    assert Memory.objects.count() == 1


def test_nothing_is_changed_without_a_csrf_token(curator, memory):
    memory("x")
    client = Client(enforce_csrf_checks=True)
    client.force_login(curator, "django.contrib.auth.backends.ModelBackend")
    sent = {"id": "shop", "action": "delete", "confirm": "1"}
    assert client.post("/sessions/change/", sent).status_code == 403
    assert Context.objects.count() == 1
