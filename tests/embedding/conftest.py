from collections.abc import Iterator
from typing import Any

import pytest

from search.embedding.querying import query_vectors
from search.live import live
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
