"""Paths below a folder of Markdown: which may be named, and what the names of files kept aside say.

A file is kept aside under a name of its own, `.memoryweb-`, a mark of the path that it belongs to,
something random, and `.new` or `.old`.
"""

import hashlib
import re
import secrets
from dataclasses import dataclass
from typing import Literal

DEPTH_LIMIT = 32  # Folders within folders that are looked into.
_ASIDE = ".memoryweb-"
_UNFIT = re.compile(r"[\x00-\x1f\x7f\\\ud800-\udfff]")  # Surrogates: the name is not UTF-8.
_DRIVE = re.compile(r"[A-Za-z]:")


class PathRefused(ValueError):
    """The path leaves the folder, may not be named so, or leads to no regular file."""


@dataclass(frozen=True, slots=True)
class Leftover:
    """What a killed process left: a `new` file never put in place, an `old` one kept aside.

    `mark` is `mark_of` the path it belongs to. Touch it only while holding that path's lock:
    without it, the process may be alive and at work.
    """

    path: str
    kind: Literal["new", "old"]
    mark: str


def parts_of(path: str) -> list[str]:
    """The names of the folders and the file. Raises PathRefused for one that may not be named."""
    parts = path.split("/")
    for part in parts:
        if not part.strip() or part.startswith(".") or _UNFIT.search(part):
            shown = part.encode(errors="replace").decode()
            raise PathRefused(f"“{shown}” cannot be part of a path.")
    if _DRIVE.match(parts[0]):
        raise PathRefused(f"“{parts[0]}” names a drive.")
    return parts


def may_enter(path: str) -> bool:
    """Whether a folder of this path is looked into: by its name, and not at any depth."""
    try:
        return len(parts_of(path)) <= DEPTH_LIMIT
    except PathRefused:
        return False


def mark_of(path: str) -> str:
    """Names the path in the names of files kept aside for it, in the same length for any path."""
    return hashlib.sha256(path.encode()).hexdigest()[:16]


def name_aside(mark: str, kind: Literal["new", "old"]) -> str:
    """A name that no other file has."""
    return f"{_ASIDE}{mark}-{secrets.token_hex(8)}.{kind}"


def leftover_of(path: str) -> Leftover | None:
    """What this path is among files kept aside, None for any other."""
    name = path.rpartition("/")[2]
    mark, _, rest = name.removeprefix(_ASIDE).partition("-")
    if not name.startswith(_ASIDE) or len(mark) != 16:
        return None
    if rest.endswith(".new"):
        return Leftover(path, "new", mark)
    return Leftover(path, "old", mark) if rest.endswith(".old") else None
