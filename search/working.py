"""What the worker does about vectors and indexes: queued runs first, then new and changed text."""

import fcntl
import logging
import os
import threading
import time
from collections.abc import Callable, Sequence

from django.conf import settings
from django.db import close_old_connections, connection

from memoryweb.core import clock
from memoryweb.core.actor import system
from memoryweb.core.errors import Gone
from memoryweb.core.vectors import Vector
from search import runs
from search.embedding import configured
from search.embedding.batches import embedded
from search.embedding.problems import ProviderError
from search.embedding.providers import Provider
from search.models import Run, RunHold
from search.reindex import CORPORA, Corpus, Lacking, Target, Wanted, target_of
from search.running import work

logger = logging.getLogger(__name__)

PAUSE = 1.0  # seconds between two looks at what is queued
AGAIN = 300.0  # seconds after which a text that failed is tried again by itself
REST = 30.0  # seconds without a try when the provider itself failed
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

    First everything that lacks a vector, then only what the change rows name.
    """

    def __init__(
        self, stopping: threading.Event, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._stopping = stopping
        self._now = now
        self._seq: int | None = None  # Up to here nothing lacks a vector but what failed.
        self._failed: dict[tuple[str, str], tuple[str, float]] = {}
        self._rests_until = 0.0
        self._lock = -1

    def step(self) -> bool:
        """Embed one batch; whether there may be more."""
        if not settings.MEMORYWEB_EMBEDDING_AUTO or self._now() < self._rests_until:
            return False
        provider = configured.provider()
        if provider is None or runs.active(Run.Kind.REINDEX) or not self._alone():
            return False
        seq, again = clock.current_seq(), self._to_try_again()
        if seq == self._seq and not again:
            return False
        changed = self._changed(again)
        target = target_of(provider.model)
        for corpus in CORPORA.values():
            if batch := self._batch(corpus, target, changed):
                self._embed(corpus, target, provider, batch)
                return True
        for done in again:  # They lack nothing any more, or are gone.
            del self._failed[done]
        self._seq = seq
        return True

    def _to_try_again(self) -> list[tuple[str, str]]:
        now = self._now()
        return [one for one, (_, until) in self._failed.items() if now >= until]

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

    def _changed(self, again: Sequence[tuple[str, str]]) -> dict[str, list[str]] | None:
        """The documents that changed since or are to be tried again, by collection; None for all
        there are."""
        if self._seq is None:
            return None
        try:
            changes = clock.changes_since(self._seq, CHANGES_AT_ONCE)
        except Gone:
            return None
        if len(changes) == CHANGES_AT_ONCE:
            return None
        found: dict[str, list[str]] = {}
        for collection, document in [*((c.collection, c.document) for c in changes), *again]:
            found.setdefault(collection, []).append(document)
        return found

    def _batch(
        self, corpus: Corpus, target: Target, changed: dict[str, list[str]] | None
    ) -> list[Lacking]:
        ids = None if changed is None else changed.get(corpus.name, [])
        position, wanted = "", Wanted(target, ids=ids)
        while batch := corpus.batch(wanted, position) if ids != [] else []:
            if due := [one for one in batch if self._is_due(corpus, one)]:
                return due
            position = batch[-1].position
        return []

    def _is_due(self, corpus: Corpus, one: Lacking) -> bool:
        sha, until = self._failed.get((corpus.name, one.id), ("", 0.0))
        return sha != one.sha or self._now() >= until

    def _embed(
        self, corpus: Corpus, target: Target, provider: Provider, batch: Sequence[Lacking]
    ) -> None:
        answers = embedded(provider, [one.text for one in batch], self._wait)
        good: list[tuple[Lacking, Vector]] = []
        for one, answer in zip(batch, answers, strict=True):
            if isinstance(answer, ProviderError) or target.dimension not in (None, answer.size):
                self._failed[corpus.name, one.id] = one.sha, self._now() + AGAIN
            else:
                good.append((one, answer))
        if good:
            with clock.writing(system()) as tx:
                if not RunHold.objects.filter(collection=corpus.name, kind="reindex").exists():
                    corpus.put(tx, target, good)
            return
        self._rests_until = self._now() + REST
        logger.warning("new texts could not be embedded; they are tried again by themselves")

    def _wait(self, seconds: float) -> None:
        self._stopping.wait(seconds)
