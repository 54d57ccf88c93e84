"""Edits that no stamp shows are found by their hashes."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from bank import outside, places, queries, sync
from bank.models import Kind, Page
from bank.sweep import EVERY, Sweep
from tests.bank.faulty_disk import FaultyDisk

PATH = "bank/entities/alice.md"
OTHER = "# Alice\n\nRuns the quays.\n"


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outside, "STILL_WRITTEN", 0.0)


class Time:
    """A clock that stands still until it is told to move."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def edit_unseen(file: Path, text: str) -> None:
    """Change the file so that its size, time and inode stay."""
    before = file.stat()
    file.write_text(text)
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (file.stat().st_size, file.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)


def test_an_edit_that_keeps_size_and_time_is_found(memory: Path, written: Callable[..., Page]):
    written()
    edit_unseen(memory / PATH, OTHER)
    assert sync.scan().settled == 0
    assert Sweep(Time()).step() == 1
    assert sync.scan().settled == 1
    page = queries.find(Kind.ENTITY, "alice")
    assert (page.content, page.revision, page.conflict) == (OTHER, 2, None)


def test_what_is_as_it_should_be_is_left_alone(memory: Path, written: Callable[..., Page]):
    written()
    assert Sweep(Time()).step() == 0
    assert sync.scan().settled == 0


def test_a_sweep_comes_at_once_and_then_every_hour(memory: Path, written: Callable[..., Page]):
    written()
    time = Time()
    sweep = Sweep(time)
    assert sweep.step() == 0
    edit_unseen(memory / PATH, OTHER)
    time.now = EVERY - 1
    assert sweep.step() == 0
    time.now = EVERY
    assert sweep.step() == 1


def test_a_sweep_goes_on_where_its_last_slice_ended(
    memory: Path, written: Callable[..., Page], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("bank.sweep._ROWS", 1)
    for name in ("alice", "bob"):
        written(name)
        edit_unseen(memory / f"bank/entities/{name}.md", OTHER)

    class Ticking(Time):
        def __call__(self) -> float:
            self.now += 0.1
            return self.now

    sweep = Sweep(Ticking())
    assert [sweep.step(0.35) for _ in range(3)] == [1, 1, 0]
    assert sync.scan().settled == 2


def test_a_file_that_can_no_longer_be_read_is_listed_though_it_looks_the_same(memory, written):
    written()

    class Unreadable(FaultyDisk):
        def open(self, name: str, flags: int, mode: int = 0o666, at: int | None = None) -> int:
            if name == "alice.md":
                raise PermissionError(13, "Permission denied", name)
            return super().open(name, flags, mode, at)

    places.disk = Unreadable()
    assert Sweep(Time()).step() == 1
    assert list(sync.scan().problems) == [PATH]
    places.disk = FaultyDisk()
    assert (sync.scan().settled, sync.scan().problems) == (1, {})
