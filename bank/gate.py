"""The render gate: what is to be put before agents is scanned once more, with today's rules.

What a scan found is kept under the digest of its text, so that the same text is scanned once a
process. Django-free.
"""

import threading
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Generic, TypeVar

from memoryweb.core.guard import Finding, scan, scan_rows
from memoryweb.core.guard.rule import Posture
from memoryweb.core.guard.scan import ROWS_BEFORE

T = TypeVar("T")

REMEMBERED = 16_384  # Texts; as groups of rows they are more than 100,000 pages.
# Rows are scanned in groups that begin at rows chosen by their text: one that comes or goes
# changes its own group and leaves the others as they were remembered.
GROUP_ONE_IN = 16
GROUP_MOST = 64


class Remembered(Generic[T]):
    """The latest results of a pure function of text; the texts themselves are not kept."""

    def __init__(self, compute: Callable[[str, Posture], T], most: int = REMEMBERED) -> None:
        self._compute, self._most = compute, most
        self._results: dict[bytes, T] = {}
        self._lock = threading.Lock()

    def __call__(self, text: str, posture: Posture) -> T:
        digest = blake2b(f"{posture}\0{text}".encode(errors="surrogatepass")).digest()
        with self._lock:
            if digest in self._results:
                return self._results[digest]
        result = self._compute(text, posture)
        with self._lock:
            self._results[digest] = result
            while len(self._results) > self._most:
                del self._results[next(iter(self._results))]
        return result


_findings = Remembered(lambda text, posture: tuple(scan(text, posture=posture)))
_rows_hit = Remembered(lambda rows, posture: tuple(scan_rows(rows.split("\n"), posture=posture)))


def findings(text: str, posture: Posture = "injected") -> tuple[Finding, ...]:
    """What the guard finds in a text."""
    return _findings(text, posture)


@dataclass(frozen=True)
class Gated:
    """Rows by their places: those that may be given, and those that hit a rule."""

    kept: tuple[int, ...]
    hits: tuple[int, ...]


def gated(rows: Sequence[str], posture: Posture = "injected") -> Iterator[Gated]:
    """Scan rows, each of one line, alone and joined with those kept before it, a group at a time.

    Whoever has enough rows takes no more groups, and no more are scanned.
    """
    before: list[str] = []
    for start, end in _groups(rows):
        found = _rows_hit("\n".join([*before, *rows[start:end]]), posture)
        hit = {start + at - len(before) for at in found}
        group = Gated(
            kept=tuple(at for at in range(start, end) if at not in hit),
            hits=tuple(at for at in range(start, end) if at in hit),
        )
        before = [*before, *(rows[at] for at in group.kept)][-ROWS_BEFORE:]
        yield group


def hits(rows: Sequence[str], posture: Posture = "injected") -> list[int]:
    """The places of all rows that hit a rule."""
    return [at for group in gated(rows, posture) for at in group.hits]


def _groups(rows: Sequence[str]) -> Iterator[tuple[int, int]]:
    start = 0
    for at in range(1, len(rows)):
        chosen = zlib.crc32(rows[at].encode(errors="surrogatepass")) % GROUP_ONE_IN == 0
        if chosen or at - start == GROUP_MOST:
            yield start, at
            start = at
    if rows:
        yield start, len(rows)
