"""What can go wrong with a provider, each with a reason for machines and a sentence for people.

A sentence never quotes what the provider wrote: it may repeat the text that was sent, or the key.
"""

from typing import ClassVar


class ProviderError(Exception):
    """The provider gave no vectors that could be used; nothing was stored."""

    reason: ClassVar[str]
    passing: ClassVar[bool] = False  # Whether the same request may well succeed later.

    def __init__(self, detail: str, retry_after: float | None = None) -> None:
        super().__init__(detail)
        self.detail = detail
        self.retry_after = retry_after  # Seconds that the provider asked to be left alone for.


class AddressRefused(ProviderError):
    """The address is one that must not be asked, so it was not."""

    reason = "provider_address"


class Unreachable(ProviderError):
    """Nobody answers there, or the connection broke."""

    reason = "provider_unreachable"
    passing = True


class TimedOut(ProviderError):
    """No whole answer came in time."""

    reason = "provider_timeout"
    passing = True


class RateLimited(ProviderError):
    """It was asked too often."""

    reason = "provider_rate_limited"
    passing = True


class Failed(ProviderError):
    """It answered that it failed."""

    reason = "provider_failed"
    passing = True


class Rejected(ProviderError):
    """It does not take the request: the key, the address, the model, or the text."""

    reason = "provider_rejected"


class NoSuchModel(Rejected):
    """It knows no such model, or no such address."""


class TextRejected(Rejected):
    """It does not take one of the texts, which may be too long for the model."""


class BadAnswer(ProviderError):
    """What it answered is not the vectors that were asked for."""

    reason = "provider_bad_answer"
    passing = True


class BadVector(BadAnswer):
    """One of the vectors cannot be compared with any other."""


class WrongWidth(ProviderError):
    """Its vectors have another width than those of the model in use."""

    reason = "provider_wrong_width"


class OtherModel(ProviderError):
    """It answered with another model than the one it was asked for."""

    reason = "provider_other_model"


class NotInstalled(ProviderError):
    """The local model is an extra that is not installed."""

    reason = "provider_not_installed"


class Resting(ProviderError):
    """It failed a moment ago, and is left alone until its next try."""

    reason = "provider_resting"
    passing = True

    def __init__(self, detail: str, retry_after: float, after: type[ProviderError] | None) -> None:
        super().__init__(detail, retry_after)
        self.after = after  # What went wrong then.


# One of each reason.
PROBLEMS = (
    AddressRefused,
    Unreachable,
    TimedOut,
    RateLimited,
    Failed,
    Rejected,
    BadAnswer,
    WrongWidth,
    OtherModel,
    NotInstalled,
    Resting,
)
