from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from episodes import store, vectors
from memoryweb.core.actor import system
from search.live import live


@pytest.fixture(autouse=True)
def _fresh_index() -> Iterator[None]:
    """Each test has a database of its own, so the index of this process starts anew."""
    live.forget()
    yield
    live.forget()


@pytest.fixture
def remember(transactional_db: None) -> Callable[..., str]:
    """Store one episode; its id. The index is built in a thread, so rows must be committed."""

    def make(
        summary: str, id: str = "", vector: Sequence[float] | None = None, **fields: Any
    ) -> str:
        row = {
            "agent_id": "otter",
            "working_dir": "/srv/shop",
            "outcome": "success",
            "summary": summary,
            **({"id": id} if id else {}),
            **fields,
        }
        episode, _ = store.store(system(), store.parse(row), replace=True)
        if vector is not None:
            vectors.set_vector(system(), vectors.Sent(episode.pk, list(vector), None, "toy"))
        return episode.pk

    return make
