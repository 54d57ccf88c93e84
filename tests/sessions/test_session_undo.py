"""Deleting sessions from a page: kept aside for some minutes, and brought back whole."""

from datetime import timedelta

import pytest
from django.utils import timezone

from episodes import session_deletion, session_queries, session_undo, sessions
from episodes.deletion import Receipt
from episodes.models import Context, DeletedSession, Memory, MemoryVector
from episodes.session_schemas import MemoryIn
from memoryweb.core import clock
from memoryweb.core.actor import Actor, Role, system
from memoryweb.core.errors import Conflict, Forbidden, NotFound
from memoryweb.core.models import QuarantineItem
from tests.episodes.builders import ATTACK

PAGE = system("page")


def delete(*ids: str) -> Receipt:
    return session_deletion.delete_memories(PAGE, ids, undoable=True)


def shown(id: str) -> dict[str, object]:
    return session_queries.shown(session_queries.find_memory(id)).model_dump()


def test_a_memory_comes_back_with_its_times_and_vector(memory):
    memory("Sorted the locks", "m1", [0.1, -2.5], importance=0.9, source="worker.py")
    before, blob = shown("m1"), bytes(MemoryVector.objects.get().vector)
    receipt = delete("m1")
    assert (receipt.rows, receipt.vectors, receipt.verified) == (1, 1, True)
    assert not Memory.objects.exists()
    restored = session_undo.undo(PAGE, receipt.batch)
    assert restored == session_undo.Restored([], ["m1"], [])
    assert shown("m1") == before
    assert bytes(MemoryVector.objects.get().vector) == blob
    assert not DeletedSession.objects.exists()
    assert [c.op for c in clock.changes_since(0)][-2:] == ["delete", "put"]


def test_a_context_comes_back_with_all_its_memories(memory):
    memory("one", "m1", [1.0, 0.0])
    memory("two", "m2")
    memory("three", "m3", context="other")
    before = [vars(c) | {"_state": None} for c in Context.objects.order_by("pk")]
    number, receipt = session_deletion.delete_contexts(PAGE, ["shop", "none"], undoable=True)
    assert (number, receipt.rows, receipt.vectors, receipt.verified) == (1, 2, 1, True)
    assert list(Memory.objects.values_list("pk", flat=True)) == ["m3"]
    restored = session_undo.undo(PAGE, receipt.batch)
    assert (restored.contexts, sorted(restored.memories), restored.left) == (
        ["shop"],
        ["m1", "m2"],
        [],
    )
    assert [vars(c) | {"_state": None} for c in Context.objects.order_by("pk")] == before
    assert MemoryVector.objects.get().memory_id == "m1"


def test_what_the_api_deletes_is_gone_for_good(memory, api):
    memory("one", "m1")
    assert api("write").delete("/sessions/memories/m1").status_code == 200
    assert api("write").delete("/sessions/shop").status_code == 200
    assert not DeletedSession.objects.exists()


def test_an_id_that_is_used_again_stays_as_it_is(memory):
    memory("one", "m1")
    memory("two", "m2")
    receipt = delete("m1", "m2")
    memory("another", "m1")
    restored = session_undo.undo(PAGE, receipt.batch)
    assert (restored.memories, restored.left) == (["m2"], ["m1"])
    assert Memory.objects.get(pk="m1").content == "another"


def test_nothing_comes_back_where_every_id_is_used_again(memory):
    memory("one", "m1")
    receipt = delete("m1")
    memory("another", "m1")
    with pytest.raises(Conflict):
        session_undo.undo(PAGE, receipt.batch)
    assert Memory.objects.get(pk="m1").content == "another"


def test_a_memory_whose_session_is_gone_does_not_come_back(memory):
    memory("one", "m1")
    receipt = delete("m1")
    session_deletion.delete_context(PAGE, "shop")
    with pytest.raises(Conflict):
        session_undo.undo(PAGE, receipt.batch)
    assert not Memory.objects.exists()


def test_after_the_time_nothing_comes_back_and_nothing_is_kept(memory, settings):
    memory("one", "m1")
    receipt = delete("m1")
    past = timezone.now() - timedelta(minutes=settings.MEMORYWEB_TRASH_MINUTES, seconds=1)
    DeletedSession.objects.update(deleted_at=past)
    with pytest.raises(NotFound):
        session_undo.undo(PAGE, receipt.batch)
    assert session_undo.lately() == []
    assert session_undo.purge() == 1
    assert not DeletedSession.objects.exists()


def test_what_was_in_quarantine_comes_back_into_quarantine(memory):
    memory(ATTACK, "m1")
    receipt = delete("m1")
    assert not QuarantineItem.objects.exists()
    session_undo.undo(PAGE, receipt.batch)
    assert Memory.objects.get().quarantined
    assert QuarantineItem.objects.get().document == "memory/m1"


def test_a_text_that_the_present_rules_have_not_read_is_read_on_its_way_back(memory):
    memory("harmless", "m1")
    receipt = delete("m1")
    kept = DeletedSession.objects.get()
    kept.record["content"] = ATTACK
    kept.save()
    session_undo.undo(PAGE, receipt.batch)
    assert Memory.objects.get().quarantined


def test_a_viewer_neither_deletes_nor_brings_back(memory):
    memory("one", "m1")
    receipt = delete("m1")
    viewer = Actor("person", "viewer", "page", Role.VIEWER)
    with pytest.raises(Forbidden):
        session_deletion.delete_contexts(viewer, ["shop"], undoable=True)
    with pytest.raises(Forbidden):
        session_undo.undo(viewer, receipt.batch)


def test_what_was_deleted_lately_is_counted_by_kind_newest_first(memory):
    memory("one", "m1")
    memory("two", "m2")
    delete("m1")
    session_deletion.delete_contexts(PAGE, ["shop"], undoable=True)
    assert [(d["contexts"], d["memories"]) for d in session_undo.lately()] == [(1, 1), (0, 1)]
    assert session_undo.lately_with("memories", "m1")["memories"] == 1
    assert session_undo.lately_with("contexts", "none") is None


def test_archiving_many_is_one_transaction_that_leaves_the_archived_alone(memory):
    for name in ("a", "b", "c"):
        memory("x", context=name)
    sessions.set_status(PAGE, ["c"], "archived")
    before, seq = Context.objects.get(pk="c").updated_at, clock.current_seq()
    assert sessions.set_status(PAGE, ["a", "c", "none"], "archived") == 1
    assert clock.current_seq() == seq + 1
    assert Context.objects.get(pk="c").updated_at == before
    assert sessions.set_status(PAGE, ["a"], "archived") == 0
    assert clock.current_seq() == seq + 1


def test_archiving_memories_takes_them_from_every_recall(memory):
    memory("one", "m1")
    memory("two", "m2")
    assert sessions.set_archived(PAGE, ["m1"], True) == 1
    assert list(session_queries.searchable().values_list("pk", flat=True)) == ["m2"]
    assert sessions.set_archived(PAGE, ["m1", "m2"], False) == 1
    assert session_queries.searchable().count() == 2


def test_an_imported_batch_of_many_memories_comes_back_whole(memory):
    given = [MemoryIn(content=f"number {n}", id=f"m{n}") for n in range(1200)]
    sessions.save(PAGE, context_id="big", name="big", memories=given)
    _, receipt = session_deletion.delete_contexts(PAGE, ["big"], undoable=True)
    assert receipt.rows == 1200
    assert len(session_undo.undo(PAGE, receipt.batch).memories) == 1200
    assert Memory.objects.filter(context="big").count() == 1200
