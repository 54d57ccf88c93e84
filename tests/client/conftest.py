from collections.abc import Callable, Iterator
from typing import Any

import pytest

from memoryweb.client import Client
from search.live import live


@pytest.fixture(autouse=True)
def _fresh_index(home: Any) -> Iterator[None]:
    live.forget()
    yield
    live.forget()


@pytest.fixture
def client_of(live_server: Any, token: Callable[..., str]) -> Callable[..., Client]:
    """A client of a server that listens, with a token of this scope."""

    def make(scope: str = "write", agent: str = "") -> Client:
        return Client(live_server.url, token(scope, agent), timeout=60)

    return make
