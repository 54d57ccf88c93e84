import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from memoryweb.core import clock
from memoryweb.core.actor import system
from memoryweb.core.errors import Gone
from memoryweb.core.models import AuditEntry, Change, Clock

pytestmark = pytest.mark.django_db


def test_every_change_gets_the_next_number():
    before = clock.current_seq()
    with clock.writing(system()) as tx:
        tx.changed("episodes", "a")
        tx.changed("episodes", "b", "delete")
    assert tx.seq == clock.current_seq() == before + 2
    assert [(c.seq, c.document, c.op) for c in clock.changes_since(before)] == [
        (before + 1, "a", "put"),
        (before + 2, "b", "delete"),
    ]


def test_a_failed_write_leaves_no_trace():
    before = clock.current_seq()
    with pytest.raises(RuntimeError), clock.writing(system()) as tx:
        tx.changed("episodes", "a")
        tx.audited("episode.create", "episodes/a")
        raise RuntimeError
    assert clock.current_seq() == before
    assert not Change.objects.exists()
    assert not AuditEntry.objects.exists()


def test_writing_nothing_moves_nothing():
    before = clock.current_seq()
    with clock.writing(system()) as tx:
        pass
    assert tx.seq == clock.current_seq() == before


def test_each_audit_entry_covers_the_one_before():
    for name in ("a", "b", "c"):
        with clock.writing(system()) as tx:
            tx.audited("episode.create", f"episodes/{name}", rows=1)
    first, second, third = AuditEntry.objects.order_by("id")
    assert (second.previous_hash, third.previous_hash) == (first.hash, second.hash)
    assert all(clock.entry_hash(e) == e.hash for e in (first, second, third))
    second.target = "episodes/forged"
    assert clock.entry_hash(second) != second.hash


def test_the_database_keeps_its_identity():
    assert clock.database_uuid() == clock.database_uuid()


def test_an_inner_write_counts_only_when_the_outer_one_commits():
    before = clock.current_seq()
    with pytest.raises(RuntimeError), transaction.atomic():
        with clock.writing(system()) as tx:
            tx.changed("episodes", "a")
        raise RuntimeError
    assert clock.current_seq() == before


def test_old_change_rows_are_removed_and_who_is_behind_is_told(api):
    follower = api("read")
    before = clock.current_seq()
    for name in "abcdef":
        with clock.writing(system()) as tx:
            tx.changed("episodes", name)
    clock.prune(kept=2)
    assert [c.document for c in clock.changes_since(before + 4)] == ["e", "f"]
    with pytest.raises(Gone):
        clock.changes_since(before + 3)
    assert clock.prune(kept=2) == 0
    assert follower.get(f"/changes?since={before + 4}").json()["seq"] == tx.seq
    gone = follower.get(f"/changes?since={before}")
    assert gone.status_code == 410
    assert gone.json()["oldest_seq"] == before + 5


def test_a_number_that_was_never_given_is_not_told_back(api):
    with clock.writing(system()) as tx:
        tx.changed("episodes", "a")
    answer = api("read").get(f"/changes?since={tx.seq + 1000}").json()
    assert answer == {"items": [], "seq": clock.current_seq(), "more": False}


def test_many_change_rows_are_removed_in_several_writes():
    Change.objects.bulk_create(Change(seq=n, collection="x", document="d") for n in range(1, 5201))
    clock.database_uuid()
    Clock.objects.update(seq=5200)
    with CaptureQueriesContext(connection) as captured:
        assert clock.prune(kept=100) == 5100
    assert sum("DELETE" in query["sql"] for query in captured) == 2
    assert Change.objects.count() == 100


def test_what_a_request_committed_is_noted_for_its_answer():
    with clock.noting() as noted:
        with clock.writing(system()) as tx:
            tx.changed("episodes", "a")
        with pytest.raises(RuntimeError), clock.writing(system()) as failed:
            failed.changed("episodes", "b")
            raise RuntimeError
    assert (noted.seq, noted.documents) == (tx.seq, [("episodes", "a")])
