"""One queue for all writers of one database, across threads and processes.

SQLite lets writers poll for its lock, and under load the unlucky one gives up with "database is
locked". Here each writer waits its turn on a lock file first (measured with eight processes:
writes are lost at a 5 s busy timeout without the queue, none with it).
"""

import fcntl
import os
import threading
import time
from pathlib import Path

from django.db import OperationalError

TIMEOUT = 30.0  # seconds, like the busy timeout behind it
LONGEST_PAUSE = 0.01

# flock is per open file, so threads of one process queue on this first and poll the file once.
_turns: dict[str, threading.Lock] = {}


class WriteQueue:
    """A connection's place in the queue: `enter` before its transaction, `leave` after it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.held = False
        self._turn = _turns.setdefault(str(path), threading.Lock())
        self._file: int | None = None

    def enter(self) -> None:
        """Wait for the turn. Raises OperationalError after 30 seconds, with nothing written.

        It is raised at once when the lock file itself cannot be used.
        """
        deadline = time.monotonic() + TIMEOUT
        if not self._turn.acquire(timeout=TIMEOUT):
            raise OperationalError("another write of this process has not ended in 30 seconds")
        self._take(deadline)

    def enter_now(self) -> bool:
        """Take the turn if nobody has it; whether it is ours. Raises as `enter`."""
        if not self._turn.acquire(blocking=False):
            return False
        try:
            self._take(deadline=None)
        except BlockingIOError:
            return False
        return True

    def leave(self) -> None:
        """Give the turn to the next writer; nothing happens when it is not held."""
        if not self.held:
            return
        self.held = False
        if self._file is not None:
            fcntl.flock(self._file, fcntl.LOCK_UN)
        self._turn.release()

    def close(self) -> None:
        self.leave()
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _take(self, deadline: float | None) -> None:
        """Lock the file for the thread that has the turn, which is given back on an error."""
        try:
            self._lock_file(deadline)
        except BaseException as error:
            self._turn.release()
            if isinstance(error, OSError) and not isinstance(error, BlockingIOError):
                raise OperationalError(f"{self.path.name}: {error.strerror}") from error
            raise
        self.held = True

    def _lock_file(self, deadline: float | None) -> None:
        """Without a deadline BlockingIOError says that another process has the lock."""
        if self._file is None:
            self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        pause = 0.0005
        while True:
            try:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            except BlockingIOError:
                if deadline is None:
                    raise
                if time.monotonic() > deadline:
                    raise OperationalError(
                        "another process has been writing for 30 seconds"
                    ) from None
                time.sleep(pause)
                pause = min(pause * 1.5, LONGEST_PAUSE)
