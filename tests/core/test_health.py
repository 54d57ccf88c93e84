import pytest

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
