"""The memory folder's three forms, and what lies beside them."""

import os
from datetime import date
from pathlib import Path

import pytest

from bank.files import Folder
from bank.layout import ENTITIES, ROOT, PageFile, entity_path, look, note_path
from bank.reasons import Why


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "bank/entities").mkdir(parents=True)
    return tmp_path


def put(root: Path, *paths: str) -> None:
    for path in paths:
        (root / path).write_text("# A\nb\n")


def pages(root: Path) -> list[PageFile]:
    return look(Folder(root)).files


def listed(root: Path) -> list[tuple[str, str, str]]:
    return [(page.form, page.name, page.path) for page in pages(root) if not page.problem]


def problems(root: Path) -> dict[str, str]:
    return {page.path: page.problem.reason for page in pages(root) if page.problem}


def test_a_page_we_make_lies_where_octos_looks_for_it():
    assert entity_path("alice-chen") == "bank/entities/alice-chen.md"
    assert note_path(date(2026, 1, 31)) == "2026-01-31.md"


def test_the_three_forms_are_listed_with_their_stamps(root: Path):
    put(root, "MEMORY.md", "2026-01-31.md", "bank/entities/alice-chen.md", "bank/entities/日本.md")
    assert listed(root) == [
        ("note", "2026-01-31", "2026-01-31.md"),
        ("memory", "MEMORY", "MEMORY.md"),
        ("entity", "alice-chen", "bank/entities/alice-chen.md"),
        ("entity", "日本", "bank/entities/日本.md"),
    ]
    assert all(page.stamp == Folder(root).stamp(page.path) for page in pages(root))


def test_everything_else_is_left_out(root: Path):
    put(
        root,
        "README.md",
        "episodes.redb",
        "26-01-31.md",
        "2026-01-31.md.bak",
        "２０２６-01-31.md",
        ".MEMORY.md.tmp",
        "bank/other.md",
        "bank/entities/.alice.md",
        "bank/entities/alice.md.bak",
        "bank/entities/alice.bak.md",
        "bank/entities/alice.prev.md",
        "bank/entities/alice~.md",
        "bank/entities/alice.txt",
        "bank/entities/.memoryweb-0123456789abcdef-00.new",
    )
    assert pages(root) == []


def test_a_folder_without_entities_is_fine_but_a_missing_folder_is_no_empty_bank(tmp_path: Path):
    bare = look(Folder(tmp_path))
    assert (bare.files, bare.faults, bare.absent) == ([], {}, {ENTITIES})
    gone = look(Folder(tmp_path / "gone"))
    assert (gone.files, list(gone.faults), gone.absent) == ([], [ROOT], frozenset())
    assert gone.faults[ROOT].why == Why.NO_FOLDER


@pytest.mark.parametrize("odd", ["file", "link"])
def test_what_is_no_folder_in_the_place_of_the_entities_hides_no_note(root: Path, odd: str):
    put(root, "MEMORY.md", "2026-01-31.md")
    (root / ENTITIES).rmdir()
    if odd == "file":
        (root / ENTITIES).write_text("no folder")
    else:
        (root / ENTITIES).symlink_to(root)
    found = look(Folder(root))
    assert [file.path for file in found.files] == ["2026-01-31.md", "MEMORY.md"]
    reason = "The folder cannot be read: “entities” is a link or a file, not a folder."
    assert {path: str(one) for path, one in found.faults.items()} == {ENTITIES: reason}


def test_files_that_cannot_be_pages_are_named_with_the_reason(root: Path):
    put(root, "bank/entities/a.b.md", "bank/entities/con.md", "2026-02-30.md")
    (root / "bank/entities/folder.md").mkdir()
    (root / "bank/entities/link.md").symlink_to(root / "2026-02-30.md")
    (root / "MEMORY.md").symlink_to("/etc/passwd")
    found = problems(root)
    assert "full stop" in found["bank/entities/a.b.md"]
    assert "device on Windows" in found["bank/entities/con.md"]
    assert found["2026-02-30.md"] == "There is no such day."
    assert found["bank/entities/folder.md"] == "It is a folder, not a file."
    for path in ("bank/entities/link.md", "MEMORY.md"):
        assert found[path] == "It is a symbolic link, not a file."
    assert listed(root) == []


def test_a_name_that_is_not_utf_8_is_named_in_text_that_can_be_shown(root: Path):
    descriptor = os.open(os.fsencode(root / "bank/entities") + b"/caf\xe9.md", os.O_CREAT)
    os.close(descriptor)
    (page,) = pages(root)
    assert page.path == "bank/entities/caf?.md"
    assert page.problem


def test_a_name_spelled_differently_keeps_its_file(root: Path):
    put(root, "bank/entities/Alice Chen.md")
    assert listed(root) == [("entity", "alice-chen", "bank/entities/Alice Chen.md")]


def test_of_two_files_with_one_name_the_one_spelled_right_is_the_page(root: Path):
    put(root, "bank/entities/Alice Chen.md", "bank/entities/alice-chen.md")
    assert listed(root) == [("entity", "alice-chen", "bank/entities/alice-chen.md")]
    assert "bank/entities/alice-chen.md" in problems(root)["bank/entities/Alice Chen.md"]


def test_two_normal_forms_of_a_name_are_one_page(root: Path):
    put(root, "bank/entities/cafe\u0301.md", "bank/entities/café.md")
    assert len(listed(root)) == 1
    assert len(problems(root)) == 1
