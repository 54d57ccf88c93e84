"""Sessions that are there already, written through the writers that every door uses."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from episodes import memory_vectors, sessions
from episodes.models import Memory
from episodes.session_schemas import MemoryIn
from memoryweb.core.actor import system
from search.live import live


@pytest.fixture(autouse=True)
def _fresh_index() -> Iterator[None]:
    """Each test has a database of its own, so the index of this process starts anew."""
    live.forget()
    yield
    live.forget()


@pytest.fixture
def memory(db: None) -> Callable[..., Memory]:
    """A memory of the context "shop", its vector by the model "m" unless another is named."""

    def make(
        content: str = "Sorted the locks",
        id: str | None = None,
        vector: Sequence[float] | None = None,
        context: str = "shop",
        **fields: Any,
    ) -> Memory:
        model = fields.pop("model", "m")
        given = MemoryIn.model_validate({"content": content, "id": id, **fields})
        saved = sessions.save(system(), context_id=context, name=context, memories=[given])
        if vector is not None:
            memory_vectors.index(
                system(), memory_vectors.Sent(saved.ids[0], list(vector), model=model)
            )
        return Memory.objects.get(pk=saved.ids[0])

    return make
