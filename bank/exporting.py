"""The bank as a zip of its Markdown files, made while it is sent: memory does not grow with it.

It holds what agents may read, under the paths of the memory folder, and a manifest in a hidden
folder, which an import leaves alone. Pages in quarantine are left out, and the manifest says so.
"""

import json
import zipfile
from collections.abc import Iterator
from itertools import islice
from typing import Any

from django.utils import timezone

from bank import queries, withholding
from bank.models import Page
from memoryweb.core import clock
from memoryweb.core.actor import Actor

MANIFEST = ".memoryweb/manifest.json"
_EARLIEST, _LATEST = (1980, 1, 1, 0, 0, 0), (2107, 12, 31, 23, 59, 58)  # That a zip can say.
_CHUNK = 100  # Pages whose texts are held at once.


def bank_zip(reader: Actor) -> Iterator[bytes]:
    """The bytes of the zip, piece by piece.

    A page that changes meanwhile is in it as it was or as it is; one that is erased or held in
    quarantine meanwhile is not. What the manifest tells of those, the reader is told in lists too.
    """
    sink = _Sink()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:
        listed = []
        head = _head(reader)
        for page, path in _pages():
            archive.writestr(_entry(path, page), page.content.encode())
            listed.append({"path": path, "sha256": page.sha256, "revision": page.revision})
            yield sink.taken()
        manifest = json.dumps(head | {"pages": listed}, ensure_ascii=False, indent=1)
        archive.writestr(MANIFEST, manifest.encode())
    yield sink.taken()


def _head(reader: Actor) -> dict[str, Any]:
    held = Page.objects.filter(archived_at=None, quarantined=True, wiki=None).order_by("path")
    return {
        "made_at": timezone.now().isoformat(),
        "change_seq": clock.current_seq(),
        "left_out": [
            {"path": withholding.told(reader, path), "why": "in quarantine"}
            for path in held.values_list("path", flat=True)
        ],
    }


def _pages() -> Iterator[tuple[Page, str]]:
    """Every page with its path as all paths were at the start, when no two were the same."""
    rows = iter(list(queries.servable_of_bank().order_by("path").values_list("pk", "path")))
    while some := dict(islice(rows, _CHUNK)):
        pages = Page.objects.filter(quarantined=False).in_bulk(some)
        yield from ((pages[pk], path) for pk, path in some.items() if pk in pages)


def _entry(path: str, page: Page) -> zipfile.ZipInfo:
    moment = min(max(_EARLIEST, page.updated_at.utctimetuple()[:6]), _LATEST)
    entry = zipfile.ZipInfo(path, moment)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = 0o644 << 16
    return entry


class _Sink:
    """Where the zip is written to, and taken from before it grows."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def write(self, data: bytes) -> int:
        self._pieces.append(bytes(data))
        return len(data)

    def flush(self) -> None:
        """Nothing waits here to be written elsewhere."""

    def close(self) -> None:
        """Nothing is open."""

    def taken(self) -> bytes:
        taken = b"".join(self._pieces)
        self._pieces.clear()
        return taken
