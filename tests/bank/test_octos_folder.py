"""An octos memory folder that was there before us is curated in place; what is not edited stays."""

import os
import stat
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from bank import outside, problems, queries, services, sync
from bank.models import Kind, Page
from memoryweb.core.actor import Actor

ALICE = "---\ntags: [harbor, people]\nowner: mei\naliases: [Ali]\n---\n# Alice\n\nRuns the docks.\n"
NOTE = "## 2026-03-01\n\nFirst.\n\n## 2026-03-01\n\nSecond.\n\n## 2026-03-01\n\nThird.\n"
FILES = {
    "MEMORY.md": "# Memory\r\n\r\nTea, not coffee.\r\n",
    "2026-03-01.md": NOTE,
    "2026-03-02.md": "\ufeff## 2026-03-02\n\nWith a byte order mark.\n",
    "bank/entities/alice.md": ALICE,
    "bank/entities/Harbor API.md": "# Harbor API\n\nAnswers on port 80. No newline at its end",
    "bank/entities/码头.md": "# 码头\n\n在河边。\n",
    # What octos and editors keep beside: none of it is ours.
    "MEMORY.md.bak": "old",
    "2026-03-01.md.tmp": "half of a no",
    ".MEMORY.md.swp": "swap",
    "bank/entities/alice.md.prev": "older",
    "bank/entities/alice.prev.md": "# Alice\n\nOlder.\n",
    "bank/entities/.alice.md.tmp-17": "staging",
    "bank/entities/archive/bob.md": "# Bob\n\nIn a folder of its own.\n",
    "bank/registry.json": "{}",
    "episodes.redb": "\x01\x02",
    "skills/deploy/SKILL.md": "# Deploy\n\nNot a page.\n",
}


@pytest.fixture
def octos(home: Path, db: None, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Such a folder, elsewhere than in the home, with the modes that its owner gave the files."""
    monkeypatch.setattr(outside, "STILL_WRITTEN", 0.0)
    root = home / "elsewhere" / "memory"
    for path, text in FILES.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode())
        os.utime(file, (1_700_000_000, 1_700_000_000))
    (root / "MEMORY.md").chmod(0o640)
    (root / "bank/entities/alice.md").chmod(0o604)
    settings.MEMORYWEB_MEMORY_DIR = root
    return root


def state(root: Path) -> dict[str, tuple[bytes, int, int]]:
    """Of every file its bytes, its time and its mode."""
    return {
        file.relative_to(root).as_posix(): (
            file.read_bytes(),
            file.stat().st_mtime_ns,
            stat.S_IMODE(file.stat().st_mode),
        )
        for file in root.rglob("*")
        if file.is_file()
    }


def test_its_pages_are_taken_in_and_not_a_byte_is_changed(octos: Path):
    before = state(octos)
    for _ in range(2):
        sync.recover()
        sync.scan()
    assert state(octos) == before
    assert {(page.document, page.path) for page in Page.objects.all()} == {
        ("memory/MEMORY", "MEMORY.md"),
        ("note/2026-03-01", "2026-03-01.md"),
        ("note/2026-03-02", "2026-03-02.md"),
        ("entity/alice", "bank/entities/alice.md"),
        ("entity/harbor-api", "bank/entities/Harbor API.md"),
        ("entity/码头", "bank/entities/码头.md"),
    }
    for page in Page.objects.all():
        assert page.content.encode() == before[page.path][0]
    # A folder of Markdown among the pages is no page, and its owner is told so.
    assert [one.path for one in problems.listed()] == ["bank/entities/archive/"]


def test_an_edit_by_api_changes_its_file_alone_and_keeps_mode_and_front_matter(octos: Path, api):
    sync.scan()
    before = state(octos)
    page = api("write").get("/bank/entities/alice").json()
    assert (page["tags"], page["front_matter"]["owner"]) == (["harbor", "people"], "mei")
    edited = page["content"].replace("Runs the docks.", "Runs the docks and the crane.")
    answer = api("write").put("/bank/entities/alice", {"content": edited, "base": page["revision"]})
    assert answer.status_code == 200
    assert answer.json()["entity"]["front_matter"]["owner"] == "mei"
    after = state(octos)
    path = "bank/entities/alice.md"
    assert (after[path][0], after[path][2]) == (edited.encode(), 0o604)
    assert {name: one for name, one in after.items() if name != path} == {
        name: one for name, one in before.items() if name != path
    }


def test_a_page_under_another_spelling_is_edited_in_its_own_file(octos: Path, ada: Actor):
    sync.scan()
    services.save(ada, Kind.ENTITY, "harbor-api", "# Harbor API\n\nAnswers on port 443.\n")
    assert (octos / "bank/entities/Harbor API.md").read_text().endswith("port 443.\n")
    assert not (octos / "bank/entities/harbor-api.md").exists()


@pytest.mark.parametrize("given", ["Fourth.", "## 2026-03-01\n\nFourth."])
def test_an_append_repeats_no_heading(octos: Path, api, given: str):
    sync.scan()
    answer = api("write").post("/bank/notes/append", {"text": given, "date": "2026-03-01"})
    assert answer.status_code in (200, 201)
    assert (octos / "2026-03-01.md").read_text() == f"{NOTE}\nFourth.\n"


def test_what_octos_appends_meanwhile_is_kept_with_what_is_appended_here(octos: Path, ada: Actor):
    sync.scan()
    with (octos / "2026-03-01.md").open("a") as file:
        file.write("\n## 2026-03-01\n\nBy octos.\n")
    services.append_note(ada, "By us.", date(2026, 3, 1))
    whole = f"{NOTE}\n## 2026-03-01\n\nBy octos.\n\nBy us.\n"
    assert (octos / "2026-03-01.md").read_text() == whole
    assert queries.find(Kind.NOTE, "2026-03-01").content == whole
