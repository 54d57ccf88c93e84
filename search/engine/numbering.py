"""Which row a document lies in, for a collection and for those that came before it."""

from collections.abc import Iterable

# So many documents that were put again are copied with every change, at most.
MOST_MOVED = 512


class RowNumbers:
    """The row that each id was put in last; whether it is still there, the collection knows.

    Ids seen for the first time go to a dictionary that all successors share, for to an older
    collection their rows lie beyond its end. Ids put again go to one of the successor's own.
    """

    def __init__(self, ids: Iterable[str] = ()) -> None:
        self._first = {document_id: row for row, document_id in enumerate(ids)}
        self._moved: dict[str, int] = {}

    def get(self, document_id: str) -> int | None:
        return self._moved.get(document_id, self._first.get(document_id))

    def put(self, document_id: str, row: int) -> None:
        if self._first.setdefault(document_id, row) != row:
            self._moved[document_id] = row

    def successor(self) -> "RowNumbers":
        """The same, to be put to; this one stays as it is."""
        fresh = RowNumbers()
        if len(self._moved) > MOST_MOVED:
            fresh._first = self._first | self._moved
        else:
            fresh._first, fresh._moved = self._first, self._moved.copy()
        return fresh
