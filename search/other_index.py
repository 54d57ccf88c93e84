"""An index of another stored model than the one that searches compare: for a search that names
it, and for comparing both before anybody switches.

It is of this process, built when it is first asked for, and reads the change clock as the one
that serves does.
"""

import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from django.db.models import F

from bank.models import PageVector
from episodes.models import EpisodeVector, MemoryVector
from memoryweb.core.chunks import chunks
from memoryweb.core.models import ActiveModel
from memoryweb.core.vectors import VectorRefused, decode_blob
from search import switching
from search.engine import Document
from search.live import LiveIndex, State, live
from search.sources import SOURCES, Source

CHUNK = 500
IDLE = 600.0  # seconds after it was last asked until the other model's index is dropped


class OfModel(LiveIndex):
    """An index with the vectors of a stored model, whichever one searches compare."""

    def __init__(self, model: str, dimension: int) -> None:
        super().__init__({name: _by(source, model, dimension) for name, source in SOURCES.items()})
        self.model = ActiveModel(model=model, dimension=dimension)

    def state(self) -> State:
        return replace(super().state(), active=self.model)


class _Other:
    """The one other model that is asked in this process, until nobody does for a while."""

    def __init__(self) -> None:
        self._index: OfModel | None = None
        self._counted: tuple[State, str, int | None] | None = None
        self._lock = threading.Lock()
        self._end: threading.Timer | None = None

    def index(self, model: str) -> OfModel | None:
        """Of the width that most vectors of the model have; None where none is stored."""
        if (dimension := self._dimension(model)) is None:
            return None
        with self._lock:
            if self._end is not None:
                self._end.cancel()
            index = self._index
            if index is None or (index.model.model, index.model.dimension) != (model, dimension):
                index = self._index = OfModel(model, dimension)
            self._end = threading.Timer(IDLE, self.forget)
            self._end.daemon = True
            self._end.start()
            return index

    def forget(self) -> None:
        with self._lock:
            self._index = self._counted = None

    def _dimension(self, model: str) -> int | None:
        """Counted once for each state of the memory, as that reads a row of every vector."""
        now, known = live.state(), self._counted
        if known is None or known[0] is not now or known[1] != model:
            widths = switching.widths(model).most_common(1)
            known = self._counted = now, model, widths[0][0] if widths else None
        return known[2]


other = _Other()


Stored = tuple[str, bytes | memoryview]  # a document and the blob of its vector


def _by(source: Source, model: str, dimension: int) -> Source:
    """The same documents with the vectors of another model, where it has made one of their text."""
    read = VECTORS[source.name]

    def documents(ids: Collection[str] | None) -> Iterator[Document]:
        for some in chunks(source.documents(ids), CHUNK):
            made = read(model, dimension, [one.id for one in some])
            yield from (replace(one, vector=made.get(one.id)) for one in some)

    return replace(source, documents=documents)


def _episodes(model: str, dimension: int, ids: Sequence[str]) -> Iterable[Stored]:
    made = EpisodeVector.objects.filter(model=model, dimension=dimension, episode__in=ids)
    return made.filter(text_sha=F("episode__summary_sha")).values_list("episode", "vector")


def _memories(model: str, dimension: int, ids: Sequence[str]) -> Iterable[Stored]:
    made = MemoryVector.objects.filter(model=model, dimension=dimension, memory__in=ids)
    return made.filter(text_sha=F("memory__content_sha")).values_list("memory", "vector")


def _pages(model: str, dimension: int, ids: Sequence[str]) -> Iterable[Stored]:
    names = [one.partition("/")[2] for one in ids]
    made = PageVector.objects.filter(model=model, dimension=dimension, page__name__in=names)
    rows = made.filter(text_sha=F("page__sha256"), page__archived_at=None, page__wiki=None)
    for kind, name, blob in rows.values_list("page__kind", "page__name", "vector"):
        yield f"{kind}/{name}", blob


def _decoded(rows: Iterable[Stored]) -> Iterator[tuple[str, Any]]:
    for document, blob in rows:
        try:
            yield document, decode_blob(bytes(blob))
        except VectorRefused:
            continue  # One that was damaged counts as none.


Read = Callable[[str, int, Sequence[str]], dict[str, Any]]


def _reading(rows: Callable[[str, int, Sequence[str]], Iterable[Stored]]) -> Read:
    return lambda model, dimension, ids: dict(_decoded(rows(model, dimension, ids)))


VECTORS: dict[str, Read] = {
    "episodes": _reading(_episodes),
    "memories": _reading(_memories),
    "pages": _reading(_pages),
}
