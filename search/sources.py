"""Where documents come from: rows of each collection as the engine reads and a page shows them."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from django.db.models import QuerySet

from episodes import queries as episodes
from episodes.models import Episode
from memoryweb.core.vectors import VectorRefused, decode_blob
from search.engine import Document

CHUNK = 500
TITLE_LENGTH = 120


@dataclass(frozen=True)
class Shown:
    """A found document as a person or agent sees it; `facts` are what it is filtered by."""

    title: str
    summary: str
    created_at: datetime
    url: str
    facts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Source:
    """One collection. Both functions leave out what may not be served; None means all ids."""

    name: str
    documents: Callable[[Collection[str] | None], Iterator[Document]]
    shown: Callable[[Collection[str]], dict[str, Shown]]


def _chunks(ids: Iterable[str]) -> Iterator[list[str]]:
    ids = list(ids)
    return (ids[at : at + CHUNK] for at in range(0, len(ids), CHUNK))


def episode_documents(ids: Collection[str] | None) -> Iterator[Document]:
    if ids is None:
        vectors = _vectors(None)
        yield from _episode_documents(episodes.searchable(), vectors)
        return
    for some in _chunks(ids):
        yield from _episode_documents(episodes.searchable().filter(pk__in=some), _vectors(some))


def _episode_documents(rows: QuerySet[Episode], vectors: Mapping[str, bytes]) -> Iterator[Document]:
    columns = ("pk", "summary", "created_at", "working_dir", "agent_id", "outcome", "source")
    for pk, summary, created_at, *facts in rows.values_list(*columns).iterator(CHUNK):
        attributes = dict(zip(columns[3:], facts, strict=True))
        attributes["kind"] = "episodes"
        blob = vectors.get(pk)
        yield Document(
            id=pk,
            text=summary,
            created_at=created_at.timestamp(),
            attributes=attributes,
            vector=None if blob is None else _decoded(blob),
        )


def _vectors(ids: list[str] | None) -> dict[str, bytes]:
    rows = episodes.comparable_vectors()
    if ids is not None:
        rows = rows.filter(episode_id__in=ids)
    return {pk: bytes(blob) for pk, blob in rows.values_list("episode_id", "vector")}


def _decoded(blob: bytes) -> object:
    """The vector of a stored blob; one that was damaged counts as none, its text stays findable."""
    try:
        return decode_blob(blob)
    except VectorRefused:
        return None


def episodes_shown(ids: Collection[str]) -> dict[str, Shown]:
    return {
        episode.pk: Shown(
            title=title_of(episode.summary) or episode.pk,
            summary=episode.summary,
            created_at=episode.created_at,
            url=episode.get_absolute_url(),
            facts={
                "working_dir": episode.working_dir,
                "outcome": episode.outcome,
                "agent_id": episode.agent_id,
                "source": episode.source,
            },
        )
        for some in _chunks(ids)
        for episode in episodes.searchable().filter(pk__in=some)
    }


def title_of(text: str) -> str:
    """The first line, cut at a word where it is long."""
    line = text.strip().partition("\n")[0].strip()
    if len(line) <= TITLE_LENGTH:
        return line
    cut = line[:TITLE_LENGTH]
    return (cut.rpartition(" ")[0] if " " in cut[60:] else cut) + "…"


SOURCES = {
    source.name: source for source in (Source("episodes", episode_documents, episodes_shown),)
}
