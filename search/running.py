"""Doing a run: batch after batch, each written with how far it is, until it ends or is lost."""

import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from django.db import connection
from django.db.models import F
from django.utils import timezone

from memoryweb.core import clock
from memoryweb.core.actor import system
from memoryweb.core.errors import DomainError
from memoryweb.core.vectors import Vector
from search import failures, live, runs
from search.embedding import configured
from search.embedding.batches import embedded
from search.embedding.problems import ProviderError, TextRejected, WrongWidth
from search.embedding.providers import Provider
from search.models import Run, RunError
from search.reindex import CORPORA, Corpus, Lacking, Target, Wanted, target_of
from search.sources import SOURCES

logger = logging.getLogger(__name__)

HEARTBEAT = 3.0  # seconds
# So many batches in a row of which nothing could be used end a run: what is left is untouched.
PATIENCE = 3
OF_ONE = TextRejected, WrongWidth  # What may be wrong with one text and no other.
PROBE = "memoryweb"
ACTOR = system()
Progress = Callable[[Run], None]


class Lost(Exception):
    """The run is no longer this process's: it was cancelled, or another one goes on with it."""


class Stopped(Exception):
    """The run cannot go on; the text says why."""


def work(
    run: Run, owner: str, stopping: threading.Event, progress: Progress = lambda run: None
) -> None:
    """Do a claimed run to its end, or until this process stops. Whatever goes wrong is written
    down in it."""
    with _heartbeat(run, owner) as lost:
        try:
            _Doing(run, owner, Ends(lost, stopping), progress).do()
        except Lost:
            logger.info("run %d was cancelled, or another process goes on with it", run.pk)
        except (Stopped, ProviderError, DomainError) as error:
            _end(run, owner, Run.State.FAILED, str(error))
        except Exception:
            logger.exception("run %d failed", run.pk)
            _end(run, owner, Run.State.FAILED, "something went wrong; the log has it")


@dataclass(frozen=True)
class Ends:
    """What ends the work on a run before it is done."""

    lost: threading.Event
    stopping: threading.Event

    def wait(self, seconds: float) -> None:
        """Raise Lost as soon as one of them comes."""
        until = time.monotonic() + seconds
        while not (self.lost.is_set() or self.stopping.is_set()):
            left = until - time.monotonic()
            if left <= 0:
                return
            self.lost.wait(min(left, 0.2))
        raise Lost


@contextmanager
def _heartbeat(run: Run, owner: str) -> Iterator[threading.Event]:
    """Keep the lease from a thread, as a batch may take long; the event says that it is lost."""
    lost, ended = threading.Event(), threading.Event()

    def beat() -> None:
        try:
            while not ended.wait(HEARTBEAT):
                if not runs.beat(run, owner):
                    lost.set()
                    return
        except Exception:
            logger.exception("the lease of run %d could not be kept", run.pk)
        finally:
            connection.close()

    thread = threading.Thread(target=beat, name="heartbeat", daemon=True)
    thread.start()
    try:
        yield lost
    finally:
        ended.set()
        thread.join()


class _Doing:
    """One process's turn at one run."""

    def __init__(self, run: Run, owner: str, ends: Ends, progress: Progress) -> None:
        self.run, self.owner, self.ends, self.progress = run, owner, ends, progress
        self.started, self.dealt_with = time.monotonic(), 0
        self.failures = 0  # Batches in a row of which nothing could be used.

    def do(self) -> None:
        if self.run.kind == Run.Kind.REBUILD:
            self._rebuild()
        else:
            self._reindex()

    def _rebuild(self) -> None:
        """Build each index from the rows, which shows that it can be; at the end the clock moves,
        and every process builds its own aside and swaps."""
        self._save(total=0, done=0)
        for name in SOURCES:
            count = live.tried_build(name)
            self._save(total=F("total") + count, done=F("done") + count)
        self._finish(Run.State.DONE)

    def _reindex(self) -> None:
        provider = configured.required().of(self.run.model)
        target = self._target(provider)
        wanted = runs.request_of(self.run).of(target)
        self._begin(wanted)
        names = self.run.collections
        for name in names[names.index(self.run.collection or names[0]) :]:
            self._do_collection(CORPORA[name], provider, wanted)
        nothing = self.run.failed and not self.run.done
        self._finish(Run.State.FAILED if nothing else Run.State.DONE)

    def _target(self, provider: Provider) -> Target:
        """The model with the width of its vectors, which is asked for once and then fixed."""
        known = target_of(self.run.model).dimension or self.run.dimension
        [probe] = embedded(provider, [PROBE], self.ends.wait)
        if isinstance(probe, ProviderError):
            raise probe
        if known is not None and probe.size != known:
            raise WrongWidth(
                f"the provider's vectors of {self.run.model} have {probe.size} numbers, and those "
                f"in use have {known}; nothing was changed"
            )
        return Target(self.run.model, probe.size)

    def _begin(self, wanted: Wanted) -> None:
        if self.run.coverage_before is not None:
            return  # Another process began it.
        total = sum(CORPORA[name].lacking(wanted).count() for name in self.run.collections)
        before = runs.coverage_of(self.run.collections, wanted.target)
        self._save(total=total, dimension=wanted.target.dimension, coverage_before=before)

    def _do_collection(self, corpus: Corpus, provider: Provider, wanted: Wanted) -> None:
        position = self.run.position if self.run.collection == corpus.name else ""
        while batch := corpus.batch(wanted, position):
            self.ends.wait(0)
            texts, width = [one.text for one in batch], wanted.target.dimension
            answers = embedded(provider, texts, self.ends.wait, width)
            self._keep(corpus, wanted.target, list(zip(batch, answers, strict=True)))
            position = batch[-1].position
            self._look_at(answers)

    def _keep(
        self,
        corpus: Corpus,
        target: Target,
        answered: Sequence[tuple[Lacking, Vector | ProviderError]],
    ) -> None:
        """Store a batch, its errors and how far the run is: all of it, or nothing if it is lost."""
        self.dealt_with += len(answered)
        with clock.writing(ACTOR) as tx:
            kept = failures.keep(tx, corpus, target, answered, at=timezone.now(), run=self.run)
            bad = {each.one.id: each.reason for each in kept.failed}
            why = "its text was changed meanwhile; it is still to be done"
            bad |= dict.fromkeys(kept.changed, why)
            self._note(corpus.name, bad)
            self._update(
                collection=corpus.name,
                position=answered[-1][0].position,
                done=F("done") + len(answered) - len(bad),
                failed=F("failed") + len(bad),
                rate=self.dealt_with / max(time.monotonic() - self.started, 1e-3),
            )
        self._tell()

    def _note(self, collection: str, bad: dict[str, str]) -> None:
        now = timezone.now()
        RunError.objects.bulk_create(
            [
                RunError(run=self.run, collection=collection, document=id, reason=why, at=now)
                for id, why in bad.items()
            ],
            ignore_conflicts=True,
        )

    def _look_at(self, answers: Sequence[Vector | ProviderError]) -> None:
        """Stop when it is the provider that fails, and not a text here and there."""
        errors = [one for one in answers if isinstance(one, ProviderError)]
        self.failures = self.failures + 1 if len(errors) == len(answers) else 0
        hopeless = [one for one in errors if not isinstance(one, OF_ONE) and not one.passing]
        if hopeless or self.failures >= PATIENCE:
            raise Stopped(f"{(hopeless or errors)[0].detail}. What is left was not touched.")

    def _save(self, **values: Any) -> None:
        self._update(**values)
        self._tell()

    def _update(self, **values: Any) -> None:
        now = timezone.now()
        lease = {"lease_until": now + runs.LEASE, "heartbeat_at": now}
        if not runs.held(self.run, self.owner).update(**values, **lease):
            raise Lost

    def _tell(self) -> None:
        self.run.refresh_from_db()
        self.progress(self.run)

    def _finish(self, state: str) -> None:
        message = "" if state == Run.State.DONE else "not one document could be done"
        _end(self.run, self.owner, state, message)
        self._tell()


def _end(run: Run, owner: str, state: str, message: str) -> None:
    """The run is over, unless it is another's by now."""
    after = runs.coverage_after(run)
    with clock.writing(ACTOR) as tx:
        if not runs.ended(runs.held(run, owner), state, message=message, coverage_after=after):
            return
        now = Run.objects.get(pk=run.pk)
        facts = {"done": now.done, "failed": now.failed, "total": now.total}
        tx.audited(f"run.{state}", f"runs/{run.pk}", **facts)
