"""The worker's chores, each with its interval. One that fails is logged and tried again."""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass

from django.core.management import call_command

from bank import rewriting, sync, watching
from bank.sweep import Sweep
from episodes import deletion, session_undo
from memoryweb import rereading
from memoryweb.core import clock, idempotency
from search import coverage_days

logger = logging.getLogger(__name__)

PAUSE = 2.0  # seconds between two looks at what is due


@dataclass
class Chore:
    name: str
    every: float  # seconds
    do: Callable[[], None]
    due: float = 0.0


def _clear_sessions() -> None:
    call_command("clearsessions")


def _purge_deleted() -> None:
    deletion.purge()
    session_undo.purge()


AT_A_TIME = 8.0  # Seconds of taking in before the other chores get their turn.
_sweep = Sweep()
_watch = watching.Watch()


def _take_in_edits() -> None:
    """Take in what was edited outside; much at once in slices, each with a look at what is new."""
    until = time.monotonic() + AT_A_TIME
    while sync.scan(sync.SLICE).more and time.monotonic() < until:
        pass


def _take_in_edits_of_wikis() -> None:
    _watch.step()


def _finish_saves() -> None:
    sync.recover()
    watching.forget_problems()


def _compare_hashes() -> None:
    _sweep.step()


def _read_again() -> None:
    rereading.step()


def _prune() -> None:
    clock.prune()
    idempotency.prune()


def _note_coverage() -> None:
    """The days here, the graphs aside: to build one takes longer than the other chores may wait."""
    coverage_days.keep()
    coverage_days.measure_aside()


CHORES = [
    Chore("take in what was edited outside", 2, _take_in_edits),
    Chore("take in what was edited in wikis", 2, _take_in_edits_of_wikis),
    Chore("compare files with their hashes", 2, _compare_hashes),
    Chore("rewrite links that follow a rename", 2, rewriting.step),
    Chore("finish saves that were begun", 30, _finish_saves),
    Chore("read texts again when the rules changed", 2, _read_again),
    Chore("note how much vectors cover", 600, _note_coverage),
    Chore("clear expired sessions", 3600, _clear_sessions),
    Chore("remove old change rows and kept answers", 600, _prune),
    Chore("remove what can no longer be brought back", 30, _purge_deleted),
]


def run_due(now: Callable[[], float] = time.monotonic) -> None:
    """Do every chore whose time has come."""
    for chore in CHORES:
        if now() < chore.due:
            continue
        try:
            chore.do()
        except Exception:
            logger.exception("chore %r failed; it is tried again", chore.name)
        chore.due = now() + chore.every
