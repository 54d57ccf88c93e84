"""index.db, the search index of one wiki: written page by page, or built anew and swapped in.

    wiki_fts    terms of title and text, for FTS5; its rowid is that of page_meta
    page_meta   what a result shows
    graph_edge  from which page links lead to which
    source      the files that were read, with what became of them
    stamp       one row: what the file was made by and for, the last change it holds, and a
                checksum of page_meta and graph_edge; FTS5 has its own

The file is a cache and carries its own proof: with another stamp, with damage or without a file
there is NeedsRebuild, and nothing is answered from it.
"""

import fcntl
import hashlib
import json
import os
import secrets
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

import pysqlite3 as sqlite3  # The library of the database: the system's may corrupt its WAL.

from search.wiki import matching
from search.wiki.opening import (
    IndexFile,
    NeedsRebuild,
    Stamp,
    connect,
    folder_locked,
    open_file,
    opened,
    read_stamp,
    trusting,
)
from search.wiki.snippet import snippet

ABANDONED = 3600.0  # seconds after which a draft that nobody finished is removed

# Every term of a query is a prefix; those of one or two characters are looked up like words.
_TABLES = """
CREATE VIRTUAL TABLE wiki_fts USING fts5(
    page_id UNINDEXED, title_tok, content_tok, prefix = '1 2',
    tokenize = "unicode61 remove_diacritics 0 categories 'L* M* N* P* S* Co'"
);
CREATE TABLE page_meta (
    page_id TEXT PRIMARY KEY, title TEXT NOT NULL, type TEXT NOT NULL, rel_path TEXT NOT NULL,
    snippet TEXT NOT NULL
);
CREATE TABLE graph_edge (
    source_id TEXT NOT NULL, target_id TEXT NOT NULL, PRIMARY KEY (source_id, target_id)
) WITHOUT ROWID;
CREATE INDEX graph_edge_by_target ON graph_edge (target_id);
CREATE TABLE source (
    filename TEXT PRIMARY KEY, sha256 TEXT NOT NULL, size INTEGER NOT NULL, status TEXT NOT NULL,
    modified_at REAL, indexed_at REAL, error TEXT NOT NULL
);
CREATE TABLE stamp (
    schema INTEGER NOT NULL, analyzer TEXT NOT NULL, wiki TEXT NOT NULL, database TEXT NOT NULL,
    seq INTEGER NOT NULL, checksum TEXT NOT NULL
);
"""
_PAGE = "SELECT rowid, page_id, title, type, rel_path, snippet FROM page_meta"


class BuildFailed(Exception):
    """No new index was made, its cause says why; the old one, if any, is as it was."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A page as it goes into the index; `text` is all of it, front matter included."""

    page_id: str
    title: str
    type: str
    rel_path: str
    text: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class Source:
    """A file that was read, or could not be; times are epoch seconds."""

    filename: str
    sha256: str
    size: int
    status: str
    modified_at: float | None = None
    indexed_at: float | None = None
    error: str = ""


# Writing


def apply(
    file: IndexFile,
    entries: Mapping[str, Entry | None],
    edges: Mapping[str, Sequence[str]],
    seq: int,
    *,
    since: int | None = None,
    sources: Mapping[str, Source | None] | None = None,
) -> int:
    """Put these pages (None: remove) and replace the links that go out from those of `edges`.

    They must be all that changed after the index's own seq up to `seq`. An index that holds `seq`
    already, or whose seq is not `since`, is left as it is: somebody else was first, read its stamp
    again. Gives the number of rows touched, 0 then. Raises NeedsRebuild.
    """
    with _writing(file) as (connection, stamp):
        if stamp.seq >= seq or since not in (None, stamp.seq):
            return 0
        rows = _Rows(connection, int(stamp.checksum, 16))
        for page, entry in entries.items():
            rows.put(page, entry)
        gone: dict[str, Sequence[str]] = {page: () for page, entry in entries.items() if not entry}
        for page, targets in {**gone, **edges}.items():
            rows.link(page, targets)
        for filename, source in (sources or {}).items():
            rows.note(filename, source)
        rows.seal(seq)
    return rows.touched


def rebuild(
    file: IndexFile,
    entries: Iterable[Entry],
    edges: Mapping[str, Sequence[str]],
    seq: int,
    sources: Iterable[Source] = (),
) -> int:
    """Build the index anew beside the old one, check it and put it in its place.

    Readers answer from the old one until then, and those that hold it open beyond. Gives the
    number of pages. Raises BuildFailed, and the old index stays.
    """
    draft = file.path.with_name(f".{file.path.name}.{secrets.token_hex(8)}")
    try:
        file.path.parent.mkdir(parents=True, exist_ok=True)
        _remove_abandoned(file.path)
        count = _build(draft, file, entries, edges, seq, sources)
        _sync(draft)
        _swap(draft, file.path)
    except Exception as error:
        raise BuildFailed(f"the index of {file.wiki} could not be built: {error}") from error
    finally:
        for end in ("", "-wal", "-shm", "-journal"):
            Path(f"{draft}{end}").unlink(missing_ok=True)
    return count


def check(file: IndexFile) -> Stamp:
    """Read all of the index and give its stamp; raises NeedsRebuild where anything is wrong.

    PRAGMA integrity_check does not see damage within FTS5's own tables: FTS5's own check does.
    """
    with trusting(), opened(file.path) as connection:
        stamp = read_stamp(connection)
        file.refuse_other(stamp)
        _check(connection)
        return stamp


@contextmanager
def _writing(file: IndexFile) -> Iterator[tuple[Any, Stamp]]:
    """A connection of its own in one transaction, after which the log is emptied."""
    with trusting(), opened(file.path) as connection:
        connection.execute("BEGIN IMMEDIATE")
        stamp = read_stamp(connection)
        file.refuse_other(stamp)
        yield connection, stamp
        connection.execute("COMMIT")
        # A reader may be in the way. Then the log stays until the next write.
        connection.execute("PRAGMA busy_timeout = 0")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


@dataclass
class _Rows:
    """The rows within one transaction: how many were touched, and the checksum kept up to date."""

    connection: Any
    checksum: int = 0
    touched: int = 0

    def put(self, page: str, entry: Entry | None) -> None:
        sql = f"{_PAGE} WHERE page_id = ?"
        rowid, *old = self.connection.execute(sql, (page,)).fetchone() or (None,)
        if rowid is not None:
            self._remove(rowid, old)
        if entry is not None:
            self._insert(rowid, entry, page)
        self.touched += 2 if entry is not None or rowid is not None else 0

    def _remove(self, rowid: int, row: Sequence[str]) -> None:
        self.connection.execute("DELETE FROM wiki_fts WHERE rowid = ?", (rowid,))
        self.connection.execute("DELETE FROM page_meta WHERE rowid = ?", (rowid,))
        self.checksum ^= _hash(row)

    def _insert(self, rowid: int | None, entry: Entry, page: str) -> None:
        shown = snippet(entry.text, entry.description)
        texts = (page, entry.title, entry.type, entry.rel_path, shown)
        row = [text.encode(errors="replace").decode() for text in texts]
        rowid = self.connection.execute(
            "INSERT INTO page_meta (rowid, page_id, title, type, rel_path, snippet)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            (rowid, *row),
        ).lastrowid
        self.connection.execute(
            "INSERT INTO wiki_fts (rowid, page_id, title_tok, content_tok) VALUES (?, ?, ?, ?)",
            (rowid, page, matching.stored(entry.title), matching.stored(entry.text)),
        )
        self.checksum ^= _hash(row)

    def link(self, page: str, targets: Sequence[str]) -> None:
        """Replace the links that go out from a page; one to the page itself is none."""
        sql = "SELECT target_id FROM graph_edge WHERE source_id = ?"
        old = {target for (target,) in self.connection.execute(sql, (page,))}
        new = set(targets) - {page}
        self.connection.executemany(
            "DELETE FROM graph_edge WHERE source_id = ? AND target_id = ?",
            [(page, target) for target in old - new],
        )
        self.connection.executemany(
            "INSERT INTO graph_edge VALUES (?, ?)", [(page, target) for target in new - old]
        )
        for target in old ^ new:
            self.checksum ^= _hash((page, target))
        self.touched += len(old ^ new)

    def note(self, filename: str, source: Source | None) -> None:
        sql = "DELETE FROM source WHERE filename = ?"
        removed = self.connection.execute(sql, (filename,)).rowcount
        if source is not None:
            sql = "INSERT INTO source VALUES (?, ?, ?, ?, ?, ?, ?)"
            self.connection.execute(sql, astuple(source))
        self.touched += 1 if source is not None else removed

    def seal(self, seq: int) -> None:
        checksum = _written(self.checksum)
        self.connection.execute("UPDATE stamp SET seq = ?, checksum = ?", (seq, checksum))


def _written(checksum: int) -> str:
    return f"{checksum:016x}"


def _hash(row: Sequence[str]) -> int:
    data = json.dumps(list(row)).encode()
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest())


# Building


def _build(
    draft: Path,
    file: IndexFile,
    entries: Iterable[Entry],
    edges: Mapping[str, Sequence[str]],
    seq: int,
    sources: Iterable[Source],
) -> int:
    draft.touch(mode=0o600, exist_ok=False)
    with closing(connect(draft)) as connection:
        connection.execute("PRAGMA synchronous = OFF")  # It is synchronised as a whole.
        connection.execute("PRAGMA journal_mode = MEMORY")
        connection.execute("PRAGMA cache_size = -65536")
        connection.executescript(f"BEGIN; {_TABLES}")
        stamp = astuple(file.stamp(seq))
        connection.execute("INSERT INTO stamp VALUES (?, ?, ?, ?, ?, ?)", stamp)
        rows = _Rows(connection)
        for entry in entries:
            rows.put(entry.page_id, entry)
        for page, targets in edges.items():
            rows.link(page, targets)
        for source in sources:
            rows.note(source.filename, source)
        rows.seal(seq)
        connection.execute("INSERT INTO wiki_fts (wiki_fts) VALUES ('optimize')")
        connection.execute("COMMIT")
        _check(connection)
        connection.execute("PRAGMA journal_mode = WAL")
        count = connection.execute("SELECT count(*) FROM page_meta").fetchone()[0]
    return int(count)


def _check(connection: Any) -> None:
    connection.execute("BEGIN IMMEDIATE")  # All of it in one state: pages change meanwhile.
    connection.execute("INSERT INTO wiki_fts (wiki_fts, rank) VALUES ('integrity-check', 1)")
    found = connection.execute("PRAGMA integrity_check(1)").fetchone()[0]
    if found != "ok":
        raise NeedsRebuild("damaged", found)
    checksum = 0
    for _, *page in connection.execute(_PAGE):
        checksum ^= _hash(page)
    for link in connection.execute("SELECT source_id, target_id FROM graph_edge"):
        checksum ^= _hash(link)
    if read_stamp(connection).checksum != _written(checksum):
        raise NeedsRebuild("damaged", "its rows are not those that were written")
    connection.execute("ROLLBACK")


def _sync(path: Path) -> None:
    opened = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def _swap(draft: Path, path: Path) -> None:
    """Put the draft in the place of the index, of which nothing must stay behind.

    A log left by the old one would be read into the new one. Who has the old one open keeps its
    files, nameless; nobody opens one in between.
    """
    with folder_locked(path.parent, fcntl.LOCK_EX) as folder:
        if path.exists():
            _empty_log(path)
        for end in ("-wal", "-shm"):
            Path(f"{path}{end}").unlink(missing_ok=True)
        draft.replace(path)
        os.fsync(folder)


def _empty_log(path: Path) -> None:
    """So that the old index is whole without it, should the swap be interrupted."""
    try:
        with closing(open_file(path)) as connection:
            connection.execute("PRAGMA busy_timeout = 0")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    except sqlite3.Error:
        pass  # It is damaged, and on its way out.


def _remove_abandoned(path: Path) -> None:
    """Drafts of builders that were killed."""
    for draft in path.parent.glob(f".{path.name}.*"):
        if time.time() - draft.stat().st_mtime > ABANDONED:
            draft.unlink(missing_ok=True)
