"""The worker's chores, each with its interval. One that fails is logged and tried again."""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass

from django.core.management import call_command

from episodes import deletion

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


def _purge_deleted_episodes() -> None:
    deletion.purge()


CHORES = [
    Chore("clear expired sessions", 3600, _clear_sessions),
    Chore("remove what can no longer be brought back", 30, _purge_deleted_episodes),
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
