"""The commands of Anthropic's memory tool, over any files; the wording of results is that tool's.

https://platform.claude.com/docs/en/agents-and-tools/tool-use/memory-tool says what each command
answers; where that leaves something open, it is as the tool of the vendor's own SDK does it. The
model reads these texts and goes on by them, so they are a format and not prose. Django-free.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from itertools import islice
from typing import Annotated, Literal, Protocol, TypeVar
from urllib.parse import unquote

from pydantic import Field

from bank import refs
from bank.names import NameRefused
from memoryweb.core.errors import Conflict, Invalid
from memoryweb.core.schemas import Strict

ROOT = "/memories"
LEVELS = 2  # of a directory that are shown
CONTEXT = 2  # lines shown before and after an edit
MOST_LINES = 999_999
WIDTH = len(str(MOST_LINES))
MOST_PLACES = 50  # that are looked for and named: each takes a look through the whole text
RETRIES = 20

T = TypeVar("T")


class Files(Protocol):
    """What the commands work on. Paths are refs below /memories, without a slash at either end."""

    def sizes(self) -> Mapping[str, int]:
        """Every file with its bytes."""

    def read(self, path: str) -> str | None:
        """The text, None where there is no such file."""

    def write(self, path: str, text: str) -> None:
        """Store the text of a file, which need not be there."""

    def remove(self, path: str) -> None: ...

    def rename(self, path: str, to: str) -> None: ...

    def held(self, *paths: str) -> AbstractContextManager[None]:
        """Nobody else writes these inside the block."""


class View(Strict):
    command: Literal["view"]
    path: str
    view_range: Annotated[
        list[int] | None,
        Field(min_length=2, max_length=2, description="first and last line, -1 is the end"),
    ] = None


class Create(Strict):
    command: Literal["create"]
    path: str
    file_text: str


class Replace(Strict):
    command: Literal["str_replace"]
    path: str
    old_str: Annotated[str, Field(min_length=1)]
    new_str: str = ""


class Insert(Strict):
    command: Literal["insert"]
    path: str
    insert_line: Annotated[int, Field(description="the line after which it is put; 0 is the top")]
    insert_text: str


class Delete(Strict):
    command: Literal["delete"]
    path: str


class Rename(Strict):
    command: Literal["rename"]
    old_path: str
    new_path: str


Command = View | Create | Replace | Insert | Delete | Rename


class CommandFailed(Exception):
    """The command cannot be done; the text says why, as the tool words it."""


def run(files: Files, command: Command) -> str:
    """Do it; the result's text. Raises CommandFailed, Invalid for a path that no file can have,
    and what `files` raises."""
    match command:
        case View():
            return _view(files, command)
        case Create():
            return _create(files, command)
        case Replace():
            return _replace(files, command)
        case Insert():
            return _insert(files, command)
        case Delete():
            return _delete(files, command)
        case Rename():
            return _rename(files, command)


def ref_of(path: str) -> str:
    """The path below /memories, "" for that itself. Raises Invalid for one that leads elsewhere,
    or would for somebody who decodes it once more."""
    if ".." in unquote(unquote(path)).replace("\\", "/").split("/"):
        raise _refused(path, f"it leads out of {ROOT}")
    if path.rstrip("/") == ROOT:
        return ""
    if not path.startswith(f"{ROOT}/"):
        raise _refused(path, f"it must begin with {ROOT}/")
    try:
        return refs.normal(path.removeprefix(f"{ROOT}/").removesuffix("/"))
    except NameRefused as refused:
        raise _refused(path, refused.reason) from refused


def _refused(path: str, why: str) -> Invalid:
    return Invalid.field("path", f"{path[:200]!r} cannot be used: {why}")


# View


def _view(files: Files, command: View) -> str:
    ref = ref_of(command.path)
    text = files.read(ref) if ref else None
    if text is not None:
        return _numbered_file(command.path, text, command.view_range)
    below = _below(files.sizes(), ref)
    if ref and not below:
        raise CommandFailed(f"The path {command.path} does not exist. Please provide a valid path.")
    return _directory(command.path.rstrip("/"), below)


def _numbered_file(path: str, text: str, view_range: list[int] | None) -> str:
    lines = text.split("\n")
    if len(lines) > MOST_LINES:
        raise CommandFailed(f"File {path} exceeds maximum line limit of {MOST_LINES:,} lines.")
    start, end = view_range or [1, -1]
    start, end = max(1, start), len(lines) if end == -1 else end
    shown = lines[start - 1 : max(end, 0)]
    return f"Here's the content of {path} with line numbers:\n{_numbered(shown, start)}"


def _numbered(lines: Sequence[str], start: int) -> str:
    return "\n".join(f"{number:>{WIDTH}}\t{line}" for number, line in enumerate(lines, start))


def _directory(path: str, below: Mapping[str, int]) -> str:
    """Two levels of it, each directory with the size of all that it holds."""
    shown: dict[str, int] = {}
    for name, size in sorted(below.items(), key=lambda item: item[0].split("/")):
        segments = name.split("/")
        if _hidden(segments):
            continue
        for depth in range(1, min(len(segments), LEVELS) + 1):
            mark = "/" if depth < len(segments) else ""
            entry = "/".join(segments[:depth]) + mark
            shown[entry] = shown.get(entry, 0) + size
    total = sum(size for name, size in below.items() if not _hidden(name.split("/")))
    rows = [f"{_size(total)}\t{path}"]
    rows += [f"{_size(size)}\t{path}/{entry}" for entry, size in shown.items()]
    return (
        f"Here're the files and directories up to {LEVELS} levels deep in {path}, "
        "excluding hidden items and node_modules:\n" + "\n".join(rows)
    )


def _hidden(segments: Sequence[str]) -> bool:
    return any(one.startswith(".") or one == "node_modules" for one in segments)


def _size(count: int) -> str:
    """`312B`, `1.5K`, `2.0M`."""
    if count < 1024:
        return f"{count}B"
    size = float(count)
    for unit in "KMG":
        size /= 1024
        if size < 1024 or unit == "G":
            break
    return f"{size:.1f}{unit}"


# Edits


def _create(files: Files, command: Create) -> str:
    ref = ref_of(command.path)
    exists = CommandFailed(f"Error: File {command.path} already exists")
    if not ref:
        raise exists
    # Whoever makes a file where this needs a directory holds the same locks.
    with files.held(ref, *_parents(ref)):
        if files.read(ref) is not None or _below(files.sizes(), ref):
            raise exists
        _need_directories(files, ref)
        files.write(ref, command.file_text)
    return f"File created successfully at: {command.path}"


def _replace(files: Files, command: Replace) -> str:
    ref, old = ref_of(command.path), command.old_str
    missing = f"Error: The path {command.path} does not exist. Please provide a valid path."
    with _edited(files, ref, missing) as text:
        places = list(islice(_places(text, old), MOST_PLACES + 1))
        if not places:
            raise CommandFailed(
                f"No replacement was performed, old_str `{old}` did not appear verbatim in "
                f"{command.path}."
            )
        if len(places) > 1:
            lines = dict.fromkeys(text.count("\n", 0, at) + 1 for at in places[:MOST_PLACES])
            numbers = ", ".join(map(str, lines))  # A line is named once, however often it is in it.
            numbers += " and more" if len(places) > MOST_PLACES else ""
            raise CommandFailed(
                f"No replacement was performed. Multiple occurrences of old_str `{old}` in lines: "
                f"{numbers}. Please ensure it is unique"
            )
        (at,) = places
        new = text[:at] + command.new_str + text[at + len(old) :]
        files.write(ref, new)
    line = text.count("\n", 0, at)
    first, last = max(0, line - CONTEXT), line + command.new_str.count("\n") + CONTEXT + 1
    snippet = _numbered(new.split("\n")[first:last], first + 1)
    return (
        "The memory file has been edited. Here is the snippet showing the change (with line "
        f"numbers):\n{snippet}"
    )


def _insert(files: Files, command: Insert) -> str:
    ref, line = ref_of(command.path), command.insert_line
    with _edited(files, ref, f"Error: The path {command.path} does not exist") as text:
        lines = text.removesuffix("\n").split("\n") if text else []
        if not 0 <= line <= len(lines):
            raise CommandFailed(
                f"Error: Invalid `insert_line` parameter: {line}. It should be within the range "
                f"of lines of the file: [0, {len(lines)}]"
            )
        lines.insert(line, command.insert_text.removesuffix("\n"))
        files.write(ref, "\n".join(lines) + "\n")
    return f"The file {command.path} has been edited."


@contextmanager
def _edited(files: Files, ref: str, missing: str) -> Iterator[str]:
    """The text of a file that nobody else edits inside the block."""
    if not ref:
        raise CommandFailed(missing)
    with files.held(ref):
        text = files.read(ref)
        if text is None:
            raise CommandFailed(missing)
        yield text


def _places(text: str, part: str) -> Iterator[int]:
    """Where it stands, those that overlap included."""
    at = text.find(part)
    while at >= 0:
        yield at
        at = text.find(part, at + 1)


# Whole files and directories


def _delete(files: Files, command: Delete) -> str:
    ref = ref_of(command.path)
    if not ref:
        raise CommandFailed(f"Error: Cannot delete the {ROOT} directory itself")

    def delete(paths: Sequence[str]) -> str:
        if not paths:
            raise CommandFailed(f"Error: The path {command.path} does not exist")
        for path in paths:
            files.remove(path)
        return f"Successfully deleted {command.path}"

    return _with_all(files, ref, (), delete)


def _rename(files: Files, command: Rename) -> str:
    old, new = ref_of(command.old_path), ref_of(command.new_path)
    exists = CommandFailed(f"Error: The destination {command.new_path} already exists")
    if not old:
        raise CommandFailed(f"Error: Cannot rename the {ROOT} directory itself")
    if not new:
        raise exists
    if new.startswith(f"{old}/"):
        raise CommandFailed(f"Error: Cannot move {command.old_path} into itself")

    def rename(paths: Sequence[str]) -> str:
        if not paths:
            raise CommandFailed(f"Error: The path {command.old_path} does not exist")
        if files.read(new) is not None or _below(files.sizes(), new):
            raise exists
        _need_directories(files, new)
        moves = {path: _moved(new, path[len(old) :]) for path in paths}
        for path, to in moves.items():
            files.rename(path, to)
        return f"Successfully renamed {command.old_path} to {command.new_path}"

    return _with_all(files, old, (new, *_parents(new)), rename)


def _moved(folder: str, rest: str) -> str:
    """The ref of a file that moves with its folder. Raises Invalid for one too long or deep."""
    try:
        return refs.normal(folder + rest)
    except NameRefused as refused:
        raise _refused(f"{ROOT}/{folder}{rest}", refused.reason) from refused


def _with_all(files: Files, ref: str, others: Sequence[str], do: Callable[[Sequence[str]], T]) -> T:
    """Call `do` with the file at `ref`, or all files below it, while nobody else writes them.

    Locks are taken all at once, before it is certain which are needed; then they are looked up
    again.
    """
    for _ in range(RETRIES):
        expected = _files_at(files, ref)
        moved = [other + path[len(ref) :] for path in expected for other in others[:1]]
        with files.held(ref, *expected, *others, *moved):
            found = _files_at(files, ref)
            if set(found) <= {ref, *expected}:
                return do(found)
    raise Conflict(f"others keep changing {ROOT}/{ref}; try again")


def _files_at(files: Files, ref: str) -> list[str]:
    if files.read(ref) is not None:
        return [ref]
    return sorted(f"{ref}/{path}" for path in _below(files.sizes(), ref))


def _below(sizes: Mapping[str, int], ref: str) -> dict[str, int]:
    """The files below a directory, by their paths from there."""
    prefix = f"{ref}/" if ref else ""
    return {p.removeprefix(prefix): size for p, size in sizes.items() if p.startswith(prefix)}


def _parents(ref: str) -> list[str]:
    segments = ref.split("/")
    return ["/".join(segments[:depth]) for depth in range(1, len(segments))]


def _need_directories(files: Files, ref: str) -> None:
    for parent in _parents(ref):
        if files.read(parent) is not None:
            raise CommandFailed(f"Error: The path {ROOT}/{parent} is a file, not a directory")
