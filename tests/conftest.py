"""The cast and the stage of every test: people in their roles, tokens, a home of its own."""

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from django.contrib.auth.hashers import make_password
from django.contrib.contenttypes.management import create_contenttypes
from django.contrib.contenttypes.models import ContentType
from django.db import connection
from django.db.models.signals import post_migrate
from django.test import Client

from memoryweb.core import audit, tokens
from memoryweb.core.actor import system
from memoryweb.core.models import User
from search import live

PASSWORD = "correct horse battery"

# How long an example takes says more about the machine than about the code; and a change is not
# to fail for what it did not touch. `--hypothesis-profile=searching` looks further.
hypothesis.settings.register_profile("steady", deadline=None, derandomize=True)
hypothesis.settings.register_profile("searching", deadline=None)
hypothesis.settings.load_profile("steady")


# A file runs in one process: the longest begin first, or one of them ends long after all else.
LONGEST = ("test_kill.py", "test_serve.py", "test_accessible.py")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: item.path.name not in LONGEST)


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: Any) -> None:
    """Between tests with transactions all rows are deleted, which the audit refuses.

    Django would also write its permissions anew each time, .3 s a test; roles need none.
    """
    post_migrate.disconnect(dispatch_uid="django.contrib.auth.management.create_permissions")
    post_migrate.disconnect(create_contenttypes)
    with django_db_blocker.unblock(), connection.schema_editor() as schema:
        audit.unprotect(schema)


@pytest.fixture(autouse=True)
def _content_types_as_they_are() -> None:
    """What an earlier test made and remembered went with its rows."""
    ContentType.objects.clear_cache()


@pytest.fixture
def home(tmp_path: Path, settings: Any) -> Path:
    """A fresh home for what lies on disk; the database is the test's own already."""
    settings.MEMORYWEB_HOME = tmp_path
    settings.MEMORYWEB_MEMORY_DIR = tmp_path / "memory"
    (tmp_path / "memory" / "bank" / "entities").mkdir(parents=True)
    return tmp_path


@cache
def hashed_password() -> str:
    """Hashing is slow on purpose; once a process is enough for the whole cast."""
    return make_password(PASSWORD)


@pytest.fixture
def person(db: None) -> Callable[[str], User]:
    def make(role: str, name: str = "") -> User:
        user = User(username=name or role, role=role, password=hashed_password())
        user.save()
        return user

    return make


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """No search waits for rows that no other thread can see before the test ends."""
    monkeypatch.setattr(live, "PATIENCE", 0.0)


@pytest.fixture
def administrator(person: Callable[[str], User]) -> User:
    return person("administrator")


@pytest.fixture
def curator(person: Callable[[str], User]) -> User:
    return person("curator")


@pytest.fixture
def viewer(person: Callable[[str], User]) -> User:
    return person("viewer")


@pytest.fixture
def signed_in() -> Callable[[User], Client]:
    """A browser in which this person has signed in."""

    def make(user: User) -> Client:
        client = Client()
        client.force_login(user, "django.contrib.auth.backends.ModelBackend")
        return client

    return make


@pytest.fixture
def token(db: None) -> Callable[..., str]:
    def make(scope: str = "write", agent: str = "") -> str:
        return tokens.issue(system(), f"test {scope}", scope, agent)[1]

    return make


class Api:
    """An agent that holds one token and speaks JSON; paths are below /api/v1."""

    def __init__(self, text: str = "") -> None:
        self.client = Client(headers={"Authorization": f"Bearer {text}"} if text else None)

    def __call__(self, method: str, path: str, body: Any = None, **extra: Any) -> Any:
        data = body if isinstance(body, str | bytes) else json.dumps(body)
        extra.setdefault("content_type", "application/json")
        return self.client.generic(method, f"/api/v1{path}", "" if body is None else data, **extra)

    def get(self, path: str, **extra: Any) -> Any:
        return self("GET", path, **extra)

    def post(self, path: str, body: Any = None, **extra: Any) -> Any:
        return self("POST", path, body, **extra)

    def put(self, path: str, body: Any = None, **extra: Any) -> Any:
        return self("PUT", path, body, **extra)

    def patch(self, path: str, body: Any = None, **extra: Any) -> Any:
        return self("PATCH", path, body, **extra)

    def delete(self, path: str, body: Any = None, **extra: Any) -> Any:
        return self("DELETE", path, body, **extra)


@pytest.fixture
def api(token: Callable[..., str]) -> Callable[..., Api]:
    def make(scope: str = "write", agent: str = "") -> Api:
        return Api(token(scope, agent) if scope else "")

    return make
