"""Of much, some at a time."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

T = TypeVar("T")


def chunks(values: Iterable[T], size: int) -> Iterator[list[T]]:
    """Lists of at most `size` of the values, in their order; nothing is read ahead of its list."""
    rest = iter(values)
    while some := list(islice(rest, size)):
        yield some
