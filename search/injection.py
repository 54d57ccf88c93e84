"""What is put before an agent of one session context: its memories as environment variables.

The best by meaning where there is a vector of the query, by its words otherwise; without a query
the context's own name and intent are it, and the newest memories fill what is left. Every text
passes the render gate once more, and the whole stays under a size that every shell takes.
"""

import json
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from bank import gate
from episodes import session_queries
from episodes.models import Memory
from memoryweb.core.vectors import Vector
from search import recall

MOST = 5
# Linux takes 128 KiB of one variable, name included; some shells and tools take less.
MOST_BYTES = 64 * 1024
LEAST_BYTES = 160  # A memory that has no more room than this is left out rather than cut.
ABOUT_CHARACTERS = 2000  # of a context's name and intent that are searched for


@dataclass(frozen=True)
class Injection:
    """The memories given, of those found; how many the guard kept out, and how many were cut or
    left out for their size. `reasons` are those of `Recalled`."""

    method: recall.Method
    memories: list[dict[str, Any]]
    skipped_by_guard: int
    shortened: int
    left_out: int
    reasons: tuple[str, ...] = ()

    @property
    def environment(self) -> dict[str, str]:
        """The three variables, as devbase names them. ASCII alone, so that no locale spoils it."""
        return {
            "DEVBASE_CONTEXT_MEMORIES": json.dumps(self.memories, separators=(",", ":")),
            "DEVBASE_CONTEXT_MEMORY_COUNT": str(len(self.memories)),
            "DEVBASE_CONTEXT_RECALL_METHOD": self.method,
        }

    @property
    def exports(self) -> str:
        """The variables as lines for `eval` in a POSIX shell."""
        return "".join(
            f"export {name}={shlex.quote(value)}\n" for name, value in self.environment.items()
        )


def inject(
    context_id: str,
    *,
    query: str = "",
    query_embedding: Vector | None = None,
    embedding_model: str | None = None,
    limit: int = MOST,
    most_bytes: int = MOST_BYTES,
) -> Injection:
    """The best memories of a context for a query, for its environment. Raises NotFound.

    A vector that finds nothing to compare with gives way to the words of the query.
    """
    ranked = rank(
        context_id,
        query=query,
        query_embedding=query_embedding,
        embedding_model=embedding_model,
        limit=limit,
    )
    safe = [(m, score) for m, score in ranked.memories if not _hits(m)]
    given, shortened = _fitted(safe, ranked.model, most_bytes)
    return Injection(
        method=ranked.method,
        memories=given,
        skipped_by_guard=len(ranked.memories) - len(safe),
        shortened=shortened,
        left_out=len(safe) - len(given),
        reasons=ranked.reasons,
    )


def rank(
    context_id: str,
    *,
    query: str = "",
    query_embedding: Vector | None = None,
    embedding_model: str | None = None,
    limit: int = MOST,
) -> recall.Recalled:
    """Memories of a context by meaning, or by words. Raises NotFound for an unknown context."""
    if query_embedding is not None:
        found = recall.recall(
            context_id, query_embedding, limit=limit, embedding_model=embedding_model
        )
        if found.memories or not query.strip():
            return found
    if query.strip():
        return recall.by_text(context_id, query, limit=limit, embedding_model=embedding_model)
    return recall.Recalled(_without_query(context_id, limit), "keyword")


def _without_query(context_id: str, limit: int) -> list[tuple[Memory, float]]:
    """What fits the context's name and intent, then the newest, which score 0."""
    context = session_queries.find_context(context_id)
    about = f"{context.name}\n{context.intent}"[:ABOUT_CHARACTERS]
    found = recall.by_words(context_id, about, limit=limit).memories
    if len(found) < limit:
        others = session_queries.searchable().filter(context=context_id)
        others = others.exclude(pk__in=[memory.pk for memory, _ in found])
        newest = others.order_by(*session_queries.NEWEST_FIRST)[: limit - len(found)]
        found += [(memory, 0.0) for memory in newest]
    return found


def _hits(memory: Memory) -> bool:
    """Whether today's rules object to any text of the memory."""
    texts = (memory.content, memory.source, memory.pk)
    return any(gate.findings(text, "recalled") for text in texts if text)


def _fitted(
    found: Sequence[tuple[Memory, float]], model: str | None, most_bytes: int
) -> tuple[list[dict[str, Any]], int]:
    """The memories as they fit, and how many were cut. Each may use an equal share of what is
    left, so that one long memory does not push out the ones after it."""
    given: list[dict[str, Any]] = []
    room, shortened = most_bytes - 2, 0
    for place, (memory, score) in enumerate(found):
        share = room // (len(found) - place)
        for content in _cuts(memory.content, share):
            item = {
                "id": memory.pk,
                "type": memory.type,
                "content": content,
                "score": round(score, 6),
                "model": model,
            }
            size = len(json.dumps(item, separators=(",", ":"))) + 1
            if size <= share:
                given.append(item)
                room -= size
                shortened += content != memory.content
                break
    return given, shortened


def _cuts(content: str, room: int) -> Iterator[str]:
    """The content whole, then ever shorter until it must fit."""
    yield content
    length = min(len(content), room)
    while length > LEAST_BYTES:
        length = length * 2 // 3
        yield content[:length].rstrip() + "…"
