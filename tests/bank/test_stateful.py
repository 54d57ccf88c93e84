"""Whatever is done in whatever order: record, files and what search is told of them agree."""

import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

from bank import outside, places, queries, services, sync
from bank.disk import Disk
from bank.models import FileOperation, Kind, Page, Revision
from memoryweb.core import clock
from memoryweb.core.actor import Actor, Role
from memoryweb.core.errors import Conflict, NotFound, Unavailable
from search.sources import SOURCES
from tests.bank.faulty_disk import FaultyDisk

ADA = Actor("person", "ada", "page", Role.CURATOR)
names = st.sampled_from(["alice", "bob", "Café"])
words = st.lists(
    st.sampled_from(["docks", "crane", "[[bob]]", "tide", "茶"]), min_size=1, max_size=4
)
FAULTS = st.tuples(st.integers(1, 25), st.sampled_from(["ENOSPC", "EIO", "short"]))


class Bank(RuleBasedStateMachine):
    """`told` are the texts whose storing was acknowledged; `documents` follow the change rows."""

    memory: Path

    def __init__(self) -> None:
        super().__init__()
        Page.objects.all().delete()
        shutil.rmtree(self.memory)
        (self.memory / "bank/entities").mkdir(parents=True)
        places.disk = Disk()
        self.told: set[str] = set()
        self.count = 0
        self.seq = clock.current_seq()
        self.documents: dict[str, Any] = {}

    def text(self, some: list[str]) -> str:
        """A text that there was not before."""
        self.count += 1
        return f"# Page\n\nText {self.count}.\n\n{' '.join(some)}\n"

    def write(self, do: Any) -> None:
        """Do it on a disk that may fail; what is stored all the same counts as acknowledged."""
        try:
            self.told.add(do().page.content)
        except (Conflict, NotFound, Unavailable):
            pass
        finally:
            places.disk = Disk()

    @rule(name=names, some=words)
    def save(self, name: str, some: list[str]) -> None:
        self.write(lambda: services.save(ADA, Kind.ENTITY, name, self.text(some)))

    @rule(name=names, some=words, fault=FAULTS)
    def save_on_a_failing_disk(self, name: str, some: list[str], fault: Any) -> None:
        places.disk = FaultyDisk(*fault)
        self.write(lambda: services.save(ADA, Kind.ENTITY, name, self.text(some)))

    @rule(name=names, some=words, base=st.integers(1, 6))
    def save_what_may_be_stale(self, name: str, some: list[str], base: int) -> None:
        self.write(lambda: services.save(ADA, Kind.ENTITY, name, self.text(some), base=base))

    @rule(name=names, number=st.integers(1, 4))
    def revert(self, name: str, number: int) -> None:
        self.write(lambda: services.revert(ADA, Kind.ENTITY, name, number))

    @rule(some=words)
    def append(self, some: list[str]) -> None:
        self.write(lambda: services.append_note(ADA, self.text(some), services.day("2026-03-01")))

    @rule(name=names)
    def archive(self, name: str) -> None:
        self.write(lambda: services.archive(ADA, Kind.ENTITY, name))

    @rule(which=st.integers(0, 3))
    def restore(self, which: int) -> None:
        gone = list(queries.archived()[which : which + 1])
        self.write(lambda: services.restore(ADA, gone[0].pk if gone else 0))

    @rule(name=names, some=words)
    def edit_outside(self, name: str, some: list[str]) -> None:
        path = self.memory / "bank/entities" / f"{name.lower()}.md"
        path.write_text(self.text(some))

    @rule(name=names)
    def delete_outside(self, name: str) -> None:
        (self.memory / "bank/entities" / f"{name.lower()}.md").unlink(missing_ok=True)

    @rule()
    def restart(self) -> None:
        """All that was left undone is done, all that was edited outside is taken in."""
        assert sync.recover().problems == {}
        self.told |= {path.read_text() for path in self.memory.rglob("*.md")}
        assert sync.scan().problems == {}
        files = {str(p.relative_to(self.memory)): p.read_text() for p in self.memory.rglob("*.md")}
        pages = Page.objects.filter(archived_at=None)
        assert files == {page.path: page.content for page in pages}
        for page in pages:
            assert page.revisions.get(number=page.revision).content == page.content
        assert self.told <= set(Revision.objects.values_list("content", flat=True))
        assert not FileOperation.objects.filter(done_at=None).exists()
        assert not list(self.memory.rglob(".memoryweb-*"))
        self.follow()

    def teardown(self) -> None:
        self.restart()

    def follow(self) -> None:
        """Read what the change rows name; it has to be all that changed."""
        changes = clock.changes_since(self.seq)
        source = SOURCES["pages"]
        for change in changes:
            self.documents.pop(change.document, None)
            self.seq = change.seq
        ids = {change.document for change in changes}
        self.documents |= {document.id: document for document in source.documents(ids)}
        assert self.documents == {document.id: document for document in source.documents(None)}


def test_record_files_and_search_agree_whatever_is_done(
    memory: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(outside, "STILL_WRITTEN", 0.0)
    Bank.memory = memory
    run_state_machine_as_test(
        Bank,
        settings=settings(
            max_examples=30,
            stateful_step_count=30,
            suppress_health_check=list(HealthCheck),
        ),
    )
