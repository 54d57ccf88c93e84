"""What lies in and below a working directory: one rule for lists, searches and the tree.

Both / and \\ separate, \\ only in a path without /: on Windows and not in a POSIX name. Paths are
compared as they were written; they need not exist here.
"""

from typing import NamedTuple


def separator(path: str) -> str:
    return "\\" if "\\" in path and "/" not in path else "/"


def normal(path: str) -> str:
    """The path without separators at its end; a root stays one, and \\\\ is not the root \\."""
    return path.rstrip(separator(path)) or (path if separator(path) == "\\" else "/")


class Subtree(NamedTuple):
    """A directory and all below it: /srv/app has /srv/app/web in it, and /srv/apple not.

    A path is in it that is `itself`, begins with `inside`, or has no / and begins with
    `inside_windows` (None: no such path can be in it). `queries` asks the database the same.
    """

    itself: str
    inside: str
    inside_windows: str | None

    @classmethod
    def of(cls, directory: str) -> "Subtree":
        itself = normal(directory)
        windows = None if "/" in itself else itself.rstrip("\\") + "\\"
        return cls(itself, itself.rstrip("/") + "/", windows)

    def holds(self, path: str) -> bool:
        if path == self.itself or path.startswith(self.inside):
            return True
        windows = self.inside_windows
        return windows is not None and path.startswith(windows) and "/" not in path
