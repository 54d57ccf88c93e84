"""Changing one's own password: other sessions end, the audit knows, and nothing else changes."""

from collections.abc import Callable

import pytest
from django.test import Client

from memoryweb.core import people
from memoryweb.core.actor import system
from memoryweb.core.models import AuditEntry, User

OLD, NEW = "correct horse battery", "staple of the seven seas"
SENT = {"old_password": OLD, "new_password1": NEW, "new_password2": NEW}


@pytest.fixture
def desk(home: object, signed_in: Callable[[User], Client], curator: User) -> Client:
    return signed_in(curator)


def test_a_changed_password_opens_the_door_and_the_old_one_does_not(
    desk: Client, client: Client, curator: User
):
    assert desk.post("/settings/account/", SENT).status_code == 302
    said = {"username": curator.username}
    assert client.post("/login/", said | {"password": OLD}).status_code == 200  # The form again.
    assert client.post("/login/", said | {"password": NEW}).status_code == 302


def test_this_session_goes_on_and_others_end(
    desk: Client, signed_in: Callable[[User], Client], curator: User
):
    other = signed_in(curator)
    assert desk.post("/settings/account/", SENT).status_code == 302
    assert desk.get("/").status_code == 200
    assert other.get("/").status_code == 302


def test_the_audit_says_who_changed_a_password_and_not_which(desk: Client, curator: User):
    desk.post("/settings/account/", SENT)
    entry = AuditEntry.objects.get(action="person.password")
    assert (entry.actor, entry.target) == (
        f"person {curator.username}",
        f"people/{curator.username}",
    )
    assert entry.facts == {}


@pytest.mark.parametrize(
    "wrong", [{"old_password": "guessed"}, {"new_password2": "x"}, {"new_password1": "1234"}]
)
def test_what_is_refused_changes_nothing(desk: Client, curator: User, wrong: dict[str, str]):
    before = curator.password
    assert "errorlist" in desk.post("/settings/account/", SENT | wrong).content.decode()
    curator.refresh_from_db()
    assert curator.password == before
    assert not AuditEntry.objects.filter(action="person.password").exists()


def test_a_role_that_was_taken_meanwhile_does_not_come_back(
    home: object, curator: User, administrator: User
):
    read_before = User.objects.get(pk=curator.pk)
    people.change(system(), curator.username, role="viewer", active=False)
    people.set_password(read_before.actor("page"), read_before, NEW)
    curator.refresh_from_db()
    assert (curator.role, curator.is_active) == ("viewer", False)
    assert curator.check_password(NEW)
