"""Where documents come from: rows of each collection as the engine reads and a page shows them."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any

from django.db.models import QuerySet

from bank import page_vectors
from bank import queries as pages
from bank.markdown import split
from bank.models import Kind, Page
from episodes import queries as episodes
from episodes import session_queries as sessions
from episodes.models import Episode, Memory
from memoryweb.core import active_model
from memoryweb.core.chunks import chunks
from memoryweb.core.days import first_moment
from memoryweb.core.vectors import VectorRefused, decode_blob
from search.engine import Document

CHUNK = 500
# How often what a page is called is counted: a page is long, and would drown in short episodes.
NAME_WEIGHT = 5
TITLE_LENGTH = 120
LONGEST_TITLE = 160  # rather than to break off shortly before the end of a sentence
EXCERPT_LENGTH = 4_000  # characters of a page that a result shows a piece of


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


def episode_documents(ids: Collection[str] | None) -> Iterator[Document]:
    if ids is None:
        yield from _episode_documents(episodes.searchable())
        return
    for some in chunks(ids, CHUNK):
        yield from _episode_documents(episodes.searchable().filter(pk__in=some))


def _episode_documents(rows: QuerySet[Episode]) -> Iterator[Document]:
    facts = ("working_dir", "agent_id", "outcome", "source")
    columns = ("pk", "summary", "created_at", "comparable", *facts)
    found = episodes.with_comparable_vector(rows).values_list(*columns)
    for pk, summary, created_at, blob, *values in found.iterator(CHUNK):
        yield Document(
            id=pk,
            text=summary,
            created_at=created_at.timestamp(),
            attributes={**dict(zip(facts, values, strict=True)), "kind": "episodes"},
            vector=None if blob is None else _decoded(bytes(blob)),
        )


def _decoded(blob: bytes) -> object:
    """The vector of a stored blob; one that was damaged counts as none, its text stays findable."""
    try:
        return decode_blob(blob)
    except VectorRefused:
        return None


EPISODE_COLUMNS = ("summary", "created_at", "working_dir", "outcome", "agent_id", "source")


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
        for some in chunks(ids, CHUNK)
        for episode in episodes.searchable().filter(pk__in=some).only(*EPISODE_COLUMNS)
    }


_SENTENCE = re.compile(r".{15,}?(?:[.!?](?=\s)|[。！？])")


def title_of(text: str) -> str:
    """The first line, or its first sentence where the line is long, cut at a word if it must be."""
    line = text.strip().partition("\n")[0].strip()
    if len(line) <= TITLE_LENGTH:
        return line
    if (sentence := _SENTENCE.match(line, 0, LONGEST_TITLE)) is not None:
        return sentence.group()
    if len(line) <= LONGEST_TITLE:
        return line
    cut = line[:TITLE_LENGTH]
    return (cut.rpartition(" ")[0] if " " in cut[60:] else cut) + "…"


def page_documents(ids: Collection[str] | None) -> Iterator[Document]:
    """The pages of the bank by `Page.document`, what they are called counting more than words."""
    for page in _pages(ids, with_vectors=True):
        yield Document(
            id=page.document,
            text="\n".join([_called(page)] * NAME_WEIGHT + [split(page.content).body]),
            created_at=_moment(page).timestamp(),
            attributes={"kind": "pages"},
            vector=None if page.comparable is None else _decoded(bytes(page.comparable)),
        )


def _called(page: Page) -> str:
    """Everything a page goes by: whoever searches for one of these means this page."""
    spoken = page.name.replace("-", " ").replace("_", " ")
    called = [page.title, page.name, spoken, *page.aliases, *page.tags]
    return "\n".join({one.casefold(): one for one in reversed(called)}.values())


def pages_shown(ids: Collection[str]) -> dict[str, Shown]:
    return {
        page.document: Shown(
            title=page.title,
            summary=split(page.content).body.strip()[:EXCERPT_LENGTH],
            created_at=_moment(page),
            url=page.get_absolute_url(),
        )
        for page in _pages(ids)
    }


def memory_documents(ids: Collection[str] | None) -> Iterator[Document]:
    """The memories of all session contexts; a search in one context filters by `context_id`."""
    active = active_model.active()
    rows = sessions.with_vector_of(sessions.searchable(), active.model if active else None)
    columns = ("pk", "content", "created_at", "context_id", "comparable")
    for found in _memories(rows, ids):
        for pk, content, created_at, context_id, blob in found.values_list(*columns):
            yield Document(
                id=pk,
                text=content,
                created_at=created_at.timestamp(),
                attributes={"context_id": context_id, "kind": "memories"},
                vector=None if blob is None else _decoded(bytes(blob)),
            )


def _memories(rows: QuerySet[Memory], ids: Collection[str] | None) -> Iterator[QuerySet[Memory]]:
    """The wanted rows, a chunk of them at a time."""
    if ids is None:
        ids = list(sessions.searchable().values_list("pk", flat=True))
    return (rows.filter(pk__in=some) for some in chunks(ids, CHUNK))


def memories_shown(ids: Collection[str]) -> dict[str, Shown]:
    return {
        memory.pk: Shown(
            title=title_of(memory.content) or memory.pk,
            summary=memory.content,
            created_at=memory.created_at,
            url=memory.get_absolute_url(),
            facts={"context": memory.context_id, "type": memory.type, "source": memory.source},
        )
        for found in _memories(sessions.searchable().select_related("context"), ids)
        for memory in found
    }


COLUMNS = ("kind", "name", "title", "aliases", "tags", "content", "updated_at")


def _pages(ids: Collection[str] | None, with_vectors: bool = False) -> Iterator[Any]:
    """The wanted pages, with their vector to compare as `comparable` if that is asked for."""
    rows = pages.servable_of_bank().only(*COLUMNS)
    if with_vectors:
        rows = page_vectors.with_comparable(rows)
    if ids is None:
        yield from rows.iterator(CHUNK)
        return
    by_kind: dict[str, list[str]] = {}
    for kind, _, name in (one.partition("/") for one in ids):
        by_kind.setdefault(kind, []).append(name)
    for kind, names in by_kind.items():
        for some in chunks(names, CHUNK):
            yield from rows.filter(kind=kind, name__in=some)


def _moment(page: Page) -> datetime:
    """What a page's text is as old as: a note as its day, all else as its last edit."""
    if page.kind != Kind.NOTE:
        return page.updated_at
    return first_moment(date.fromisoformat(page.name))


SOURCES = {
    source.name: source
    for source in (
        Source("episodes", episode_documents, episodes_shown),
        Source("memories", memory_documents, memories_shown),
        Source("pages", page_documents, pages_shown),
    )
}
