"""Searches while others write: each sees a document wholly before or wholly after a change."""

import threading
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from search.engine import index as index_module
from search.engine import postings as postings_module
from search.engine import vectors as vectors_module
from tests.engine.builders import NOW, ask, document, index_of, names, scores

ROUNDS = 60


@pytest.fixture(autouse=True)
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Thresholds at which compaction, sorting and graph builds happen all the time."""
    monkeypatch.setattr(index_module, "COMPACT_AT_LEAST", 50)
    monkeypatch.setattr(postings_module, "TAIL", 100)
    monkeypatch.setattr(vectors_module, "FRESH_AT_LEAST", 20)


def while_running(writer: Callable[[], None], readers: list[Callable[[], None]]) -> None:
    """Run the readers over and over until the writer is done; any failure fails the test."""
    failures: list[BaseException] = []
    done = threading.Event()

    def guarded(work: Callable[[], None]) -> None:
        try:
            work()
        except BaseException as failure:
            failures.append(failure)
            done.set()

    def repeated(work: Callable[[], None]) -> Callable[[], None]:
        def loop() -> None:
            while not done.is_set():
                work()

        return loop

    def written() -> None:
        writer()
        done.set()

    works = [written, *(repeated(reader) for reader in readers)]
    threads = [threading.Thread(target=guarded, args=[work]) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert not any(thread.is_alive() for thread in threads)
    assert failures == []


def rows(count: int) -> Iterator[list[float]]:
    yield from np.random.default_rng(7).standard_normal((count, 8)).tolist()


def test_a_search_sees_a_replaced_document_in_exactly_one_of_its_states():
    vectors = list(rows(200))
    fixed = [document(f"d{n:03}", f"common text {n}", v) for n, v in enumerate(vectors)]
    index = index_of(*fixed, exact_threshold=50)

    def write() -> None:
        for turn in range(ROUNDS):
            colour = "red" if turn % 2 else "blue"
            index.put([document("wanted", f"common {colour}", vectors[turn])])

    def read() -> None:
        found = names(ask(index, "red blue", limit=5))
        assert found in ([], ["wanted"])

    def read_hybrid() -> None:
        answer = ask(index, "common text", vector=vectors[3], limit=20)
        assert len(answer.hits) == len(set(names(answer))) == 20
        assert all(0 < hit.score <= 1.0 + 1e-9 for hit in answer.hits)

    while_running(write, [read, read, read_hybrid])
    assert len(index) == 201


def test_searches_go_on_while_documents_come_and_go_and_end_as_if_built_from_scratch():
    documents = [document(f"d{n:03}", f"common word{n % 9}", v) for n, v in enumerate(rows(400))]
    index = index_of(*documents[:200], exact_threshold=100)

    def write() -> None:
        for start in range(0, 200, 10):
            index.put(documents[200 + start : 210 + start])
            index.remove([one.id for one in documents[start : start + 5]])
            bare = documents[start + 7]
            index.put([document(bare.id, bare.text)])
        index.compact()

    def read() -> None:
        answer = ask(index, "common word3", vector=documents[0].vector, explain=True)
        assert len(answer.hits) == 10

    while_running(write, [read, read, lambda: index.statistics.total and None])
    left = [one for one in documents if one.id in index]
    assert len(left) == 300
    bare = {documents[start + 7].id for start in range(0, 200, 10)}
    scratch = index_of(*(document(d.id, d.text, None if d.id in bare else d.vector) for d in left))
    query = {"vector": documents[300].vector, "limit": 200, "now": NOW}
    found, expected = ask(index, "word3", **query), ask(scratch, "word3", **query)
    assert names(found) == names(expected)
    assert scores(found) == pytest.approx(scores(expected), abs=1e-6)


def test_two_searches_over_the_same_collections_in_other_orders_do_not_wait_for_each_other():
    one, other = index_of(document("a", "parser")), index_of(document("b", "parser"))

    def write() -> None:
        for turn in range(ROUNDS):
            one.put([document("a", f"parser {turn}")])
            other.put([document("b", f"parser {turn}")])

    def forward() -> None:
        assert len(ask({"x": one, "y": other}, "parser").hits) == 2

    def backward() -> None:
        assert len(ask({"y": other, "x": one}, "parser").hits) == 2

    while_running(write, [forward, backward, forward, backward])
