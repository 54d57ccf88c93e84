"""The seam between the bank and the disk: every file operation goes through a Disk."""

import fcntl
import os


class Disk:
    """File operations by their plain names, so that a test can make the N-th one fail.

    `about_to` is called before each. Names are relative to `at`, an open folder, where one is
    given; none of them follows a symbolic link in its last part, save `open` when told to.
    """

    def about_to(self, operation: str, name: str) -> None:
        """Nothing, on a real disk."""

    def open(self, name: str, flags: int, mode: int = 0o666, at: int | None = None) -> int:
        self.about_to("open", name)
        return os.open(name, flags | os.O_CLOEXEC, mode, dir_fd=at)

    def close(self, file: int) -> None:
        self.about_to("close", "")
        os.close(file)

    def read(self, file: int, size: int) -> bytes:
        self.about_to("read", "")
        return os.read(file, size)

    def write(self, file: int, data: memoryview) -> int:
        """How many bytes were written, which may be fewer than there are."""
        self.about_to("write", "")
        return os.write(file, data)

    def fsync(self, file: int) -> None:
        self.about_to("fsync", "")
        os.fsync(file)

    def chmod(self, file: int, mode: int) -> None:
        self.about_to("chmod", "")
        os.fchmod(file, mode)

    def stat(self, name: str, at: int) -> os.stat_result:
        self.about_to("stat", name)
        return os.stat(name, dir_fd=at, follow_symlinks=False)

    def stat_open(self, file: int) -> os.stat_result:
        self.about_to("stat_open", "")
        return os.fstat(file)

    def replace(self, old: str, new: str, at: int) -> None:
        self.about_to("replace", new)
        os.replace(old, new, src_dir_fd=at, dst_dir_fd=at)

    def link(self, old: str, new: str, at: int) -> None:
        self.about_to("link", new)
        os.link(old, new, src_dir_fd=at, dst_dir_fd=at, follow_symlinks=False)

    def unlink(self, name: str, at: int) -> None:
        self.about_to("unlink", name)
        os.unlink(name, dir_fd=at)

    def mkdir(self, name: str, at: int) -> None:
        self.about_to("mkdir", name)
        os.mkdir(name, dir_fd=at)

    def names(self, folder: int) -> list[str]:
        self.about_to("names", "")
        return sorted(os.listdir(folder))

    def lock(self, file: int, operation: int) -> None:
        self.about_to("lock", "")
        fcntl.flock(file, operation)
