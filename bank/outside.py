"""What happened to the files since the record last saw them: the plan of a scan.

Only names and stamps are looked at; the files are read later, each under its page's lock.
"""

import random
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from django.utils import timezone

from bank import layout, moves, places, problems, publishing, queries
from bank.files import Stamp
from bank.layout import Listing, PageFile
from bank.models import Kind, Page
from bank.paths import Leftover
from bank.reasons import Problem, Why

STILL_WRITTEN = 1.0  # Seconds; a file changed that recently may be half of what is to come.
# Times as long a file is gone before it is written again: it may turn up under another name.
TURNS_UP = 3
# More files than this many, and than half of their folder's, do not go missing one by one.
MANY = 10


@dataclass(frozen=True)
class Task:
    """One page to look at; `path` is where its file was seen, or is missed, `leftovers` what lies
    beside it.

    `was` is the name of the page whose file has `name` now.
    """

    kind: Kind
    name: str
    path: str = ""
    was: str = ""
    leftovers: Sequence[Leftover] = ()


@dataclass
class Plan:
    """What is to be looked at, the latest change first, and what is known to be wrong already.

    `again` are files that could not be taken in and may be mended by now. `stamps` says what
    the files look like, and `waiting` are those in which nothing can have changed since they
    could not be taken in.
    """

    changed: list[Task] = field(default_factory=list)
    renamed: list[Task] = field(default_factory=list)
    lost: list[Task] = field(default_factory=list)
    new: list[Task] = field(default_factory=list)
    again: list[Task] = field(default_factory=list)
    beside: list[Task] = field(default_factory=list)
    waiting: set[str] = field(default_factory=set)
    problems: dict[str, Problem] = field(default_factory=dict)
    stamps: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Known:
    kind: Kind
    name: str
    path: str
    stamp: str


def plan(wiki: str = "", *, at_once: bool = False) -> Plan:
    """The pages of the bank, or of a wiki, whose files look other than they did, are new, or gone.

    What is gone is lost after some seconds, or `at_once`: until then it may turn up under another
    name. A new file that holds the text of one that is gone is that file, renamed (bank.moves).

    Of a folder that cannot be listed nothing is concluded. Where it is gone, or so many of its
    files at once that hardly somebody deleted them, they are held back: a disk may be away, and
    what was written in its place would meet the old files when it is back.
    """
    rows = Page.objects.filter(archived_at=None, wiki=wiki or None)
    columns = rows.values_list("kind", "name", "path", "file_stamp")
    known = {path: _Known(Kind(kind), name, path, stamp) for kind, name, path, stamp in columns}
    listing = places.look(wiki, known)
    made = Plan(problems=dict(listing.faults))
    made.problems |= {file.path: file.problem for file in listing.files if file.problem}
    made.stamps = {file.path: publishing.written(file.stamp) for file in listing.files}
    _sort(made, [file for file in listing.files if file.name], known)
    _look_for(made, listing, known, timedelta(seconds=0 if at_once else TURNS_UP * STILL_WRITTEN))
    made.beside = list(_beside(listing.leftovers, known))
    return made


def _beside(leftovers: Sequence[Leftover], known: Mapping[str, "_Known"]) -> Iterator[Task]:
    """The pages of a wiki beside whose files a killed process left something."""
    marks = {places.mark_of(path): page for path, page in known.items()} if leftovers else {}
    for leftover in leftovers:
        if page := marks.get(places.mark_on(leftover)):
            yield Task(page.kind, page.name, leftovers=[leftover])


def _sort(made: Plan, files: Sequence[PageFile], known: Mapping[str, _Known]) -> None:
    refused = problems.stamps(places.root_of(files[0].path) if files else "")
    now = time.time()
    for file in sorted(files, key=lambda file: file.stamp.mtime_ns, reverse=True):
        looks = made.stamps[file.path]
        page = known.get(file.path)
        if (page and page.stamp == looks) or _is_being_written(file.stamp, now):
            continue
        task = Task(Kind(file.form), file.name, file.path)
        looked = refused.get(file.path)
        if looked == looks:
            made.waiting.add(file.path)
        elif looked == "":
            made.again.append(task)
        else:
            (made.changed if page else made.new).append(task)
    random.shuffle(made.again)  # If there is no time for all, then not for the same ones always.


def _is_being_written(stamp: Stamp, now: float) -> bool:
    return abs(now - stamp.mtime_ns / 1e9) < STILL_WRITTEN


def _look_for(
    made: Plan, listing: Listing, known: Mapping[str, _Known], patience: timedelta
) -> None:
    """Plan for what is nowhere, not under another spelling either."""
    missed = [
        page for path, page in known.items() if path not in made.stamps and not listing.hides(path)
    ]
    if not missed or layout.ROOT in listing.faults:
        return
    there = {(file.form, queries.key_of(Kind(file.form), file.name)) for file in listing.files}
    gone = [one for one in missed if (one.kind, queries.key_of(one.kind, one.name)) not in there]
    lost = _without_renamed(made, gone, listing, known)
    had = Counter(layout.folder_of(path) for path in known)
    given_up = problems.confirmed()
    for folder, count in Counter(layout.folder_of(one.path) for one in lost).items():
        at_once = folder in listing.absent or count > max(MANY, had[folder] / 2)
        if at_once or folder in given_up:
            made.problems[folder] = _missing(count, had[folder])
        if not at_once or folder in given_up:
            here = [one for one in lost if layout.folder_of(one.path) == folder]
            _give_up(made, here, timedelta() if folder in given_up else patience)


def _without_renamed(
    made: Plan, gone: list[_Known], listing: Listing, known: Mapping[str, _Known]
) -> list[_Known]:
    """Plan for the files that have another name now; the pages whose files are gone all the same.

    A file that holds the whole text is written, however late that was.
    """
    keys = {queries.key_of(one.kind, one.name) for one in known.values()} if gone else set()
    found = moves.found(
        [one.path for one in gone], moves.unknown(listing.files, known, keys) if gone else ()
    )
    made.renamed = [
        Task(one.kind, found[one.path].name, found[one.path].path, one.name)
        for one in gone
        if one.path in found
    ]
    taken = {task.path for task in made.renamed}
    made.new = [task for task in made.new if task.path not in taken]
    made.again = [task for task in made.again if task.path not in taken]
    made.waiting -= taken
    return [one for one in gone if one.path not in found]


def _give_up(made: Plan, gone: list[_Known], patience: timedelta) -> None:
    """What is gone for that long is lost, and is to be written again."""
    since = problems.gone_since([one.path for one in gone])
    now = timezone.now()
    for one in gone:
        if abs(now - since.get(one.path, now)) >= patience:  # A clock may have been set back.
            made.lost.append(Task(one.kind, one.name, one.path))
        else:
            made.problems[one.path] = Problem(Why.GONE, "The file is gone, and its page is here.")


def _missing(count: int, of: int) -> Problem:
    reason = f"{count:,} of its {of:,} files are missing. Their pages are all here."
    return Problem(Why.MISSING, reason)
