"""Which backups still hold a page. They are only read, never changed."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from memoryweb.core.chunks import chunks

_CHUNK = 500  # Hashes in one query.


@dataclass
class Searched:
    """The names of backups that hold the page, and of files that could not be looked into."""

    holding: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)


def search(folder: Path, kind: str, keys: Sequence[str], shas: Sequence[str]) -> Searched:
    """Look into every file of the folder for a page of one of these names or texts."""
    found = Searched()
    for file in sorted(folder.rglob("*")):
        if not file.is_file():
            continue
        name = file.relative_to(folder).as_posix()
        try:
            # A backup is a file that nobody writes to: no lock is taken and no log made.
            address = f"{file.absolute().as_uri()}?mode=ro&immutable=1"
            with closing(sqlite3.connect(address, uri=True)) as database:
                if _holds(database, kind, keys, shas):
                    found.holding.append(name)
        except (sqlite3.Error, OSError):
            found.unread.append(name)
    return found


def _holds(
    database: sqlite3.Connection, kind: str, keys: Sequence[str], shas: Sequence[str]
) -> bool:
    named = "SELECT 1 FROM bank_page WHERE kind = ? AND key = ? LIMIT 1"
    if any(database.execute(named, (kind, key)).fetchone() for key in keys):
        return True
    for some in chunks(shas, _CHUNK):
        marks = ", ".join("?" * len(some))
        sql = f"SELECT 1 FROM bank_revision WHERE sha256 IN ({marks}) LIMIT 1"  # noqa: S608 - marks
        if database.execute(sql, some).fetchone():
            return True
    return False
