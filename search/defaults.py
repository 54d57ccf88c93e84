"""The saved settings of search: weights, fusion, analyzer and thresholds, as versions."""

from dataclasses import asdict, dataclass, fields
from typing import Any

from memoryweb.core import clock
from memoryweb.core.actor import Actor, Role
from memoryweb.core.analysis import ANALYZERS
from memoryweb.core.errors import FieldError, Invalid, NotFound
from search.engine import FUSIONS, Fusion
from search.models import SettingsVersion


@dataclass(frozen=True)
class Defaults:
    """What a search uses where the request says nothing. Raises Invalid for values out of range."""

    vector: float = 0.7
    bm25: float = 0.3
    fusion: Fusion = "linear"
    analyzer: str = "cjk"
    k1: float = 1.2
    b: float = 0.75
    recency_half_life_days: float = 0.0
    capacity: int = 10_000
    exact_threshold: int = 10_000

    def __post_init__(self) -> None:
        errors = [
            FieldError((name,), f"must be from {low:g} to {high:g}")
            for name, (low, high) in RANGES.items()
            if not low <= getattr(self, name) <= high  # NaN is in no range.
        ]
        if self.fusion not in FUSIONS:
            errors.append(FieldError(("fusion",), f"must be one of {', '.join(FUSIONS)}"))
        if self.analyzer not in ANALYZERS:
            errors.append(FieldError(("analyzer",), f"must be one of {', '.join(ANALYZERS)}"))
        if self.vector == self.bm25 == 0:
            errors.append(FieldError(("weights",), "must not both be 0"))
        if errors:
            raise Invalid("the search settings are out of range; nothing was saved", errors)


RANGES: dict[str, tuple[float, float]] = {
    "vector": (0, 1_000),
    "bm25": (0, 1_000),
    "k1": (0, 10),
    "b": (0, 1),
    "recency_half_life_days": (0, 36_500),
    "capacity": (1, 100_000_000),
    "exact_threshold": (0, 100_000_000),
}


def current() -> tuple[int, Defaults]:
    """The version in force and its values; version 0 is the built-in one."""
    newest = SettingsVersion.objects.order_by("-id").first()
    return (newest.pk, _read(newest)) if newest else (0, Defaults())


def versions() -> list[SettingsVersion]:
    return list(SettingsVersion.objects.order_by("-id")[:50])


def save(actor: Actor, changes: dict[str, Any]) -> int:
    """A new version with `changes` over the one in force. Raises Forbidden, Invalid."""
    actor.require(Role.ADMINISTRATOR if actor.kind == "token" else Role.CURATOR)
    with clock.writing(actor) as tx:
        _, before = current()
        after = Defaults(**{**asdict(before), **changes})
        made = SettingsVersion.objects.create(values=asdict(after), author=str(actor))
        tx.audited("search.settings", f"settings/{made.pk}", **changes)
    return made.pk


def revert(actor: Actor, version: int) -> int:
    """The values of an earlier version as a new one; version 0 is the built-in. Raises NotFound."""
    if version == 0:
        return save(actor, asdict(Defaults()))
    earlier = SettingsVersion.objects.filter(pk=version).first()
    if earlier is None:
        raise NotFound("there is no such version of the search settings")
    return save(actor, asdict(_read(earlier)))


def _read(version: SettingsVersion) -> Defaults:
    known = {field.name for field in fields(Defaults)}
    return Defaults(**{name: v for name, v in version.values.items() if name in known})
