"""A database or disk that fails: said in plain words at every door, and nothing is half done."""

import errno
import os

import pytest
from django.db import DatabaseError, IntegrityError, OperationalError, connection
from django.test import Client

from episodes.models import Episode
from memoryweb.core.failures import DAMAGED, FULL, READ_ONLY, explained

ROW = {"agent_id": "me", "working_dir": "/srv", "outcome": "success", "summary": "x" * 60_000}


@pytest.fixture
def pragma(transactional_db):
    """Sets a pragma of this thread's connection, which is thrown away afterwards."""

    def put(text: str) -> None:
        with connection.cursor() as cursor:
            cursor.execute(f"PRAGMA {text}")

    yield put
    connection.close()


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (OperationalError("database or disk is full"), FULL),
        (OperationalError("write.lock: No space left on device"), FULL),
        (OperationalError("attempt to write a readonly database"), READ_ONLY),
        (DatabaseError("database disk image is malformed"), DAMAGED),
        (DatabaseError("file is not a database"), DAMAGED),
        (OSError(errno.ENOSPC, "No space left on device"), FULL),
        (PermissionError(errno.EACCES, "Permission denied"), READ_ONLY),
    ],
)
def test_each_failure_has_its_own_words(error, said):
    failure = explained(error)
    assert failure is not None
    assert (failure.status, failure.detail) == (503, said)


@pytest.mark.parametrize(
    "error",
    [IntegrityError("UNIQUE"), DatabaseError("odd"), OSError("x"), BrokenPipeError(32, "x"), None],
)
def test_what_is_a_bug_is_not_explained_away(error):
    assert explained(error) is None


def test_a_full_database_refuses_a_write_and_goes_on_reading(api, pragma):
    agent = api("write")
    with connection.cursor() as cursor:
        cursor.execute("VACUUM")  # Pages that earlier tests left free would be used first.
    pragma("max_page_count = 1")  # Its present size is the least that SQLite takes.
    answer = agent.post("/episodes", ROW)
    assert answer.status_code == 503
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert answer.json()["detail"] == FULL
    assert agent.get("/episodes").json()["total"] == 0


def test_a_read_only_database_refuses_a_form_with_a_page(pragma, curator, signed_in):
    desk = signed_in(curator)
    pragma("query_only = 1")
    answer = desk.post("/settings/account/", {})
    assert answer.status_code == 200
    answer = desk.post("/settings/search/", {})
    assert answer.status_code < 500
    changed = {"name": "x", "content": "# X\n", "message": "", "base": "", "step": "save"}
    answer = desk.post("/bank/new/", changed)
    assert answer.status_code == 503
    assert "read-only" in answer.content.decode()


def test_a_token_is_good_though_its_use_cannot_be_noted(api, pragma):
    agent = api("read")
    pragma("query_only = 1")
    assert agent.get("/episodes").status_code == 200


def test_a_lock_file_that_cannot_be_opened_is_said_and_not_a_crash(
    api, transactional_db, monkeypatch
):
    agent = api("write")
    connection.close()  # The next connection opens the file again.
    opened = os.open

    def full(path, *arguments, **options):
        if str(path).endswith("write.lock"):
            raise OSError(errno.ENOSPC, "No space left on device")
        return opened(path, *arguments, **options)

    with monkeypatch.context() as patch:
        patch.setattr(os, "open", full)
        answer = agent.post("/episodes", ROW)
    assert (answer.status_code, answer.json()["detail"]) == (503, FULL)
    assert not Episode.objects.exists()


@pytest.mark.django_db
def test_a_session_that_cannot_be_read_is_a_page_too(viewer, signed_in, monkeypatch):
    desk = signed_in(viewer)
    desk.raise_request_exception = False

    def broken(*arguments):
        raise DatabaseError("database disk image is malformed")

    monkeypatch.setattr("django.contrib.sessions.backends.db.SessionStore.load", broken)
    answer = desk.get("/episodes/")
    assert answer.status_code == 503
    assert "damaged" in answer.content.decode()


def test_the_first_page_says_it_too(client: Client, monkeypatch):
    client.raise_request_exception = False

    def broken(*arguments):
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr("django.middleware.csrf.CsrfViewMiddleware.process_request", broken)
    answer = client.get("/login/")
    assert answer.status_code == 503
    assert "Look at the disk" in answer.content.decode()
