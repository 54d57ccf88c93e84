"""One saver at a time for a page, across threads and processes, without a deadlock."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from bank.locks import LockOrder, LockTimeout, PathLocks
from tests.bank.faulty_disk import FaultyDisk

ALICE, BOB = Path("/memory/bank/entities/alice.md"), Path("/memory/bank/entities/bob.md")


@pytest.fixture
def locks(tmp_path: Path) -> PathLocks:
    return PathLocks(tmp_path / "locks")


def in_a_thread(locks: PathLocks, path: Path, timeout: float = 0.05) -> bool:
    """Whether another thread gets the lock in time."""
    got: list[bool] = []

    def attempt() -> None:
        try:
            with locks.hold(path, timeout=timeout):
                got.append(True)
        except LockTimeout:
            got.append(False)

    thread = threading.Thread(target=attempt)
    thread.start()
    thread.join()
    return got[0]


def test_a_second_thread_waits_and_says_so_when_it_takes_too_long(locks: PathLocks):
    with locks.hold(ALICE):
        assert not in_a_thread(locks, ALICE)
        assert in_a_thread(locks, BOB)
    assert in_a_thread(locks, ALICE)


def test_a_second_process_waits_too(locks: PathLocks, tmp_path: Path):
    other = PathLocks(tmp_path / "locks")  # Its own open files, as another process has.
    with locks.hold(ALICE):
        with pytest.raises(LockTimeout, match="another process"), other.hold(ALICE, timeout=0.05):
            pass
        with other.hold(BOB):
            pass
    with other.hold(ALICE):
        pass


def test_a_thread_may_take_again_what_it_holds(locks: PathLocks):
    with locks.hold(ALICE, BOB):
        with locks.hold(ALICE):
            pass
        assert not in_a_thread(locks, ALICE)
    assert in_a_thread(locks, ALICE)


def test_an_error_inside_the_block_frees_the_lock(locks: PathLocks):
    with pytest.raises(ZeroDivisionError), locks.hold(ALICE):
        _ = 1 / 0
    assert in_a_thread(locks, ALICE)


@pytest.mark.parametrize("number", range(1, 5))
def test_a_disk_error_at_any_operation_frees_the_lock(tmp_path: Path, number: int):
    disk = FaultyDisk(number, "EIO")
    faulty = PathLocks(tmp_path / "locks", disk)
    with pytest.raises(OSError, match="EIO"), faulty.hold(ALICE):
        pass
    disk.at = 0
    assert in_a_thread(faulty, ALICE)


def test_two_pages_are_taken_in_one_order_whatever_order_they_are_named_in(locks: PathLocks):
    """Moving a to b while another moves b to a must not end with both waiting."""
    rounds: list[int] = []

    def work(first: Path, second: Path) -> None:
        for number in range(200):
            with locks.hold(first, second, timeout=10):
                rounds.append(number)

    threads = [
        threading.Thread(target=work, args=pair) for pair in ((ALICE, BOB), (BOB, ALICE)) * 2
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(rounds) == 800


def test_taking_more_in_the_wrong_order_is_refused_at_once(locks: PathLocks):
    paths = [Path(f"/memory/{number}.md") for number in range(20)]
    refused = 0
    for path in paths[1:]:
        for first, second in ((paths[0], path), (path, paths[0])):
            with locks.hold(first):
                try:
                    with locks.hold(second):
                        pass
                except LockOrder:
                    refused += 1
    assert refused == len(paths) - 1  # One of the two orders, for each pair.


def test_a_thousand_pages_need_no_more_than_256_lock_files(locks: PathLocks, tmp_path: Path):
    for number in range(1_000):
        with locks.hold(Path(f"/memory/{number}.md")):
            pass
    files = list((tmp_path / "locks").iterdir())
    assert 200 < len(files) <= 256
    assert {file.stat().st_mode & 0o777 for file in files} == {0o600}


COUNTING = """
import sys
from pathlib import Path
from bank.locks import PathLocks
locks, counter = PathLocks(Path(sys.argv[1])), Path(sys.argv[2])
for _ in range(100):
    with locks.hold(counter):
        counter.write_text(str(int(counter.read_text()) + 1))
"""


def test_four_processes_that_read_and_then_write_lose_no_update(tmp_path: Path):
    counter = tmp_path / "counter"
    counter.write_text("0")
    command = [sys.executable, "-c", COUNTING, str(tmp_path / "locks"), str(counter)]
    processes = [subprocess.Popen(command) for _ in range(4)]
    assert [process.wait() for process in processes] == [0] * 4
    assert counter.read_text() == "400"


HOLDING = """
import sys, time
from pathlib import Path
from bank.locks import PathLocks
with PathLocks(Path(sys.argv[1])).hold(Path(sys.argv[2])):
    print("held", flush=True)
    time.sleep(60)
"""


def test_a_killed_process_holds_nothing(locks: PathLocks, tmp_path: Path):
    command = [sys.executable, "-c", HOLDING, str(tmp_path / "locks"), str(ALICE)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout
        assert process.stdout.readline() == b"held\n"
        assert not in_a_thread(locks, ALICE)
        process.kill()
    assert in_a_thread(locks, ALICE)


def test_a_child_forked_while_a_lock_is_held_neither_has_it_nor_keeps_it(locks: PathLocks):
    answer, tell = os.pipe()
    until, end = os.pipe()
    with locks.hold(ALICE):
        child = os.fork()
        if not child:
            os.close(end)
            try:
                with locks.hold(ALICE, timeout=0.05):
                    os.write(tell, b"has it")
            except LockTimeout:
                os.write(tell, b"waits")
            os.read(until, 1)  # Alive, with the parent's open lock file, until told.
            os._exit(0)
        assert os.read(answer, 10) == b"waits"
    assert in_a_thread(locks, ALICE, timeout=5)
    os.close(end)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_locks_that_do_not_work_are_said_and_nothing_is_saved(home: Path, api):
    (home / "locks").write_text("no folder")
    answer = api("write").put("/bank/entities/alice", {"content": "# Alice\n\nRuns the docks.\n"})
    assert answer.status_code == 503
    assert "the locks in memoryweb's home do not work (file exists)" in answer.json()["detail"]
    assert (
        "nothing was saved, look at the disk and at who may write there" in answer.json()["detail"]
    )
    assert api("read").get("/bank/entities/alice").status_code == 404
