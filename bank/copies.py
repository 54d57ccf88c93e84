"""Files that would bring an erased page back: those that could be its file, or say what it said."""

from collections.abc import Collection, Mapping

from bank import layout, places, queries, refs
from bank.files import PathRefused
from bank.models import Kind, Page
from bank.places import Place


def files(path: str, kind: Kind, keys: Collection[str], sizes: Mapping[str, int]) -> list[str]:
    """The files in the folder of this page that no other page has as its own.

    `keys` are of the names that a file could have as the page's, `sizes` the bytes of its texts
    by their SHA-256; only files of such a size are read. What is hidden becomes no page.
    Raises OSError when the folder cannot be read.
    """
    place = places.of(path)
    living = Page.objects.filter(archived_at=None, path__startswith=place.prefix)
    others = set(living.values_list("path", flat=True))
    lengths = set(sizes.values())
    return sorted(
        one
        for one in map(place.path, place.folder.walk())
        if one not in others and (_key(place, kind, one) in keys or _says(one, sizes, lengths))
    )


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
