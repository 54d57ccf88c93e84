"""Connections kept by wiki: bounded, one thread each, never closed in use, never of an old file."""

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from memoryweb.core.errors import Unavailable
from search.wiki.index import Entry, apply, check, rebuild
from search.wiki.opening import IndexFile, NeedsRebuild
from search.wiki.pool import Pool, shared
from search.wiki.reading import Reader


@pytest.fixture
def wikis(tmp_path) -> Callable[[int], list[IndexFile]]:
    def make(count: int) -> list[IndexFile]:
        files = [
            IndexFile(tmp_path / f"w{number}" / "index.db", f"w{number}", "d")
            for number in range(count)
        ]
        for file in files:
            rebuild(file, [Entry("a", "apple", "other", "a.md", "")], {}, 1)
        return files

    return make


@pytest.fixture
def pool():
    made = Pool(3)
    yield made
    made.close()
    assert len(made) == 0


def ask(reader: Reader) -> list[str]:
    return list(reader.matches('"apple"*', 5))


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def test_a_wiki_asked_again_has_its_connection_still(pool, wikis):
    (file,) = wikis(1)
    with pool.reader(file) as first:
        assert ask(first) == ["a"]
    with pool.reader(file) as second:
        assert second is first


def test_of_many_wikis_the_least_recently_used_are_closed(pool, wikis):
    files = wikis(5)
    kept = {}
    for file in [*files[:3], files[0], *files[3:]]:
        with pool.reader(file) as reader:
            kept[file.wiki] = reader
    assert len(pool) == 3
    with pool.reader(files[0]) as reader:
        assert reader is kept["w0"]
    with pool.reader(files[1]) as reader:
        assert reader is not kept["w1"]


def test_two_hundred_wikis_through_a_pool_of_ten_hold_no_more_than_thirty_files(wikis):
    files, pool = wikis(200), Pool(10)
    before = open_files()
    for file in files:
        with pool.reader(file) as reader:
            assert ask(reader) == ["a"]
        assert len(pool) <= 10
        assert open_files() - before <= 30
    pool.close()
    assert open_files() == before


def test_connections_in_use_are_not_closed_however_many(pool, wikis):
    files = wikis(5)
    lent = [pool.reader(file) for file in files]
    readers = [loan.__enter__() for loan in lent]
    assert len(pool) == 5
    assert [ask(reader) for reader in readers] == [["a"]] * 5
    for loan in lent:
        loan.__exit__(None, None, None)
    assert len(pool) == 3


def test_a_wiki_dropped_in_use_is_closed_when_it_is_given_back(pool, wikis):
    (file,) = wikis(1)
    with pool.reader(file) as reader:
        pool.drop("w0")
        assert ask(reader) == ["a"]
    assert len(pool) == 0
    with pytest.raises(Exception, match="closed"):
        reader.pages(["a"])


def test_dropping_one_wiki_leaves_the_others(pool, wikis):
    files = wikis(2)
    for file in files:
        with pool.reader(file):
            pass
    pool.drop("w0")
    pool.drop("unheard of")
    assert len(pool) == 1


def test_a_file_that_was_replaced_is_opened_anew_without_being_told(pool, wikis):
    (file,) = wikis(1)
    with pool.reader(file) as reader:
        assert ask(reader) == ["a"]
    rebuild(file, [Entry("b", "apple", "other", "b.md", "")], {}, 2)
    with pool.reader(file) as reader:
        assert ask(reader) == ["b"]
    assert len(pool) == 1


def test_a_file_that_was_deleted_needs_a_rebuild_although_a_connection_was_open(pool, wikis):
    (file,) = wikis(1)
    with pool.reader(file):
        pass
    file.path.unlink()
    with pytest.raises(NeedsRebuild, match="missing"), pool.reader(file):
        pass
    assert len(pool) == 0


def test_another_database_is_not_answered_from_an_open_connection(pool, wikis):
    (file,) = wikis(1)
    with pool.reader(file):
        pass
    restored = IndexFile(file.path, file.wiki, "another")
    with pytest.raises(NeedsRebuild, match="database"), pool.reader(restored):
        pass


def test_a_change_is_seen_through_an_open_connection(pool, wikis):
    (file,) = wikis(1)
    with pool.reader(file):
        pass
    apply(file, {"b": Entry("b", "apple", "other", "b.md", "")}, {}, 2)
    with pool.reader(file) as reader:
        assert sorted(ask(reader)) == ["a", "b"]


def test_after_an_error_the_connection_is_not_kept(pool, wikis):
    (file,) = wikis(1)
    with pytest.raises(RuntimeError), pool.reader(file):
        raise RuntimeError("the answer could not be told")
    assert len(pool) == 0


def test_each_file_is_checked_once_and_a_new_one_again(wikis):
    (file,) = wikis(1)
    checked = []
    pool = Pool(1, checked.append)
    for _ in range(2):
        with pool.reader(file):
            pass
        pool.drop(file.wiki)
    assert len(checked) == 1
    rebuild(file, [], {}, 2)
    with pool.reader(file):
        pass
    assert len(checked) == 2
    pool.close()


def test_a_damaged_file_is_refused_at_its_first_use(wikis):
    (file,) = wikis(1)
    content = bytearray(file.path.read_bytes())
    at = content.rindex(b"apple")
    content[at : at + 5] = b"lemon"
    file.path.write_bytes(content)
    pool = Pool(1)
    with pytest.raises(NeedsRebuild, match="damaged"), pool.reader(file):
        pass
    assert len(pool) == 0


def test_a_file_that_cannot_be_opened_is_unavailable_and_not_rebuilt(wikis, monkeypatch):
    import search.wiki.opening as opening

    (file,) = wikis(1)

    def refuse(*args, **options):
        raise opening.sqlite3.OperationalError("unable to open database file")

    monkeypatch.setattr(opening.sqlite3, "connect", refuse)
    with pytest.raises(Unavailable):
        Reader(file)


def test_many_threads_each_have_a_connection_to_themselves(wikis):
    files, pool = wikis(6), Pool(4)
    using: set[int] = set()
    problems: list[object] = []

    def work(number: int) -> None:
        for turn in range(60):
            file = files[(number * 7 + turn) % len(files)]
            with pool.reader(file) as reader:
                if id(reader) in using:
                    problems.append("shared")
                using.add(id(reader))
                if ask(reader) != ["a"]:
                    problems.append("wrong")
                using.discard(id(reader))
            if turn % 10 == 0:
                pool.drop(file.wiki)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    assert len(pool) <= 4
    pool.close()


@pytest.mark.parametrize("most", [0, -1])
def test_a_pool_of_nothing_is_refused(most):
    with pytest.raises(ValueError, match="at least one"):
        Pool(most)


def test_the_pool_of_the_process_is_as_large_as_the_setting_says(settings):
    settings.KNOWLEDGE_WIKI_POOL_MAX = 7
    shared.cache_clear()
    assert shared() is shared()
    assert shared()._most == 7
    shared.cache_clear()


@pytest.mark.parametrize("value", ["0", "-3", "many", "3.5"])
def test_a_pool_size_that_is_none_stops_the_start_and_names_its_variable(value, tmp_path):
    environ = {
        **os.environ,
        "KNOWLEDGE_WIKI_POOL_MAX": value,
        "MEMORYWEB_HOME": str(tmp_path),
    }
    run = subprocess.run(
        [sys.executable, "-c", "import memoryweb.settings"],
        env=environ,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode != 0
    assert f"KNOWLEDGE_WIKI_POOL_MAX must be a whole number from 1, not '{value}'" in run.stderr


def test_a_reader_meets_every_rebuild_of_another_thread_with_a_whole_answer(wikis):
    (file,), pool = wikis(1), Pool(2)
    stop = threading.Event()

    def build() -> None:
        for seq in range(2, 25):
            rebuild(file, [Entry(f"p{seq}", "apple", "other", "p", "")], {}, seq)
            apply(file, {f"q{seq}": Entry("q", "apple", "other", "q", "")}, {}, seq + 1)
        stop.set()

    builder = threading.Thread(target=build)
    builder.start()
    while not stop.is_set():
        with pool.reader(file) as reader:
            assert len(ask(reader)) in (1, 2)
    builder.join()
    check(file)
    pool.close()
