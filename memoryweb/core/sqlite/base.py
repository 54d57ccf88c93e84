"""Django's SQLite backend with the write queue in front of every write."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.db import DEFAULT_DB_ALIAS, DataError, connections
from django.db.backends.sqlite3 import base

from memoryweb.core.sqlite import functions
from memoryweb.core.sqlite.queue import WriteQueue

READS = frozenset({"SELECT", "PRAGMA", "EXPLAIN", "SAVEPOINT", "RELEASE", "ROLLBACK", "COMMIT"})


class Cursor(base.SQLiteCursorWrapper):
    """A cursor whose writes outside a transaction queue for themselves."""

    database: "DatabaseWrapper"

    def execute(self, query: str, params: Any = None) -> Any:
        with self.database.queued(query), _in_range():
            return super().execute(query, params)

    def executemany(self, query: str, param_list: Any) -> Any:
        with self.database.queued(query), _in_range():
            return super().executemany(query, param_list)


@contextmanager
def _in_range() -> Iterator[None]:
    """A number that no column holds is bad data, as other databases say of themselves."""
    try:
        yield
    except OverflowError as error:
        raise DataError(str(error)) from error


class DatabaseWrapper(base.DatabaseWrapper):
    queue: WriteQueue | None = None

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        path = str(conn_params["database"])
        if ":memory:" not in path and "mode=memory" not in path:
            self.queue = WriteQueue(Path(path).with_name("write.lock"))
        made = super().get_new_connection(conn_params)
        functions.register(made)
        return made

    def create_cursor(self, name: str | None = None) -> Cursor:
        def cursor(connection: Any) -> Cursor:
            made = Cursor(connection)
            made.database = self
            return made

        return self.connection.cursor(factory=cursor)  # type: ignore[no-any-return]

    @contextmanager
    def queued(self, query: str) -> Iterator[None]:
        """The queue around one statement, unless a transaction of ours already holds it."""
        word = query.lstrip(" \t\n(").split(None, 1)[0].upper() if query.strip() else ""
        if self.queue is None or self.queue.held or word in READS:
            yield
            return
        self.queue.enter()
        try:
            yield
        finally:
            self.queue.leave()

    @contextmanager
    def at_once(self) -> Iterator[bool]:
        """Whether one may write now; False where that would mean to wait for another writer.

        A writer that is not in the queue, such as a SQLite shell, makes the write fail instead.
        """
        if self.queue is None or self.queue.held:
            yield True
            return
        if not self.queue.enter_now():
            yield False
            return
        try:
            self.connection.execute("PRAGMA busy_timeout=0")
            yield True
        finally:
            self.connection.execute(f"PRAGMA busy_timeout={self.busy_timeout}")
            self.queue.leave()

    @property
    def busy_timeout(self) -> int:
        """Milliseconds for which SQLite itself waits for a lock."""
        return int(self.settings_dict["OPTIONS"]["timeout"] * 1000)

    def _start_transaction_under_autocommit(self) -> None:
        if self.queue is not None and not self.queue.held:
            self.queue.enter()
        try:
            super()._start_transaction_under_autocommit()  # type: ignore[misc]
        except BaseException:
            self._leave_queue()
            raise

    def _commit(self) -> None:
        try:
            super()._commit()  # type: ignore[misc]
        finally:
            self._leave_queue()

    def _rollback(self) -> None:
        try:
            super()._rollback()  # type: ignore[misc]
        finally:
            self._leave_queue()

    def _close(self) -> None:
        try:
            super()._close()  # type: ignore[misc]
        finally:
            if self.queue is not None:
                self.queue.close()
                self.queue = None

    def _leave_queue(self) -> None:
        if self.queue is not None:
            self.queue.leave()


@contextmanager
def writing_at_once() -> Iterator[bool]:
    """`at_once` of this thread's connection; True on another database, which has no queue."""
    wrapper = connections[DEFAULT_DB_ALIAS]
    if not isinstance(wrapper, DatabaseWrapper):
        yield True
        return
    wrapper.ensure_connection()
    with wrapper.at_once() as may:
        yield may
