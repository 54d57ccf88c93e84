"""A connection that can do nothing but read, whatever statement it is given."""

import sqlite3
from pathlib import Path
from urllib.parse import quote

from memoryweb.core.sqlite import functions

# What a statement may do, by SQLite's own account of it (sqlite3_set_authorizer). No PRAGMA that
# sets anything, no ATTACH, which would open another file for writing.
ALLOWED = {
    sqlite3.SQLITE_SELECT,
    sqlite3.SQLITE_READ,
    sqlite3.SQLITE_FUNCTION,
    sqlite3.SQLITE_RECURSIVE,
}
PRAGMAS = {
    "table_list", "table_info", "table_xinfo", "index_list", "index_info", "index_xinfo",
    "foreign_key_list", "integrity_check", "quick_check", "foreign_key_check", "compile_options",
    "function_list", "user_version", "page_count", "page_size", "freelist_count",
}  # fmt: skip
TAKES_A_NAME = {name for name in PRAGMAS if name.endswith(("_info", "_xinfo", "_list", "_check"))}


def open_read_only(path: Path) -> sqlite3.Connection:
    """Open a database file for reading, with our functions. Raises sqlite3.Error."""
    connection = sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True, timeout=30)
    functions.register(connection)
    connection.execute("PRAGMA query_only=ON")
    connection.set_authorizer(_authorize)
    return connection


def _authorize(action: int, first: str | None, second: str | None, *_: object) -> int:
    if action in ALLOWED:
        return sqlite3.SQLITE_OK
    sets_nothing = second is None or first in TAKES_A_NAME
    if action == sqlite3.SQLITE_PRAGMA and first in PRAGMAS and sets_nothing:
        return sqlite3.SQLITE_OK
    return sqlite3.SQLITE_DENY
