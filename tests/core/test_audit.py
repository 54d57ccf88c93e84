"""The audit is added to and never changed, and tells when somebody did so all the same."""

import pytest
from django.db import DatabaseError, connection

from memoryweb.core import audit, clock
from memoryweb.core.actor import system
from memoryweb.core.models import AuditEntry


def act(*targets: str) -> None:
    for target in targets:
        with clock.writing(system()) as tx:
            tx.audited("episode.delete", target, count=1)


@pytest.fixture
def protected(transactional_db):
    with connection.schema_editor() as schema:
        audit.protect(schema)
    yield
    with connection.schema_editor() as schema:
        audit.unprotect(schema)


def test_the_database_refuses_to_change_or_remove_an_entry(protected):
    act("episodes/a", "episodes/b")
    with pytest.raises(DatabaseError, match="only added to"):
        AuditEntry.objects.update(target="episodes/c")
    with pytest.raises(DatabaseError, match="only added to"):
        AuditEntry.objects.all().delete()
    act("episodes/c")
    assert AuditEntry.objects.count() == 3


@pytest.mark.django_db
def test_a_whole_audit_is_found_whole():
    assert clock.first_broken_entry() == ""
    act("episodes/a", "episodes/b", "episodes/c")
    assert clock.first_broken_entry() == ""


@pytest.mark.django_db
def test_what_others_write_while_it_is_looked_through_is_not_missing(monkeypatch):
    act("episodes/a", "episodes/b")
    hashed = clock.entry_hash

    def meanwhile(entry):
        monkeypatch.setattr(clock, "entry_hash", hashed)
        act("episodes/c")
        return hashed(entry)

    monkeypatch.setattr(clock, "entry_hash", meanwhile)
    assert clock.first_broken_entry() == ""
    assert AuditEntry.objects.count() == 3


@pytest.mark.django_db
@pytest.mark.parametrize(
    "changed", [{"target": "x"}, {"actor": "x"}, {"facts": {"count": 2}}, {"hash": "0" * 64}]
)
def test_an_altered_entry_is_named(changed):
    act("episodes/a", "episodes/b", "episodes/c")
    second = AuditEntry.objects.order_by("id")[1]
    AuditEntry.objects.filter(pk=second.pk).update(**changed)
    assert clock.first_broken_entry().startswith(f"entry {second.pk} ")


@pytest.mark.django_db
def test_an_entry_missing_in_the_middle_or_at_the_end_is_noticed():
    act("episodes/a", "episodes/b", "episodes/c")
    AuditEntry.objects.get(target="episodes/c").delete()
    assert clock.first_broken_entry().startswith("the end")
    act("episodes/d")
    assert clock.first_broken_entry().startswith("entry ")


@pytest.mark.django_db
def test_the_changes_can_be_followed_in_pieces(api):
    before = clock.current_seq()
    with clock.writing(system()) as tx:
        for n in range(5):
            tx.changed("episodes", f"e{n}")
    follower, seen, seq = api("read"), [], before
    while True:
        answer = follower.get(f"/changes?since={seq}&limit=2").json()
        seen += [row["document"] for row in answer["items"]]
        seq = answer["seq"]
        if not answer["more"]:
            break
    assert seen == ["e0", "e1", "e2", "e3", "e4"]
    assert seq >= tx.seq
    assert follower.get(f"/changes?since={seq}").json()["items"] == []


@pytest.mark.django_db
def test_the_audit_can_be_filtered_by_administrators_alone(api):
    act("episodes/a", "episodes/b")
    assert api("write").get("/audit").status_code == 403
    listed = api("admin").get("/audit?action=episode.delete&target=episodes/a").json()
    assert [item["target"] for item in listed["items"]] == ["episodes/a"]
    assert listed["total"] == 1
    assert api("admin").get("/audit?since=2999-01-01T00:00:00Z").json()["total"] == 0
    assert api("admin").get("/audit?who=me").status_code == 422
