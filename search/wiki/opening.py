"""The index file of a wiki as such: opened, recognised by its stamp, or found wanting."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pysqlite3 as sqlite3  # The library of the database: the system's may corrupt its WAL.

from memoryweb.core.errors import Unavailable
from search.wiki import matching

SCHEMA = 1
BUSY = 30.0  # seconds a writer waits for another
CACHE = 512  # KiB of pages that a connection keeps

Identity = tuple[int, int]


class NeedsRebuild(Exception):
    """The index cannot be trusted, or is not there; `reason` is a short word for which it is.

    Reasons: missing, damaged, schema, analyzer, wiki, database.
    """

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(f"{reason}: {detail}" if detail else reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class IndexFile:
    """Where a wiki's index lies, and which wiki of which database it must have been made for."""

    path: Path
    wiki: str
    database: str

    def refuse_other(self, stamp: "Stamp") -> None:
        """Raises NeedsRebuild for an index that was made by or for something else."""
        expected = self.stamp(stamp.seq)
        for name in ("schema", "analyzer", "wiki", "database"):
            if getattr(stamp, name) != getattr(expected, name):
                raise NeedsRebuild(name, f"made for {getattr(stamp, name)!r}")

    def identity(self) -> Identity | None:
        """Which file stands there now; None where none does. A new one has another."""
        try:
            found = self.path.stat()
        except OSError:
            return None
        return found.st_dev, found.st_ino

    def stamp(self, seq: int) -> "Stamp":
        """The stamp of an empty index that is made for it now."""
        return Stamp(SCHEMA, matching.CJK.stamp, self.wiki, self.database, seq, "0" * 16)


@dataclass(frozen=True, slots=True)
class Stamp:
    """What an index was made by and for, and the last change of the database that it holds."""

    schema: int
    analyzer: str
    wiki: str
    database: str
    seq: int
    checksum: str


def connect(path: Path) -> Any:
    """A connection to the index, past its first read. Raises NeedsRebuild, or sqlite3's errors."""
    if not path.parent.is_dir():
        raise NeedsRebuild("missing")
    with folder_locked(path.parent, fcntl.LOCK_SH):
        if not path.exists():
            raise NeedsRebuild("missing")
        return open_file(path)


def close(connection: Any, path: Path) -> None:
    """The last one to leave a file removes its log, by name: not while another takes its place."""
    try:
        with folder_locked(path.parent, fcntl.LOCK_SH):
            connection.close()
    except FileNotFoundError:  # The wiki was erased meanwhile.
        connection.close()


@contextmanager
def opened(path: Path) -> Iterator[Any]:
    """A connection to the index for the length of the block. Raises as `connect` does."""
    connection = connect(path)
    try:
        yield connection
    finally:
        close(connection, path)


def open_file(path: Path) -> Any:
    """For who holds the folder; anybody else uses `connect`."""
    connection = sqlite3.connect(
        f"file:{quote(str(path))}?mode=rw",
        uri=True,
        timeout=BUSY,
        isolation_level=None,
        check_same_thread=False,
    )
    try:
        connection.execute(f"PRAGMA cache_size = -{CACHE}")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA schema_version").fetchall()  # Opens the log as well.
    except BaseException:
        connection.close()
        raise
    return connection


def read_stamp(connection: Any) -> Stamp:
    """What the stamp says. Raises NeedsRebuild where there is none that can be read."""
    rows = connection.execute("SELECT * FROM stamp").fetchall()
    try:
        (stamp,) = (Stamp(*row) for row in rows)
        int(stamp.seq), int(stamp.checksum, 16)
    except (TypeError, ValueError) as error:
        raise NeedsRebuild("damaged", "it has no stamp of ours") from error
    return stamp


@contextmanager
def trusting() -> Iterator[None]:
    """What SQLite says of a damaged file is NeedsRebuild; a busy or unreachable one is not."""
    try:
        yield
    except sqlite3.OperationalError as error:
        if str(error).startswith(("database is locked", "unable to open")):
            raise Unavailable(f"the index cannot be reached: {error}") from error
        raise NeedsRebuild("damaged", str(error)) from error
    except sqlite3.Error as error:
        raise NeedsRebuild("damaged", str(error)) from error


@contextmanager
def folder_locked(folder: Path, how: int) -> Iterator[int]:
    """The folder held while an index in it is opened or left (shared) or replaced (exclusive)."""
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(opened, how)
        try:
            yield opened
        finally:
            fcntl.flock(opened, fcntl.LOCK_UN)
    finally:
        os.close(opened)
