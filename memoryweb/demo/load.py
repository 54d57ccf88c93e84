"""Fills a new home with the sample, through the same writers that agents and people use."""

from django.utils import timezone

from episodes import store, vectors
from episodes.models import Episode
from memoryweb.core.actor import system
from memoryweb.core.vectors import encode_blob
from memoryweb.demo import sample
from search.models import SuggestedQuery

ACTOR = system("import")


def load() -> str:
    """Load the sample, once; a sentence that says what was done."""
    if Episode.objects.exists():
        return "This home holds episodes already; the sample was not loaded again."
    _load_episodes()
    _load_vectors()
    _load_queries()
    return f"The sample is loaded: {Episode.objects.count()} episodes."


def _load_episodes() -> None:
    rows = [store.parse(row) for row in sample.episodes(timezone.now())]
    for outcome in store.store_many(ACTOR, rows):
        if outcome.error is not None:
            raise outcome.error


def _load_vectors() -> None:
    """The shipped vectors, the one of another width last: the first fixes the active width."""
    texts, shipped = sample.embedded_texts(), sample.vectors()
    in_order = sorted(shipped, key=lambda episode: episode == sample.WRONG_WIDTH_EPISODE)
    stored = vectors.set_vectors(
        ACTOR,
        [
            vectors.Sent(
                episode,
                shipped[episode],
                model=sample.MODEL,
                text_sha=store.text_sha(texts[episode]),
            )
            for episode in in_order
        ],
    )
    for error in stored.failed.values():
        raise error


def _load_queries() -> None:
    SuggestedQuery.objects.bulk_create(
        SuggestedQuery(
            text=query.text,
            model=sample.MODEL,
            dimension=sample.DIMENSION,
            vector=encode_blob(query.vector),
        )
        for query in sample.queries()
    )
