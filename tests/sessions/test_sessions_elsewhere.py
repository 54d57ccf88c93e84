"""Sessions on the pages of others: search, coverage, the home page, activity, the admin."""

import html
import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from episodes import sessions, store
from episodes.models import Context, Memory, MemoryVector
from episodes.session_schemas import MemoryPatch
from memoryweb.core.actor import system
from memoryweb.core.models import AuditEntry

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def browser(signed_in, administrator) -> Client:
    return signed_in(administrator)


def text(response: Any) -> str:
    return html.unescape(response.content.decode())


def test_a_search_shows_memories_with_their_type_and_their_session(browser, memory):
    memory("The order worker deadlocks", "m1", type="error", context="a/b")
    page = text(browser.get("/search/?q=deadlocks"))
    assert 'href="/sessions/memories/m1/" data-main' in page
    assert 'href="/sessions/a/b/"' in page
    assert "session memory" in page
    assert browser.get("/sessions/a/b/").status_code == 200
    only = text(browser.get("/search/?q=deadlocks&kind=episodes"))
    assert "/sessions/memories/m1/" not in only


@pytest.mark.parametrize(
    "asked", ["m1", "/sessions/memories/m1/", "http://host/sessions/memories/m1/"]
)
def test_why_not_knows_a_memory_by_its_id_and_its_address(browser, memory, asked: str):
    memory("Sorted the locks", "m1")
    memory("Queues drain", "m2")
    page = text(browser.get("/search/", {"q": "queues", "why_not": asked}))
    assert "Nothing in it matches." in page


def test_numbers_of_memories_on_coverage_lead_to_lists_with_as_many(browser, memory):
    memory("current", "m1", [1.0, 0.0])
    memory("stale", "m2", [1.0, 0.0])
    sessions.edit_memory(system(), "m2", MemoryPatch(content="edited"))
    memory("wide", "m3", [1.0, 0.0, 0.0])
    memory("missing", "m4")
    memory("missing too", "m5", context="other")
    memory("archived", "m6")
    sessions.set_archived(system(), ["m6"], True)
    page = text(browser.get("/coverage/"))
    links = dict(re.findall(r'href="(/sessions/memories/[^"]*)">(\d+)', page))
    assert links == {
        "/sessions/memories/": "5",
        "/sessions/memories/?vector=current": "1",
        "/sessions/memories/?vector=stale": "1",
        "/sessions/memories/?vector=wrong_width": "1",
        "/sessions/memories/?vector=missing": "2",
    }
    for address, number in links.items():
        assert browser.get(address).context["page"].total == int(number)


def test_the_home_page_counts_active_sessions_and_leads_to_them(browser, memory):
    row = {"id": "e", "agent_id": "otter", "working_dir": "/srv", "outcome": "success"}
    store.store(system(), store.parse({**row, "summary": "Fixed"}))
    for name in ("a", "b", "old"):
        memory("x", context=name)
    sessions.set_status(system(), ["old"], "archived")
    page = text(browser.get("/"))
    found = re.search(r'href="(/sessions/[^"]*)"><span class="figure-value">(\d+)', page)
    assert found[2] == "2"
    assert browser.get(found[1]).context["page"].total == 2


def test_activity_leads_to_what_was_changed(browser, memory):
    memory("one", "m1", [1.0])
    page = text(browser.get("/activity/"))
    assert 'href="/sessions/shop/"' in page
    assert 'href="/sessions/memories/m1/"' in page


def act(browser: Client, model: str, *ids: str) -> Any:
    body = {"action": "delete_selected", "_selected_action": ids, "post": "yes"}
    return browser.post(reverse(f"admin:episodes_{model}_changelist"), body, follow=True)


def test_the_admin_shows_sessions_and_deletes_through_the_writers(browser, memory):
    memory("one", "m1", [1.0])
    memory("two", "m2")
    memory("x", "m3", context="other")
    for model in ("context", "memory", "memoryvector", "codevector", "deletedsession"):
        assert browser.get(reverse(f"admin:episodes_{model}_changelist")).status_code == 200
    assert act(browser, "memory", "m1").status_code == 200
    assert not MemoryVector.objects.exists()
    assert AuditEntry.objects.filter(via="admin", action="memory.delete").count() == 1
    browser.post(reverse("admin:episodes_memory_delete", args=["m2"]), {"post": "yes"})
    assert list(Memory.objects.values_list("pk", flat=True)) == ["m3"]
    act(browser, "context", "shop")
    browser.post(reverse("admin:episodes_context_delete", args=["other"]), {"post": "yes"})
    assert not Context.objects.exists()
    assert AuditEntry.objects.filter(via="admin", action="context.delete").count() == 2


def test_the_admin_changes_no_memory(browser, memory):
    memory("one", "m1")
    body = {"content": "changed", "type": "note"}
    address = reverse("admin:episodes_memory_change", args=["m1"])
    assert browser.post(address, body).status_code == 403
    assert Memory.objects.get().content == "one"
