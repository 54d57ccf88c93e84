"""The inverted and the forward index of one collection, by row number."""

from collections.abc import Mapping
from copy import copy
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from search.engine.growing import BoolArray, Growing

Rows = npt.NDArray[np.int32]
# How many postings may wait in the tail before they are sorted into the base, at least.
TAIL = 65_536


class Posting(NamedTuple):
    """The rows that hold one term, rising, each once, and how often; dropped ones may be among
    them."""

    rows: Rows
    counts: Rows


class _Base(NamedTuple):
    """Postings sorted by term: those of term t lie at offsets[t] up to offsets[t + 1].

    `end` is how far into the forward index it reaches; what follows is the tail.
    """

    offsets: npt.NDArray[np.int64]
    rows: Rows
    counts: Rows
    end: int


NO_POSTING = Posting(np.empty(0, np.int32), np.empty(0, np.int32))


class Postings:
    """Which rows hold which terms how often, with exact frequencies over the live rows.

    The forward index (row to terms) is what is written; the base (term to rows) is derived from
    it now and then, and rows that are not in the base yet are found by looking through the tail.
    Since the forward index knows what a dropped row held, dropping subtracts exactly that.
    The vocabulary is shared with successors: what they add to it has numbers beyond the end here.
    """

    def __init__(self) -> None:
        self._vocabulary: dict[str, int] = {}
        self._document_frequency = Growing(np.int32)
        self._lengths = Growing(np.int32)
        self._starts = Growing(np.int64)
        self._starts.append(0)
        self._terms = Growing(np.int32)
        self._counts = Growing(np.int32)
        self._base = _Base(np.zeros(1, np.int64), *NO_POSTING, end=0)
        self.live = 0
        self.live_length = 0

    def successor(self) -> "Postings":
        """The same, to be changed; this one stays as it is."""
        fresh = copy(self)
        fresh._document_frequency = self._document_frequency.copied()
        fresh._lengths = self._lengths.successor()
        fresh._starts = self._starts.successor()
        fresh._terms = self._terms.successor()
        fresh._counts = self._counts.successor()
        return fresh

    @property
    def lengths(self) -> Rows:
        return self._lengths.view

    @property
    def average_length(self) -> float:
        return self.live_length / self.live if self.live else 0.0

    @property
    def vocabulary_size(self) -> int:
        return int(np.count_nonzero(self._document_frequency.view))

    @property
    def nbytes(self) -> int:
        """Bytes in arrays; the vocabulary's strings come on top."""
        parts = (self._document_frequency, self._lengths, self._starts, self._terms, self._counts)
        base = self._base.offsets.nbytes + self._base.rows.nbytes + self._base.counts.nbytes
        return base + sum(part.nbytes for part in parts)

    def add(self, counts: Mapping[str, int], length: int) -> int:
        """Append a row with these term counts; `length` is what it counts for in the average."""
        terms = [self._term(term) for term in counts]
        self._terms.extend(terms)
        self._counts.extend(list(counts.values()))
        self._starts.append(len(self._terms))
        self._lengths.append(length)
        self._document_frequency.view[terms] += 1
        self.live += 1
        self.live_length += length
        return len(self._lengths) - 1

    def drop(self, row: int) -> None:
        """Take a live row out of every frequency. Its postings stay until the next compaction."""
        self._document_frequency.view[self._row_terms(row)] -= 1
        self.live -= 1
        self.live_length -= int(self.lengths[row])

    def document_frequency(self, term: str) -> int:
        """How many live rows hold the term."""
        number = self._known(term)
        return 0 if number is None else int(self._document_frequency.view[number])

    def posting(self, term: str) -> Posting:
        number = self._known(term)
        if number is None:
            return NO_POSTING
        sorted_part, tail = self._from_base(number), self._from_tail(number)
        if not len(tail.rows):
            return sorted_part
        return Posting(*map(np.concatenate, zip(sorted_part, tail, strict=True)))

    def count(self, row: int, term: str) -> int:
        """How often one row holds the term."""
        number = self._known(term)
        if number is None:
            return 0
        span = self._span(row)
        return int(self._counts.view[span][self._terms.view[span] == number].sum())

    @property
    def wants_consolidation(self) -> bool:
        """Whether the tail has become so long that queries should not look through it."""
        return len(self._terms) - self._base.end > max(TAIL, self._base.end // 8)

    def consolidate(self) -> None:
        """Sort the tail into the base."""
        self._base = self._sorted()

    def compacted(self, alive: BoolArray) -> "Postings":
        """A new index of the live rows alone, renumbered in their order, unused terms forgotten."""
        kept = np.repeat(alive, np.diff(self._starts.view))
        used = self._document_frequency.view > 0
        renumbered = np.cumsum(used, dtype=np.int32) - 1
        fresh = Postings()
        fresh._vocabulary = {
            term: int(renumbered[number])
            for term, number in self._vocabulary.items()
            if number < len(used) and used[number]
        }
        sizes = np.diff(self._starts.view)[alive]
        fresh._document_frequency = Growing.of(self._document_frequency.view[used])
        fresh._lengths = Growing.of(self.lengths[alive])
        fresh._starts = Growing.of(np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64))
        fresh._terms = Growing.of(renumbered[self._terms.view[kept]])
        fresh._counts = Growing.of(self._counts.view[kept])
        fresh.live, fresh.live_length = self.live, self.live_length
        fresh._base = fresh._sorted()
        return fresh

    def _known(self, term: str) -> int | None:
        """The number of a term, None for one that only a successor knows."""
        number = self._vocabulary.get(term)
        return None if number is None or number >= len(self._document_frequency) else number

    def _term(self, term: str) -> int:
        """The number of a term, a new one for a new term."""
        number = self._vocabulary.setdefault(term, len(self._vocabulary))
        while len(self._document_frequency) <= number:
            self._document_frequency.append(0)
        return number

    def _span(self, row: int) -> slice:
        return slice(int(self._starts.view[row]), int(self._starts.view[row + 1]))

    def _row_terms(self, row: int) -> Rows:
        return self._terms.view[self._span(row)]

    def _from_base(self, number: int) -> Posting:
        base = self._base
        if number + 1 >= len(base.offsets):
            return NO_POSTING
        start, end = base.offsets[number], base.offsets[number + 1]
        return Posting(base.rows[start:end], base.counts[start:end])

    def _from_tail(self, number: int) -> Posting:
        end = self._base.end
        at = np.flatnonzero(self._terms.view[end:] == number) + end
        rows = np.searchsorted(self._starts.view, at, side="right") - 1
        return Posting(rows.astype(np.int32), self._counts.view[at])

    def _sorted(self) -> _Base:
        terms = self._terms.view
        order = np.argsort(terms, kind="stable")
        sizes = np.bincount(terms, minlength=len(self._vocabulary))
        row_of = np.repeat(
            np.arange(len(self._lengths), dtype=np.int32), np.diff(self._starts.view)
        )
        offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        return _Base(offsets, row_of[order], self._counts.view[order], len(terms))
