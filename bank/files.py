"""Markdown files on disk: read, written and removed so that nothing is ever lost.

A file holds its old content or its new, never a mixture, whatever fails or is killed. What
somebody else wrote to it in the meantime is kept aside and handed to the caller, who stores
it and then discards the copy. Paths are POSIX, relative to a Folder's root, and never leave
it: each part is opened below the one before, and a symbolic link is refused.
"""

import errno
import hashlib
import os
import stat
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bank.disk import Disk
from bank.paths import (
    Leftover,
    PathRefused,
    leftover_of,
    mark_of,
    may_enter,
    name_aside,
    parts_of,
)

READ_LIMIT = 16 * 1024 * 1024  # Bytes; nothing that large was written to be read.
WRITERS = 8  # Files written at a time: together they wait for the disk about once.
_NO_LINKS = {errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK}


class TooLarge(PathRefused):
    """The file holds more than is read."""


@dataclass(frozen=True, slots=True)
class Stamp:
    """What shows a change without reading the file: a hint; the SHA-256 is the proof."""

    size: int
    mtime_ns: int
    inode: int


@dataclass(frozen=True, slots=True)
class Content:
    """A file as it was read. The stamp is from before, so a change since then shows."""

    data: bytes
    sha256: str
    stamp: Stamp


@dataclass(frozen=True, slots=True)
class Displaced:
    """Content that was unexpectedly in the way; a copy stays at `path` until discarded."""

    path: str
    data: bytes
    sha256: str


@dataclass(frozen=True, slots=True)
class Change:
    """What a write or a removal did.

    `found` is the SHA-256 of what was there, None when nothing was; `displaced` is that
    content when it was neither the expected one nor the new one. `stamp` is of the file
    written, None after a removal.
    """

    found: str | None
    displaced: Displaced | None
    stamp: Stamp | None


def reason_of(error: OSError) -> str:
    """What the system says of an error, to stand within a sentence."""
    return (error.strerror or type(error).__name__).lower()


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


class Folder:
    """A folder of Markdown: the memory folder or a wiki's. Its root may be a link, nothing in it.

    Methods raise PathRefused for a path outside the rules and OSError as the system does.
    Writers of one path hold its lock (see bank.locks); readers need none.
    """

    def __init__(self, root: Path, disk: Disk | None = None) -> None:
        self.root = root
        self.disk = disk or Disk()

    def read(self, path: str) -> Content:
        """The whole file; FileNotFoundError when there is none."""
        with self._parent_of(path) as (folder, name):
            return self._read(folder, name)

    def stamp(self, path: str) -> Stamp | None:
        """The file's stamp, or None when there is no file."""
        try:
            with self._parent_of(path) as (folder, name):
                return stamp_of(self._regular(folder, name))
        except FileNotFoundError:
            return None

    def write(self, path: str, data: bytes, expected: str | None) -> Change:
        """Put `data` in place of content whose SHA-256 is `expected`; None expects no file.

        It is written even when something else was there: that comes back as `displaced`. After
        an error either nothing has changed, or `data` is in place and what it displaced is
        kept aside, to be found by `leftovers`.
        """
        with self._parent_of(path, make=True) as (folder, name):
            staged = name_aside(mark_of(path), "new")
            try:
                stamp = self._create(folder, staged, data, self._mode(folder, name))
                aside = self._swap(folder, name, mark_of(path), staged)
            except BaseException:
                self._drop(folder, staged)
                raise
            self._make_durable(folder)
            return self._change(folder, path, aside, {expected, sha256(data)}, stamp)

    def write_new(self, path: str, files: Mapping[str, bytes]) -> dict[str, Stamp]:
        """Put many new files into one folder, by name; a file that is there already stays.

        The stamps of those written. After an error each file is there as a whole or not at all.
        """
        with self._open(parts_of(path) if path else [], make=True) as folder:
            above = f"{path}/" if path else ""
            staged = {name: name_aside(mark_of(f"{above}{name}"), "new") for name in files}
            try:
                stamps = self._stage(folder, {staged[name]: data for name, data in files.items()})
                written = {
                    name: stamps[aside]
                    for name, aside in staged.items()
                    if not self._is_there(folder, name) and self._put_first(folder, name, aside)
                }
            except BaseException:
                for aside in staged.values():
                    self._drop(folder, aside)
                raise
            for name in files.keys() - written.keys():
                self._drop(folder, staged[name])
            self._make_durable(folder)
            return written

    def remove(self, path: str, expected: str | None) -> Change:
        """Take the file away; content other than `expected` comes back as `displaced`."""
        if self.stamp(path) is None:
            return Change(None, None, None)
        with self._parent_of(path) as (folder, name):
            aside = name_aside(mark_of(path), "old")
            self.disk.replace(name, aside, folder)
            self._make_durable(folder)
            return self._change(folder, path, aside, {expected}, None)

    def listing(self, path: str = "") -> list[tuple[str, os.stat_result]]:
        """Names in one folder, sorted, with what the system says of each; links not followed."""
        found = []
        with self._open(parts_of(path) if path else []) as folder:
            for name in self.disk.names(folder):
                try:
                    found.append((name, self.disk.stat(name, folder)))
                except FileNotFoundError:
                    continue  # Gone since it was listed.
        return found

    def walk(self, *, hidden: bool = False) -> Iterator[str]:
        """Paths of all regular files, hidden ones on request; no link or hidden folder entered.

        A folder below that cannot be read is passed over.
        """
        waiting = [""]
        while waiting:
            path = waiting.pop()
            try:
                listed = self.listing(path)
            except (OSError, PathRefused):
                if not path:
                    raise
                continue
            for name, status in listed:
                below = f"{path}/{name}" if path else name
                if stat.S_ISREG(status.st_mode) and (hidden or not name.startswith(".")):
                    yield below
                if stat.S_ISDIR(status.st_mode) and may_enter(below):
                    waiting.append(below)

    # What was kept aside

    def leftovers(self) -> list[Leftover]:
        """What killed processes left anywhere in the folder."""
        found = (leftover_of(path) for path in self.walk(hidden=True))
        return [leftover for leftover in found if leftover]

    def read_leftover(self, leftover: Leftover) -> Content:
        """What it holds; FileNotFoundError when it is gone by now."""
        with self._aside(leftover.path) as (folder, name):
            return self._read(folder, name)

    def discard(self, path: str) -> None:
        """Delete a file kept aside, once what it holds is stored elsewhere."""
        with self._aside(path) as (folder, name):
            self._drop(folder, name)

    @contextmanager
    def _aside(self, path: str) -> Iterator[tuple[int, str]]:
        if leftover_of(path) is None:
            raise PathRefused(f"“{path}” is not a file kept aside.")
        parent, _, name = path.rpartition("/")
        with self._open(parts_of(parent) if parent else []) as folder:
            yield folder, name

    def _change(
        self, folder: int, path: str, aside: str | None, known: set[str | None], new: Stamp | None
    ) -> Change:
        """Look at what was set aside: drop it when its content is known, else hand it over."""
        if aside is None:
            return Change(None, None, new)
        old = self._read(folder, aside)
        if old.sha256 in known:
            self._drop(folder, aside)
            return Change(old.sha256, None, new)
        parent = path.rpartition("/")[0]
        kept = f"{parent}/{aside}" if parent else aside
        return Change(old.sha256, Displaced(kept, old.data, old.sha256), new)

    # Steps of a write

    def _create(self, folder: int, name: str, data: bytes, mode: int | None) -> Stamp:
        """A new file, whole and durable; with the usual permissions when `mode` is None."""
        file = self.disk.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, at=folder)
        try:
            left = memoryview(data)
            while left:
                left = left[self.disk.write(file, left) :]
            if mode is not None:
                self.disk.chmod(file, mode)
            self.disk.fsync(file)
            return stamp_of(self.disk.stat_open(file))
        finally:
            self.disk.close(file)

    def _stage(self, folder: int, files: Mapping[str, bytes]) -> dict[str, Stamp]:
        """New files, each whole and durable."""

        def create(name: str) -> Stamp:
            return self._create(folder, name, files[name], None)

        with ThreadPoolExecutor(WRITERS) as pool:
            return dict(zip(files, pool.map(create, files), strict=True))

    def _swap(self, folder: int, name: str, mark: str, staged: str) -> str | None:
        """Put the staged file in place; the name under which the old one is kept, if there was.

        An edit of the old file is seen up to the replacement itself. Another file put in its
        place is seen up to the link before it, some microseconds earlier.
        """
        for _ in range(100):
            aside = name_aside(mark, "old")
            if not self._keep(folder, name, aside):
                if self._put_first(folder, name, staged):
                    return None
                continue  # Somebody made the file in between.
            try:
                self.disk.replace(staged, name, folder)
            except BaseException:
                self._drop(folder, aside)
                raise
            return aside
        raise OSError(errno.EBUSY, "the file keeps appearing and disappearing", name)

    def _keep(self, folder: int, name: str, aside: str) -> bool:
        """Give the current file a second name, so that it outlives its replacement."""
        try:
            self.disk.link(name, aside, folder)
        except FileNotFoundError:
            return False
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            return self._keep_copy(folder, name, aside)
        return True

    def _keep_copy(self, folder: int, name: str, aside: str) -> bool:
        # Without hard links an edit made during the next few microseconds is not seen.
        try:
            current = self._read(folder, name)
        except FileNotFoundError:
            return False
        self._create(folder, aside, current.data, None)
        return True

    def _put_first(self, folder: int, name: str, staged: str) -> bool:
        """Put the staged file where there is none; False when there is one by now."""
        try:
            self.disk.link(staged, name, folder)
        except FileExistsError:
            return False
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            self.disk.replace(staged, name, folder)
            return True
        self._drop(folder, staged)
        return True

    def _drop(self, folder: int, name: str) -> None:
        """Delete a file of our own; one that stays is found again among the leftovers."""
        try:
            self.disk.unlink(name, folder)
        except OSError:
            pass

    def _make_durable(self, folder: int) -> None:
        try:
            self.disk.fsync(folder)
        except OSError as error:
            if error.errno != errno.EINVAL:  # Some file systems cannot do it for a folder.
                raise

    # Opening and reading

    @contextmanager
    def _parent_of(self, path: str, *, make: bool = False) -> Iterator[tuple[int, str]]:
        *parents, name = parts_of(path)
        with self._open(parents, make=make) as folder:
            yield folder, name

    @contextmanager
    def _open(self, parts: list[str], *, make: bool = False) -> Iterator[int]:
        """The folder at the end of the parts, opened step by step so that no link is followed."""
        folder = self.disk.open(str(self.root), os.O_RDONLY | os.O_DIRECTORY)
        try:
            for part in parts:
                above, folder = folder, self._enter(folder, part, make=make)
                self.disk.close(above)
            yield folder
        finally:
            self.disk.close(folder)

    def _enter(self, above: int, name: str, *, make: bool) -> int:
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
        try:
            return self.disk.open(name, flags, at=above)
        except FileNotFoundError:
            if not make:
                raise
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.ENOTDIR):
                raise PathRefused(f"“{name}” is a link or a file, not a folder.") from error
            raise
        try:
            self.disk.mkdir(name, above)
        except FileExistsError:
            pass  # Another process made it first.
        self._make_durable(above)
        return self.disk.open(name, flags, at=above)

    def _read(self, folder: int, name: str) -> Content:
        self._regular(folder, name)
        # Without O_NONBLOCK a pipe put here in this instant would hang us.
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
        file = self.disk.open(name, flags, at=folder)
        try:
            status = self.disk.stat_open(file)
            data = b"".join(self._chunks(file))
        finally:
            self.disk.close(file)
        return Content(data, sha256(data), stamp_of(status))

    def _chunks(self, file: int) -> Iterator[bytes]:
        size = 0
        while chunk := self.disk.read(file, 1024 * 1024):
            size += len(chunk)
            if size > READ_LIMIT:
                raise TooLarge(f"The file is larger than {READ_LIMIT:,} bytes.")
            yield chunk

    def _regular(self, folder: int, name: str) -> os.stat_result:
        status = self.disk.stat(name, folder)
        if not stat.S_ISREG(status.st_mode):
            raise PathRefused(f"“{name}” is {kind_of(status)}, not a file.")
        return status

    def _is_there(self, folder: int, name: str) -> bool:
        try:
            self.disk.stat(name, folder)
        except FileNotFoundError:
            return False
        return True

    def _mode(self, folder: int, name: str) -> int | None:
        """The permissions of the file there is, None when there is none."""
        try:
            return stat.S_IMODE(self._regular(folder, name).st_mode)
        except FileNotFoundError:
            return None


def stamp_of(status: os.stat_result) -> Stamp:
    return Stamp(status.st_size, status.st_mtime_ns, status.st_ino)


def kind_of(status: os.stat_result) -> str:
    """What it is that is no file, with its article."""
    kinds = {
        stat.S_IFLNK: "a symbolic link",
        stat.S_IFDIR: "a folder",
        stat.S_IFIFO: "a named pipe",
        stat.S_IFSOCK: "a socket",
    }
    return kinds.get(stat.S_IFMT(status.st_mode), "a device")
