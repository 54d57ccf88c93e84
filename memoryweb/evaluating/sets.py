"""A retrieval set on disk: documents, queries, and which document answers which query.

    corpus.jsonl   {id, text, title?, scope?, created_at?}
    queries.jsonl  {id, text, scope?}
    qrels.tsv      query_id, doc_id, rel, after a header line

A query with a scope is asked of the documents of that scope alone. Other fields are let be. A row
that cannot be used is left out and told.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC
from pathlib import Path
from typing import Any

from django.utils.dateparse import parse_datetime

FILES = ("corpus.jsonl", "queries.jsonl", "qrels.tsv")
DIGITS = tuple(b"%d" % digit for digit in range(10))
LONGEST_LINE = 32 * 1024 * 1024
MOST_TOLD = 20
HIGHEST_GRADE = 1_000_000  # Gains are summed as floats.


class NotASet(Exception):
    """The folder cannot be evaluated; the text says why."""


@dataclass(frozen=True, slots=True)
class Text:
    """A document or a query; `created_at` in seconds since the epoch, 0 where none is given."""

    id: str
    text: str
    scope: str = ""
    created_at: float = 0.0


@dataclass
class Problems:
    """Rows that were left out, the first of them with their reasons, each told once however often
    its file is read."""

    count: int = 0
    told: list[str] = field(default_factory=list)
    _places: set[tuple[str, int]] = field(default_factory=set)

    def note(self, file: str, line: int, reason: str) -> None:
        if (file, line) in self._places:
            return
        self._places.add((file, line))
        self.count += 1
        if self.count <= MOST_TOLD:
            self.told.append(f"{file} line {line}: {reason}")


@dataclass
class RetrievalSet:
    """The queries that have an answer, and for each its judgements; the documents stay on disk."""

    folder: Path
    queries: list[Text]
    judged: dict[str, dict[str, int]]
    size: int
    problems: Problems

    @property
    def name(self) -> str:
        return self.folder.name

    def documents(self) -> Iterator[Text]:
        """The documents one after another, read from disk again each time."""
        yield from _texts(self.folder / "corpus.jsonl", self.problems)


def opened(folder: Path) -> RetrievalSet:
    """Raises NotASet where a file is missing or holds nothing that can be evaluated."""
    missing = [name for name in FILES if not (folder / name).is_file()]
    if missing:
        raise NotASet(f"{folder} is no retrieval set: it has no {', '.join(missing)}")
    problems = Problems()
    scopes = {one.id: one.scope for one in _texts(folder / "corpus.jsonl", problems)}
    queries = {one.id: one for one in _texts(folder / "queries.jsonl", problems)}
    judged = _judgements(folder / "qrels.tsv", scopes, queries, problems)
    asked = [query for query in queries.values() if query.id in judged and query.text.strip()]
    if not asked:
        raise NotASet(f"{folder}: no query has a document that answers it")
    return RetrievalSet(folder, asked, judged, len(scopes), problems)


def _texts(path: Path, problems: Problems) -> Iterator[Text]:
    seen: set[str] = set()
    for number, line in _lines(path):
        try:
            text = _text(json.loads(line))
            if text.id in seen:
                raise ValueError(f"the id {text.id!r} was there before")
        except (ValueError, RecursionError) as error:
            problems.note(path.name, number, str(error)[:200])
        else:
            seen.add(text.id)
            yield text


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """The lines that hold something, by their numbers; one is never longer than LONGEST_LINE."""
    with path.open("rb") as file:
        for number, line in enumerate(iter(lambda: file.readline(LONGEST_LINE), b""), start=1):
            if line.strip():
                yield number, line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line


def _text(row: Any) -> Text:
    """Raises ValueError, saying what the row lacks."""
    if not isinstance(row, dict):
        raise ValueError("is no object")
    if not isinstance(row.get("id"), str) or not row["id"]:
        raise ValueError("has no id")
    if not isinstance(row.get("text"), str):
        raise ValueError("has no text")
    title, scope = row.get("title") or "", row.get("scope") or ""
    if not isinstance(title, str) or not isinstance(scope, str):
        raise ValueError("its title and its scope must be text")
    whole = f"{title}\n{row['text']}" if title.strip() else row["text"]
    f"{row['id']}{whole}{scope}".encode()  # Half a surrogate pair is no text: ValueError.
    return Text(row["id"], whole, scope, _moment(row.get("created_at")))


def _moment(value: Any) -> float:
    """It decides between equal scores alone, so one that cannot be read is none."""
    try:
        moment = parse_datetime(value) if isinstance(value, str) else None
        if moment is None:
            return 0.0
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return 0.0


def _judgements(
    path: Path, scopes: dict[str, str], queries: dict[str, Text], problems: Problems
) -> dict[str, dict[str, int]]:
    """By query, for those with a relevant document."""
    judged: dict[str, dict[str, int]] = {}
    for number, line in _lines(path):
        if number == 1 and not line.rstrip().endswith(DIGITS):
            continue  # The header line.
        try:
            query, document, grade = _judgement(line)
            if query not in queries:
                raise ValueError(f"there is no query {query!r}")
            if document not in scopes:
                raise ValueError(f"there is no document {document!r}")
            if queries[query].scope not in ("", scopes[document]):
                raise ValueError(f"{document!r} lies outside the scope of {query!r}")
        except ValueError as error:
            problems.note(path.name, number, str(error)[:200])
        else:
            judged.setdefault(query, {})[document] = grade
    return {query: grades for query, grades in judged.items() if max(grades.values()) > 0}


def _judgement(line: bytes) -> tuple[str, str, int]:
    columns = line.decode().rstrip("\r\n").split("\t")
    if len(columns) != 3:
        raise ValueError("has not three columns with tabs between them")
    try:
        grade = int(columns[2])
    except ValueError:
        raise ValueError(f"{columns[2]!r} is no whole number") from None
    if abs(grade) > HIGHEST_GRADE:
        raise ValueError(f"{columns[2]!r} is no grade; the highest is {HIGHEST_GRADE:,}")
    return columns[0], columns[1], grade
