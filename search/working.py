"""What the worker does about vectors and indexes: queued runs first, then new and changed text."""

import fcntl
import logging
import os
import threading
from collections.abc import Callable, Sequence
from datetime import datetime

from django.conf import settings
from django.db import close_old_connections, connection
from django.utils import timezone

from memoryweb.core import clock
from memoryweb.core.actor import system
from memoryweb.core.errors import Gone
from memoryweb.core.vectors import Vector
from search import failures, runs, second_model
from search.embedding import configured
from search.embedding.batches import embedded
from search.embedding.problems import ProviderError
from search.embedding.providers import Provider
from search.models import Run, RunHold
from search.reindex import CORPORA, Corpus, Lacking, Target, Wanted, target_of
from search.running import work

logger = logging.getLogger(__name__)

PAUSE = 1.0  # seconds between two looks at what is queued
CHANGES_AT_ONCE = 1000
STOP_SECONDS = 2.0


class Worker:
    """The thread of one worker process. `stop` gives back what it works on."""

    def __init__(self) -> None:
        self.owner = runs.this_process()
        self._stopping = threading.Event()
        self._follower = Follower(self._stopping)
        self._thread = threading.Thread(target=self._work, name="runs", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """End after the step under way; what that does later than this is not stored."""
        self._stopping.set()
        self._thread.join(STOP_SECONDS)
        runs.release(self.owner)

    def once(self) -> bool:
        """Do one run, or embed what is new; whether there was anything to do."""
        if (run := runs.claim(self.owner)) is not None:
            work(run, self.owner, self._stopping)
            return True
        return self._follower.step()

    def _work(self) -> None:
        while not self._stopping.is_set():
            try:
                busy = self.once()
            except Exception:
                logger.exception("the work on runs failed; it is tried again")
                busy = False
            close_old_connections()
            if not busy:
                self._stopping.wait(PAUSE)
        connection.close()


class Follower:
    """Embeds new and changed text by itself (MEMORYWEB_EMBEDDING_AUTO), in one process at a time.

    First everything that lacks a vector, then only what the change rows name, by each model that
    is kept (see `search.second_model`). What failed is in the database with its cause, and is tried
    again when it has rested.
    """

    def __init__(
        self, stopping: threading.Event, now: Callable[[], datetime] = timezone.now
    ) -> None:
        self._stopping = stopping
        self._now = now
        # Of each model: up to here nothing lacks a vector but what failed.
        self._done: dict[str, int] = {}
        self._kept: tuple[tuple[int, str], list[str]] = (-1, ""), []
        self._lock = -1

    def step(self) -> bool:
        """Embed one batch; whether there may be more."""
        if not settings.MEMORYWEB_EMBEDDING_AUTO:
            return False
        provider = configured.provider()
        if provider is None or runs.active(Run.Kind.REINDEX) or not self._alone():
            return False
        models = self._models(provider.model)
        return any(self._follow(provider, target_of(model)) for model in models)

    def _models(self, of_provider: str) -> list[str]:
        """The models that are kept, looked up once for each state of the memory."""
        now = clock.current_seq(), of_provider
        if now != self._kept[0]:
            self._kept = now, second_model.kept(of_provider)
        return self._kept[1]

    def _follow(self, provider: Provider, target: Target) -> bool:
        """Embed one batch by one model, and say whether there may be more."""
        seq, now = clock.current_seq(), self._now()
        due = failures.due(target, now)
        if failures.provider_rests(target, now) or (
            self._done.get(target.model) == seq and not due.exists()
        ):
            return False
        full = failures.too_many(target)
        changed = {} if full else self._changed(target)
        for corpus in CORPORA.values():
            if batch := self._batch(corpus, target, changed):
                self._embed(corpus, target, provider, batch)
                return True
        due.delete()  # They lack nothing any more, or their text is another by now.
        if not full:
            self._done[target.model] = seq
        return not full

    def _alone(self) -> bool:
        """Whether this is the one process of the home that follows; it stays that until it ends."""
        if self._lock < 0:
            path = settings.MEMORYWEB_HOME / "embedding.lock"
            handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                os.close(handle)
                return False
            self._lock = handle
        return True

    def _changed(self, target: Target) -> dict[str, list[str]] | None:
        """The documents that changed since, by collection; None for all there are."""
        if (seq := self._done.get(target.model)) is None:
            return None
        try:
            changes = clock.changes_since(seq, CHANGES_AT_ONCE)
        except Gone:
            return None
        if len(changes) == CHANGES_AT_ONCE:
            return None
        found: dict[str, list[str]] = {}
        for change in changes:
            found.setdefault(change.collection, []).append(change.document)
        return found

    def _batch(
        self, corpus: Corpus, target: Target, changed: dict[str, list[str]] | None
    ) -> list[Lacking]:
        """What is next: of the changed documents, or of those that failed and have rested."""
        now = self._now()
        new = Wanted(target, ids=None if changed is None else changed.get(corpus.name, []), due=now)
        if new.ids != [] and (batch := corpus.batch(new, "")):
            return batch
        return corpus.batch(Wanted(target, ("failed",), due=now), "")

    def _embed(
        self, corpus: Corpus, target: Target, provider: Provider, batch: Sequence[Lacking]
    ) -> None:
        answered = zip(batch, self._answers(target, provider, batch), strict=True)
        with clock.writing(system()) as tx:
            if RunHold.objects.filter(collection=corpus.name, kind=Run.Kind.REINDEX).exists():
                return
            kept = failures.keep(tx, corpus, target, answered, at=self._now())
        if kept.of_provider:
            logger.warning("new texts could not be embedded; they are tried again by themselves")

    def _answers(
        self, target: Target, provider: Provider, batch: Sequence[Lacking]
    ) -> Sequence[Vector | ProviderError]:
        """A provider may have one model only, and say so without being asked."""
        try:
            asked = provider.of(target.model)
        except ProviderError as error:
            return [error] * len(batch)
        return embedded(asked, [one.text for one in batch], self._wait, target.dimension)

    def _wait(self, seconds: float) -> None:
        self._stopping.wait(seconds)
