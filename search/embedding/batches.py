"""Vectors of a batch of texts from a provider that may fail: tried again, then text by text."""

from collections.abc import Callable, Sequence

from memoryweb.core.vectors import Vector
from search.embedding.problems import BadAnswer, ProviderError, TextRejected, WrongWidth
from search.embedding.providers import Provider

PAUSES = (0.5, 1.0, 2.0)  # seconds before each further try
LONGEST_PAUSE = 60.0  # that a provider may ask for, before a run
Wait = Callable[[float], None]


def embedded(
    provider: Provider, texts: Sequence[str], wait: Wait, width: int | None = None
) -> list[Vector | ProviderError]:
    """For each text its vector, or what went wrong, in their order: another width does, too.

    A failure that may pass is tried again after a pause. Where one text may spoil the answer for
    all, each is asked for alone.
    """
    return [_of_width(answer, width) for answer in _answers(provider, texts, wait)]


def _of_width(answer: Vector | ProviderError, width: int | None) -> Vector | ProviderError:
    if width is None or isinstance(answer, ProviderError) or answer.size == width:
        return answer
    return WrongWidth(f"its vector has {answer.size} numbers, not {width}")


def _answers(
    provider: Provider, texts: Sequence[str], wait: Wait
) -> Sequence[Vector | ProviderError]:
    try:
        return list(_tried_again(provider, texts, wait))
    except (TextRejected, BadAnswer) as error:
        if len(texts) == 1:
            return [error]
        return [_alone(provider, text) for text in texts]
    except ProviderError as error:
        return [error] * len(texts)


def _tried_again(provider: Provider, texts: Sequence[str], wait: Wait) -> Sequence[Vector]:
    for pause in PAUSES:
        try:
            return list(provider.embed(texts))
        except ProviderError as error:
            if not error.passing:
                raise
            wait(max(pause, min(error.retry_after or 0.0, LONGEST_PAUSE)))
    return list(provider.embed(texts))


def _alone(provider: Provider, text: str) -> Vector | ProviderError:
    try:
        vector: Vector = provider.embed([text])[0]
        return vector
    except ProviderError as error:
        return error
