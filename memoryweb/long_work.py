"""A run on a terminal: done by this process if no worker has it, and shown in either case."""

import threading
import time

from django.core.management.base import OutputWrapper

from memoryweb.progress import Progress
from search import runs
from search.models import Run
from search.running import work

LOOK_EVERY = 0.5  # seconds


def followed(out: OutputWrapper, run: Run) -> Run:
    """Do or watch a run until it ends, with a bar. Ctrl-C leaves it to the worker."""
    owner = runs.this_process()
    bar = _Bar(out)
    try:
        while run.active:
            if (mine := runs.claim(owner, run.pk)) is not None:
                work(mine, owner, threading.Event(), bar.show)
            else:
                time.sleep(LOOK_EVERY)
            run.refresh_from_db()
            bar.show(run)
    finally:
        runs.release(owner)
        bar.clear()
    return run


class _Bar:
    """The bar, drawn once the run knows how much there is to do."""

    def __init__(self, out: OutputWrapper) -> None:
        self._out = out
        self._progress: Progress | None = None

    def show(self, run: Run) -> None:
        if self._progress is None and run.total:
            self._progress = Progress(self._out, run.total, "documents")
        if self._progress is not None:
            seen = run.done + run.failed
            self._progress.show(seen, seen)

    def clear(self) -> None:
        if self._progress is not None:
            self._progress.clear()
