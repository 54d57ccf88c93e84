"""Where the files of pages are: the memory folder, or the folder of a wiki.

A page's path tells: `bank/entities/alice.md` lies below the memory folder, `@manual/guide/x.md`
below the folder of the wiki `manual`. Everything that touches a page's file goes through here;
errors are those of bank.files and bank.paths.
"""

import os
import shutil
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from django.conf import settings

from bank import disk as disks
from bank import layout
from bank.files import Change, Content, Folder, Stamp
from bank.layout import Listing
from bank.models import Wiki
from bank.paths import Leftover, PathRefused
from bank.paths import mark_of as mark_in_folder

disk = disks.Disk()  # A test puts one here that fails.
_MARK = "@"


@dataclass(frozen=True)
class Place:
    """A folder of pages' files; `prefix` stands before the paths of all of them."""

    folder: Folder
    prefix: str = ""

    def path(self, below: str) -> str:
        return self.prefix + below

    def leftovers(self) -> list[Leftover]:
        """What killed processes left anywhere in the folder."""
        return [self.named(one) for one in self.folder.leftovers() if self._is_ours(one.path)]

    def named(self, leftover: Leftover) -> Leftover:
        return replace(leftover, path=self.path(leftover.path))

    def _is_ours(self, path: str) -> bool:
        # No page of the memory folder lies in a folder of such a name.
        return bool(self.prefix) or not path.startswith(_MARK)


def memory_folder() -> Folder:
    return Folder(settings.MEMORYWEB_MEMORY_DIR, disk)


def has_entities() -> bool:
    """Whether the folder of the entities is there, or anything in its place."""
    return os.path.lexists(memory_folder().root / layout.ENTITIES)


def memory() -> Place:
    return Place(memory_folder())


def home_of(wiki: str) -> Path:
    """What memoryweb itself keeps of a wiki."""
    return Path(settings.MEMORYWEB_HOME) / "wikis" / wiki


def own_root(wiki: str) -> Path:
    """Where the files are of a wiki that points to no folder."""
    return home_of(wiki) / "pages"


def holds_anything(wiki: str) -> bool:
    """Whether there are files in what would be the folder of a wiki that points to none."""
    root = own_root(wiki)
    return root.is_dir() and any(root.iterdir())


def of_wiki(wiki: str) -> Place:
    """The folder of a wiki, be it deleted. Raises PathRefused when there is no such wiki."""
    pointed = Wiki.objects.filter(pk=wiki).values_list("folder", flat=True).first()
    if pointed is None:
        raise PathRefused(f"There is no wiki “{wiki}”.")
    return Place(Folder(Path(pointed) if pointed else own_root(wiki), disk), prefix_of(wiki))


def index_of(wiki: str) -> Path:
    """The file of a wiki's search index; `bank` has one too."""
    return home_of(wiki) / "index.db"


def homes() -> set[str]:
    """The wikis of which memoryweb itself keeps anything, be they no more."""
    folder = Path(settings.MEMORYWEB_HOME) / "wikis"
    return {one.name for one in folder.iterdir()} if folder.is_dir() else set()


def drop_index(wiki: str) -> None:
    """Delete a wiki's index, which holds what its pages said; it is a cache, and built anew."""
    for end in ("", "-wal", "-shm"):
        Path(f"{index_of(wiki)}{end}").unlink(missing_ok=True)


def remove_home(wiki: str) -> None:
    """Delete what memoryweb itself keeps of a wiki that is no more, its files and its index."""
    shutil.rmtree(home_of(wiki), ignore_errors=True)


def look(wiki: str, known: Container[str]) -> Listing:
    """What lies in the folder of a wiki, or for "" in the memory folder; `known` are the paths of
    its pages' files."""
    if wiki:
        return layout.look_at_wiki(of_wiki(wiki).folder, wiki, known)
    return layout.look(memory_folder())


def prefix_of(wiki: str) -> str:
    """What the paths of a wiki's files begin with."""
    return f"{_MARK}{wiki}/"


def root_of(path: str) -> str:
    """The name of the wiki's folder that this path lies in, "" for the memory folder."""
    return path.partition("/")[0] if path.startswith(_MARK) else ""


def below(path: str) -> str:
    """The path below its folder."""
    return path.partition("/")[2] if path.startswith(_MARK) else path


def of(path: str) -> Place:
    """The folder that this path lies in."""
    root = root_of(path)
    return of_wiki(root.removeprefix(_MARK)) if root else memory()


# What bank.files does, by path


def read(path: str) -> Content:
    return of(path).folder.read(below(path))


def stamp(path: str) -> Stamp | None:
    return of(path).folder.stamp(below(path))


def write(path: str, data: bytes, expected: str | None) -> Change:
    place = of(path)
    _make(place)
    return _told(place, place.folder.write(below(path), data, expected))


def remove(path: str, expected: str | None) -> Change:
    place = of(path)
    return _told(place, place.folder.remove(below(path), expected))


def write_new(new: Mapping[str, bytes]) -> dict[str, Stamp]:
    """Put many new files in place; a file that is there already stays. The stamps of those
    written. After an error each file is there as a whole or not at all."""
    written: dict[str, Stamp] = {}
    for parent, paths in _by_parent(new).items():
        place = of(paths[0])
        _make(place)
        named = {path.rpartition("/")[2]: new[path] for path in paths}
        stamps = place.folder.write_new(below(f"{parent}/").rstrip("/"), named)
        written |= {path: stamps[name] for path in paths if (name := _name(path)) in stamps}
    return written


def beside(paths: Iterable[str]) -> Iterator[Leftover]:
    """What killed processes left beside the files of these paths."""
    marks: dict[str, set[str]] = {}
    for path in paths:
        root, mark = mark_of(path)
        marks.setdefault(root, set()).add(mark)
    for root, wanted in marks.items():
        place = of(f"{root}/") if root else memory()
        yield from (one for one in place.leftovers() if one.mark in wanted)


def read_leftover(leftover: Leftover) -> Content:
    path = leftover.path
    return of(path).folder.read_leftover(replace(leftover, path=below(path)))


def discard(path: str) -> None:
    """Delete a file kept aside, once what it holds is stored elsewhere."""
    of(path).folder.discard(below(path))


def mark_of(path: str) -> tuple[str, str]:
    """Names the path among what is kept aside anywhere: the folder, and the mark in it."""
    return root_of(path), mark_in_folder(below(path))


def mark_on(leftover: Leftover) -> tuple[str, str]:
    return root_of(leftover.path), leftover.mark


def _make(place: Place) -> None:
    """A folder of our own is made when it is needed; one that is pointed at is not."""
    if place.prefix and place.folder.root.parent.parent == Path(settings.MEMORYWEB_HOME) / "wikis":
        place.folder.root.mkdir(parents=True, exist_ok=True)


def _told(place: Place, change: Change) -> Change:
    moved = change.displaced
    if moved is None or not place.prefix:
        return change
    return replace(change, displaced=replace(moved, path=place.path(moved.path)))


def _by_parent(paths: Iterable[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for path in paths:
        found.setdefault(path.rpartition("/")[0], []).append(path)
    return found


def _name(path: str) -> str:
    return path.rpartition("/")[2]
