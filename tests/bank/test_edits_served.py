"""What editors and programs do to the files while a real server and its worker run."""

import json
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.serving import serving

TEXT, EDITED = "# Page\n\nAs it was.\n", "# Page\n\nEdited by hand.\n"
PATIENCE = 60.0  # Seconds; the promise is ten, on a machine that has nothing else to do.


class Bank:
    """The bank of a running server: its folder, and its pages over HTTP."""

    def __init__(self, folder: Path, url: str, token: str) -> None:
        self.folder = folder
        self.url = f"{url}/api/v1/bank"
        self.token = token

    def __call__(self, method: str, path: str, body: Any = None) -> Any:
        request = urllib.request.Request(
            f"{self.url}/{path}",
            method=method,
            data=json.dumps(body).encode() if body is not None else None,
            headers={"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"},
        )
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            return json.load(error)

    def text(self, name: str) -> str | None:
        return self("GET", f"entities/{name}").get("content")

    def texts(self, name: str) -> list[str]:
        """Every text that the page had, the oldest first."""
        rows = self("GET", f"entities/{name}/revisions").get("items", [])
        paths = [f"entities/{name}/revisions/{row['number']}" for row in rows]
        return [self("GET", path)["content"] for path in reversed(paths)]

    def file(self, name: str) -> Path:
        return self.folder / "bank" / "entities" / f"{name}.md"

    def written(self, *names: str) -> None:
        for name in names:
            assert self("PUT", f"entities/{name}", {"content": TEXT})["created"]


@pytest.fixture(scope="module")
def bank(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bank]:
    home = tmp_path_factory.mktemp("home")
    with serving(home) as served:
        yield Bank(home / "memory", served.url, served.token("write"))


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.2)


def test_a_change_is_a_revision(bank: Bank):
    bank.written("changed")
    bank.file("changed").write_text(EDITED)
    until(lambda: bank.text("changed") == EDITED)
    assert bank.texts("changed") == [TEXT, EDITED]


def test_a_new_file_is_a_page(bank: Bank):
    bank.file("made").write_text(TEXT)
    until(lambda: bank.text("made") == TEXT)


def test_a_file_that_is_deleted_is_written_again(bank: Bank):
    bank.written("deleted")
    bank.file("deleted").unlink()
    until(bank.file("deleted").exists)
    assert bank.file("deleted").read_text() == TEXT
    assert bank.texts("deleted") == [TEXT]


def test_a_file_that_is_renamed_is_its_page_under_another_name(bank: Bank):
    text = "# Moved\n\nSays this alone.\n"
    bank("PUT", "entities/moved", {"content": text})
    bank.file("moved").rename(bank.file("moved-on"))
    until(lambda: bank.text("moved-on") == text)
    assert bank("GET", "entities/moved")["name"] == "moved-on"
    assert bank.texts("moved-on") == [text, text]
    assert not bank.file("moved").exists()


def test_a_file_that_is_renamed_to_another_spelling_is_the_same_page(bank: Bank):
    bank.written("same-page")
    bank.file("same-page").rename(bank.file("Same Page"))
    bank.file("Same Page").write_text(EDITED)
    until(lambda: bank.text("same-page") == EDITED)
    assert not bank.file("same-page").exists()


def test_both_sides_at_once_lose_neither_text(bank: Bank):
    bank.written("both")
    bank.file("both").write_text(EDITED)
    ours = "# Page\n\nEdited by an agent.\n"
    refused = bank("PUT", "entities/both", {"content": ours, "base": 1})
    assert refused["status"] == 409
    assert (refused["current"]["content"], refused["yours"]) == (EDITED, ours)
    saved = bank("PUT", "entities/both", {"content": ours})
    assert saved["previous"]["content"] == EDITED
    assert bank.texts("both") == [TEXT, EDITED, ours]
    assert bank.file("both").read_text() == ours


def test_an_editor_that_writes_slowly_in_place_ends_with_its_whole_text(bank: Bank):
    bank.written("slow")
    lines = [f"Line {number}.\n" for number in range(12)]
    with bank.file("slow").open("w") as file:
        for line in ["# Slow\n\n", *lines]:
            file.write(line)
            file.flush()
            time.sleep(0.25)
    whole = "# Slow\n\n" + "".join(lines)
    until(lambda: bank.text("slow") == whole)
    assert (bank.texts("slow")[0], bank.file("slow").read_text()) == (TEXT, whole)


def test_an_editor_that_renames_over_and_leaves_its_own_files_makes_no_page_of_them(bank: Bank):
    bank.written("renamed-over")
    folder = bank.file("renamed-over").parent
    (folder / ".renamed-over.md.swp").write_bytes(b"b0VIM 9.0\0")
    (folder / "4913").write_text("")
    (folder / "renamed-over.md~").write_text(TEXT)
    (folder / "#renamed-over.md#").write_text(EDITED)
    (folder / ".#renamed-over.md").symlink_to("mei@host.1234:5678")
    (folder / "new.tmp").write_text(EDITED)
    (folder / "new.tmp").replace(bank.file("renamed-over"))
    until(lambda: bank.text("renamed-over") == EDITED)
    assert bank("GET", "untaken")["items"] == []
    names = {item["name"] for item in bank("GET", "entities?limit=500")["items"]}
    assert not {name for name in names if "renamed-over" in name} - {"renamed-over"}


def test_a_checkout_that_swaps_many_files_is_taken_in_whole(bank: Bank):
    names = [f"branch-{number:02}" for number in range(40)]
    for name in names:
        bank.file(name).write_text(TEXT)
    until(lambda: all(bank.text(name) == TEXT for name in names))
    for name in names[:30]:  # As git does it: the old file goes, a new one comes.
        bank.file(name).unlink()
        bank.file(name).write_text(EDITED)
    until(lambda: all(bank.text(name) == EDITED for name in names[:30]))
    assert all(bank.text(name) == TEXT for name in names[30:])
    assert bank.texts(names[0]) == [TEXT, EDITED]


def test_a_file_that_cannot_be_a_page_is_listed_until_it_is_mended(bank: Bank):
    bank.file("a.b").write_text(TEXT)
    until(lambda: [one["why"] for one in bank("GET", "untaken")["items"]] == ["name"])
    bank.file("a.b").unlink()
    until(lambda: bank("GET", "untaken")["items"] == [])
