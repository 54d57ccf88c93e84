"""search.matrices and search.warm: what is kept of a context to recall from."""

import numpy as np
import pytest

from memoryweb.core.vectors import encode_blob, unit_vector
from search import recall
from search.matrices import Matrix, Pool, Row
from search.warm import _ROWS, Key, Warm


def matrix_of(vectors: np.ndarray) -> Matrix:
    matrix = Matrix(vectors.shape[1])
    units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    matrix.extend([f"{n:05}" for n in range(len(vectors))], [0.0] * len(vectors), units)
    return matrix


@pytest.mark.parametrize("width", [1, 3, 768, 8192])
def test_the_nearest_are_those_of_plain_arithmetic_at_every_width(width: int):
    random = np.random.default_rng(width)
    vectors = random.standard_normal((300, width)) + 3.0  # Near each other: hard to tell apart.
    query = unit_vector(vectors[7])
    units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    exact = (units.astype(np.float32).astype(float) @ query.astype(float)).round(7)
    best = sorted(range(300), key=lambda n: (-exact[n], n))[:10]
    found = matrix_of(vectors).nearest(query, 10, None)
    assert list(found) == [f"{n:05}" for n in best]
    assert list(found.values()) == pytest.approx(exact[best].tolist(), abs=2e-7)


def test_many_equal_vectors_all_score_alike_and_the_first_ids_are_given():
    found = matrix_of(np.ones((5000, 9))).nearest(unit_vector([1.0] * 9), 3, None)
    assert found == {"00000": 1.0, "00001": 1.0, "00002": 1.0}


def test_what_is_dropped_is_found_no_more_and_the_others_are():
    matrix = matrix_of(np.eye(20))
    for one in ("00003", "00019", "00000"):
        matrix.drop(one)
    assert len(matrix) == 17
    for n in range(20):
        best, score = next(iter(matrix.nearest(unit_vector(np.eye(20)[n]), 1, None).items()))
        assert (best, score) == ((f"{n:05}", 1.0) if n not in (0, 3, 19) else (best, 0.0))


def test_an_odd_blob_between_good_ones_is_counted_alone():
    good = encode_blob(np.float32([1, 0]))
    rows = [Row("a", 0.0, good, False), Row("b", 0.0, b"\0" * 7, False), Row("c", 0.0, good, True)]
    pool = Pool()
    pool.put(rows)
    found, skipped = pool.nearest(unit_vector([1, 0]), 5, None)
    assert (list(found), skipped.no_vector) == (["a", "c"], 1)


def test_models_that_somebody_makes_up_take_no_more_room_than_there_is(memory, monkeypatch):
    monkeypatch.setattr("search.warm.MOST_POOLS", 3)
    memory("east", "east", [1.0, 0.0])
    kept, query = Warm(), np.float32([1, 0])
    for n in range(10):
        kept.nearest(Key("memories", "shop", f"made up {n}"), query, 5, None)
    assert len(kept._pools) == 3
    assert kept.nearest(Key("memories", "shop", "m"), query, 5, None)[0] == {"east": 1.0}


def test_a_context_that_could_not_be_read_whole_is_read_again(memory, monkeypatch):
    memory("east", "east", [1.0, 0.0])
    kept, key = Warm(), Key("memories", "shop", "m")
    with monkeypatch.context() as failing:
        failing.setattr(Pool, "put", _fails)
        with pytest.raises(OSError, match="disk"):
            kept.nearest(key, np.float32([1, 0]), 5, None)
    assert kept.nearest(key, np.float32([1, 0]), 5, None)[0] == {"east": 1.0}


def test_while_a_context_is_read_in_others_are_recalled_and_what_is_written_is_not_missed(
    memory, monkeypatch
):
    memory("east", "east", [1.0, 0.0])
    memory("else", "else", [1.0, 0.0], context="else")
    kept, query = Warm(), np.float32([1, 0])
    shop, other = Key("memories", "shop", "m"), Key("memories", "else", "m")
    kept.nearest(other, query, 5, None)
    read = _ROWS["memories"]

    def slowly(key: Key, ids: object) -> list[Row]:
        """While the rows are under way one more memory is written, and another one recalled."""
        rows = list(read(key, ids))
        if ids is None:
            assert not kept._lock.locked()
            assert kept.nearest(other, query, 5, None)[0] == {"else": 1.0}
            memory("late", "late", [1.0, 0.0])
        return rows

    monkeypatch.setitem(_ROWS, "memories", slowly)
    kept.nearest(shop, query, 5, None)
    assert set(kept.nearest(shop, query, 5, None)[0]) == {"east", "late"}


def test_contexts_that_nobody_has_take_no_place(memory):
    memory("east", "east", [1.0, 0.0])
    kept = Warm()
    for owner in ("shop", "made up", "made up too"):
        kept.nearest(Key("memories", owner, "m"), np.float32([1, 0]), 5, None)
    assert [key.owner for key in kept._pools] == ["shop"]


def test_a_change_in_another_context_brings_nothing_into_this_one(memory):
    memory("east", "east", [1.0, 0.0])
    memory("else", "else", [1.0, 0.0], context="else")
    recall.recall("shop", np.float32([1, 0]))
    memory("new", "new", [1.0, 0.0], context="else")
    found = recall.recall("shop", np.float32([1, 0])).memories
    assert [memory.pk for memory, _ in found] == ["east"]


def _fails(*_: object) -> None:
    raise OSError("disk")
