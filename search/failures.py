"""Texts of which no vector could be made: kept for every process to see, and tried again later.

A text rests longer after each further failure. Where it is the provider that fails, nothing of
its model is tried until the last of the texts it failed at is due again.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import QuerySet
from django.utils import timezone

from memoryweb.core import clock
from memoryweb.core.vectors import Vector
from search.embedding.problems import BadVector, ProviderError, TextRejected
from search.models import EmbeddingFailure, Run
from search.reindex import Corpus, Lacking, Target, resting

TEXT_RESTS = timedelta(minutes=5), timedelta(hours=6)  # at first, and at most
PROVIDER_RESTS = timedelta(seconds=30), timedelta(minutes=10)
LONGEST_ASKED_REST = timedelta(hours=1)  # that a provider may ask for by Retry-After
LONGEST_REASON = 500
UPDATED = ["text_sha", "reason", "of_provider", "attempts", "failed_at", "again_at", "run"]
# So many failures of one model are the provider's: no further text is tried until they pass.
MOST_KEPT = 10_000


@dataclass(frozen=True)
class Failed:
    """A document and why it has no vector: for its own text's sake, or the provider's. The rest
    that the provider asked for is in seconds."""

    one: Lacking
    reason: str
    of_text: bool = False
    asked_rest: float = 0.0


@dataclass(frozen=True)
class Kept:
    """What became of a batch: the documents whose text is another by now, and what failed, by the
    provider's fault or for the texts' own sake."""

    changed: set[str]
    failed: list[Failed]
    of_provider: bool


def keep(
    tx: clock.Writing,
    corpus: Corpus,
    target: Target,
    answered: Iterable[tuple[Lacking, Vector | ProviderError]],
    *,
    at: datetime,
    run: Run | None = None,
) -> Kept:
    """Store the vectors of a batch, which are of the target's width, and write down what failed,
    in the caller's transaction."""
    good, failed = _told_apart(answered)
    of_provider = not good and not all(each.of_text for each in failed)
    changed = corpus.put(tx, target, good)
    _of(corpus, target, [one.position for one, _ in good]).delete()
    _note(corpus, target, failed, of_provider=of_provider, at=at, run=run)
    return Kept(changed, failed, of_provider)


def _told_apart(
    answered: Iterable[tuple[Lacking, Vector | ProviderError]],
) -> tuple[list[tuple[Lacking, Vector]], list[Failed]]:
    good: list[tuple[Lacking, Vector]] = []
    failed: list[Failed] = []
    for one, answer in answered:
        if isinstance(answer, ProviderError):
            of_text = isinstance(answer, TextRejected | BadVector)
            failed.append(Failed(one, answer.detail, of_text, answer.retry_after or 0.0))
        else:
            good.append((one, answer))
    return good, failed


def _note(
    corpus: Corpus,
    target: Target,
    failed: Sequence[Failed],
    *,
    of_provider: bool,
    at: datetime,
    run: Run | None,
) -> None:
    """Of what was deleted meanwhile nothing is kept."""
    positions = [each.one.position for each in failed]
    there = set(map(str, corpus.embeddable().filter(pk__in=positions).values_list("pk", flat=True)))
    before = _attempts(corpus, target, positions)
    rows = [
        EmbeddingFailure(
            **{f"{corpus.key}_id": each.one.position},
            model=target.model,
            text_sha=each.one.sha,
            reason=each.reason[:LONGEST_REASON],
            of_provider=of_provider,
            attempts=(attempts := before.get((each.one.position, each.one.sha), 0) + 1),
            failed_at=at,
            again_at=at + _rest(attempts, of_provider, each.asked_rest),
            run=run,
        )
        for each in failed
        if each.one.position in there
    ]
    EmbeddingFailure.objects.bulk_create(
        rows,
        update_conflicts=True,
        unique_fields=[corpus.key, "model"],
        update_fields=UPDATED,
    )


def _attempts(
    corpus: Corpus, target: Target, positions: Sequence[str]
) -> dict[tuple[str, str], int]:
    found = _of(corpus, target, positions).values_list(f"{corpus.key}_id", "text_sha", "attempts")
    return {(str(pk), sha): attempts for pk, sha, attempts in found}


def _rest(attempts: int, of_provider: bool, asked: float) -> timedelta:
    first, most = PROVIDER_RESTS if of_provider else TEXT_RESTS
    rest: timedelta = min(first * 2 ** min(attempts - 1, 20), most)
    return max(rest, min(timedelta(seconds=asked), LONGEST_ASKED_REST))


def _of(corpus: Corpus, target: Target, positions: Sequence[str]) -> QuerySet[EmbeddingFailure]:
    of = {f"{corpus.key}__in": positions}
    return EmbeddingFailure.objects.filter(model=target.model, **of)


def due(target: Target, now: datetime) -> QuerySet[EmbeddingFailure]:
    """What has rested long enough."""
    return EmbeddingFailure.objects.filter(~resting(now), model=target.model)


def provider_rests(target: Target, now: datetime) -> bool:
    """Whether the provider failed so lately that nothing of this model is to be tried."""
    failed = EmbeddingFailure.objects.filter(model=target.model, of_provider=True)
    return failed.filter(resting(now)).exists()


def too_many(target: Target) -> bool:
    return EmbeddingFailure.objects.filter(model=target.model).count() >= MOST_KEPT


def try_again_now() -> None:
    """Let nothing rest any longer, in the caller's transaction: there is another provider."""
    EmbeddingFailure.objects.update(again_at=timezone.now(), attempts=0)


def forget(model: str) -> None:
    """Forget, in the caller's transaction, whatever failed by this model."""
    EmbeddingFailure.objects.filter(model=model).delete()
