"""What a vector may be: checking, blobs and the cosine of two blobs.

One rule for every door that takes a vector and for the index that holds it. The stored form is
a little-endian float32 array without a header. Values, not rows: no database, no settings.
"""

import math
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float32]
Reason = Literal[
    "empty",
    "zero",
    "not_finite",
    "wrong_width",
    "too_wide",
    "not_numbers",
    "not_base64",
    "odd_length",
]

# The norm below which a direction is noise: float32's own epsilon, as octos-memory has it.
EPSILON = 1.1920929e-7
MAX_DIMENSION = 8192
BLOB_DTYPE = np.dtype("<f4")
_NUMBER = (int, float, np.integer, np.floating)

MESSAGES: dict[Reason, str] = {
    "empty": "The vector has no values.",
    "zero": "The vector has no direction: its length is zero.",
    "not_finite": "The vector holds a value that is NaN, infinite or too large for float32.",
    "wrong_width": "The vector has another number of values than the model in use.",
    "too_wide": f"The vector has more than {MAX_DIMENSION:,} values.",
    "not_numbers": "The vector is not a flat list of numbers.",
    "not_base64": "The text is not base64.",
    "odd_length": "The bytes are not a whole number of float32 values.",
}


class VectorRefused(ValueError):
    """A vector that cannot be compared with any other; `reason` says why, for machines."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(MESSAGES[reason])
        self.reason: Reason = reason


def checked_vector(values: Any, width: int | None = None) -> Vector:
    """`values` as float32, unscaled; raises VectorRefused unless it can be compared.

    Takes any flat sequence or array of numbers; text, booleans and nesting are not numbers.
    With `width`, any other number of values is refused.
    """
    array = _numbers(values)
    if array.size == 0:
        raise VectorRefused("empty")
    if array.size > MAX_DIMENSION:
        raise VectorRefused("too_wide")
    if width is not None and array.size != width:
        raise VectorRefused("wrong_width")
    with np.errstate(over="ignore"):
        vector = array.astype(np.float32)
    if not np.isfinite(vector).all():
        raise VectorRefused("not_finite")
    if _norm(vector) < EPSILON:
        raise VectorRefused("zero")
    return vector


def unit_vector(values: Any, width: int | None = None) -> Vector:
    """`values` checked and scaled to length 1, the form in which vectors are indexed."""
    vector = checked_vector(values, width)
    # In float64: the length of very large values overflows float32.
    return (vector.astype(np.float64) / _norm(vector)).astype(np.float32)


def encode_blob(vector: Vector) -> bytes:
    return vector.astype(BLOB_DTYPE).tobytes()


def decode_blob(blob: bytes, width: int | None = None) -> Vector:
    """The checked vector in a stored or received blob; raises VectorRefused as above."""
    if len(blob) % BLOB_DTYPE.itemsize:
        raise VectorRefused("odd_length")
    return checked_vector(np.frombuffer(blob, BLOB_DTYPE), width)


class CosineTo:
    """The cosine of two blobs in [-1, 1], or None where either is no comparable vector.

    Made to be registered as a deterministic SQL function: a bad row gives NULL for itself and
    never ends the query.

    The second argument is remembered, as a query gives the same one with every row.
    """

    def __init__(self) -> None:
        self._blob: object = None
        self._vector: npt.NDArray[Any] | None = None
        self._norm = math.nan

    def __call__(self, a: object, b: object) -> float | None:
        if b != self._blob or type(b) is not type(self._blob):
            self._remember(b)
        y = self._vector
        if y is None or not isinstance(a, bytes) or len(a) != y.nbytes:
            return None
        x = np.frombuffer(a, BLOB_DTYPE)
        with np.errstate(over="ignore", invalid="ignore"):
            norm = math.sqrt(np.dot(x, x))
            product = float(np.dot(x, y))
        if EPSILON <= norm < math.inf and EPSILON <= self._norm < math.inf:
            cosine = product / (norm * self._norm)
        else:
            # Squares of values beyond 1e19 overflow float32; the wider type settles those rows.
            cosine = _wide_cosine(x, y)
        return None if math.isnan(cosine) else max(-1.0, min(1.0, cosine))

    def _remember(self, blob: object) -> None:
        self._blob, self._vector = blob, None
        if isinstance(blob, bytes) and blob and len(blob) % BLOB_DTYPE.itemsize == 0:
            self._vector = np.frombuffer(blob, BLOB_DTYPE)
            with np.errstate(over="ignore", invalid="ignore"):
                self._norm = math.sqrt(np.dot(self._vector, self._vector))


def _wide_cosine(x: npt.NDArray[Any], y: npt.NDArray[Any]) -> float:
    """The cosine computed in float64, NaN where there is none."""
    x, y = x.astype(np.float64), y.astype(np.float64)
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        return math.nan
    norm_x, norm_y = math.sqrt(np.dot(x, x)), math.sqrt(np.dot(y, y))
    if EPSILON <= norm_x < math.inf and EPSILON <= norm_y < math.inf:
        return float(np.dot(x, y)) / (norm_x * norm_y)
    return math.nan


def _numbers(values: Any) -> npt.NDArray[Any]:
    if isinstance(values, list):
        return _listed_numbers(values)
    try:
        array = np.asarray(values)
    except (TypeError, ValueError, OverflowError) as error:
        raise VectorRefused("not_numbers") from error
    if array.ndim == 1 and (array.size == 0 or array.dtype.kind in "fiu"):
        return array
    raise VectorRefused("not_numbers")


def _listed_numbers(values: list[Any]) -> npt.NDArray[Any]:
    """A list looked at value by value: numpy would take True among numbers for 1."""
    if len(values) > MAX_DIMENSION:
        raise VectorRefused("too_wide")
    if not all(isinstance(v, _NUMBER) and not isinstance(v, bool) for v in values):
        raise VectorRefused("not_numbers")
    try:
        return np.array(values, np.float64)
    except OverflowError as error:
        raise VectorRefused("not_finite") from error


def _norm(vector: Vector) -> float:
    """Euclidean length in float64, where no float32 value overflows when squared."""
    wide = vector.astype(np.float64)
    return math.sqrt(wide @ wide)
