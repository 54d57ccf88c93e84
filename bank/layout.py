"""Where pages are kept: MEMORY.md, a note a day and one file an entity in the memory folder; in a
wiki's folder every Markdown file at any depth.
"""

import re
import stat
import unicodedata
from collections.abc import Container, Iterator
from dataclasses import dataclass, field, replace
from datetime import date
from os import stat_result
from typing import Literal

from bank import refs
from bank.files import Folder, Stamp, kind_of, stamp_of
from bank.names import NameRefused, key, slug
from bank.paths import Leftover, PathRefused, leftover_of, may_enter
from bank.reasons import Problem, Why

CONTENT_LIMIT = 512 * 1024  # Bytes of UTF-8 that a page may take.
ROOT = "."  # The memory folder itself.
MEMORY = "MEMORY.md"
ENTITIES = "bank/entities"
_NOTE = re.compile(r"(\d{4}-\d{2}-\d{2})\.md", re.ASCII)
_BACKUP = re.compile(r"(?:\.(?:bak|prev|orig|tmp|swp)|~)\.md$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class PageFile:
    """One page as it lies on disk.

    `name` is MEMORY, the day, or the entity's slug; `problem` says why the file cannot be a
    page (a link, a name the slug rule refuses, a second file for one name), and then `name`
    is empty and the file is only to be shown, not read.
    """

    form: Literal["memory", "note", "entity", "wiki"]
    name: str
    path: str
    stamp: Stamp
    problem: Problem | None = None


@dataclass(frozen=True)
class Listing:
    """What lies in the memory folder.

    Nothing is known of the files in a folder that has a fault: they are not gone. A folder that
    is `absent` is not there at all, which is a fault of the folder itself, and fine for the one
    of the entities while there are none.
    """

    files: list[PageFile] = field(default_factory=list)
    faults: dict[str, Problem] = field(default_factory=dict)
    absent: frozenset[str] = frozenset()
    leftovers: list[Leftover] = field(default_factory=list)  # Of a wiki's folder alone.

    def hides(self, path: str) -> bool:
        """Whether a file of this path may be there all the same: its folder has a fault."""
        faults = self.faults.keys()
        return folder_of(path) in faults or any(path.startswith(f"{one}/") for one in faults)


def entity_path(name: str) -> str:
    """Where the entity of this slug is kept when memoryweb makes the file."""
    return f"{ENTITIES}/{name}.md"


def note_path(day: date) -> str:
    return f"{day.isoformat()}.md"


def folder_of(path: str) -> str:
    """Of the folders that pages lie in, the one that this path is in; a wiki is one folder."""
    if path.startswith("@"):
        return path.partition("/")[0]
    return ENTITIES if path.startswith(f"{ENTITIES}/") else ROOT


def look(folder: Folder) -> Listing:
    """Every page of a memory folder; hidden files, backups and all other forms are left out."""
    listing = Listing()
    try:
        listing.files.extend(_in_root(folder))
    except (OSError, PathRefused) as error:
        listing.faults[ROOT] = _fault("The memory folder", error)
        return listing
    try:
        entries = folder.listing(ENTITIES)
    except FileNotFoundError:
        return replace(listing, absent=frozenset({ENTITIES}))
    except (OSError, PathRefused) as error:
        listing.faults[ENTITIES] = _fault("The folder", error)
        return listing
    found = [_entity(*entry) for entry in entries if _is_entity(entry[0])]
    listing.files.extend(_without_twins(found))
    listing.faults.update(_folders(entries))
    return listing


def _folders(entries: list[tuple[str, stat_result]]) -> Iterator[tuple[str, Problem]]:
    """The folders among the entities, in which no page lies."""
    for name, status in entries:
        if stat.S_ISDIR(status.st_mode) and not name.startswith(".") and not _is_entity(name):
            reason = f"It is a folder; pages lie directly in {ENTITIES}."
            path = f"{ENTITIES}/{name}/".encode(errors="replace").decode()
            yield path, Problem(Why.FOLDER, reason)


def look_at_wiki(folder: Folder, wiki: str, known: Container[str] = ()) -> Listing:
    """Every page of a wiki's folder, by paths as bank.places has them. Hidden files and links to
    folders are left out, other files are no pages. `known` are the paths of its pages' files."""
    listing, found, waiting = Listing(), list[PageFile](), [""]
    while waiting:
        above = waiting.pop()
        try:
            entries = folder.listing(above)
        except (OSError, PathRefused) as error:
            listing.faults[f"@{wiki}/{above}".rstrip("/")] = _fault("The folder", error)
            continue
        for name, status in entries:
            below = f"{above}/{name}" if above else name
            if leftover := leftover_of(below):
                listing.leftovers.append(replace(leftover, path=f"@{wiki}/{below}"))
            elif name.startswith("."):
                continue
            elif stat.S_ISDIR(status.st_mode):
                waiting += [below] if may_enter(below) else []
            elif (ref := refs.of_file(wiki, below)) is not None:
                found.append(_of_wiki(wiki, ref, below, status))
    listing.files.extend(_without_wiki_twins(found, known))
    return listing


def _of_wiki(wiki: str, ref: str, below: str, status: stat_result) -> PageFile:
    path = f"@{wiki}/{below}"
    try:
        return _page("wiki", f"{wiki}/{refs.normal(ref)}", path, status)
    except NameRefused as refused:
        shown = path.encode(errors="replace").decode()
        return PageFile("wiki", "", shown, stamp_of(status), Problem(Why.NAME, refused.reason))


def _without_wiki_twins(pages: list[PageFile], known: Container[str]) -> Iterator[PageFile]:
    """Of files whose refs are one page that is it which was it before, else the first by path."""
    chosen: dict[str, str] = {}
    for page in sorted(pages, key=lambda page: (page.path not in known, page.path)):
        first = chosen.setdefault(refs.key_of(page.name), page.path) if page.name else page.path
        if first != page.path:
            reason = f"“{first}” is the page of this name; two files cannot both be it."
            page = replace(page, name="", problem=Problem(Why.TWIN, reason))
        yield page


def _in_root(folder: Folder) -> Iterator[PageFile]:
    for name, status in folder.listing():
        if name == MEMORY:
            yield _page("memory", "MEMORY", name, status)
        elif note := _NOTE.fullmatch(name):
            yield _note(note[1], name, status)


def _fault(folder: str, error: OSError | PathRefused) -> Problem:
    reason = error.strerror if isinstance(error, OSError) else str(error)
    return Problem(Why.NO_FOLDER, f"{folder} cannot be read: {reason or type(error).__name__}")


def _page(
    form: Literal["memory", "note", "entity", "wiki"], name: str, path: str, status: stat_result
) -> PageFile:
    page = PageFile(form, name, path, stamp_of(status))
    if stat.S_ISREG(status.st_mode):
        return page
    problem = Problem(Why.NO_FILE, f"It is {kind_of(status)}, not a file.")
    return replace(page, name="", problem=problem)


def _note(day: str, path: str, status: stat_result) -> PageFile:
    page = _page("note", day, path, status)
    try:
        date.fromisoformat(day)
    except ValueError:
        return replace(page, name="", problem=Problem(Why.NAME, "There is no such day."))
    return page


def _is_entity(name: str) -> bool:
    return name.endswith(".md") and not name.startswith(".") and not _BACKUP.search(name)


def _entity(file_name: str, status: stat_result) -> PageFile:
    path = f"{ENTITIES}/{file_name}"
    try:
        return _page("entity", slug(file_name.removesuffix(".md")), path, status)
    except NameRefused as refused:
        shown = path.encode(errors="replace").decode()
        problem = Problem(Why.NAME, refused.reason)
        return PageFile("entity", "", shown, stamp_of(status), problem)


def _without_twins(pages: list[PageFile]) -> Iterator[PageFile]:
    """Of files whose names are one page only one is it: the one named as we would name it."""
    chosen: dict[str, PageFile] = {}
    for page in sorted(pages, key=lambda page: not _is_canonical(page)):
        if page.name:
            chosen.setdefault(key(page.name), page)
    for page in pages:
        first = chosen.get(key(page.name), page)
        if first is not page:
            reason = f"“{first.path}” is the page of this name; two files cannot both be it."
            page = replace(page, name="", problem=Problem(Why.TWIN, reason))
        yield page


def _is_canonical(page: PageFile) -> bool:
    return unicodedata.normalize("NFC", page.path) == entity_path(page.name)
