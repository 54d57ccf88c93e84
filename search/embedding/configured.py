"""Which provider is configured: by the environment, else by an administrator on a page.

The key is in the environment alone. Where a page named the address, it is sent over HTTPS only:
whoever may type an address must not read the key off a plain connection.
"""

import time
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from django.conf import settings
from django.utils import timezone

from memoryweb.core import clock
from memoryweb.core.actor import Actor, Role
from memoryweb.core.errors import Conflict, FieldError, Invalid, Unavailable
from search import failures
from search.embedding import addresses
from search.embedding.addresses import LOCAL, LOCAL_MODEL, Rules
from search.embedding.asking import Line
from search.embedding.problems import ProviderError
from search.embedding.providers import Provider, provider_at
from search.models import ProviderChoice

NONE_CONFIGURED = (
    "no embedding provider is configured: set MEMORYWEB_EMBEDDING_URL (and "
    "MEMORYWEB_EMBEDDING_MODEL), or name one under Settings, Provider"
)
# Two sentences of one meaning and one of another, for a look at whether vectors mean anything.
SENTENCE = "The database ran out of connections last night."
SIMILAR = "Yesterday evening no more connections to the database were free."
UNRELATED = "Bake the bread for forty minutes at two hundred degrees."


@dataclass(frozen=True)
class Configured:
    """An address as it was configured, and the model to ask it for."""

    address: str
    model: str
    from_page: bool

    @property
    def key_is_sent(self) -> bool:
        """Whether the key goes with each request; never over a plain address of a page."""
        plain = self.from_page and not self.address.startswith("https://")
        return bool(settings.MEMORYWEB_EMBEDDING_API_KEY) and self.address != LOCAL and not plain


@dataclass(frozen=True)
class Trial:
    """What a provider did when it was tried: cosines of two pairs, milliseconds, mean length."""

    milliseconds: float
    dimension: int
    norm: float
    similar: float
    unrelated: float

    @property
    def sane(self) -> bool:
        return self.similar > self.unrelated


def configured() -> Configured | None:
    return in_force(named_on_page())


def named_on_page() -> Configured | None:
    """What an administrator named; it changes with the clock only."""
    chosen = ProviderChoice.objects.first()
    return Configured(chosen.address, chosen.model, True) if chosen else None


def in_force(on_page: Configured | None) -> Configured | None:
    """What the environment names, else what a page did."""
    if not (address := settings.MEMORYWEB_EMBEDDING_URL):
        return on_page
    model = LOCAL_MODEL if address == LOCAL else settings.MEMORYWEB_EMBEDDING_MODEL
    return Configured(address, model, False)


def provider() -> Provider | None:
    """The configured provider, None when there is none."""
    chosen = configured()
    return provider_of(chosen) if chosen else None


def required() -> Provider:
    """The configured provider. Raises Unavailable, saying how to configure one."""
    found = provider()
    if found is None:
        raise Unavailable(NONE_CONFIGURED)
    return found


def provider_of(chosen: Configured) -> Provider:
    key = settings.MEMORYWEB_EMBEDDING_API_KEY if chosen.key_is_sent else ""
    return _provider(chosen, key, settings.MEMORYWEB_EMBEDDING_ALLOW_PRIVATE)


@lru_cache(maxsize=8)
def _provider(chosen: Configured, key: str, allow_private: bool) -> Provider:
    """One object for one configuration: it keeps its connections."""
    rules = Rules(chosen.from_page, allow_private)
    return provider_at(chosen.address, chosen.model, Line(chosen.address, rules, key))


def checked(address: str, model: str) -> Configured:
    """An address and a model as somebody typed them on a page. Raises Invalid."""
    address, model = addresses.plain(address.strip()), model.strip()
    wrong = {
        "address": addresses.problem(address),
        "model": addresses.model_problem(address, model),
    }
    errors = [FieldError((name,), problem) for name, problem in wrong.items() if problem]
    if errors:
        raise Invalid("this is no provider; nothing was saved", errors)
    return Configured(address, LOCAL_MODEL if address == LOCAL else model, True)


def choose(actor: Actor, chosen: Configured | None) -> None:
    """Have this provider used from now on, or none. Raises Forbidden, and Conflict where the
    environment names one, which nobody overrides on a page."""
    actor.require(Role.ADMINISTRATOR)
    if settings.MEMORYWEB_EMBEDDING_URL:
        raise Conflict("the environment names the provider; MEMORYWEB_EMBEDDING_URL holds")
    with clock.writing(actor) as tx:
        ProviderChoice.objects.all().delete()
        failures.try_again_now()
        if chosen is not None:
            ProviderChoice.objects.create(
                address=chosen.address,
                model=chosen.model,
                chosen_by=str(actor),
                chosen_at=timezone.now(),
            )
        facts = {"address": chosen.address, "model": chosen.model} if chosen else {}
        tx.audited("provider.choose", "settings/provider", **facts)


def tried(asked: Provider) -> Trial:
    """Embed three sentences, and look at what came. Raises ProviderError."""
    started = time.perf_counter()
    vectors = asked.embed([SENTENCE, SIMILAR, UNRELATED], seconds=20.0).astype(np.float64)
    took = (time.perf_counter() - started) * 1000
    norms = np.linalg.norm(vectors, axis=1)
    unit = vectors / norms[:, None]
    return Trial(
        milliseconds=took,
        dimension=vectors.shape[1],
        norm=float(norms.mean()),
        similar=float(unit[0] @ unit[1]),
        unrelated=float(unit[0] @ unit[2]),
    )


def trial(chosen: Configured) -> tuple[Trial | None, str]:
    """What trying it showed, or why that failed."""
    try:
        return tried(provider_of(chosen)), ""
    except ProviderError as error:
        return None, error.detail
