"""Reading episodes from files: JSON Lines or JSON, a batch at a time, whatever the size.

A row needs a summary and a working directory. What else it lacks is filled; what we do not know
is kept. A row without an id gets one from its content, so reading a file again changes nothing.
An octos row's vector may be the bytes of octos's own store: bincode, a count before the values.
"""

import base64
import codecs
import json
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from episodes import store
from episodes.identifiers import content_id
from episodes.incoming import Outcome
from episodes.models import Episode
from episodes.schemas import EpisodeIn
from memoryweb.core.actor import Actor
from memoryweb.core.chunks import chunks
from memoryweb.core.errors import DomainError
from memoryweb.core.strict_json import Malformed, loads

CHUNK = 1024 * 1024
LONGEST_ROW = 32 * CHUNK


@dataclass(frozen=True)
class Row:
    """One value of a file, or why it is none; `end` is how far into the file it reaches."""

    line: int
    end: int
    value: Any


def import_file(
    actor: Actor, path: Path, defaults: Mapping[str, Any], *, dry_run: bool = False
) -> Iterator[tuple[Row, Outcome]]:
    """Store the rows of a file; each with what became of it, in order.

    `defaults` fill what rows lack. Raises OSError when the file cannot be read.
    """
    waiting: deque[Row] = deque()

    def drafts() -> Iterator[EpisodeIn | DomainError]:
        for row in read_rows(path):
            waiting.append(Row(row.line, row.end, None))
            yield _draft(row.value, defaults)

    for outcome in store.store_many(actor, drafts(), dry_run=dry_run):
        yield waiting.popleft(), outcome


def _draft(value: Any, defaults: Mapping[str, Any]) -> EpisodeIn | DomainError:
    if isinstance(value, DomainError):
        return value
    try:
        if isinstance(value, dict):
            if value.get("id") is None:
                defaults = {**defaults, "id": content_id(value)}
            if isinstance(packed := value.get("embedding_b64"), str):
                value = {**value, "embedding_b64": _without_count(packed)}
        return store.parse(value, defaults)
    except DomainError as error:
        return error


def _without_count(packed: str) -> str:
    """Base64 of float32 values alone, where bincode's eight bytes with their count precede them.

    As two float32 the count is smaller than any value of a model: no vector is taken for it.
    """
    try:
        raw = base64.b64decode(packed, validate=True)
    except ValueError:
        return packed
    count, rest = int.from_bytes(raw[:8], "little"), len(raw) - 8
    is_bincode = rest > 0 and rest == 4 * count
    return base64.b64encode(raw[8:]).decode() if is_bincode else packed


def read_rows(path: Path) -> Iterator[Row]:
    """The values of a file: elements of a JSON array, lines of JSON Lines, or one JSON document."""
    with path.open("rb") as file:
        start = file.read(CHUNK).removeprefix(codecs.BOM_UTF8).lstrip()
        file.seek(0)
        yield from _elements(file) if start.startswith(b"[") else _lines(file)


def _lines(file: BinaryIO) -> Iterator[Row]:
    number = 0
    while text := file.readline(LONGEST_ROW + 1):
        number += 1
        end = file.tell()
        if len(text) > LONGEST_ROW:
            yield Row(number, end, Malformed(f"the line is longer than {LONGEST_ROW:,} bytes"))
            _skip_line(file)
        elif stripped := text.removeprefix(codecs.BOM_UTF8).strip():
            value = _parsed(stripped)
            if number == 1 and isinstance(value, Malformed):
                whole = _document(file)
                if whole is not None:
                    yield from whole
                    return
            yield Row(number, end, value)


def _skip_line(file: BinaryIO) -> None:
    while (text := file.readline(CHUNK)) and not text.endswith(b"\n"):
        pass


def _document(file: BinaryIO) -> list[Row] | None:
    """The file read as one JSON document over many lines; None, and nothing read, if it is none."""
    place = file.tell()
    file.seek(0)
    text = file.read(LONGEST_ROW)
    value = _parsed(text.removeprefix(codecs.BOM_UTF8))
    if isinstance(value, DomainError):
        file.seek(place)
        return None
    listed = value.get("episodes") if isinstance(value, dict) else None
    return [Row(1, len(text), each) for each in (listed if isinstance(listed, list) else [value])]


def _parsed(text: bytes | str) -> Any:
    try:
        return loads(text)
    except DomainError as error:
        return error


def _elements(file: BinaryIO) -> Iterator[Row]:
    """The elements of a JSON array. What cannot be made out ends the reading, and is told."""
    reader = _ArrayReader(file)
    while True:
        try:
            text = reader.next_element()
        except ValueError as error:  # No JSON, or no UTF-8.
            problem = Malformed(f"the rest of the file was not read: {error}"[:300])
            yield Row(reader.line, file.tell(), problem)
            return
        if text is None:
            return
        yield Row(reader.line, file.tell(), _parsed(text))


class _ArrayReader:
    """Cuts a JSON array into the texts of its elements, holding only a few of them at a time."""

    def __init__(self, file: BinaryIO) -> None:
        self.line = 1
        self._file = file
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")()
        self._json = json.JSONDecoder()
        self._text = ""
        self._place = 0
        self._at_end = False
        self._before = "["  # what stands before the next element

    def next_element(self) -> str | None:
        """The text of the next element, None after the last. Raises ValueError."""
        self._skip_space()
        if self._peek() == self._before:
            self._advance(self._place + 1)
            self._skip_space()
        self._before = ","
        if self._peek() in ("]", ""):
            return None
        while True:
            end = self._end_of_element()
            if end is not None:
                return self._take(end)
            if len(self._text) - self._place > LONGEST_ROW:
                raise ValueError(f"an element is longer than {LONGEST_ROW:,} characters")
            self._read(max(CHUNK, len(self._text) - self._place))

    def _end_of_element(self) -> int | None:
        """Where the element ends, None while it might go on beyond what was read."""
        try:
            _, end = self._json.raw_decode(self._text, self._place)
        except RecursionError:
            raise ValueError("it nests too deeply") from None
        except ValueError:
            if self._at_end:
                raise
            return None
        return end if end < len(self._text) or self._at_end else None

    def _take(self, end: int) -> str:
        element = self._text[self._place : end]
        self._advance(end)
        return element

    def _skip_space(self) -> None:
        while self._peek().isspace():
            self._advance(self._place + 1)

    def _peek(self) -> str:
        if self._place == len(self._text) and not self._at_end:
            self._read(CHUNK)
        return self._text[self._place : self._place + 1]

    def _advance(self, place: int) -> None:
        self.line += self._text.count("\n", self._place, place)
        self._place = place
        if place > CHUNK:
            self._text, self._place = self._text[place:], 0

    def _read(self, size: int) -> None:
        data = self._file.read(size)
        self._at_end = not data
        self._text += self._decoder.decode(data, final=self._at_end)


def salvaged(raw: str) -> list[str]:
    """The ids in an octos directory index value, a JSON array that a crash may have cut short.

    Every second piece between quotation marks; the rest is brackets and commas, or a piece of
    the file that is neither (octos-memory, cwd_index).
    """
    return [piece for piece in raw.split('"')[1::2] if piece and not set(piece) & set("[],")]


@dataclass(frozen=True)
class Salvage:
    """Ids of a directory index by directory: those that have an episode, and those dropped."""

    kept: dict[str, list[str]]
    dropped: dict[str, list[str]]


def salvage(
    index: Mapping[str, Any], exists: Callable[[Iterable[str]], set[str]] | None = None
) -> Salvage:
    """Salvage a whole {working_dir: raw value} index; a cut-off last id has no episode."""
    exists = exists or existing
    kept: dict[str, list[str]] = {}
    dropped: dict[str, list[str]] = {}
    for directory, raw in index.items():
        ids = salvaged(raw if isinstance(raw, str) else json.dumps(raw, ensure_ascii=False))
        there = exists(ids)
        kept[directory] = [one for one in ids if one in there]
        dropped[directory] = [one for one in ids if one not in there]
    return Salvage(kept, dropped)


def existing(ids: Iterable[str]) -> set[str]:
    """Those of the ids that have an episode."""
    batches = (Episode.objects.filter(pk__in=batch) for batch in chunks(ids, store.BATCH))
    return {pk for rows in batches for pk in rows.values_list("pk", flat=True)}
