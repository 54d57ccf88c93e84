"""The memory tool's commands by themselves, over files that lie in memory."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from bank import memory_tool
from bank.memory_tool import Command, CommandFailed
from memoryweb.core.errors import Invalid

COMMANDS: TypeAdapter[Any] = TypeAdapter(Command)


class Fake:
    """Files in a dictionary, under one lock for all."""

    def __init__(self, **texts: str) -> None:
        self.texts = {name.replace("__", "/"): text for name, text in texts.items()}
        self.lock = threading.RLock()

    def sizes(self) -> dict[str, int]:
        return {path: len(text.encode()) for path, text in self.texts.items()}

    def read(self, path: str) -> str | None:
        return self.texts.get(path)

    def write(self, path: str, text: str) -> None:
        self.texts[path] = text

    def remove(self, path: str) -> None:
        del self.texts[path]

    def rename(self, path: str, to: str) -> None:
        self.texts[to] = self.texts.pop(path)

    @contextmanager
    def held(self, *paths: str) -> Iterator[None]:
        with self.lock:
            yield


def run(files: Fake, command: str, **fields: Any) -> str:
    return memory_tool.run(files, COMMANDS.validate_python({"command": command, **fields}))


def fails(files: Fake, command: str, **fields: Any) -> str:
    before = dict(files.texts)
    with pytest.raises(CommandFailed) as failure:
        run(files, command, **fields)
    assert files.texts == before
    return str(failure.value)


# view


def test_a_directory_is_shown_two_levels_deep_with_sizes():
    files = Fake(
        **{
            "notes.md": "x" * 300,
            "work__plan.md": "x" * 1536,
            "work__old__a.md": "x" * 2048,
            "work__old__deep__b.md": "x" * 1024 * 1024,
            "work__.hidden": "x",
            "node_modules__x.js": "x",
        }
    )
    assert run(files, "view", path="/memories") == (
        "Here're the files and directories up to 2 levels deep in /memories, excluding hidden "
        "items and node_modules:\n"
        "1.0M\t/memories\n"
        "300B\t/memories/notes.md\n"
        "1.0M\t/memories/work/\n"
        "1.0M\t/memories/work/old/\n"
        "1.5K\t/memories/work/plan.md"
    )
    assert run(files, "view", path="/memories/work/old/") == (
        "Here're the files and directories up to 2 levels deep in /memories/work/old, excluding "
        "hidden items and node_modules:\n"
        "1.0M\t/memories/work/old\n"
        "2.0K\t/memories/work/old/a.md\n"
        "1.0M\t/memories/work/old/deep/\n"
        "1.0M\t/memories/work/old/deep/b.md"
    )


def test_the_directory_itself_is_there_before_any_file():
    assert run(Fake(), "view", path="/memories").endswith("\n0B\t/memories")


def test_a_file_is_shown_with_line_numbers_of_six_places_and_a_tab():
    files = Fake(a="one\ntwo\n\nfour")
    assert run(files, "view", path="/memories/a") == (
        "Here's the content of /memories/a with line numbers:\n"
        "     1\tone\n     2\ttwo\n     3\t\n     4\tfour"
    )


@pytest.mark.parametrize(
    ("view_range", "numbers"),
    [([2, 3], [2, 3]), ([2, -1], [2, 3, 4]), ([0, 1], [1]), ([3, 99], [3, 4]), ([9, 12], [])],
)
def test_a_range_of_lines_keeps_their_numbers(view_range: list[int], numbers: list[int]):
    shown = run(Fake(a="a\nb\nc\nd"), "view", path="/memories/a", view_range=view_range)
    assert [int(line.split("\t")[0]) for line in shown.split("\n")[1:] if line] == numbers


def test_a_file_of_a_million_lines_is_not_shown():
    text = fails(Fake(a="\n" * 999_999), "view", path="/memories/a")
    assert text == "File /memories/a exceeds maximum line limit of 999,999 lines."


def test_what_is_not_there_cannot_be_viewed():
    assert fails(Fake(ab="x"), "view", path="/memories/a") == (
        "The path /memories/a does not exist. Please provide a valid path."
    )


# create


def test_a_file_is_created_in_directories_that_need_not_be_there():
    files = Fake()
    said = run(files, "create", path="/memories/a/b/c.txt", file_text="hello\n")
    assert said == "File created successfully at: /memories/a/b/c.txt"
    assert files.texts == {"a/b/c.txt": "hello\n"}


@pytest.mark.parametrize("path", ["/memories/a", "/memories/d", "/memories", "/memories/"])
def test_what_is_there_is_not_created_again(path: str):
    text = fails(Fake(a="x", d__e="y"), "create", path=path, file_text="z")
    assert text == f"Error: File {path} already exists"


def test_a_file_is_no_directory():
    text = fails(Fake(a="x"), "create", path="/memories/a/b", file_text="z")
    assert text == "Error: The path /memories/a is a file, not a directory"


# str_replace


def test_a_replacement_shows_the_lines_around_it():
    files = Fake(a="1\n2\n3\nfour\n5\n6\n7")
    said = run(files, "str_replace", path="/memories/a", old_str="four", new_str="4\nand more")
    assert said == (
        "The memory file has been edited. Here is the snippet showing the change (with line "
        "numbers):\n     2\t2\n     3\t3\n     4\t4\n     5\tand more\n     6\t5\n     7\t6"
    )
    assert files.texts["a"] == "1\n2\n3\n4\nand more\n5\n6\n7"


def test_a_replacement_may_span_lines_and_leave_nothing():
    files = Fake(a="keep\ndrop\nthis\nkeep too")
    run(files, "str_replace", path="/memories/a", old_str="drop\nthis\n")
    assert files.texts["a"] == "keep\nkeep too"


def test_a_text_that_is_not_there_is_not_replaced():
    text = fails(Fake(a="x"), "str_replace", path="/memories/a", old_str="y", new_str="z")
    assert text == (
        "No replacement was performed, old_str `y` did not appear verbatim in /memories/a."
    )


def test_a_text_that_is_there_more_than_once_is_not_replaced():
    files = Fake(a="x\nx y x\nz\nx")
    assert fails(files, "str_replace", path="/memories/a", old_str="x", new_str="z") == (
        "No replacement was performed. Multiple occurrences of old_str `x` in lines: 1, 2, 4. "
        "Please ensure it is unique"
    )


def test_of_a_text_that_is_there_any_number_of_times_the_first_places_are_named():
    files = Fake(a="ab\n" * 100_000)
    text = fails(files, "str_replace", path="/memories/a", old_str="b", new_str="z")
    lines = ", ".join(str(line) for line in range(1, 51))
    assert f"in lines: {lines} and more. Please ensure it is unique" in text


@pytest.mark.parametrize("path", ["/memories/b", "/memories/d", "/memories"])
def test_only_a_file_can_be_edited(path: str):
    files = Fake(a="x", d__e="y")
    assert fails(files, "str_replace", path=path, old_str="x") == (
        f"Error: The path {path} does not exist. Please provide a valid path."
    )
    assert fails(files, "insert", path=path, insert_line=0, insert_text="x") == (
        f"Error: The path {path} does not exist"
    )


# insert


@pytest.mark.parametrize(
    ("before", "line", "after"),
    [
        ("a\nb\n", 0, "new\na\nb\n"),
        ("a\nb\n", 1, "a\nnew\nb\n"),
        ("a\nb\n", 2, "a\nb\nnew\n"),
        ("a\nb", 2, "a\nb\nnew\n"),
        ("", 0, "new\n"),
        ("\n", 1, "\nnew\n"),
    ],
)
def test_lines_are_put_after_the_line_that_is_named(before: str, line: int, after: str):
    for text in ("new", "new\n"):
        files = Fake(a=before)
        said = run(files, "insert", path="/memories/a", insert_line=line, insert_text=text)
        assert said == "The file /memories/a has been edited."
        assert files.texts["a"] == after


@pytest.mark.parametrize("line", [-1, 3, 10**30])
def test_lines_are_put_only_into_the_file(line: int):
    text = fails(Fake(a="a\nb\n"), "insert", path="/memories/a", insert_line=line, insert_text="x")
    assert text == (
        f"Error: Invalid `insert_line` parameter: {line}. It should be within the range of lines "
        "of the file: [0, 2]"
    )


# delete and rename


def test_a_file_is_deleted_and_a_directory_with_all_that_it_holds():
    files = Fake(a="x", d__e="y", d__f__g="z", de="stays")
    assert run(files, "delete", path="/memories/a") == "Successfully deleted /memories/a"
    assert run(files, "delete", path="/memories/d") == "Successfully deleted /memories/d"
    assert files.texts == {"de": "stays"}


def test_what_is_not_there_is_not_deleted_and_the_root_stays():
    files = Fake(ab="x")
    assert fails(files, "delete", path="/memories/a") == (
        "Error: The path /memories/a does not exist"
    )
    assert fails(files, "delete", path="/memories") == (
        "Error: Cannot delete the /memories directory itself"
    )


def test_a_file_is_renamed_and_a_directory_with_all_that_it_holds():
    files = Fake(a="x", d__e="y", d__f__g="z")
    said = run(files, "rename", old_path="/memories/a", new_path="/memories/n/b")
    assert said == "Successfully renamed /memories/a to /memories/n/b"
    run(files, "rename", old_path="/memories/d", new_path="/memories/n/d2")
    assert files.texts == {"n/b": "x", "n/d2/e": "y", "n/d2/f/g": "z"}


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("/memories/x", "/memories/y", "Error: The path /memories/x does not exist"),
        ("/memories/a", "/memories/d", "Error: The destination /memories/d already exists"),
        ("/memories/d", "/memories/a", "Error: The destination /memories/a already exists"),
        ("/memories/a", "/memories", "Error: The destination /memories already exists"),
        ("/memories/a", "/memories/a", "Error: The destination /memories/a already exists"),
        ("/memories", "/memories/y", "Error: Cannot rename the /memories directory itself"),
        ("/memories/d", "/memories/d/y", "Error: Cannot move /memories/d into itself"),
        ("/memories/d", "/memories/a/y", "Error: The path /memories/a is a file, not a directory"),
    ],
)
def test_what_cannot_be_renamed_says_why(old: str, new: str, said: str):
    assert fails(Fake(a="x", d__e="y"), "rename", old_path=old, new_path=new) == said


def test_a_directory_that_would_lie_too_deep_moves_not_at_all():
    files = Fake(**{"d__" + "__".join("x" * 9): "y", "d__a": "z"})
    before = dict(files.texts)
    with pytest.raises(Invalid):
        run(files, "rename", old_path="/memories/d", new_path="/memories/n/m")
    assert files.texts == before


# Paths


OUTSIDE = [
    "",
    "/",
    "/etc/passwd",
    "memories/a",
    "/memoriesx",
    "/memories2/a",
    "/memories/..",
    "/memories/../etc/passwd",
    "/memories/a/../../etc",
    "/memories/a/../b",
    "/memories/%2e%2e/etc",
    "/memories/%252e%252e/etc",
    "/memories/..%2fetc",
    "/memories/..\\etc",
    "/memories//etc",
    "/memories/./a",
    "/memories/.env",
    "/memories/a/.git/config",
    "/memories/C:/x",
    "/memories/nul",
    "/memories/a\0b",
    "/memories/a\nb",
    "/memories/a\\b",
    "/memories/" + "x" * 400,
    "/memories/" + "/".join("x" * 11),
    "//memories/a",
    " /memories/a",
    "/MEMORIES/a",
]


@pytest.mark.parametrize("path", OUTSIDE)
def test_no_path_leads_out_or_to_a_file_that_cannot_be(path: str):
    files = Fake(a="x")
    commands: list[dict[str, Any]] = [
        {"command": "view", "path": path},
        {"command": "create", "path": path, "file_text": "x"},
        {"command": "str_replace", "path": path, "old_str": "x"},
        {"command": "insert", "path": path, "insert_line": 0, "insert_text": "x"},
        {"command": "delete", "path": path},
        {"command": "rename", "old_path": path, "new_path": "/memories/b"},
        {"command": "rename", "old_path": "/memories/a", "new_path": path},
    ]
    for command in commands:
        with pytest.raises(Invalid, match="cannot be used"):
            run(files, **command)
    assert files.texts == {"a": "x"}


@given(st.text() | st.text(alphabet="./%2e\\a").map(lambda t: f"/memories/{t}"))
def test_whatever_path_is_given_what_is_written_lies_below_the_root(path: str):
    files = Fake()
    try:
        run(files, "create", path=path, file_text="x")
    except (Invalid, CommandFailed):
        assert files.texts == {}
        return
    (written,) = files.texts
    assert ".." not in written.split("/")
    assert not written.startswith(("/", "."))


LINES = st.text(alphabet="ab\n", max_size=12)


@given(text=LINES, old=st.text(alphabet="ab\n", min_size=1, max_size=3), new=LINES)
def test_a_replacement_is_that_of_the_one_place_or_none(text: str, old: str, new: str):
    files = Fake(a=text)
    places = [at for at in range(len(text)) if text.startswith(old, at)]
    if len(places) == 1:
        run(files, "str_replace", path="/memories/a", old_str=old, new_str=new)
        assert files.texts["a"] == text[: places[0]] + new + text[places[0] + len(old) :]
    else:
        fails(files, "str_replace", path="/memories/a", old_str=old, new_str=new)
