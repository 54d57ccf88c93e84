"""Files that were renamed outside: which new file is that of a page whose own is gone.

It is when it holds exactly the page's last text, no other new file does, and no other page
whose file is gone had that text. In every other case nothing is concluded: the new file becomes
a page of its own, and the one that is gone is written again.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from bank import layout, places, queries
from bank.files import Stamp
from bank.layout import PageFile
from bank.models import Kind, Page
from bank.paths import PathRefused
from memoryweb.core.chunks import chunks

_CHUNK = 500  # Paths in one query.
_NAMED_BY_PEOPLE = (Kind.ENTITY, Kind.WIKI)  # A note's name is its day.
# Of files that nobody has touched since they were read: a folder of thousands that is renamed is
# looked at many times until all are followed. Who renames a page reads its file again.
_hashes: dict[tuple[str, Stamp], str] = {}
_REMEMBERED = 50_000
_COLUMNS = ("kind", "name", "path", "sha256", "file_stamp")


def found(missed: Sequence[str], files: Iterable[PageFile]) -> dict[str, PageFile]:
    """By the path that each renamed page has still, the file that is its own now.

    `missed` are the paths of pages whose files are gone, `files` those that no page is known to
    have.
    """
    new = [file for file in files if file.name]
    if not new:
        return {}
    return _matched(_pages(missed), new)


@dataclass(frozen=True)
class Now:
    """Where the file of a page is that is not where it was, "" where it is nowhere: `spelled`
    otherwise, or `renamed`."""

    spelled: str = ""
    renamed: str = ""


def of(page: Page) -> Now:
    """Where the page's file is, which is not at its path."""
    pages = Page.objects.filter(archived_at=None, wiki=page.wiki_id)
    known = dict(pages.values_list("path", "key"))
    listing = places.look(page.wiki_id or "", known)
    there = {file.path for file in listing.files}
    spelled = [file.path for file in listing.files if file.name and _key(file) == page.key]
    if spelled:
        return Now(spelled=spelled[0])
    missed = [path for path in known if path not in there]
    match = found(missed, unknown(listing.files, known, known.values())).get(page.path)
    return Now(renamed=match.path if match else "")


def unknown(
    files: Iterable[PageFile], paths: Mapping[str, object], keys: Collection[str]
) -> list[PageFile]:
    """The files that are no page's by their path, nor by their name in another spelling."""
    taken = set(keys)
    return [
        file for file in files if file.name and file.path not in paths and _key(file) not in taken
    ]


def _key(file: PageFile) -> str:
    return queries.key_of(Kind(file.form), file.name)


def _pages(paths: Sequence[str]) -> list[Page]:
    living = Page.objects.filter(archived_at=None, kind__in=_NAMED_BY_PEOPLE).only(*_COLUMNS)
    # Without a stamp it is not known that the file ever held the page's text.
    living = living.exclude(file_stamp="")
    return [page for some in chunks(paths, _CHUNK) for page in living.filter(path__in=some)]


def _matched(pages: Iterable[Page], files: Iterable[PageFile]) -> dict[str, PageFile]:
    had: dict[tuple[str, str], list[Page]] = defaultdict(list)
    for page in pages:
        had[layout.folder_of(page.path), page.sha256].append(page)
    sizes = {(folder, _size(one)) for (folder, _), some in had.items() for one in some}
    holding: dict[tuple[str, str], list[PageFile]] = defaultdict(list)
    for file in files:
        folder = layout.folder_of(file.path)
        if (folder, file.stamp.size) in sizes:
            holding[folder, _sha256(file)].append(file)
    return {
        some[0].path: holding[text][0]
        for text, some in had.items()
        if len(some) == len(holding[text]) == 1
    }


def _size(page: Page) -> int:
    return int(page.file_stamp.partition("-")[0])


def _sha256(file: PageFile) -> str:
    """The hash of what the file holds, "" when it cannot be read."""
    seen = file.path, file.stamp
    if known := _hashes.get(seen):
        return known
    try:
        found = places.read(file.path)
    except (OSError, PathRefused):
        return ""
    if len(_hashes) >= _REMEMBERED:
        _hashes.clear()
    if found.stamp == file.stamp:
        _hashes[seen] = found.sha256
    return found.sha256
