"""Benches: what `manage.py bench NAME` measures, a module each.

A bench is a module here with a docstring, whose first line is its help, and a function
`measure(docs)` that gives the tables; `docs` is how many documents to measure on, None for the
bench's own choice. A module that measures nothing by itself has no such function.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType
from typing import Any

Value = str | int | float


@dataclass(frozen=True)
class Table:
    """Measured values by row, under the names of their columns, units in the names."""

    name: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...]

    def as_json(self) -> dict[str, Any]:
        rows = [dict(zip(self.columns, row, strict=True)) for row in self.rows]
        return {"name": self.name, "rows": rows}

    def lines(self) -> Iterable[str]:
        """The table as text, its columns as wide as they need to be."""
        cells = [self.columns, *(tuple(map(_written, row)) for row in self.rows)]
        words = [
            any(isinstance(row[n], str) for row in self.rows) for n in range(len(self.columns))
        ]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        yield self.name
        for row in cells:
            placed = zip(row, widths, words, strict=True)
            shown = (
                cell.ljust(width) if left else cell.rjust(width) for cell, width, left in placed
            )
            yield "  " + "  ".join(shown).rstrip()


Measure = Callable[[int | None], Iterable[Table]]


def benches() -> dict[str, ModuleType]:
    """Every bench by its name."""
    modules = (import_module(f"{__name__}.{found.name}") for found in iter_modules(__path__))
    return {
        module.__name__.rpartition(".")[2]: module
        for module in modules
        if hasattr(module, "measure")
    }


def percentile(values: Iterable[float], share: float) -> float:
    """The smallest value that at least that share of all do not exceed."""
    ordered = sorted(values)
    return ordered[max(0, -int(-share * len(ordered) // 1) - 1)]


def _written(value: Value) -> str:
    if isinstance(value, float):
        return f"{value:,.3f}"
    return f"{value:,}" if isinstance(value, int) else value
