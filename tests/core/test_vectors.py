"""What a vector may be, and the cosine of two blobs."""

import math
import sqlite3
from typing import Any

import numpy as np
import pytest

from memoryweb.core.vectors import (
    CosineTo,
    VectorRefused,
    checked_vector,
    decode_blob,
    encode_blob,
    unit_vector,
)


def blob(*values: float) -> bytes:
    return np.array(values, "<f4").tobytes()


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ([], "empty"),
        (np.zeros(0, np.float32), "empty"),
        ([0.0, 0.0], "zero"),
        ([1e-8, -1e-8], "zero"),
        ([1.0, math.nan], "not_finite"),
        ([1.0, math.inf], "not_finite"),
        ([1e300, 1.0], "not_finite"),
        ([10**400, 1.0], "not_finite"),
        ([1.0] * 8193, "too_wide"),
        (np.ones(8193), "too_wide"),
        (["a"] * 2_000_000, "too_wide"),
        ([1.0, 2.0, 3.0], "wrong_width"),
        (["1.0", "2.0"], "not_numbers"),
        ([True, False], "not_numbers"),
        ([True, 0.5], "not_numbers"),
        ([None, 1.0], "not_numbers"),
        ([[1.0, 2.0]], "not_numbers"),
        ([[1.0], [1.0, 2.0]], "not_numbers"),
        ([1j, 2.0], "not_numbers"),
        ("ab", "not_numbers"),
        (b"\x00\x00\x80\x3f", "not_numbers"),
        (None, "not_numbers"),
        (7, "not_numbers"),
        ({"a": 1}, "not_numbers"),
    ],
)
def test_a_vector_that_cannot_be_compared_is_refused_with_its_reason(values: Any, reason: str):
    with pytest.raises(VectorRefused) as refusal:
        unit_vector(values, 2)
    assert refusal.value.reason == reason


def test_a_width_is_only_demanded_when_one_is_named():
    assert checked_vector([1, 2, 3]).tolist() == [1.0, 2.0, 3.0]


def test_a_unit_vector_has_length_one_and_keeps_its_direction():
    assert unit_vector([3, 4]).tolist() == pytest.approx([0.6, 0.8])
    assert unit_vector([3e37, 4e37]).tolist() == pytest.approx([0.6, 0.8])
    assert unit_vector(np.array([-5.0])).dtype == np.float32


def test_a_blob_gives_back_the_vector_it_was_made_from():
    vector = checked_vector([0.25, -1.5, 3e-3])
    assert encode_blob(vector) == blob(0.25, -1.5, 3e-3)
    assert decode_blob(encode_blob(vector)).tolist() == vector.tolist()


@pytest.mark.parametrize(
    ("bytes_", "reason"),
    [
        (b"", "empty"),
        (b"\x00\x00\x80", "odd_length"),
        (b"\x00" * 8, "zero"),
        (blob(math.nan, 1.0), "not_finite"),
        (blob(1.0, 2.0, 3.0), "wrong_width"),
    ],
)
def test_a_blob_that_is_no_vector_is_refused_with_its_reason(bytes_: bytes, reason: str):
    with pytest.raises(VectorRefused) as refusal:
        decode_blob(bytes_, 2)
    assert refusal.value.reason == reason


@pytest.mark.parametrize(
    ("a", "b", "cosine"),
    [
        (blob(1, 0), blob(0, 1), 0.0),
        (blob(1, 1), blob(2, 2), 1.0),
        (blob(1, 1), blob(-3, -3), -1.0),
        (blob(3, 4), blob(4, 3), 0.96),
        (blob(1e30, 1e30), blob(1e30, 0), math.sqrt(0.5)),
        (blob(1e30, 1e30), blob(1e-3, 0), math.sqrt(0.5)),
    ],
)
def test_the_cosine_of_two_blobs_is_that_of_their_directions(a: bytes, b: bytes, cosine: float):
    assert CosineTo()(a, b) == pytest.approx(cosine, abs=1e-6)


def test_a_bad_row_is_null_and_never_ends_the_query():
    connection = sqlite3.connect(":memory:")
    connection.create_function("cosine_similarity", 2, CosineTo(), deterministic=True)
    connection.execute("CREATE TABLE vector (embedding)")
    rows: list[Any] = [
        blob(1, 0), blob(1, 0, 0), b"", b"\x00\x00\x80", blob(0, 0), blob(math.nan, 1),
        blob(math.inf, 1), "text", 5, None, blob(1, 1),
    ]  # fmt: skip
    connection.executemany("INSERT INTO vector VALUES (?)", [(row,) for row in rows])
    found = connection.execute(
        "SELECT cosine_similarity(embedding, ?) FROM vector ORDER BY rowid", [blob(1, 0)]
    )
    cosines = [row[0] for row in found]
    assert cosines[0] == 1.0
    assert cosines[1:-1] == [None] * 9
    assert cosines[-1] == pytest.approx(math.sqrt(0.5))
