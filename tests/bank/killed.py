"""Writes to a bank that are killed, or fail, at each of their steps in turn; then it recovers.

Run as a program, `python -m tests.bank.killed SCENARIO FAULT HOME`: it prints one line of JSON
for each step. A step is an operation on the disk, an SQL statement, or a side of a commit.
"""

import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import date
from itertools import count
from pathlib import Path
from typing import Any

ALICE = "bank/entities/alice.md"
BOB = "bank/entities/bob.md"
NOTE = "2026-03-01.md"
OLD, NEW = "# Alice\n\nOld.\n", "# Alice\n\nNew. See [[bob]].\n" * 400
OUTSIDE = "# Alice\n\nEdited outside.\n"
DAY = date(2026, 3, 1)
FIRST, BOTH = "## 2026-03-01\n\nFirst.\n", "## 2026-03-01\n\nFirst.\n\nSecond.\n"
KILLED, FAILED = 86, 87


@dataclass(frozen=True)
class Scenario:
    """What is there before, and the write that is killed."""

    before: Callable[[], object]
    write: Callable[[], object]
    raced: bool = False  # Somebody edits the file in the middle of the write.


def scenarios() -> dict[str, Scenario]:
    from bank import batch, erasing, outside, renaming, services, sync
    from bank.models import Kind, Page
    from bank.record import New, Origin
    from bank.texts import Text
    from memoryweb.core.actor import Actor, Role

    ada = Actor("person", "ada", "page", Role.CURATOR)
    root = Actor("person", "root", "page", Role.ADMINISTRATOR)

    def save(text: str, base: int | None = None) -> object:
        return services.save(ada, Kind.ENTITY, "alice", text, base=base)

    def archive() -> object:
        return services.archive(ada, Kind.ENTITY, "alice")

    def make_with_others() -> object:
        text = Text(Kind.ENTITY, "alice", NEW, "vault/Alice")
        return batch.create(ada, [New(text, Origin.of(ada), ALICE)])

    def edit_outside() -> None:
        save(OLD)
        (memory() / ALICE).write_text(OUTSIDE)

    def rename_outside() -> object:
        outside.STILL_WRITTEN = 0.0
        (memory() / ALICE).rename(memory() / BOB)
        report = sync.scan()
        return None if report.settled else report

    return {
        "create": Scenario(lambda: None, lambda: save(NEW)),
        "batch": Scenario(lambda: None, make_with_others),
        "rename": Scenario(lambda: save(OLD), lambda: renaming.rename(ada, "alice", "bob")),
        "rename outside": Scenario(lambda: save(OLD), rename_outside),
        "edit": Scenario(lambda: save(OLD), lambda: save(NEW, base=1)),
        "append": Scenario(
            lambda: services.append_note(ada, "First.", DAY),
            lambda: services.append_note(ada, "Second.", DAY),
        ),
        "archive": Scenario(lambda: save(OLD), archive),
        "erase": Scenario(lambda: save(OLD), lambda: erasing.erase(root, Kind.ENTITY, "alice")),
        "restore": Scenario(
            lambda: [save(OLD), archive()],
            lambda: services.restore(ada, Page.objects.values_list("pk", flat=True).get()),
        ),
        "over an outside edit": Scenario(edit_outside, lambda: save(NEW)),
        "raced by an outside edit": Scenario(lambda: save(OLD), lambda: save(NEW), raced=True),
    }


def memory() -> Path:
    from django.conf import settings

    return settings.MEMORYWEB_MEMORY_DIR


def in_child(do: Callable[[], Any]) -> tuple[int, Any]:
    """The exit code of a child process that did it, and what it returned."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        code = FAILED
        try:
            os.close(reading)
            os.write(writing, json.dumps(do()).encode())
            code = 0
        finally:
            os._exit(code)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        answer = pipe.read()
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status), json.loads(answer) if answer else None


def attempt(scenario: Scenario, at: int, fault: Any) -> dict[str, Any]:
    """The write with a fault at one of its steps; what was answered and how many steps it took."""
    from django.db import DatabaseError

    from memoryweb.core.errors import DomainError

    steps = counting(at, fault, scenario.raced)
    try:
        scenario.write()
        answer = "done"
    except (DomainError, DatabaseError) as error:
        answer = f"{type(error).__name__}: {error}"
    return {"answer": answer, "steps": len(steps.done)}


def counting(at: int, fault: Any, raced: bool) -> Any:
    """Count the steps of the disk and of the database together; the fault is at step `at`."""
    from django.db import OperationalError, connection

    from bank import places
    from memoryweb.core.sqlite.base import DatabaseWrapper
    from tests.bank.faulty_disk import FaultyDisk

    class Steps(FaultyDisk):
        raced = False

        def about_to(self, operation: str, name: str) -> None:
            database = operation in ("sql", "commit", "committed")
            if raced and not self.raced and operation == "link" and name.endswith(".old"):
                self.raced = True
                (memory() / ALICE).write_text(OUTSIDE)
            if database and self.fault not in ("exit", "torn") and self.at == len(self.done) + 1:
                self.done.append(operation)
                if operation != "committed":
                    raise OperationalError("disk I/O error")
                return
            super().about_to(operation, name)

    steps = Steps(at, fault)
    places.disk = steps

    def statement(execute: Any, sql: str, *rest: Any) -> Any:
        steps.about_to("sql", sql)
        return execute(sql, *rest)

    connection.execute_wrappers.append(statement)
    commit = DatabaseWrapper._commit

    def counted_commit(self: Any) -> None:
        steps.about_to("commit", "")
        commit(self)
        steps.about_to("committed", "")

    DatabaseWrapper._commit = counted_commit  # type: ignore[method-assign]
    return steps


def recovered(at: int = 0) -> dict[str, Any]:
    """What there is after a start; with `at` that start is killed too, at that step."""
    from bank import outside, sync

    if at:
        counting(at, "exit", raced=False)
    outside.STILL_WRITTEN = 0.0
    problems = sync.recover().problems | sync.scan().problems
    return describe() | {"problems": {path: str(one) for path, one in problems.items()}}


def describe() -> dict[str, Any]:
    from django.db import connection

    from bank.models import FileOperation, Link, Page, Revision
    from memoryweb.core.models import Change

    database = Path(connection.settings_dict["NAME"])
    stored = [database, database.with_name(f"{database.name}-wal")]

    page = Page.objects.filter(archived_at=None).first()
    with connection.cursor() as cursor:
        [integrity] = cursor.execute("PRAGMA integrity_check").fetchone()
    return {
        "page": page and page.content,
        "path": page and page.path,
        "conflict": page and page.conflict,
        "current": page and page.revisions.get(number=page.revision).content,
        "revisions": list(Revision.objects.order_by("pk").values_list("content", flat=True)),
        "links": Link.objects.count(),
        "pending": FileOperation.objects.filter(done_at=None).count(),
        "changes": Change.objects.filter(collection="pages").count(),
        "integrity": integrity,
        "rows": Page.objects.count(),
        "in_database": any(OLD.encode() in file.read_bytes() for file in stored if file.exists()),
        "files": {
            str(path.relative_to(memory())): path.read_text()
            for path in memory().rglob("*")
            if path.is_file()
        },
    }


def run(scenario: Scenario, fault: str, home: Path) -> Iterator[dict[str, Any]]:
    from memoryweb import house

    def set_up() -> None:
        house.prepare()
        scenario.before()

    in_child(set_up)
    template = home.with_name("template")
    shutil.copytree(home, template)
    for at in count(1):
        shutil.rmtree(home)
        shutil.copytree(template, home)
        code, attempted = in_child(lambda: attempt(scenario, at, fault))  # noqa: B023
        if fault == "exit" and at % 3 == 0:
            in_child(lambda: recovered(at=1 + at // 3))  # noqa: B023
        _, after = in_child(recovered)
        yield {"at": at, "code": code, "attempted": attempted, "after": after}
        if attempted is not None and attempted["steps"] < at:
            return


if __name__ == "__main__":
    name, fault, folder = sys.argv[1:]
    os.environ["DJANGO_SETTINGS_MODULE"] = "memoryweb.settings"
    os.environ["MEMORYWEB_HOME"] = folder
    import django

    django.setup()
    with closing(run(scenarios()[name], fault, Path(folder))) as lines:
        for line in lines:
            print(json.dumps(line), flush=True)
