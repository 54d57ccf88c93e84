"""Rows that are there already."""

from collections.abc import Callable
from typing import Any

import pytest

from episodes import store, vectors
from episodes.models import Episode
from memoryweb.core.actor import system
from tests.episodes.builders import sent


@pytest.fixture
def remember(db: None) -> Callable[..., Episode]:
    """An episode that is stored, its vector by the model "m" unless another is named."""

    def make(id: str = "one", vector: list[float] | None = None, **fields: Any) -> Episode:
        model = fields.pop("model", "m")
        store.store(system(), store.parse(sent(id=id, **fields)))
        if vector is not None:
            vectors.set_vector(system(), vectors.Sent(id, vector, model=model))
        return Episode.objects.get(pk=id)

    return make
