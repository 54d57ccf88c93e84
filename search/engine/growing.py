"""One-dimensional and row-wise numpy arrays that grow at the end."""

from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]

T = TypeVar("T", bound=np.generic)


class Growing(Generic[T]):
    """An array with room to spare: appending costs amortised constant time.

    With `width`, an element is a row of that many values. What `view` and earlier `successor`s
    show is never touched by an append: it goes behind their end, or to a larger array.
    """

    def __init__(self, dtype: type[T], width: int | None = None) -> None:
        shape = (16,) if width is None else (16, width)
        self._array: npt.NDArray[T] = np.empty(shape, dtype)
        self._size = 0

    @classmethod
    def of(cls, values: npt.NDArray[T]) -> "Growing[T]":
        """The given values, to be appended to; the array is taken over, not copied."""
        grown = cls.__new__(cls)
        grown._array = values
        grown._size = len(values)
        return grown

    def successor(self) -> "Growing[T]":
        """The same values, to be appended to; this array must not be appended to any more."""
        grown = Growing[T].__new__(Growing)
        grown._array, grown._size = self._array, self._size
        return grown

    def copied(self) -> "Growing[T]":
        """The same values in an array of their own, to be written to and appended to."""
        grown = self.successor()
        grown._array = self._array.copy()
        return grown

    def __len__(self) -> int:
        return self._size

    @property
    def view(self) -> npt.NDArray[T]:
        return self._array[: self._size]

    @property
    def nbytes(self) -> int:
        return self._array.nbytes

    def append(self, value: Any) -> None:
        if self._size == len(self._array):
            self._reserve(self._size + 1)
        self._array[self._size] = value
        self._size += 1

    def extend(self, values: Any) -> None:
        end = self._size + len(values)
        if end > len(self._array):
            self._reserve(end)
        self._array[self._size : end] = values
        self._size = end

    def _reserve(self, size: int) -> None:
        capacity = max(size, 16, len(self._array) * 3 // 2)
        larger = np.empty((capacity, *self._array.shape[1:]), self._array.dtype)
        larger[: self._size] = self.view
        self._array = larger
