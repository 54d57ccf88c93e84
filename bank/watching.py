"""Edits of wikis' files from outside: the wikis looked at in turn, for a bounded time.

Folders that are pointed at belong to somebody else and are looked at every few seconds; those of
memoryweb's own slowly, because hardly anybody edits there.
"""

import time
from collections.abc import Callable

from bank import problems, sync
from bank.models import FileProblem, Wiki
from bank.sync import Report

SLICE = 1.5  # Seconds of work at a time.
OWN_SLICE = 0.1  # Of these, for the wikis that point to no folder.
POINTED_EVERY = 4.0  # Seconds between two looks at a folder that is pointed at.
OWN_EVERY = 60.0


def take_in(wiki: str, seconds: float = float("inf")) -> Report:
    """Take in what was edited in one wiki's folder; `more` when there was no time for all."""
    return sync.scan(seconds, wiki)


class Watch:
    """One round over all wikis after another; nothing of it is kept when it is killed."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._looked: dict[str, float] = {}

    def step(self, seconds: float = SLICE) -> int:
        """Look at the folders whose turn it is, for so long; how many pages were settled."""
        start = self._now()
        settled = self._round(True, POINTED_EVERY, start + seconds)
        return settled + self._round(
            False, OWN_EVERY, min(start + seconds, self._now() + OWN_SLICE)
        )

    def _round(self, pointed: bool, every: float, until: float) -> int:
        settled, now = 0, self._now()
        rows = Wiki.objects.filter(deleted_at=None)
        rows = rows.exclude(folder="") if pointed else rows.filter(folder="")
        wikis = rows.values_list("pk", flat=True)
        due = [one for one in wikis if now - self._looked.get(one, -every) >= every]
        for wiki in sorted(due, key=lambda one: self._looked.get(one, 0.0)):
            if self._now() >= until:
                break
            report = take_in(wiki, until - self._now())
            settled += report.settled
            self._looked[wiki] = self._now() - (every if report.more else 0.0)
        return settled


def forget_problems() -> None:
    """Files of wikis that are gone, or deleted, are no longer missed."""
    there = {f"@{pk}" for pk in Wiki.objects.filter(deleted_at=None).values_list("pk", flat=True)}
    paths = FileProblem.objects.filter(path__startswith="@").values_list("path", flat=True)
    for root in {path.partition("/")[0] for path in paths} - there:
        problems.forget(root)
