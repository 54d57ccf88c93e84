"""The vector of what somebody searches for: quickly, or not at all and with the reason.

A search never waits longer for it than `MEMORYWEB_EMBEDDING_TIMEOUT`. After a failure the
provider is left alone for a while, which grows with each further one, and then one search tries
again: so it comes back by itself, and meanwhile no search waits.
"""

import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

from django.conf import settings

from memoryweb.core.errors import Unavailable
from memoryweb.core.models import ActiveModel
from memoryweb.core.vectors import Vector
from search.embedding import configured
from search.embedding.addresses import LOCAL
from search.embedding.configured import Configured
from search.embedding.problems import (
    NoSuchModel,
    OtherModel,
    ProviderError,
    Resting,
    TextRejected,
    WrongWidth,
)
from search.embedding.providers import Provider

logger = logging.getLogger(__name__)

REMEMBERED = 1000  # vectors of queries; 6 MB at 1,536 numbers
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 30.0  # seconds
LONGEST_ASKED_PAUSE = 300.0  # that a provider may ask for by Retry-After


@dataclass
class Breaker:
    """Leaves a provider alone after a failure; then one caller at a time tries it."""

    clock: Callable[[], float] = time.monotonic
    failures: int = 0
    until: float = 0.0
    trying: bool = False
    last: type[ProviderError] | None = None  # What failed, where it was the provider.
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def enter(self) -> None:
        """Raise Resting unless the provider may be asked now."""
        with self._lock:
            if not self.failures:
                return
            left = self.until - self.clock()
            if self.trying or left > 0:
                said = "the provider failed a moment ago and is left alone for now"
                raise Resting(said, left, self.last)
            self.trying = True

    def succeeded(self) -> None:
        with self._lock:
            self.failures, self.trying = 0, False

    def failed(self, error: ProviderError | None = None) -> None:
        asked_pause = error.retry_after if error else None
        with self._lock:
            self.last = type(error) if error else None
            pause = min(FIRST_PAUSE * 2.0**self.failures, LONGEST_PAUSE)
            pause = max(pause, min(asked_pause or 0.0, LONGEST_ASKED_PAUSE))
            self.failures, self.trying = min(self.failures + 1, 20), False
            self.until = self.clock() + pause


class QueryVectors:
    """Vectors of queries in this process: the last ones are remembered."""

    def __init__(self, size: int = REMEMBERED, clock: Callable[[], float] = time.monotonic) -> None:
        self._size = size
        self._clock = clock
        self._known: OrderedDict[tuple[str, str], Vector] = OrderedDict()
        self._breakers: dict[str, Breaker] = {}
        self._lock = threading.Lock()

    def vector(
        self, provider: Provider, text: str, dimension: int | None, seconds: float
    ) -> Vector:
        """The text's vector, `dimension` wide if that is known. Raises ProviderError."""
        key = provider.identity, text
        known = self._remembered(key)
        if known is None:
            known = self._asked(provider, text, seconds)
            self._remember(key, known)
        if dimension is not None and known.size != dimension:
            raise WrongWidth(
                f"the provider's vectors have {known.size} numbers, the stored ones {dimension}"
            )
        return known

    def forget(self) -> None:
        with self._lock:
            self._known.clear()
            self._breakers.clear()

    def _asked(self, provider: Provider, text: str, seconds: float) -> Vector:
        breaker = self._breaker(provider.identity)
        breaker.enter()
        try:
            vector: Vector = provider.embed([text], seconds)[0]
        except TextRejected:
            breaker.succeeded()  # It is there; it does not take this one text.
            raise
        except ProviderError as error:
            breaker.failed(error)
            logger.warning("a query was searched by its words alone: %s", error.detail)
            raise
        except BaseException:
            breaker.failed()
            raise
        breaker.succeeded()
        return vector

    def _breaker(self, identity: str) -> Breaker:
        with self._lock:
            return self._breakers.setdefault(identity, Breaker(self._clock))

    def _remembered(self, key: tuple[str, str]) -> Vector | None:
        with self._lock:
            if key in self._known:
                self._known.move_to_end(key)
            return self._known.get(key)

    def _remember(self, key: tuple[str, str], vector: Vector) -> None:
        with self._lock:
            self._known[key] = vector
            while len(self._known) > self._size:
                self._known.popitem(last=False)


query_vectors = QueryVectors()


def vector_for(text: str, model: str | None) -> Vector:
    """The vector of a query's text by a model, the configured one by default.

    Raises Unavailable: without a vector there is no answer to give.
    """
    provider = configured.provider()
    if provider is None:
        raise Unavailable(
            "no embedding provider is configured, and a text alone cannot be compared with "
            "vectors: send query_embedding, or set MEMORYWEB_EMBEDDING_URL"
        )
    try:
        asked = provider.of(model) if model else provider
        return query_vectors.vector(asked, text, None, settings.MEMORYWEB_EMBEDDING_TIMEOUT)
    except ProviderError as error:
        raise Unavailable(f"{error.detail}; query_embedding needs no provider") from error


def query_vector(
    text: str, active: ActiveModel | None, on_page: Configured | None
) -> tuple[Vector | None, tuple[str, ...]]:
    """The vector to compare stored ones with, or None and why; no reason without a provider.

    It is always of the active model, whichever model the provider is configured for. `on_page`
    is the provider that a page named, if one did.
    """
    chosen = configured.in_force(on_page)
    if chosen is None:
        return None, ()
    if active is None:
        return None, ("no_vectors",)
    try:
        seconds = settings.MEMORYWEB_EMBEDDING_TIMEOUT
        of_active = configured.provider_of(chosen).of(active.model)
        return query_vectors.vector(of_active, text, active.dimension, seconds), ()
    except ProviderError as error:
        return None, (_reason(error, chosen.model == active.model),)


def _reason(error: ProviderError, is_configured: bool) -> str:
    """Why there is no vector. A provider that is set to another model has most often that one
    alone: that stays so, whatever it answers for the active one, and waiting does not help."""
    cause = error.after if isinstance(error, Resting) else type(error)
    if not is_configured and cause in (NoSuchModel, OtherModel, WrongWidth):
        return OtherModel.reason
    return error.reason


def prepare(on_page: Configured | None) -> None:
    """Begin to load the local model, if that is the provider, before a search waits for it."""
    chosen = configured.in_force(on_page)
    if chosen is not None and chosen.address == LOCAL:
        with suppress(ProviderError):
            configured.provider_of(chosen).embed(["memoryweb"], seconds=0.0)
