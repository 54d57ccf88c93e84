"""What the guard objects to in sessions: refused, held for a curator, served to nobody."""

import time
from typing import Any

import pytest

from episodes import (
    code_vectors,
    session_decisions,
    session_queries,
    session_rereading,
    sessions,
)
from episodes.models import Context, Memory
from episodes.session_schemas import CodeVectorIn, MemoryIn
from memoryweb.core import clock, quarantine
from memoryweb.core.actor import Actor, Role, system
from memoryweb.core.errors import Refused
from memoryweb.core.models import QuarantineItem
from memoryweb.core.rereading import plan, settled
from search import recall
from tests.episodes.builders import ATTACK

PERSON = Actor("person", "ada", "page", Role.CURATOR)


def decided(tx: Any) -> None:
    """Review marks the item here."""


def test_a_decision_of_review_reaches_the_memory(api, db):
    sessions.save(system(), context_id="shop", name="Shop")
    api("write").post("/sessions", {"context_id": "shop", "memories": [{"content": ATTACK}]})
    admin = api("admin")
    [item] = admin.get("/guard/quarantine?collection=memories").json()["items"]
    path = f"/guard/quarantine/{item['id']}"
    assert admin.post(f"{path}/edit", {"reason": "tamed", "text": "ok"}).status_code == 422
    assert admin.post(f"{path}/approve", {"reason": "a test of ours"}).status_code == 200
    memory = Memory.objects.get()
    assert memory.content == ATTACK
    assert held().document == f"memory/{memory.pk}"
    assert held().state == "approved"


def test_a_rejected_memory_is_stored_nowhere_but_in_review(api, db):
    api("write").post(
        "/sessions", {"context_id": "shop", "name": "Shop", "memories": [{"content": ATTACK}]}
    )
    path = f"/guard/quarantine/{held().pk}/reject"
    assert api("admin").post(path, {"reason": "an attack"}).status_code == 200
    assert not Memory.objects.exists()


def test_what_waits_of_a_session_is_shown_in_review(api, signed_in, curator, memory):
    memory(ATTACK, "bad")
    api("write").post("/sessions", {"context_id": "new", "name": "New", "intent": ATTACK})
    browser = signed_in(curator)
    listed = browser.get("/review/").content.decode()
    assert listed.count("Session memory") == 2
    for item in QuarantineItem.objects.all():
        page = browser.get(f"/review/{item.pk}/")
        assert page.status_code == 200
        assert "joins its session" in page.content.decode()


def test_a_memory_that_new_rules_catch_is_held_and_an_approved_one_is_not(memory):
    memory("clean", "clean")
    memory(ATTACK, "bad")
    session_decisions.accept(PERSON, held(), decide=lambda tx: _approve(held()))
    Memory.objects.filter(pk="clean").update(content=ATTACK + ", now")  # before the rule was made
    with clock.writing(system()) as tx:
        read = plan(session_rereading.SOURCE, "", time.monotonic() + 60).read
        assert settled(tx, session_rereading.SOURCE, read) == 2
    assert [m.pk for m in session_queries.served()] == ["bad"]


def _approve(item: QuarantineItem) -> None:
    rules = sorted({finding["rule"] for finding in item.findings})
    QuarantineItem.objects.filter(pk=item.pk).update(
        state="approved",
        approved_sha256=quarantine.digest(item.text),
        approved_rules=rules,
    )


def held() -> QuarantineItem:
    return QuarantineItem.objects.get()


def test_a_memory_from_a_token_is_refused_and_waits_in_quarantine(api, db):
    body = {
        "context_id": "shop",
        "name": "Shop",
        "memories": [{"content": "ok"}, {"content": ATTACK}],
    }
    answer = api("write").post("/sessions", body)
    assert answer.status_code == 422
    told = answer.json()
    assert told["findings"]
    assert told["quarantine_id"] == held().pk
    assert (held().collection, held().document, held().text) == (
        "memories",
        "new/note/shop",
        ATTACK,
    )
    assert not Context.objects.exists()
    assert not Memory.objects.exists()


def test_a_persons_text_is_refused_and_nothing_is_kept_of_it(db):
    with pytest.raises(Refused) as refusal:
        sessions.save(PERSON, context_id="shop", name="Shop", memories=[MemoryIn(content=ATTACK)])
    assert refusal.value.findings
    assert not QuarantineItem.objects.exists()


def test_what_an_import_brings_is_kept_and_served_to_nobody(memory):
    memory("clean", "clean", [1.0, 0.0])
    memory(ATTACK, "bad", [1.0, 0.0])
    assert Memory.objects.get(pk="bad").quarantined
    assert [m.pk for m in session_queries.searchable()] == ["clean"]
    assert held().document == "memory/bad"
    found = recall.recall("shop", recall.given_vector([1, 0]))
    assert [m.pk for m, _ in found.memories] == ["clean"]


def test_an_approved_new_memory_joins_its_context(api, db):
    sessions.save(system(), context_id="shop", name="Shop")
    body = {"context_id": "shop", "memories": [{"content": ATTACK, "type": "error"}]}
    api("write").post("/sessions", body)
    session_decisions.accept(PERSON, held(), decide=decided)
    memory = Memory.objects.get()
    assert (memory.context_id, memory.type, memory.content) == ("shop", "error", ATTACK)
    assert not memory.quarantined


def test_an_approved_import_is_served(memory):
    memory(ATTACK, "bad")
    session_decisions.accept(PERSON, held(), decide=decided)
    assert not Memory.objects.get(pk="bad").quarantined


def test_an_edit_by_a_token_is_held_and_its_memory_stays(api, memory):
    memory("clean", "m1")
    answer = api("write").patch("/sessions/memories/m1", {"content": ATTACK})
    assert answer.status_code == 422
    assert answer.json()["quarantine_id"] == held().pk
    assert Memory.objects.get().content == "clean"
    session_decisions.accept(PERSON, held(), decide=decided)
    assert Memory.objects.get().content == ATTACK


def test_a_context_whose_intent_is_an_attack_is_held_whole(api, db):
    body = {"context_id": "shop", "name": "Shop", "intent": ATTACK}
    assert api("write").post("/sessions", body).status_code == 422
    assert not Context.objects.exists()
    session_decisions.accept(PERSON, held(), decide=decided)
    context = Context.objects.get()
    assert (context.pk, context.name, context.intent) == ("shop", "Shop", ATTACK)


@pytest.mark.parametrize(
    "body",
    [
        {"context_id": ATTACK, "name": "Shop"},
        {"context_id": "shop", "name": "Shop", "memories": [{"content": "x", "source": ATTACK}]},
        {"context_id": "shop", "name": "Shop", "memories": [{"content": "x", "id": ATTACK}]},
    ],
)
def test_an_attack_is_no_name(api, db, body: dict[str, Any]):
    answer = api("write").post("/sessions", body)
    assert answer.status_code == 422
    assert answer.json()["findings"]
    assert not Context.objects.exists()


def test_an_attack_is_no_name_of_a_symbol(db):
    given = CodeVectorIn(symbol_name=ATTACK, embedding=[1.0])
    with pytest.raises(Refused):
        code_vectors.store(system(), "shop", given)


def test_deleting_a_context_forgets_what_was_held_of_it(api, db):
    sessions.save(system(), context_id="shop", name="Shop")
    api("write").post("/sessions", {"context_id": "shop", "memories": [{"content": ATTACK}]})
    assert held()
    api("write").delete("/sessions/shop")
    assert not QuarantineItem.objects.exists()
