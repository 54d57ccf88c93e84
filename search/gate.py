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
from search.pieces import weight

T = TypeVar("T")

REMEMBERED = 4096
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
    """Rows that may be given and rows that hit, by their places. Those after `looked_at` were not
    looked at, as there is no room for them."""

    kept: tuple[int, ...]
    hits: tuple[int, ...]
    looked_at: int


def gated(rows: Sequence[str], room: int, posture: Posture = "injected") -> Gated:
    """Scan rows, each of one line, alone and joined with those kept before it, until what is kept
    weighs more than `room` quarters of a token."""
    kept: list[int] = []
    hits: list[int] = []
    end = 0
    for start, end in _groups(rows):
        before = [rows[at] for at in kept[-ROWS_BEFORE:]]
        found = _rows_hit("\n".join([*before, *rows[start:end]]), posture)
        hit = {start + at - len(before) for at in found}
        hits += [at for at in range(start, end) if at in hit]
        kept += [at for at in range(start, end) if at not in hit]
        room -= sum(weight(rows[at]) for at in range(start, end) if at not in hit)
        if room < 0:
            break
    return Gated(tuple(kept), tuple(hits), end)


def _groups(rows: Sequence[str]) -> Iterator[tuple[int, int]]:
    start = 0
    for at in range(1, len(rows)):
        chosen = zlib.crc32(rows[at].encode(errors="surrogatepass")) % GROUP_ONE_IN == 0
        if chosen or at - start == GROUP_MOST:
            yield start, at
            start = at
    if rows:
        yield start, len(rows)
