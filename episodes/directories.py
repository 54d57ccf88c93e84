"""Working directories as a tree, with how many episodes lie in and below each. Values only."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from urllib.parse import urlencode

from memoryweb.core.directories import normal, separator

DEEPEST = 32  # So that no path, however long, makes a tree that is too deep to be walked and drawn.


@dataclass
class Directory:
    """A directory; `count` includes all below it. `path` is what a prefix filter takes."""

    label: str
    path: str
    count: int = 0
    own: int = 0
    children: list["Directory"] = field(default_factory=list)

    @property
    def query(self) -> str:
        """The query string of the list of its episodes."""
        return urlencode({"working_dir_prefix": self.path})


def tree(counts: Mapping[str, int]) -> list[Directory]:
    """The top directories. A chain of directories with nothing of their own is one step, and what
    lies deeper than DEEPEST is counted where the tree ends."""
    top = Directory("", "")
    known: dict[str, Directory] = {"": top}
    for path, count in counts.items():
        way = list(_way(path, known, top))
        for directory in way:
            directory.count += count
        way[-1].own += count
    return [_short(child) for child in _sorted(top.children)]


def pruned(directories: Iterable[Directory], most: int) -> tuple[list[Directory], int]:
    """The `most` fullest directories of a tree, and how many are left out.

    No directory is fuller than the one above it, so what is kept hangs together, and each count
    is still that of all below, left out or not.
    """
    every = sorted(_walked(directories), key=lambda one: (-one[1].count, one[0]))
    kept = {id(directory) for _, directory in every[:most]}
    for _, directory in every[:most]:
        directory.children = [child for child in directory.children if id(child) in kept]
    return [one for one in directories if id(one) in kept], max(0, len(every) - most)


def _walked(directories: Iterable[Directory], depth: int = 0) -> Iterator[tuple[int, Directory]]:
    for directory in directories:
        yield depth, directory
        yield from _walked(directory.children, depth + 1)


def _way(path: str, known: dict[str, Directory], top: Directory) -> Iterable[Directory]:
    """The directories from the top down to `path`, made where they are missing."""
    parent = top
    for step, label in _steps(normal(path))[:DEEPEST]:
        if step not in known:
            known[step] = Directory(label, step)
            parent.children.append(known[step])
        parent = known[step]
        yield parent


def _steps(path: str) -> list[tuple[str, str]]:
    """`/srv/app` by steps: ("/", "/"), ("/srv", "srv"), ("/srv/app", "app")."""
    between = separator(path)
    names = path.split(between)
    steps = []
    for place, name in enumerate(names, 1):
        here = between.join(names[:place]) or between
        if name or place == 1:
            steps.append((here, name or between))
    return [(between, between)] if path == between else steps


def _short(directory: Directory) -> Directory:
    while len(directory.children) == 1 and not directory.own:
        child = directory.children[0]
        directory = Directory(
            f"{directory.label.rstrip(separator(child.path))}{separator(child.path)}{child.label}",
            child.path,
            child.count,
            child.own,
            child.children,
        )
    directory.children = [_short(child) for child in _sorted(directory.children)]
    return directory


def _sorted(directories: Iterable[Directory]) -> list[Directory]:
    return sorted(directories, key=lambda directory: directory.label)
