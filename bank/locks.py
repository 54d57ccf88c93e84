"""One saver at a time for each page, across threads and processes."""

import fcntl
import hashlib
import os
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from bank.disk import Disk

STRIPES = 256
LONGEST_NAP = 0.05  # Seconds between two tries at a lock that another process holds.


class LockTimeout(TimeoutError):
    """Somebody else has been saving this page for as long as we were willing to wait."""


class LockOrder(RuntimeError):
    """A thread that holds locks asked for more in an order that could end in a deadlock."""


class PathLocks:
    """Locks by path, held over a whole save and taken before the database is touched.

    `folder` holds the lock files; it is not the memory folder, which belongs to the agents
    too. Paths share 256 of them, so that nothing grows and nothing has to be cleaned up. A
    thread may take a lock it holds again; further ones it takes together with the first.
    """

    def __init__(self, folder: Path, disk: Disk | None = None) -> None:
        self._folder = folder
        self._disk = disk or Disk()
        self._renew()
        os.register_at_fork(after_in_child=self._renew)

    def _renew(self) -> None:
        # A lock that another thread held at the fork would stay locked in the child.
        self._threads = [threading.Lock() for _ in range(STRIPES)]
        self._mine = threading.local()

    @contextmanager
    def hold(self, *paths: Path, timeout: float = 30.0) -> Iterator[None]:
        """Nobody else holds any of these paths inside the block.

        Raises LockTimeout after `timeout` seconds, LockOrder as the class says.
        """
        held: set[int] = self._mine.__dict__.setdefault("held", set())
        wanted = sorted({_stripe(path) for path in paths} - held)
        if wanted and held and wanted[0] < max(held):
            raise LockOrder("take all the locks of a save at once")
        deadline = time.monotonic() + timeout
        with ExitStack() as stack:
            for stripe in wanted:
                stack.enter_context(self._hold(stripe, deadline))
            held.update(wanted)
            stack.callback(held.difference_update, wanted)
            yield

    @contextmanager
    def _hold(self, stripe: int, deadline: float) -> Iterator[None]:
        if not self._threads[stripe].acquire(timeout=max(0.0, deadline - time.monotonic())):
            raise LockTimeout("another thread is saving this page")
        try:
            with self._locked_file(stripe, deadline):
                yield
        finally:
            self._threads[stripe].release()

    @contextmanager
    def _locked_file(self, stripe: int, deadline: float) -> Iterator[None]:
        self._folder.mkdir(parents=True, exist_ok=True)
        name = str(self._folder / f"page-{stripe:02x}.lock")
        file = self._disk.open(name, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            self._wait_for(file, deadline)
            try:
                yield
            finally:
                # Not by closing alone: a child forked meanwhile would keep it locked.
                self._disk.lock(file, fcntl.LOCK_UN)
        finally:
            self._disk.close(file)

    def _wait_for(self, file: int, deadline: float) -> None:
        nap = 0.001
        while True:
            try:
                return self._disk.lock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() >= deadline:
                    raise LockTimeout("another process is saving this page") from None
            time.sleep(nap)
            nap = min(nap * 2, LONGEST_NAP)


def _stripe(path: Path) -> int:
    return hashlib.sha256(os.fsencode(path)).digest()[0]
