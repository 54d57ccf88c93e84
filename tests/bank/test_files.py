"""Files on disk: the old content or the new, never a mixture, and nobody's words lost."""

import os
import stat
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bank.disk import Disk
from bank.files import Change, Folder, sha256
from bank.paths import PathRefused, mark_of
from tests.bank.faulty_disk import EXIT_CODE, FaultyDisk, Interrupted, WithoutHardLinks

PAGE = "bank/entities/alice.md"
OLD, NEW, OTHER = b"# Alice\nold\n", b"# Alice\nnew\n" * 1_000, b"# Alice\nsomebody else's\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "memory").mkdir()
    return tmp_path / "memory"


@pytest.fixture
def page(root: Path) -> Path:
    """Alice's page, with its old content."""
    file = root / PAGE
    file.parent.mkdir(parents=True)
    file.write_bytes(OLD)
    return file


def names(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir())


# Writing


def test_a_new_page_is_written_with_the_folders_it_needs(root: Path):
    change = Folder(root).write(PAGE, NEW, None)
    assert (root / PAGE).read_bytes() == NEW
    assert (change.found, change.displaced) == (None, None)
    assert change.stamp == Folder(root).stamp(PAGE)
    assert names(root / "bank/entities") == ["alice.md"]


def test_a_page_is_replaced_and_nothing_is_left_beside_it(root: Path, page: Path):
    change = Folder(root).write(PAGE, NEW, sha256(OLD))
    assert page.read_bytes() == NEW
    assert (change.found, change.displaced) == (sha256(OLD), None)
    assert change.stamp == Folder(root).stamp(PAGE)
    assert names(page.parent) == ["alice.md"]


@pytest.mark.parametrize("disk", [Disk, WithoutHardLinks])
def test_many_new_files_are_written_at_once_and_one_that_is_there_stays(
    root: Path, page: Path, disk: type[Disk]
):
    files = {"alice.md": NEW, **{f"{number}.md": b"%d" % number for number in range(40)}}
    written = Folder(root, disk()).write_new("bank/entities", files)
    assert written.keys() == files.keys() - {"alice.md"}
    assert page.read_bytes() == OLD
    assert (page.parent / "17.md").read_bytes() == b"17"
    assert written["17.md"] == Folder(root).stamp("bank/entities/17.md")
    assert set(names(page.parent)) == files.keys()


def test_the_mode_of_the_old_file_is_kept(root: Path, page: Path):
    page.chmod(0o640)
    Folder(root).write(PAGE, NEW, sha256(OLD))
    assert stat.S_IMODE(page.stat().st_mode) == 0o640


def test_an_empty_page_can_be_written(root: Path, page: Path):
    Folder(root).write(PAGE, b"", sha256(OLD))
    assert page.read_bytes() == b""


def test_the_file_is_durable_before_it_is_in_place_and_the_folder_after(root: Path, page: Path):
    disk = FaultyDisk()
    Folder(root, disk).write(PAGE, NEW, sha256(OLD))
    steps = [step for step in disk.done if step in ("write", "chmod", "fsync", "link", "replace")]
    assert steps == ["write", "chmod", "fsync", "link", "replace", "fsync"]


# Somebody else at the same file


def test_unexpected_content_comes_back_and_stays_aside_until_it_is_discarded(
    root: Path, page: Path
):
    page.write_bytes(OTHER)
    folder = Folder(root)
    change = folder.write(PAGE, NEW, sha256(OLD))
    assert page.read_bytes() == NEW
    assert change.found == sha256(OTHER)
    assert change.displaced
    assert change.displaced.data == OTHER
    (leftover,) = folder.leftovers()
    assert (leftover.kind, leftover.mark) == ("old", mark_of(PAGE))
    assert leftover.path == change.displaced.path
    assert folder.read_leftover(leftover).data == OTHER
    folder.discard(change.displaced.path)
    assert folder.leftovers() == []
    assert names(page.parent) == ["alice.md"]


@pytest.mark.parametrize("moment", ["open", "write", "fsync", "link", "replace"])
def test_an_edit_at_any_moment_before_the_replacement_is_caught(
    root: Path, page: Path, moment: str
):
    disk = Interrupted(moment, lambda: page.write_bytes(OTHER))
    change = Folder(root, disk).write(PAGE, NEW, sha256(OLD))
    assert page.read_bytes() == NEW
    assert change.displaced
    assert change.displaced.data == OTHER


def test_a_file_put_in_place_of_the_old_one_is_caught_as_well(root: Path, page: Path):
    other = root / "other"
    other.write_bytes(OTHER)
    change = Folder(root, Interrupted("link", lambda: other.replace(page))).write(
        PAGE, NEW, sha256(OLD)
    )
    assert page.read_bytes() == NEW
    assert change.displaced
    assert change.displaced.data == OTHER


def test_a_file_that_appears_while_a_new_page_is_written_is_caught(root: Path, page: Path):
    page.unlink()
    disk = Interrupted("link", lambda: page.write_bytes(OTHER))
    change = Folder(root, disk).write(PAGE, NEW, None)
    assert page.read_bytes() == NEW
    assert change.displaced
    assert change.displaced.data == OTHER


def test_a_file_that_disappears_meanwhile_is_written_all_the_same(root: Path, page: Path):
    change = Folder(root, Interrupted("link", page.unlink)).write(PAGE, NEW, sha256(OLD))
    assert page.read_bytes() == NEW
    assert change.found is None


def test_somebody_else_having_written_the_same_displaces_nothing(root: Path, page: Path):
    page.write_bytes(NEW)
    change = Folder(root).write(PAGE, NEW, sha256(OLD))
    assert (change.found, change.displaced) == (sha256(NEW), None)
    assert names(page.parent) == ["alice.md"]


def test_a_file_system_without_hard_links_is_served_as_well(root: Path, page: Path):
    folder = Folder(root, WithoutHardLinks())
    assert folder.write(PAGE, NEW, sha256(OLD)).displaced is None
    assert page.read_bytes() == NEW
    page.write_bytes(OTHER)
    change = folder.write(PAGE, OLD, sha256(NEW))
    assert change.displaced
    assert change.displaced.data == OTHER
    assert folder.write("2026-01-31.md", NEW, None).found is None
    assert (root / "2026-01-31.md").read_bytes() == NEW


# Removing


def test_a_page_is_removed(root: Path, page: Path):
    change = Folder(root).remove(PAGE, sha256(OLD))
    assert change == Change(sha256(OLD), None, None)
    assert names(page.parent) == []


def test_a_removed_page_that_was_edited_outside_comes_back(root: Path, page: Path):
    page.write_bytes(OTHER)
    change = Folder(root).remove(PAGE, sha256(OLD))
    assert not page.exists()
    assert change.displaced
    assert change.displaced.data == OTHER
    assert (root / change.displaced.path).read_bytes() == OTHER


def test_removing_what_is_not_there_changes_nothing(root: Path):
    assert Folder(root).remove(PAGE, None) == Change(None, None, None)


# Reading


def test_a_page_is_read_with_its_hash_and_stamp(root: Path, page: Path):
    content = Folder(root).read(PAGE)
    assert (content.data, content.sha256) == (OLD, sha256(OLD))
    assert content.stamp.size == len(OLD)
    assert content.stamp == Folder(root).stamp(PAGE)


def test_a_missing_page_has_no_stamp_and_cannot_be_read(root: Path):
    assert Folder(root).stamp(PAGE) is None
    with pytest.raises(FileNotFoundError):
        Folder(root).read(PAGE)


def test_a_file_too_large_to_be_a_page_is_refused(root: Path, page: Path):
    os.truncate(page, 17 * 1024 * 1024)
    with pytest.raises(PathRefused, match="larger than 16,777,216 bytes"):
        Folder(root).read(PAGE)


def test_walking_lists_regular_files_only(root: Path, page: Path):
    (root / "notes").mkdir()
    (root / "notes/b.md").touch()
    (root / "notes/.hidden.md").touch()
    (root / ".obsidian").mkdir()
    (root / ".obsidian/app.json").touch()
    (root / "link.md").symlink_to(page)
    (root / "linked").symlink_to(root / "bank")
    os.mkfifo(root / "pipe.md")
    assert sorted(Folder(root).walk()) == [PAGE, "notes/b.md"]


# Staying inside


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/etc/passwd",
        "../outside.md",
        "bank/../../outside.md",
        "bank//alice.md",
        "bank/./alice.md",
        ".hidden.md",
        "bank/.git/config",
        "a\0b.md",
        "a\nb.md",
        "..\\outside.md",
        "C:/outside.md",
        "C:outside.md",
        "bank/",
        " ",
        "\udcff.md",
    ],
)
def test_a_path_that_could_leave_the_folder_or_hide_in_it_is_refused(root: Path, path: str):
    folder = Folder(root)
    for attempt in (
        lambda: folder.read(path),
        lambda: folder.stamp(path),
        lambda: folder.write(path, NEW, None),
        lambda: folder.remove(path, None),
    ):
        with pytest.raises(PathRefused):
            attempt()
    assert names(root) == []
    assert names(root.parent) == ["memory"]


@given(st.text(alphabet="./\\ab\0\n:C-", max_size=12))
def test_no_path_ever_reads_outside(tmp_path_factory: pytest.TempPathFactory, path: str):
    outside = tmp_path_factory.getbasetemp()
    (outside / "ab").mkdir(exist_ok=True)
    (outside / "a").write_text("outside")
    with pytest.raises((PathRefused, FileNotFoundError)):
        Folder(outside / "ab").read(path)


def test_a_link_in_the_place_of_a_page_is_refused_and_its_target_untouched(root: Path, page: Path):
    secret = root.parent / "secret"
    secret.write_bytes(b"secret")
    page.unlink()
    page.symlink_to(secret)
    folder = Folder(root)
    for attempt in (
        lambda: folder.read(PAGE),
        lambda: folder.write(PAGE, NEW, None),
        lambda: folder.remove(PAGE, None),
    ):
        with pytest.raises(PathRefused):
            attempt()
    assert secret.read_bytes() == b"secret"
    assert page.is_symlink()


def test_a_link_in_the_place_of_a_folder_is_refused(root: Path):
    outside = root.parent / "outside"
    outside.mkdir()
    (root / "bank").symlink_to(outside)
    with pytest.raises(PathRefused):
        Folder(root).write(PAGE, NEW, None)
    assert names(outside) == []


def test_a_link_put_in_place_at_the_last_moment_is_not_followed(root: Path, page: Path):
    secret = root.parent / "secret"
    secret.write_bytes(b"secret")

    def swap() -> None:
        page.unlink()
        page.symlink_to(secret)

    with pytest.raises(OSError, match="symbolic links"):
        Folder(root, Interrupted("open", swap, "alice.md")).read(PAGE)
    assert secret.read_bytes() == b"secret"


def test_a_pipe_or_a_folder_in_the_place_of_a_page_does_not_hang(root: Path, page: Path):
    page.unlink()
    os.mkfifo(page)
    with pytest.raises(PathRefused):
        Folder(root).read(PAGE)
    page.unlink()
    page.mkdir()
    with pytest.raises(PathRefused):
        Folder(root).write(PAGE, NEW, None)


def test_the_root_itself_may_be_a_link(root: Path, page: Path):
    (root.parent / "link").symlink_to(root)
    assert Folder(root.parent / "link").read(PAGE).data == OLD


def test_only_files_kept_aside_can_be_discarded(root: Path, page: Path):
    for path in (PAGE, "bank/entities/.memoryweb-x.old", "../.memoryweb-x.old"):
        with pytest.raises(PathRefused):
            Folder(root).discard(path)
    assert page.exists()


# Everything goes wrong, at every point


def operations(root: Path, expected: str | None) -> list[str]:
    disk = FaultyDisk()
    Folder(root, disk).write(PAGE, NEW, expected)
    return disk.done


def state(root: Path) -> bytes | None:
    file = root / PAGE
    return file.read_bytes() if file.exists() else None


def check_after_fault(root: Path, before: bytes | None, failed: bool) -> None:
    """Old or new, wholly; what lies beside is known as a leftover; the next write works."""
    now = state(root)
    assert now in (before, NEW)
    assert failed or now == NEW
    folder = Folder(root)
    for leftover in folder.leftovers():
        assert leftover.mark == mark_of(PAGE)
        if leftover.kind == "old":
            assert folder.read_leftover(leftover).data == before
        folder.discard(leftover.path)
    assert folder.write(PAGE, b"afterwards", sha256(now) if now else None).displaced is None
    assert names((root / PAGE).parent) == ["alice.md"]


def prepare(tmp_path: Path, name: str, before: bytes | None) -> Path:
    root = tmp_path / name
    (root / PAGE).parent.mkdir(parents=True)
    if before is not None:
        (root / PAGE).write_bytes(before)
    return root


@pytest.mark.parametrize("fault", ["ENOSPC", "EIO", "EACCES", "short"])
@pytest.mark.parametrize("before", [OLD, None], ids=["replaced", "new"])
def test_a_failure_at_any_operation_leaves_the_old_or_the_new(
    tmp_path: Path, fault: str, before: bytes | None
):
    expected = sha256(before) if before else None
    total = len(operations(prepare(tmp_path, "whole", before), expected))
    assert total > 10
    for number in range(1, total + 1):
        root = prepare(tmp_path, str(number), before)
        failed = False
        try:
            Folder(root, FaultyDisk(number, fault)).write(PAGE, NEW, expected)  # type: ignore[arg-type]
        except OSError:
            failed = True
        assert not (fault == "short" and failed)
        check_after_fault(root, before, failed)


KILLED = """
import sys
from contextlib import suppress
from pathlib import Path
from bank.files import Folder
from tests.bank.faulty_disk import FaultyDisk
root, at, fault, path, expected = sys.argv[1:]
data = sys.stdin.buffer.read()
Folder(Path(root), FaultyDisk(int(at), fault)).write(path, data, expected or None)
"""


@pytest.mark.parametrize("before", [OLD, None], ids=["replaced", "new"])
def test_a_process_killed_at_any_operation_leaves_the_old_or_the_new(
    tmp_path: Path, before: bytes | None
):
    expected = sha256(before) if before else ""
    steps = operations(prepare(tmp_path, "whole", before), expected or None)
    faults = [(number, "exit") for number in range(1, len(steps) + 1)]
    for number, fault in [*faults, (steps.index("write") + 1, "torn")]:
        root = prepare(tmp_path, f"{number}-{fault}", before)
        arguments = [sys.executable, "-c", KILLED, str(root), str(number), fault, PAGE, expected]
        killed = subprocess.run(arguments, input=NEW, check=False)
        assert killed.returncode == EXIT_CODE
        check_after_fault(root, before, failed=True)


@pytest.mark.parametrize("fault", ["ENOSPC", "EIO", "EACCES"])
def test_a_removal_of_edited_content_that_fails_keeps_it_somewhere(tmp_path: Path, fault: str):
    counting = FaultyDisk()
    Folder(prepare(tmp_path, "whole", OTHER), counting).remove(PAGE, sha256(OLD))
    for number in range(1, len(counting.done) + 1):
        root = prepare(tmp_path, str(number), OTHER)
        with suppress(OSError):
            Folder(root, FaultyDisk(number, fault)).remove(PAGE, sha256(OLD))  # type: ignore[arg-type]
        folder = Folder(root)
        aside = [folder.read_leftover(leftover).data for leftover in folder.leftovers()]
        assert [content for content in (state(root), *aside) if content] == [OTHER]


def test_every_operation_of_a_disk_can_be_made_to_fail():
    own = {name for name in vars(Disk) if not name.startswith("_")} - {"about_to"}
    disk = FaultyDisk()
    for name in own:
        method = getattr(disk, name)
        arguments = method.__code__.co_argcount - 1 - len(method.__defaults__ or ())
        disk.at = len(disk.done) + 1
        with pytest.raises(OSError, match="EIO at"):
            method(*(["x"] * arguments))
