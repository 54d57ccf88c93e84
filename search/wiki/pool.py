"""Open connections to the indexes of many wikis, of which those least used are closed."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache

from django.conf import settings

from search.wiki.index import check
from search.wiki.opening import Identity, IndexFile
from search.wiki.reading import Reader


@cache
def shared() -> "Pool":
    """The pool of this process, as large as KNOWLEDGE_WIKI_POOL_MAX says."""
    return Pool(settings.KNOWLEDGE_WIKI_POOL_MAX)


@dataclass(eq=False)
class _Loan:
    """A connection in use; one of a wiki that was dropped meanwhile is not kept."""

    wiki: str
    reader: Reader | None = None
    kept: bool = True


class Pool:
    """At most `most` open connections, kept by wiki; those in use are never closed.

    While more than `most` are in use at once there are that many, and each goes when it is given
    back. A thread has its connection to itself. A file is read through and checked before it is
    first trusted.
    """

    def __init__(self, most: int, checking: Callable[[IndexFile], object] = check) -> None:
        if most < 1:
            raise ValueError("a pool holds at least one connection")
        self._most = most
        self._checking = checking
        self._checked: dict[str, Identity | None] = {}  # Which file of a wiki was.
        self._lock = threading.Lock()
        self._idle: OrderedDict[str, list[Reader]] = OrderedDict()  # The least used wiki first.
        self._loans: set[_Loan] = set()

    @contextmanager
    def reader(self, file: IndexFile) -> Iterator[Reader]:
        """A connection to the index that stands there now. Raises NeedsRebuild, Unavailable.

        After an error inside the block it is closed, for it may be of a damaged file.
        """
        loan = self._lend(file)
        try:
            if loan.reader is None:
                loan.reader = self._opened(file)
            yield loan.reader
        except BaseException:
            loan.kept = False
            self._checked.pop(file.wiki, None)
            raise
        finally:
            self._take_back(loan)

    def drop(self, wiki: str) -> None:
        """Close the wiki's connections, those in use as soon as they are given back."""
        with self._lock:
            for loan in self._loans:
                loan.kept = loan.kept and loan.wiki != wiki
            gone = self._idle.pop(wiki, [])
        _close(gone)

    def close(self) -> None:
        """Close every connection, those in use as soon as they are given back."""
        with self._lock:
            wikis = {*self._idle, *(loan.wiki for loan in self._loans)}
        for wiki in wikis:
            self.drop(wiki)

    def __len__(self) -> int:
        """How many connections are open, those in use included."""
        with self._lock:
            return self._open()

    def _opened(self, file: IndexFile) -> Reader:
        """Checked first: SQLite keeps what is opened beside an open connection as long as that."""
        if file.identity() != self._checked.get(file.wiki):
            self._checking(file)
        reader = Reader(file)
        self._checked[file.wiki] = reader.identity
        return reader

    def _lend(self, file: IndexFile) -> _Loan:
        loan = _Loan(file.wiki)
        with self._lock:
            idle = self._idle.pop(file.wiki, [])
            current = [one for one in idle if one.file == file and one.is_current()]
            gone = [one for one in idle if one not in current]
            if current:
                loan.reader = current.pop()
            if current:  # Still: there were several.
                self._idle[file.wiki] = current
            self._loans.add(loan)
            gone += self._surplus()
        _close(gone)
        return loan

    def _take_back(self, loan: _Loan) -> None:
        with self._lock:
            self._loans.discard(loan)
            gone = []
            if loan.reader is not None and loan.kept:
                self._idle.setdefault(loan.wiki, []).append(loan.reader)
                self._idle.move_to_end(loan.wiki)
            elif loan.reader is not None:
                gone.append(loan.reader)
            gone += self._surplus()
        _close(gone)

    def _surplus(self) -> list[Reader]:
        """Connections of the least recently used wikis, taken out until no more than allowed."""
        gone = []
        while self._idle and self._open() > self._most:
            wiki, readers = next(iter(self._idle.items()))
            gone.append(readers.pop(0))
            if not readers:
                del self._idle[wiki]
        return gone

    def _open(self) -> int:
        return len(self._loans) + sum(map(len, self._idle.values()))


def _close(readers: list[Reader]) -> None:
    for reader in readers:
        reader.close()
