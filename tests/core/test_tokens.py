import sqlite3
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from memoryweb.core import tokens
from memoryweb.core.actor import Role, system
from memoryweb.core.errors import Forbidden, Invalid, NotFound
from memoryweb.core.models import ApiToken, User
from memoryweb.core.sqlite import queue

pytestmark = pytest.mark.django_db


def test_a_token_is_found_by_its_text_and_only_its_hash_is_kept():
    token, text = tokens.issue(system(), "laptop", "write")
    assert tokens.find(text) == token
    secret = text.rsplit("_", 1)[-1]
    assert secret not in str(ApiToken.objects.values().get())


@pytest.mark.parametrize(
    "text", ["", "mw_", "mw_abc_def", "Bearer x", "mw_" + "0" * 12 + "_" + "A" * 43]
)
def test_a_text_that_is_no_live_token_finds_nothing(text):
    tokens.issue(system(), "laptop", "write")
    assert tokens.find(text) is None


def test_a_right_key_with_a_wrong_secret_finds_nothing():
    _, text = tokens.issue(system(), "laptop", "write")
    assert tokens.find(text[:-1] + ("A" if text[-1] != "A" else "B")) is None


def test_a_revoked_or_expired_token_finds_nothing():
    token, text = tokens.issue(system(), "laptop", "read")
    tokens.revoke(system(), token.key)
    assert tokens.find(text) is None
    token, text = tokens.issue(
        system(), "short", "read", expires_at=timezone.now() + timedelta(days=1)
    )
    ApiToken.objects.filter(pk=token.pk).update(expires_at=timezone.now())
    assert tokens.find(text) is None


def test_revoking_twice_is_an_error():
    token, _ = tokens.issue(system(), "laptop", "read")
    tokens.revoke(system(), token.key)
    with pytest.raises(NotFound):
        tokens.revoke(system(), token.key)


def test_only_an_administrator_makes_tokens(curator: User):
    with pytest.raises(Forbidden):
        tokens.issue(curator.actor(), "laptop", "read")


def test_a_token_needs_a_name_a_known_scope_and_a_future():
    for values in (
        {"name": " ", "scope": "read"},
        {"name": "x", "scope": "root"},
        {"name": "x", "scope": "read", "expires_at": timezone.now()},
    ):
        with pytest.raises(Invalid):
            tokens.issue(system(), **values)
    assert not ApiToken.objects.exists()


def test_the_last_use_of_a_token_is_noted():
    _, text = tokens.issue(system(), "laptop", "read")
    tokens.find(text)
    assert ApiToken.objects.get().last_used_at is not None


def test_a_setup_link_makes_one_administrator():
    secret = tokens.make_setup_link(system())
    user = tokens.use_setup_link(system(), secret, User(username="ada"))
    assert user.actor().role is Role.ADMINISTRATOR
    with pytest.raises(NotFound):
        tokens.use_setup_link(system(), secret, User(username="eve"))
    assert not User.objects.filter(username="eve").exists()


def test_a_setup_link_survives_a_name_that_is_taken(viewer: User):
    secret = tokens.make_setup_link(system())
    with pytest.raises(Invalid, match="taken"):
        tokens.use_setup_link(system(), secret, User(username="viewer"))
    assert tokens.setup_link_is_open(secret)


@pytest.mark.django_db(transaction=True)
def test_a_token_does_not_wait_for_writers_that_do_not_end(monkeypatch):
    token, text = tokens.issue(system(), "laptop", "read")
    monkeypatch.setattr(queue.WriteQueue, "enter", lambda self: pytest.fail("it waits"))
    writer = queue.WriteQueue(connection.queue.path)
    assert writer.enter_now()
    try:
        assert tokens.find(text) == token
    finally:
        writer.leave()
    token.refresh_from_db()
    assert token.last_used_at is None


@pytest.mark.django_db(transaction=True)
def test_a_token_does_not_wait_for_a_writer_beside_the_queue():
    token, text = tokens.issue(system(), "laptop", "read")
    shell = sqlite3.connect(connection.settings_dict["NAME"], isolation_level=None)
    shell.execute("BEGIN IMMEDIATE")
    assert tokens.find(text) == token
    token.refresh_from_db()
    assert token.last_used_at is None
    shell.execute("ROLLBACK")
    shell.close()
    tokens.find(text)
    token.refresh_from_db()
    assert token.last_used_at is not None
    with connection.cursor() as cursor:
        assert cursor.execute("PRAGMA busy_timeout").fetchone() == (30_000,)
