"""The memory folder and the record brought together: planned from what is seen, then applied.

`recover` finishes what a kill or a failing disk left undone. `scan` takes in what people and
agents edited outside. Both plan without a lock, and then look at each page again under its own.
"""

import logging
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta

from django.db import DatabaseError
from django.db.models import F
from django.utils import timezone

from bank import layout, publishing, queries, record
from bank.files import Leftover, PathRefused, Stamp, mark_of
from bank.models import FileOperation, Kind, Page
from memoryweb.core.errors import Conflict, Unavailable

logger = logging.getLogger(__name__)

STILL_WRITTEN = 1.0  # Seconds; a file changed that recently may be half of what is to come.
LATE = timedelta(seconds=60)  # after which a file that is not written yet is a fault to tell


@dataclass(frozen=True)
class Task:
    """One page to look at; `path` is where its file was seen, `leftovers` what lies beside it."""

    kind: Kind
    name: str
    path: str = ""
    leftovers: Sequence[Leftover] = ()


@dataclass
class Report:
    """How many pages were looked at, and by path why a file could not be taken in or written."""

    settled: int = 0
    problems: dict[str, str] = field(default_factory=dict)


def recover() -> Report:
    """Finish every save that was begun. What the disk still refuses is reported, and kept."""
    report = Report()
    return apply([*_unfinished(), *_beside(report)], report)


def scan() -> Report:
    """Take in every file that was added or edited, and write again what was lost."""
    report = Report()
    return apply(_edited(report), report)


def apply(tasks: Iterable[Task], report: Report) -> Report:
    """Settle each page under its lock; one that fails keeps no other from its turn."""
    for task in tasks:
        with _reported(report, task.path or f"{task.kind}/{task.name}"):
            with publishing.hold(task.kind, task.name):
                publishing.settle(task.kind, task.name, task.path)
                for leftover in task.leftovers:
                    _clear(task, leftover)
            report.settled += 1
    return report


def probe() -> str:
    """Whether the files are as the record says, for /readyz."""
    late = FileOperation.objects.filter(done_at=None, created_at__lt=timezone.now() - LATE)
    if count := late.count():
        return f"files that could not be written yet: {count}"
    if not publishing.memory_folder().root.is_dir() and Page.objects.exists():
        return "the memory folder is not there"
    return "ok"


@contextmanager
def _reported(report: Report, path: str) -> Iterator[None]:
    try:
        yield
    except (OSError, PathRefused, publishing.Unreadable, Conflict, Unavailable) as error:
        report.problems[path] = str(error)
    except DatabaseError:
        raise  # Which is no one page's problem.
    except Exception as error:
        logger.debug("%s", path, exc_info=True)
        report.problems[path] = f"It is beyond us ({type(error).__name__}); please report this."


# Plans

_LIVING_FIRST = F("archived_at").desc(nulls_first=True)


def _unfinished() -> Iterator[Task]:
    """The pages of which an operation is not done."""
    pending = FileOperation.objects.filter(done_at=None).order_by("pk")
    rows = pending.values_list("page__kind", "page__name")
    return (Task(Kind(kind), name) for kind, name in dict.fromkeys(rows))


def _beside(report: Report) -> Iterator[Task]:
    """The pages beside whose files a killed process left something."""
    found: dict[str, list[Leftover]] = {}
    with _reported(report, str(publishing.memory_folder().root)):
        for leftover in publishing.memory_folder().leftovers():
            found.setdefault(leftover.mark, []).append(leftover)
    for kind, name, path in _paths() if found else ():
        if leftovers := found.pop(mark_of(path), None):
            yield Task(Kind(kind), name, leftovers=leftovers)
    for leftovers in found.values():
        report.problems |= {one.path: "It belongs to no page." for one in leftovers}


def _paths() -> Iterator[tuple[str, str, str]]:
    """(kind, name, path) of every page's file, and of those that it had under other names."""
    yield from Page.objects.order_by(_LIVING_FIRST).values_list("kind", "name", "path")
    yield from FileOperation.objects.values_list("page__kind", "page__name", "path")
    renamed = Page.objects.exclude(former_names=[])
    for kind, name, former in renamed.values_list("kind", "name", "former_names"):
        yield from ((kind, name, record.path_of(Kind(kind), one)) for one in former)


def _edited(report: Report) -> Iterator[Task]:
    """The pages whose files look other than they did, are new, or are gone."""
    rows = Page.objects.filter(archived_at=None)
    known = {path: rest for path, *rest in rows.values_list("path", "file_stamp", "kind", "name")}
    try:
        files = list(layout.iter_pages(publishing.memory_folder()))
    except OSError as error:  # An absent folder is not an empty one: nothing is concluded.
        report.problems[str(publishing.memory_folder().root)] = str(error)
        return
    report.problems |= {file.path: file.problem for file in files if file.problem}
    tasks = [Task(Kind(file.form), file.name, file.path) for file in files if not file.problem]
    stamps = {file.path: file.stamp for file in files}
    for task in tasks:
        stamp, looked = stamps[task.path], known.pop(task.path, [""])[0]
        if looked != publishing.written(stamp) and not _is_being_written(stamp):
            yield task
    yield from _lost([Task(Kind(kind), name) for _, kind, name in known.values()], tasks)


def _lost(missed: list[Task], seen: list[Task]) -> list[Task]:
    """Those whose files are nowhere, not under another spelling either."""
    if not missed:
        return []
    there = {(task.kind, queries.key_of(task.kind, task.name)) for task in seen}
    return [one for one in missed if (one.kind, queries.key_of(one.kind, one.name)) not in there]


def _is_being_written(stamp: Stamp) -> bool:
    return abs(time.time() - stamp.mtime_ns / 1e9) < STILL_WRITTEN


# What lies beside a file


def _clear(task: Task, leftover: Leftover) -> None:
    """Delete what a killed save left, once what it holds is sure to be in the history."""
    folder = publishing.memory_folder()
    try:
        held = folder.read_leftover(leftover)
    except FileNotFoundError:
        return  # Its save was alive and has ended.
    page = Page.objects.filter(kind=task.kind, name=task.name).order_by(_LIVING_FIRST).first()
    if page is None:
        return
    # What was not yet put in place is a revision of the record already.
    if leftover.kind == "new" or publishing.keep_aside(page, held.data, held.sha256):
        folder.discard(leftover.path)
