"""What documents can be filtered by, as dictionary-encoded columns."""

from collections.abc import Callable, Mapping

import numpy as np

from search.engine.growing import BoolArray, Growing

MISSING = -1


class Column:
    """One attribute of every row: a small number per row, and the values those stand for.

    The values are shared with successors, whose new ones no row here has.
    """

    def __init__(self) -> None:
        self._values: dict[str, int] = {}
        self._codes = Growing(np.int32)

    def successor(self) -> "Column":
        """The same, to be appended to; this one stays as it is."""
        column = Column()
        column._values, column._codes = self._values, self._codes.successor()
        return column

    @property
    def nbytes(self) -> int:
        return self._codes.nbytes

    def __len__(self) -> int:
        return len(self._codes)

    def append(self, value: str | None) -> None:
        if value is None:
            self._codes.append(MISSING)
        else:
            self._codes.append(self._values.setdefault(value, len(self._values)))

    def equal(self, value: str) -> BoolArray:
        code = self._values.get(value)
        if code is None:
            return np.zeros(len(self), np.bool_)
        equal: BoolArray = self._codes.view == code
        return equal

    def where(self, accepts: Callable[[str], bool]) -> BoolArray:
        """The rows whose value is accepted; asked once per distinct value, not per row."""
        values = self._values.copy()  # A successor may be adding to them.
        accepted = np.zeros(len(values) + 1, np.bool_)
        for value, code in values.items():
            accepted[code] = accepts(value)
        return accepted[self._codes.view]  # A missing value looks at the last place: False.

    def compacted(self, alive: BoolArray) -> "Column":
        names = list(self._values)
        codes = self._codes.view[alive]
        used, renumbered = np.unique(codes[codes != MISSING], return_inverse=True)
        column = Column()
        column._values = {names[code]: number for number, code in enumerate(used.tolist())}
        fresh = np.full(len(codes), MISSING, np.int32)
        fresh[codes != MISSING] = renumbered
        column._codes = Growing.of(fresh)
        return column


class Columns:
    """All attributes of all rows; rows that came before an attribute lack it."""

    def __init__(self) -> None:
        self._columns: dict[str, Column] = {}
        self._rows = 0

    def successor(self) -> "Columns":
        """The same, to be added to; this one stays as it is."""
        columns = Columns()
        columns._columns = {name: one.successor() for name, one in self._columns.items()}
        columns._rows = self._rows
        return columns

    @property
    def nbytes(self) -> int:
        return sum(column.nbytes for column in self._columns.values())

    def add(self, attributes: Mapping[str, str]) -> None:
        for name in attributes.keys() - self._columns.keys():
            column = self._columns[name] = Column()
            for _ in range(self._rows):
                column.append(None)
        for name, column in self._columns.items():
            column.append(attributes.get(name))
        self._rows += 1

    def equal(self, name: str, value: str) -> BoolArray:
        column = self._columns.get(name)
        return np.zeros(self._rows, np.bool_) if column is None else column.equal(value)

    def where(self, name: str, accepts: Callable[[str], bool]) -> BoolArray:
        column = self._columns.get(name)
        return np.zeros(self._rows, np.bool_) if column is None else column.where(accepts)

    def compacted(self, alive: BoolArray) -> "Columns":
        columns = Columns()
        columns._columns = {name: column.compacted(alive) for name, column in self._columns.items()}
        columns._rows = int(alive.sum())
        return columns
