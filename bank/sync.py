"""The memory folder and the record brought together: planned from what is seen, then applied.

`recover` finishes what a kill or a failing disk left undone. `scan` takes in what people and
agents edited outside. Both plan without a lock, and then look at each page again under its own.
What cannot be taken in is left as it is and listed (see bank.problems) until it is mended.
"""

import logging
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import islice

from django.db import DatabaseError
from django.db.models import F
from django.utils import timezone

from bank import batch, layout, outside, places, problems, publishing, record, renaming, rewriting
from bank.files import TooLarge
from bank.models import FileOperation, FileProblem, Kind, Page
from bank.outside import Task
from bank.paths import Leftover, PathRefused
from bank.reasons import Problem, Why
from memoryweb.core.errors import Conflict, Unavailable

logger = logging.getLogger(__name__)

LATE = timedelta(seconds=60)  # after which a file that is not written yet is a fault to tell
SLICE = 1.5  # Seconds of work after which a new plan is made, so that nobody's edit waits long.
DROPPED = 100  # New files taken in by one transaction.


@dataclass
class Report:
    """How many pages were looked at, and by path why a file could not be taken in or written.

    `more`: there was no time for all; the next scan goes on.
    """

    settled: int = 0
    problems: dict[str, Problem] = field(default_factory=dict)
    more: bool = False


def recover() -> Report:
    """Finish every save that was begun. What the disk still refuses is reported, and kept."""
    report = Report()
    apply([*_unfinished(), *_beside(report)], report)
    _remember(FileProblem.FoundBy.RECOVER, report, {})
    return report


def scan(seconds: float = float("inf"), wiki: str = "", *, at_once: bool = False) -> Report:
    """Take in every file of the bank, or of a wiki, that was added, edited or renamed, and write
    again what was lost: some seconds later, or `at_once` (see bank.outside).

    Pages that are known come before new ones, edits before renames, which may be thousands, and
    late changes before earlier ones. After that many seconds nothing more is begun, or after as
    long as the look took: each scan does something, however many files there are.
    """
    start = time.monotonic()
    report, plan = Report(), outside.plan(wiki, at_once=at_once)
    now = time.monotonic()
    until = now + (max(seconds, now - start) if seconds else 0.0)
    report.problems |= plan.problems
    left = [
        *apply(plan.beside, report, until),
        *apply(plan.changed, report, until),
        *_follow(plan.renamed, wiki, report, until),
        *apply(plan.lost, report, until),
        *_take_in_new(plan.new, report, until),
    ]
    report.more = bool(left)
    unseen = plan.waiting | {task.path for task in [*left, *apply(plan.again, report, until)]}
    root = places.prefix_of(wiki).rstrip("/") if wiki else ""
    _remember(FileProblem.FoundBy.SCAN, report, plan.stamps, unseen, root)
    return report


def apply(tasks: Iterable[Task], report: Report, until: float = float("inf")) -> list[Task]:
    """Settle each page under its lock; one that fails keeps no other from its turn.

    The tasks for which there was no time.
    """
    waiting = iter(tasks)
    while time.monotonic() < until and (task := next(waiting, None)):
        with _reported(report, task.path or record.path_of(task.kind, task.name)):
            _settle(task, report)
            report.settled += 1
    return list(waiting)


def _follow(tasks: list[Task], wiki: str, report: Report, until: float) -> list[Task]:
    """Call pages as their files are called now, and then the links to them, which the worker
    rewrites where there is no time; the tasks that there was no time for."""
    left = apply(tasks, report, until)
    begun = rewriting.after_files(wiki)
    for one in begun if tasks and not left else ():
        if time.monotonic() >= until:
            rewriting.leave_to_worker(begun)
            break
        with _reported(report, one.page.path):
            rewriting.carry_on(one)
    return left


def _settle(task: Task, report: Report) -> None:
    if task.was and renaming.follow(task.kind, task.was, task.name, task.path):
        return
    with publishing.hold(task.kind, task.name):
        publishing.settle(task.kind, task.name, task.path, planned=True)
        for leftover in task.leftovers:
            _clear(task, leftover, report)


def _take_in_new(tasks: Iterable[Task], report: Report, until: float) -> list[Task]:
    """Make pages of files, many at a time where that can be; the tasks that there was no time for.

    What is odd about a file is found when it is looked at alone.
    """
    waiting, alone = iter(tasks), list[Task]()
    while time.monotonic() < until and (some := list(islice(waiting, DROPPED))):
        made = _adopted([task for task in some if task.kind in (Kind.ENTITY, Kind.WIKI)])
        report.settled += len(made)
        alone += [task for task in some if task.path not in made]
    return [*apply(alone, report, until), *waiting]


def _adopted(tasks: list[Task]) -> set[str]:
    try:
        return (
            batch.adopt(tasks[0].kind, {task.path: task.name for task in tasks}) if tasks else set()
        )
    except Exception:
        logger.debug("%d files together", len(tasks), exc_info=True)
        return set()


def probe() -> str:
    """Whether the files are as the record says, for /readyz."""
    late = FileOperation.objects.filter(done_at=None, created_at__lt=timezone.now() - LATE)
    if count := late.count():
        return f"files that could not be written yet: {count}"
    try:
        places.memory_folder().listing()
    except FileNotFoundError:
        return "the memory folder is not there" if Page.objects.exists() else "ok"
    except OSError:
        return "the memory folder cannot be read"
    return "ok"


# What goes wrong


@contextmanager
def _reported(report: Report, path: str) -> Iterator[None]:
    try:
        yield
    except DatabaseError:
        raise  # Which is no one page's problem.
    except publishing.Missing:
        pass  # Their folder is listed.
    except Exception as error:
        report.problems[path] = _problem(error)
        if report.problems[path].why == Why.BEYOND_US:
            logger.debug("%s", path, exc_info=True)


def _problem(error: Exception) -> Problem:
    match error:
        case TooLarge():
            return Problem(Why.TOO_LARGE, str(error))
        case PathRefused():
            return Problem(Why.NO_FILE, str(error))
        case publishing.Unreadable():
            return Problem(Why.NO_TEXT, str(error))
        case OSError():
            reason = error.strerror or type(error).__name__
            return Problem(Why.UNREADABLE, f"It cannot be read or written: {reason}.")
        case Conflict() | Unavailable():
            return Problem(Why.WAITING, str(error))
    return Problem(Why.BEYOND_US, f"It is beyond us ({type(error).__name__}).")


def _remember(
    found_by: FileProblem.FoundBy,
    report: Report,
    stamps: Mapping[str, str],
    unseen: Iterable[str] = (),
    root: str | None = None,
) -> None:
    """List what was found. What another look at the same file cannot change has its stamp."""
    in_text = (Why.NO_TEXT, Why.TOO_LARGE)
    looks = {path: stamps.get(path, "") for path in report.problems}
    looks |= {path: "" for path, one in report.problems.items() if one.why not in in_text}
    fresh = problems.remember(found_by, report.problems, looks, set(unseen), root)
    for path, problem in fresh.items():
        logger.warning("%s: %s", path, problem)


# Plans of a recovery

_LIVING_FIRST = F("archived_at").desc(nulls_first=True)


def _unfinished() -> Iterator[Task]:
    """The pages of which an operation is not done."""
    pending = FileOperation.objects.filter(done_at=None).order_by("pk")
    rows = pending.values_list("page__kind", "page__name")
    return (Task(Kind(kind), name) for kind, name in dict.fromkeys(rows))


def _beside(report: Report) -> Iterator[Task]:
    """The pages beside whose files a killed process left something."""
    found: dict[tuple[str, str], list[Leftover]] = {}
    with _reported(report, layout.ROOT):
        for leftover in places.memory().leftovers():
            found.setdefault(places.mark_on(leftover), []).append(leftover)
    for kind, name, path in _paths() if found else ():
        if leftovers := found.pop(places.mark_of(path), None):
            yield Task(Kind(kind), name, leftovers=leftovers)
    for leftovers in found.values():
        problem = Problem(Why.LEFTOVER, "It belongs to no page.")
        report.problems |= {one.path: problem for one in leftovers}


def _paths() -> Iterator[tuple[str, str, str]]:
    """(kind, name, path) of every page's file, and of those that it had under other names."""
    yield from Page.objects.order_by(_LIVING_FIRST).values_list("kind", "name", "path")
    yield from FileOperation.objects.values_list("page__kind", "page__name", "path")
    renamed = Page.objects.exclude(former_names=[])
    for kind, name, former in renamed.values_list("kind", "name", "former_names"):
        yield from ((kind, name, record.path_of(Kind(kind), one)) for one in former)


# What lies beside a file


def _clear(task: Task, leftover: Leftover, report: Report) -> None:
    """Delete what a killed save left, once what it holds is sure to be in the history."""
    try:
        held = places.read_leftover(leftover)
    except FileNotFoundError:
        return  # Its save was alive and has ended.
    page = Page.objects.filter(kind=task.kind, name=task.name).order_by(_LIVING_FIRST).first()
    if page is None:
        return
    # What was not yet put in place is a revision of the record already.
    if leftover.kind == "new" or publishing.keep_aside(page, held.data, held.sha256):
        places.discard(leftover.path)
    else:
        reason = f"{page.path} held this when the page was saved; it is no text of a page."
        report.problems[leftover.path] = Problem(Why.LEFTOVER, reason)
