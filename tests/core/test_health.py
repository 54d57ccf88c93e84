import pytest
from django.db import DatabaseError

from memoryweb.core import health


@pytest.mark.django_db
def test_ready_says_what_is_missing_and_answers_503(client, monkeypatch):
    assert client.get("/readyz").status_code == 200
    monkeypatch.setitem(health._probes, "disk", lambda: "the disk is full")
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["disk"] == "the disk is full"
    assert answer.json()["ready"] is False


@pytest.mark.django_db
def test_a_disk_that_is_almost_full_is_said(client, monkeypatch):
    monkeypatch.setattr(health, "LEAST_FREE", 1 << 62)
    assert client.get("/readyz").json()["disk"] == "the disk of the home is almost full"


def test_alive_needs_no_login_and_no_database(client):
    assert client.get("/healthz").content == b"ok\n"


@pytest.mark.django_db
def test_the_migrations_are_looked_at_once_a_process(client, monkeypatch):
    assert client.get("/readyz").json()["migrations"] == "ok"
    monkeypatch.setattr(health, "MigrationExecutor", lambda _: pytest.fail("looked again"))
    assert client.get("/readyz").json()["migrations"] == "ok"


@pytest.mark.django_db
def test_a_probe_that_fails_is_an_answer_and_not_a_crash(client, monkeypatch, settings):
    def broken() -> str:
        raise DatabaseError("database disk image is malformed")

    monkeypatch.setitem(health._probes, "files", broken)
    settings.MEMORYWEB_HOME = settings.MEMORYWEB_HOME / "gone"
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert "damaged" in answer.json()["files"]
    assert answer.json()["disk"] == "the home cannot be read: No such file or directory"
