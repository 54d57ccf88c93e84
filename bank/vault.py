"""A folder of Markdown as it lies, and what each of its files becomes in the bank: the plan.

It may be an octos memory folder, whose files are named as pages are, or a vault with folders
and names of any kind. Nothing is written here.
"""

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from bank import names, places
from bank.files import reason_of, sha256
from bank.layout import CONTENT_LIMIT, ENTITIES, MEMORY
from bank.models import Kind, Page, Revision, without_mark
from memoryweb.core.errors import Invalid

_MARKDOWN = re.compile(r"\.md$", re.IGNORECASE)
_NOTE = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Source:
    """A Markdown file of the folder; `path` is its path in the folder, without .md.

    Of a `fixed` file the page of its name is the one that is meant: an octos entity.
    """

    file: str
    kind: Kind
    path: str
    fixed: bool

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class Planned:
    """What a file becomes: `name` is its page's; `why` it is not the file's, if it is not."""

    source: Source
    name: str
    why: str


@dataclass(frozen=True)
class Plan:
    """`left` are the files that are not taken, by path, each with the reason."""

    folder: Path
    pages: Sequence[Planned]
    left: dict[str, str]
    others: int  # Files that are no Markdown.

    def read(self, source: Source) -> bytes:
        """The file's bytes, one more than a page may take at most. Raises OSError."""
        return read(self.folder / source.file)

    def origin(self, source: Source) -> str:
        """Of which file of which folder a page is: two folders may be called the same."""
        return f"{self.folder.name}~{_mark(self.folder)}/{source.path}"


def _mark(folder: Path) -> str:
    return sha256(os.fsencode(folder))[:8]


def plan(folder: Path) -> Plan:
    """What every file of the folder will become; nothing is written. Raises Invalid."""
    folder = folder.resolve()
    if not folder.is_dir():
        raise Invalid(f"{folder} is not a folder")
    refuse_own(folder)
    found: dict[str, Source] = {}
    left: dict[str, str] = {}
    others = 0
    for path, problem in files(folder):
        source = _source(path)
        if problem:
            left[path] = problem
        elif not _MARKDOWN.search(path):
            others += 1
        elif found.setdefault(source.path, source) is not source:
            left[path] = f"it differs from {found[source.path].file} in its ending alone"
    pages = sorted(_Naming(folder).named(list(found.values())), key=lambda one: one.source.file)
    return Plan(folder, pages, left, others)


def refuse_own(folder: Path) -> None:
    """Raise Invalid for a folder that is, lies in or holds the memory folder."""
    own = places.memory_folder().root.resolve()
    if folder.is_relative_to(own) or own.is_relative_to(folder):
        raise Invalid("this is memoryweb's own memory folder; its files are taken in by themselves")


def files(folder: Path) -> Iterator[tuple[str, str]]:
    """(path, problem) of every file in the folder. Hidden ones are left out, links not followed."""
    waiting = [""]
    while waiting:
        above = waiting.pop()
        try:
            with os.scandir(folder / above) as entries:
                listed = sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            yield above, f"the folder cannot be read: {reason_of(error)}"
            continue
        for entry in listed:
            path = f"{above}/{entry.name}" if above else entry.name
            if entry.name.startswith("."):
                continue
            if entry.is_dir(follow_symlinks=False):
                waiting.append(path)
            else:
                yield _shown(path), _problem(entry, path)


def _problem(entry: "os.DirEntry[str]", path: str) -> str:
    if not (_MARKDOWN.search(entry.name) or entry.is_symlink()):
        return ""
    if not entry.is_file(follow_symlinks=False):
        return "it is a link or a device, not a file"
    return "" if _shown(path) == path else "its name is not UTF-8"


def _shown(path: str) -> str:
    return os.fsencode(path).decode(errors="replace")


def _source(file: str) -> Source:
    path = _MARKDOWN.sub("", file)
    if file == MEMORY:
        return Source(file, Kind.MEMORY, path, True)
    if _is_day(path):
        return Source(file, Kind.NOTE, path, True)
    return Source(file, Kind.ENTITY, path, path.rpartition("/")[0] == ENTITIES)


def _is_day(path: str) -> bool:
    try:
        return bool(_NOTE.fullmatch(path) and date.fromisoformat(path))
    except ValueError:
        return False


@dataclass(frozen=True, slots=True)
class _Known:
    pk: int
    name: str


class _Naming:
    """Gives every file its page's name: the one it had before, its own, or the nearest free one."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._by_key: dict[str, _Known] = {}
        self._by_origin: dict[str, _Known] = {}
        self._taken: set[str] = set()
        rows = Page.objects.filter(kind=Kind.ENTITY, archived_at=None)
        for pk, key, name, origin in rows.values_list("pk", "key", "name", "origin"):
            self._by_key[key] = self._by_origin[without_mark(origin)] = _Known(pk, name)

    def named(self, sources: Sequence[Source]) -> Iterator[Planned]:
        """A file in few folders comes before those deeper, as links to its name lead to it."""
        yield from (Planned(one, one.path, "") for one in sources if one.kind != Kind.ENTITY)
        rest = sorted(
            (one for one in sources if one.kind == Kind.ENTITY),
            key=lambda one: (not one.fixed, one.path.count("/"), one.path),
        )
        for choose in (self._before, self._own, self._nearest):
            sources, rest = rest, []
            for source in sources:
                if (name := choose(source)) is None:
                    rest.append(source)
                else:
                    self._taken.add(names.key(name))
                    yield Planned(source, name, _difference(source.name, name))

    def _before(self, source: Source) -> str | None:
        """The name of the page that this file became in an earlier import."""
        known = self._by_origin.get(f"{self._folder.name}/{source.path}")
        return known.name if known else None

    def _own(self, source: Source) -> str | None:
        try:
            name = names.slug(source.name)
        except names.NameRefused:
            return None
        free = names.key(name) not in self._taken
        return name if self._fits(source, name) or (source.fixed and free) else None

    def _nearest(self, source: Source) -> str | None:
        return next(name for name in names.proposals(source.name) if self._fits(source, name))

    def _fits(self, source: Source, name: str) -> bool:
        """Whether the name is free, or that of a page that once had this file's text."""
        key = names.key(name)
        known = self._by_key.get(key)
        if key in self._taken:
            return False
        return known is None or self._holds(known, source)

    def _holds(self, known: _Known, source: Source) -> bool:
        try:
            data = read(self._folder / source.file)
        except OSError:
            return False
        return Revision.objects.filter(page=known.pk, sha256=sha256(data)).exists()


def _difference(given: str, name: str) -> str:
    """Why the page is not called what its file is."""
    try:
        own = names.slug(given)
    except names.NameRefused as refused:
        return refused.reason
    return "" if own == name else "Another page has this name."


# Reading


def read(path: Path) -> bytes:
    """The file's bytes, one more than a page may take at most; no link is followed."""
    file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(file, "rb") as opened:
        return opened.read(CONTENT_LIMIT + 1)
