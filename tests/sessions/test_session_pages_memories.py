"""The pages of session memories: all of them, one, adding, editing, archiving, deleting."""

import html
import re
from typing import Any

import pytest
from django.test import Client

from episodes import memory_vectors, session_queries, sessions
from episodes.models import DeletedSession, Memory
from episodes.session_schemas import MemoryPatch
from memoryweb.core.actor import system
from tests.episodes.builders import ATTACK

# Transactions that end: the index is built by a thread, which sees no others.
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def browser(signed_in, curator) -> Client:
    return signed_in(curator)


def text(response: Any) -> str:
    return html.unescape(response.content.decode())


def listed(page: str) -> list[str]:
    return re.findall(r'name="id" value="([^"]*)" data-select', page)


def form_of(page: str) -> dict[str, Any]:
    """The values of the form as a browser would send them back."""
    values: dict[str, Any] = {}
    for name, value in re.findall(r'<input[^>]*name="(\w+)"[^>]*value="([^"]*)"', page):
        values[name] = html.unescape(value)
    areas = re.findall(r'<textarea[^>]*name="(\w+)"[^>]*>\n?(.*?)</textarea>', page, re.DOTALL)
    for name, value in areas:
        values[name] = html.unescape(value).replace("\r\n", "\n").replace("\n", "\r\n")
    for name, inside in re.findall(
        r'<select[^>]*name="(\w+)"[^>]*>(.*?)</select>', page, re.DOTALL
    ):
        values[name] = re.findall(r'value="(\w+)" selected', inside)[0]
    return values


def edit_form(browser: Client, id: str = "m1") -> dict[str, Any]:
    return form_of(browser.get(f"/sessions/memories/{id}/edit/").content.decode())


def save(browser: Client, values: dict[str, Any], id: str = "m1") -> Any:
    """Send the form and confirm what it changes."""
    asked = browser.post(f"/sessions/memories/{id}/edit/", values)
    assert asked.status_code == 200
    confirmed = form_of(asked.content.decode()) | {"step": "save"}
    return browser.post(f"/sessions/memories/{id}/edit/", confirmed)


# All memories


def test_memories_of_all_sessions_are_in_one_list_as_the_api_has_it(browser, memory, api):
    memory("one", "m1", [1.0])
    memory("two", "m2", context="other", type="error")
    for query in ("", "?type=error", "?vector=missing", "?q=one", "?state=archived"):
        response = browser.get(f"/sessions/memories/{query}")
        items = api("read").client.get(response.context["json_url"]).json()["items"]
        assert listed(text(response)) == [item["id"] for item in items]
        assert response.context["page"].total == len(items)


def test_every_state_of_a_vector_has_its_list_with_as_many(browser, memory):
    memory("current", "m1", [1.0, 0.0])
    memory("stale", "m2", [1.0, 0.0])
    sessions.edit_memory(system(), "m2", MemoryPatch(content="edited"))
    memory("wide", "m3", [1.0, 0.0, 0.0])
    memory("other", "m4", [1.0, 0.0], model="another")
    memory("missing", "m5")
    counts = session_queries.vector_states()
    assert counts == {"current": 1, "stale": 1, "wrong_width": 1, "other_model": 1, "missing": 1}
    for state in counts:
        response = browser.get(f"/sessions/memories/?vector={state}")
        assert response.context["page"].total == 1


# One memory


def test_a_memory_shows_its_text_its_vector_and_its_facts(browser, memory):
    memory("Sorted the locks\nby id", "m1", [1.0, 0.0], importance=0.9, source="worker.py")
    page = text(browser.get("/sessions/memories/m1/"))
    for shown in ("Sorted the locks\nby id", "worker.py", "0.9", "2 wide", "/sessions/shop/"):
        assert shown in page
    assert '"state": "current"' in page
    assert browser.get(browser.get("/sessions/memories/m1/").context["json_url"]).json()["id"]


def test_a_memory_says_whether_a_shell_of_its_session_is_given_it(browser, memory):
    for n in range(1, 8):
        memory(f"number {n}", f"m{n}", created_at=f"2026-03-0{n}T10:00:00Z")
    assert "as number 1 of 5" in text(browser.get("/sessions/memories/m7/"))
    assert "No shell of its session: 5 others" in text(browser.get("/sessions/memories/m1/"))


def test_a_stale_vector_is_told_to_be_of_a_former_text(browser, memory):
    memory("before", "m1", [1.0])
    sessions.edit_memory(system(), "m1", MemoryPatch(content="after"))
    page = text(browser.get("/sessions/memories/m1/"))
    assert "of a former text" in page
    assert "stale vector" in page
    assert "memory.edit" in page


def test_a_held_memory_is_shown_with_what_was_found_and_no_similar_ones(browser, memory):
    memory(ATTACK, "m1")
    response = browser.get("/sessions/memories/m1/")
    page = text(response)
    assert "In quarantine." in page
    assert re.search(r'href="/review/\d+/">Review', page)
    assert "Similar memories" not in page
    assert response.context["json_url"] == ""
    assert browser.get("/sessions/memories/m1/similar/").status_code == 404


def test_similar_memories_are_the_nearest_by_vector(browser, memory):
    memory("near", "near", [1.0, 0.1])
    memory("far", "far", [0.0, 1.0])
    memory("this", "m1", [1.0, 0.0])
    page = text(browser.get("/sessions/memories/m1/similar/"))
    assert re.findall(r'href="/sessions/memories/(\w+)/"><span', page) == ["near", "far"]


def test_a_memory_that_is_not_there_is_not_found(browser):
    for path in ("", "edit/", "delete/", "similar/"):
        assert browser.get(f"/sessions/memories/none/{path}").status_code == 404


# Adding and editing


def test_a_memory_is_added_by_hand_and_found_at_once(browser, memory):
    memory("x")
    sent = {"content": "Ask Mei first\r\nthen", "type": "constraint", "importance": "0.8",
            "source": "a call"}  # fmt: skip
    answer = browser.post("/sessions/shop/add/", sent)
    added = Memory.objects.exclude(content="x").get()
    assert answer["Location"] == f"/sessions/memories/{added.pk}/"
    assert (added.content, added.type, added.importance, added.source) == (
        "Ask Mei first\nthen",
        "constraint",
        0.8,
        "a call",
    )
    found = browser.get("/search/?q=Mei&kind=memories")
    assert f'href="/sessions/memories/{added.pk}/"' in text(found)


@pytest.mark.parametrize(
    ("field", "value"),
    [("content", " "), ("content", ""), ("content", "x" * 70_000), ("type", "fact"),
     ("importance", "2"), ("importance", "nan"), ("source", "s" * 201)],
)  # fmt: skip
def test_what_cannot_be_a_memory_is_refused_at_its_field(browser, memory, field, value):
    memory("x")
    sent = {"content": "text", "type": "note", "importance": "0.5", "source": "", field: value}
    answer = browser.post("/sessions/shop/add/", sent)
    assert answer.status_code == 422
    assert answer.context["form"].errors[field]
    assert Memory.objects.count() == 1


def test_an_added_text_the_guard_objects_to_is_marked_and_kept_in_the_form(browser, memory):
    memory("x")
    sent = {"content": ATTACK, "type": "note", "importance": "0.5", "source": ""}
    answer = browser.post("/sessions/shop/add/", sent)
    assert answer.status_code == 422
    page = text(answer)
    assert '<mark class="finding">' in page
    assert ATTACK in form_of(page)["content"]
    assert Memory.objects.count() == 1


def test_an_edit_is_compared_and_then_saved(browser, memory):
    memory("Sorted the locks", "m1", [1.0], importance=0.9)
    values = edit_form(browser) | {"content": "Sorted the queues", "type": "decision"}
    asked = browser.post("/sessions/memories/m1/edit/", values)
    assert "<del>" in text(asked)
    assert "stale from then on" in text(asked)
    assert Memory.objects.get().content == "Sorted the locks"
    answer = save(browser, values)
    assert answer.status_code == 302
    found = Memory.objects.get()
    assert (found.content, found.type, found.importance) == ("Sorted the queues", "decision", 0.9)


def test_a_form_sent_back_as_it_came_changes_nothing(browser, memory):
    before = memory("two\nlines ", "m1", importance=0.123456789, source="s")
    answer = browser.post("/sessions/memories/m1/edit/", edit_form(browser), follow=True)
    assert "Nothing was changed." in text(answer)
    assert Memory.objects.get().updated_at == before.updated_at


def test_a_stale_edit_keeps_the_text_and_changes_nothing(browser, memory):
    memory("first", "m1")
    values = edit_form(browser) | {"content": "mine"}
    sessions.edit_memory(system(), "m1", MemoryPatch(content="theirs"))
    answer = browser.post("/sessions/memories/m1/edit/", values)
    assert answer.status_code == 409
    assert form_of(text(answer))["content"] == "mine"
    assert "theirs" in text(answer)
    assert Memory.objects.get().content == "theirs"


def test_an_edit_that_turned_stale_after_the_comparison_is_refused_too(browser, memory):
    memory("first", "m1")
    asked = browser.post("/sessions/memories/m1/edit/", edit_form(browser) | {"content": "mine"})
    confirmed = form_of(asked.content.decode()) | {"step": "save"}
    sessions.edit_memory(system(), "m1", MemoryPatch(content="theirs"))
    assert browser.post("/sessions/memories/m1/edit/", confirmed).status_code == 409
    assert Memory.objects.get().content == "theirs"


def test_an_edit_the_guard_objects_to_is_not_saved(browser, memory):
    memory("first", "m1")
    values = edit_form(browser) | {"content": ATTACK, "step": "save"}
    answer = browser.post("/sessions/memories/m1/edit/", values)
    assert answer.status_code == 422
    assert '<mark class="finding">' in text(answer)
    assert Memory.objects.get().content == "first"


def test_a_held_memory_is_not_edited_before_review(browser, memory):
    memory(ATTACK, "m1")
    values = edit_form(browser) | {"content": "harmless"}
    answer = browser.post("/sessions/memories/m1/edit/", values)
    assert answer.status_code == 422
    assert "decides about its text in Review first" in text(answer)
    assert Memory.objects.get().content == ATTACK


# Archiving and deleting


def test_archiving_from_its_page_leads_back_to_it(browser, memory):
    memory("one", "m1")
    sent = {"id": "m1", "action": "archive", "from": "memory"}
    answer = browser.post("/sessions/memories/change/", sent)
    assert answer["Location"] == "/sessions/memories/m1/"
    assert Memory.objects.get().archived
    browser.post("/sessions/memories/change/", sent | {"action": "restore"})
    assert not Memory.objects.get().archived


def test_deleting_shows_first_what_goes_and_can_be_undone(browser, memory):
    memory("one", "m1", [1.0])
    memory("two", "m2")
    sent = {"id": ["m1", "m2"], "action": "delete", "context": "shop", "back": "type=note"}
    asked = text(browser.post("/sessions/memories/change/", sent))
    assert "Delete 2 memories?" in asked
    assert "1 vector" in asked
    assert Memory.objects.count() == 2
    done = browser.post("/sessions/memories/change/", sent | {"confirm": "1"}, follow=True)
    assert done.redirect_chain[-1][0] == "/sessions/shop/?type=note"
    assert "Deleted 2 memories and 1 vector. Looked again" in text(done)
    batch = DeletedSession.objects.first().batch
    back = browser.post(f"/sessions/undo/{batch}/", follow=True)
    assert "2 memories restored." in text(back)
    assert Memory.objects.count() == 2


def test_the_page_of_a_deleted_memory_offers_to_bring_it_back(browser, memory):
    memory("one", "m1")
    browser.post("/sessions/memories/change/", {"id": "m1", "action": "delete", "confirm": "1"})
    answer = browser.get("/sessions/memories/m1/")
    assert answer.status_code == 404
    assert "This memory was deleted" in text(answer)
    batch = DeletedSession.objects.get().batch
    back = browser.post(f"/sessions/undo/{batch}/")
    assert back["Location"] == "/sessions/memories/m1/"


def test_a_vector_that_arrives_is_on_the_page_at_once(browser, memory):
    memory("one", "m1")
    assert "no vector" in text(browser.get("/sessions/memories/m1/"))
    memory_vectors.index(system(), memory_vectors.Sent("m1", [1.0, 0.0], model="m"))
    assert "no vector" not in text(browser.get("/sessions/memories/m1/"))
