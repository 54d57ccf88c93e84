from collections.abc import Callable, Iterator
from typing import Any

import pytest

from episodes import sessions, store, vectors
from episodes.session_schemas import MemoryIn
from memoryweb.core.actor import system
from search.embedding import batches
from search.embedding.querying import query_vectors
from search.live import live
from search.working import Worker
from tests.embedding.double import Double, running


@pytest.fixture
def double() -> Iterator[Double]:
    with running() as double:
        yield double


@pytest.fixture(autouse=True)
def _nothing_remembered() -> Iterator[None]:
    live.forget()
    query_vectors.forget()
    yield
    query_vectors.forget()
    live.forget()


@pytest.fixture
def provider(double: Double, settings: Any) -> Double:
    """The double as the configured provider, of the model `toy`."""
    settings.MEMORYWEB_EMBEDDING_URL = f"{double.url}/v1"
    settings.MEMORYWEB_EMBEDDING_MODEL = "toy"
    return double


@pytest.fixture(autouse=True)
def _no_long_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "PAUSES", (0.0, 0.0, 0.0))


@pytest.fixture
def episode(transactional_db: None) -> Callable[..., str]:
    def make(id: str, summary: str, vector: list[float] | None = None, model: str = "toy") -> str:
        row = {"id": id, "agent_id": "otter", "working_dir": "/srv", "outcome": "success"}
        store.store(system(), store.parse({**row, "summary": summary}), replace=True)
        if vector is not None:
            vectors.set_vector(system(), vectors.Sent(id, vector, None, model))
        return id

    return make


@pytest.fixture
def memory(transactional_db: None) -> Callable[..., str]:
    def make(id: str, content: str, context: str = "harbor") -> str:
        given = [MemoryIn(id=id, content=content)]
        sessions.save(system(), context_id=context, name="Harbor", memories=given)
        return id

    return make


@pytest.fixture
def work() -> Callable[[], None]:
    """Do what the worker would, until there is nothing left to do."""

    worker = Worker()

    def until_done() -> None:
        while worker.once():
            pass

    return until_done
