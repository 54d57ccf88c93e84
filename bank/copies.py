"""Files that keep an erased page: those that could be its file, are copies of it that editors and
agents leave beside it, or say what it said."""

import re
from collections.abc import Collection, Mapping

from bank import layout, places, queries, refs
from bank.models import Kind, Page
from bank.paths import PathRefused
from bank.places import Place

# `alice.md.bak`, `alice.md~`, `alice.bak.md`, `.alice.md.swp`, `alice.md.prev.2`.
_BACKUP = re.compile(
    r"\.?#?(?P<stem>.+?)(?:\.md)?"
    r"(?:(?:\.(?:bak|prev|orig|old|save|tmp|sw[a-p])|~|#)[.\d]*)+(?:\.md)?",
    re.IGNORECASE,
)


def files(path: str, kind: Kind, keys: Collection[str], sizes: Mapping[str, int]) -> list[str]:
    """The files in the folder of this page that no other page has as its own.

    `keys` are of the names that a file could have as the page's, `sizes` the bytes of its texts
    by their SHA-256; only files of such a size are read. What is hidden counts where it is a
    backup of the page's file. Raises OSError when the folder cannot be read.
    """
    place = places.of(path)
    living = Page.objects.filter(archived_at=None, path__startswith=place.prefix)
    others = set(living.values_list("path", flat=True))
    lengths = set(sizes.values())
    own = {path} if keys else set()
    return sorted(
        one
        for one in map(place.path, place.folder.walk(hidden=True))
        if one not in others
        and (
            _is_backup(place, kind, one, keys, own)
            or (
                not _is_hidden(one)
                and (_key(place, kind, one) in keys or _says(one, sizes, lengths))
            )
        )
    )


def _is_hidden(path: str) -> bool:
    return path.rpartition("/")[2].startswith(".")


def _is_backup(
    place: Place, kind: Kind, path: str, keys: Collection[str], own: Collection[str]
) -> bool:
    """Whether an editor or an agent would call its copy of the page's file so."""
    folder, slash, name = path.rpartition("/")
    match = _BACKUP.fullmatch(name)
    if match is None:
        return False
    of = f"{folder}{slash}{match['stem']}.md"
    return of in own or _key(place, kind, of) in keys


def _key(place: Place, kind: Kind, path: str) -> str | None:
    """The key of the page that this file would become, None for one that becomes none."""
    below = places.below(path)
    if kind == Kind.WIKI:
        wiki = place.prefix.strip("@/")
        ref = refs.of_file(wiki, below)
        return None if ref is None else queries.key_of(kind, f"{wiki}/{ref}")
    folder, _, name = below.rpartition("/")
    if kind == Kind.ENTITY and folder == layout.ENTITIES and name.endswith(".md"):
        return queries.key_of(kind, name.removesuffix(".md"))
    return None


def _says(path: str, shas: Collection[str], lengths: Collection[int]) -> bool:
    """Whether the file holds one of these texts, or may: it cannot be read."""
    try:
        stamp = places.stamp(path)
        if stamp is None or stamp.size not in lengths:
            return False
        return places.read(path).sha256 in shas
    except (FileNotFoundError, PathRefused):
        return False  # Gone by now, no file, or one of a name that nothing is read by.
    except OSError:
        return True
