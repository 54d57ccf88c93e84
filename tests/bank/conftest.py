"""A bank on a real disk, and the cast that writes to it."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from bank import places, services
from bank.models import Kind, Page
from memoryweb.core import tokens
from memoryweb.core.actor import Actor, system
from memoryweb.core.models import ApiToken, User


@pytest.fixture
def memory(home: Path, db: None) -> Iterator[Path]:
    """The memory folder of a fresh home; whatever disk a test put in is taken out again."""
    working = places.disk
    yield home / "memory"
    places.disk = working


@pytest.fixture
def ada(curator: User) -> Actor:
    """A curator at a page."""
    return curator.actor("page")


@pytest.fixture
def otter(db: None) -> Actor:
    """An agent with a token."""
    token: ApiToken = tokens.issue(system(), "otter's token", "write", "otter")[0]
    return token.actor()


@pytest.fixture
def written(memory: Path, ada: Actor) -> Callable[..., Page]:
    """An entity that is there already."""

    def make(
        name: str = "alice", content: str = "# Alice\n\nRuns the docks.\n", **more: Any
    ) -> Page:
        return services.save(ada, Kind.ENTITY, name, content, **more).page

    return make


@pytest.fixture
def desk(memory: Path, signed_in: Callable[[User], Client], curator: User) -> Client:
    """A curator's browser, in front of a bank."""
    return signed_in(curator)
