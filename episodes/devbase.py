"""Reading a devbase registry: its contexts, their memories and vectors, and code vectors.

The registry is one SQLite file with the tables agent_contexts and agent_memories (a number as
id, times as text), and perhaps code_embeddings. It is only read. A memory keeps its number as
`devbase-NUMBER`, so importing a registry again changes nothing.
"""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote

from django.db import IntegrityError

from episodes import code_vectors, memory_vectors, sessions
from episodes.models import Context, Memory, MemoryVector
from episodes.schemas import read
from episodes.session_schemas import CodeVectorIn, MemoryIn, SessionIn
from episodes.vectors import UNNAMED
from memoryweb.core import times
from memoryweb.core.actor import Actor
from memoryweb.core.chunks import chunks
from memoryweb.core.errors import DomainError, Invalid, Refused
from memoryweb.core.vectors import VectorRefused, decode_blob

BATCH = 500
# The tables with the columns that each must have; devbase added others later.
TABLES = {
    "agent_contexts": {"id", "name"},
    "agent_memories": {"id", "context_id", "memory_type", "content"},
    "code_embeddings": {"repo_id", "symbol_name", "embedding"},
}
Status = Literal["created", "unchanged", "changed", "failed"]


@dataclass(frozen=True)
class Outcome:
    """What became of one row; `row` names it by its table and id."""

    row: str
    status: Status
    error: str = ""
    quarantined: bool = False


class Registry:
    """A devbase registry that is open for reading. Raises Invalid for a file that is none, and
    where it cannot be read on."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with self._read():
            # Immutable would miss what lies in a log beside the file; mode=ro writes nothing.
            self._connection = sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True)
        try:
            self._connection.row_factory = sqlite3.Row
            self._connection.text_factory = _text
            with self._read():
                self._tables = [table for table in TABLES if self._has(table)]
        except Invalid:
            self.close()
            raise
        if not {"agent_contexts", "agent_memories"} <= set(self._tables):
            self.close()
            raise Invalid(f"{path} is no devbase registry: it has no agent_contexts and memories")

    def close(self) -> None:
        self._connection.close()

    def count(self) -> int:
        """The rows of all tables."""
        with self._read():
            counts = (self._connection.execute(f"SELECT count(*) FROM {t}") for t in self._tables)  # noqa: S608
            return sum(cursor.fetchone()[0] for cursor in counts)

    def rows(self, table: str, order: str = "") -> Iterator[Mapping[str, Any]]:
        """The rows of a table as mappings, as they lie where no order is named; a table that is
        not there has none."""
        if table not in self._tables:
            return
        ordered = f" ORDER BY {order}" if order else ""
        with self._read():
            cursor = self._connection.execute(f"SELECT * FROM {table}{ordered}")  # noqa: S608
        while rows := self._some(cursor):
            yield from rows

    def _some(self, cursor: sqlite3.Cursor) -> list[dict[str, Any]]:
        with self._read():
            return [dict(row) for row in cursor.fetchmany(BATCH)]

    @contextmanager
    def _read(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as error:
            raise Invalid(f"{self._path} cannot be read as an SQLite database: {error}") from error

    def _has(self, table: str) -> bool:
        """Whether it is there. A view is none: it may compute anything, without end."""
        kinds = "SELECT type FROM sqlite_master WHERE name = ?"
        if self._connection.execute(kinds, [table]).fetchone() is None:
            return False
        columns = {row["name"] for row in self._connection.execute(f"PRAGMA table_info({table})")}
        tables = self._connection.execute(f"{kinds} AND type = 'table'", [table]).fetchone()
        if tables is None or (missing := TABLES[table] - columns):
            why = "is no table" if tables is None else f"has no {', '.join(sorted(missing))}"
            raise Invalid(f"{self._path} is no devbase registry: its {table} {why}")
        return True


def _text(raw: bytes) -> str | bytes:
    """Text as it is stored; what is no UTF-8 stays bytes, which no row may hold as text."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw


def import_registry(
    actor: Actor, registry: Registry, *, dry_run: bool = False
) -> Iterator[Outcome]:
    """Take in a registry: one outcome for each row, contexts first. Good rows land, bad are named.

    What the guard objects to is kept in quarantine. Raises Forbidden.
    """
    known: set[str] = set()
    for row in registry.rows("agent_contexts"):
        outcome = _context(actor, row, dry_run=dry_run)
        if outcome.status != "failed":
            known.add(str(row["id"]))
        yield outcome
    memories = registry.rows("agent_memories", "context_id, id")
    for context_id, rows in groupby(memories, lambda row: row["context_id"]):
        for batch in chunks(rows, BATCH):
            yield from _memories(actor, context_id, batch, known, dry_run=dry_run)
    for row in registry.rows("code_embeddings"):
        yield _symbol(actor, row, dry_run=dry_run)


def memory_id(number: object) -> str:
    """The id of a memory that has this number in its registry."""
    return f"devbase-{number}"


def _context(actor: Actor, row: Mapping[str, Any], *, dry_run: bool) -> Outcome:
    name = f"agent_contexts {row.get('id')}"
    try:
        given = read(SessionIn, {
            "context_id": row["id"],
            "name": row["name"],
            "intent": row.get("intent") or "",
            "status": row.get("status") or "active",
        })  # fmt: skip
        fields = {key: getattr(given, key) for key in ("name", "intent", "status")}
        stored = Context.objects.filter(pk=given.context_id).first()
        updated_at = moment(row.get("updated_at") or row.get("created_at"))
        if stored is not None and not _is_newer(stored, fields, updated_at):
            return Outcome(name, "unchanged")
        if not dry_run:
            sessions.save(
                actor,
                context_id=given.context_id,
                created_at=moment(row.get("created_at")),
                updated_at=updated_at,
                **fields,
            )
        return Outcome(name, "changed" if stored else "created")
    except (DomainError, IntegrityError) as error:
        return Outcome(name, "failed", _told(error))


def _is_newer(stored: Context, fields: Mapping[str, Any], updated_at: datetime | None) -> bool:
    """Whether the registry's row was edited after ours: an edit made here is not undone."""
    differs = any(getattr(stored, name) != value for name, value in fields.items())
    return differs and updated_at is not None and updated_at > stored.updated_at


def _memories(
    actor: Actor,
    context_id: str,
    rows: Sequence[Mapping[str, Any]],
    known: set[str],
    *,
    dry_run: bool,
) -> Iterator[Outcome]:
    """Memories of one context, in one transaction, and then their vectors."""
    given, failed = _given(rows, context_id, known)
    stored = Memory.objects.in_bulk(list(given))
    for one_id, before in stored.items():
        if (before.context_id, before.content) != (context_id, given[one_id].content):
            failed[one_id] = "it was edited here since it was imported; nothing was changed"
    new = [one for one_id, one in given.items() if one_id not in stored]
    if not dry_run and new:
        failed |= _save(actor, context_id, new)
    bad_vectors = _index(actor, rows, failed.keys(), dry_run=dry_run)
    held = Memory.objects.filter(pk__in=[one.id for one in new], quarantined=True)
    quarantined = set(held.values_list("pk", flat=True))
    for row in rows:
        one_id, name = memory_id(row["id"]), f"agent_memories {row['id']}"
        if problem := failed.get(one_id) or bad_vectors.get(one_id):
            yield Outcome(name, "failed", problem)
        else:
            status: Status = "unchanged" if one_id in stored else "created"
            yield Outcome(name, status, quarantined=one_id in quarantined)


def _given(
    rows: Sequence[Mapping[str, Any]], context_id: str, known: set[str]
) -> tuple[dict[str, MemoryIn], dict[str, str]]:
    """The memories in the rows, and what is wrong with the others, by id."""
    given: dict[str, MemoryIn] = {}
    failed: dict[str, str] = {}
    for row in rows:
        one_id = memory_id(row["id"])
        try:
            if one_id in given:
                raise Invalid("another memory of the registry has this id; neither was imported")
            given[one_id] = _memory(row, context_id, known)
        except DomainError as error:
            failed[one_id] = _told(error)
            given.pop(one_id, None)
    return given, failed


def _save(actor: Actor, context_id: str, new: Sequence[MemoryIn]) -> dict[str, str]:
    """Add memories; where the guard objects to a name, one by one. What failed, by id."""
    try:
        context = Context.objects.get(pk=context_id)
        sessions.save(actor, context_id=context_id, memories=new, updated_at=context.updated_at)
    except Refused as error:
        if len(new) == 1:
            return {new[0].id or "": _told(error)}
        return {k: v for one in new for k, v in _save(actor, context_id, [one]).items()}
    return {}


def _memory(row: Mapping[str, Any], context_id: str, known: set[str]) -> MemoryIn:
    """The memory in a row. Raises Invalid."""
    if context_id not in known:
        raise Invalid(f"its context {context_id!r} is not in the registry, or is bad itself")
    optional = {name: row[name] for name in ("importance", "source") if row.get(name) is not None}
    created_at = moment(row.get("created_at"))
    return read(MemoryIn, {
        "id": memory_id(row["id"]),
        "type": row["memory_type"],
        "content": row["content"],
        "created_at": created_at.isoformat() if created_at else None,
        **optional,
    })  # fmt: skip


def _index(
    actor: Actor, rows: Sequence[Mapping[str, Any]], failed: Any, *, dry_run: bool
) -> dict[str, str]:
    """Store the vectors that are not stored yet; what was wrong with one, by the memory's id."""
    problems: dict[str, str] = {}
    sent: list[memory_vectors.Sent] = []
    ids = [memory_id(row["id"]) for row in rows]
    have = set(MemoryVector.objects.filter(memory__in=ids).values_list("memory_id", "model"))
    for row, one_id in zip(rows, ids, strict=True):
        blob, model = row.get("embedding"), row.get("embedding_model") or UNNAMED
        if blob is None or one_id in failed or (one_id, model) in have:
            continue
        try:
            vector = decode_blob(blob if isinstance(blob, bytes) else b"\0")
            sent.append(memory_vectors.Sent(one_id, vector, model=model))
        except VectorRefused as refusal:
            problems[one_id] = f"the memory is there, its vector is not: {refusal}"
    if sent and not dry_run:
        result = memory_vectors.index_many(actor, sent)
        problems |= {sent[at].memory_id: _told(e) for at, e in result.failed.items()}
    return problems


def _symbol(actor: Actor, row: Mapping[str, Any], *, dry_run: bool) -> Outcome:
    name = f"code_embeddings {row.get('repo_id')} {row.get('symbol_name')}"
    try:
        given = read(CodeVectorIn, {"symbol_name": row["symbol_name"], "embedding_model": UNNAMED})
        vector = decode_blob(row["embedding"] if isinstance(row["embedding"], bytes) else b"\0")
        given = given.model_copy(update={"embedding": vector})
        before = code_vectors.find(str(row["repo_id"]), given.symbol_name, UNNAMED)
        if before is not None and bytes(before.vector) == row["embedding"]:
            return Outcome(name, "unchanged")
        if not dry_run:
            code_vectors.store(actor, str(row["repo_id"]), given)
        return Outcome(name, "changed" if before else "created")
    except (DomainError, VectorRefused) as error:
        return Outcome(name, "failed", _told(error))


def moment(text: object) -> datetime | None:
    """The moment in a registry: RFC 3339, or SQLite's own form, which is UTC. Raises Invalid."""
    if text in (None, ""):
        return None
    try:
        found = datetime.fromisoformat(str(text))
        return times.parse(found if found.tzinfo else found.replace(tzinfo=UTC))
    except ValueError:
        raise Invalid(f"{text!r} is no time that can be kept") from None


def _told(error: Exception) -> str:
    return error.detail if isinstance(error, DomainError) else str(error)
