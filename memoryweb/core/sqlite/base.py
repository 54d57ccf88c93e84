"""Django's SQLite backend with the write queue in front of every write."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.db.backends.sqlite3 import base

from memoryweb.core.sqlite.queue import WriteQueue

READS = frozenset({"SELECT", "PRAGMA", "EXPLAIN", "SAVEPOINT", "RELEASE", "ROLLBACK", "COMMIT"})


class Cursor(base.SQLiteCursorWrapper):
    """A cursor whose writes outside a transaction queue for themselves."""

    database: "DatabaseWrapper"

    def execute(self, query: str, params: Any = None) -> Any:
        with self.database.queued(query):
            return super().execute(query, params)

    def executemany(self, query: str, param_list: Any) -> Any:
        with self.database.queued(query):
            return super().executemany(query, param_list)


class DatabaseWrapper(base.DatabaseWrapper):
    queue: WriteQueue | None = None

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        path = str(conn_params["database"])
        if ":memory:" not in path and "mode=memory" not in path:
            self.queue = WriteQueue(Path(path).with_name("write.lock"))
        return super().get_new_connection(conn_params)

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
