"""A real disk on which the N-th operation goes wrong in a chosen way."""

import errno
import os
from collections.abc import Callable
from typing import Literal

from bank.disk import Disk

Fault = Literal["ENOSPC", "EIO", "EACCES", "short", "exit", "torn"]
EXIT_CODE = 86


class FaultyDisk(Disk):
    """Counts operations from 1; at number `at` the fault happens instead of the operation.

    short: a write puts down half of its data and says so. torn: it puts down half and the
    process ends. exit: the process ends before the operation. Other operations than writes
    ignore short and torn.
    """

    def __init__(self, at: int = 0, fault: Fault = "EIO") -> None:
        self.at = at
        self.fault = fault
        self.done: list[str] = []

    def about_to(self, operation: str, name: str) -> None:
        self.done.append(operation)
        if not self.is_now():
            return
        if self.fault == "exit":
            os._exit(EXIT_CODE)
        if self.fault in ("ENOSPC", "EIO", "EACCES"):
            raise OSError(getattr(errno, self.fault), f"{self.fault} at {operation}", name)

    def is_now(self) -> bool:
        return len(self.done) == self.at

    def write(self, file: int, data: memoryview) -> int:
        whole = len(data)
        self.about_to("write", "")
        if self.is_now() and self.fault in ("short", "torn"):
            whole = len(data) // 2
        written = os.write(file, data[:whole])
        if self.is_now() and self.fault == "torn":
            os._exit(EXIT_CODE)
        return written


class WithoutHardLinks(Disk):
    """A file system such as FAT, which cannot give a file a second name."""

    def link(self, old: str, new: str, at: int) -> None:
        os.stat(old, dir_fd=at)
        raise OSError(errno.EPERM, "Operation not permitted")


class Interrupted(Disk):
    """Lets somebody else act right before an operation, once; on a file of that name if given."""

    def __init__(self, operation: str, act: Callable[[], object], name: str = "") -> None:
        self.operation = operation
        self.act = act
        self.name = name

    def about_to(self, operation: str, name: str) -> None:
        if operation == self.operation and self.name in ("", name):
            self.operation = ""
            self.act()
