import pytest
from django.db import transaction

from memoryweb.core import clock
from memoryweb.core.actor import system
from memoryweb.core.models import AuditEntry, Change

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
