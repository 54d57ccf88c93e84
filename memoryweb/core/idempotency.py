"""A POST that is sent again, because its answer was lost, is done once and answered the same.

The key belongs to the token, or the person, that sent it. While the first request runs, another
with its key is refused; a request that died without an answer blocks its key for ten minutes.
What failed on our side (500 and above) or came too often (429) is not kept: it may be tried again.
Nothing here outlives what was deleted: an answer goes with the document whose text it may hold.
"""

import hashlib
import logging
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby

from django.db import DatabaseError, transaction
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from memoryweb.core.actor import Actor
from memoryweb.core.errors import Conflict, DomainError, Gone, Invalid
from memoryweb.core.models import AnsweredDocument, IdempotentAnswer

logger = logging.getLogger(__name__)

HEADER = "Idempotency-Key"
REPLAYED = "Idempotent-Replayed"
KEPT = timedelta(hours=24)
ABANDONED = timedelta(minutes=10)  # No request runs that long: its process was killed.
LONGEST_KEY = 200
KEPT_HEADERS = ("Content-Type", "ETag", "X-Change-Seq", "Location")
MOST_DOCUMENTS = 1000  # An answer about more holds counts, and no text.

Document = tuple[str, str]  # collection and id


class Replayed(DomainError):
    """Not an error: the answer that was given to this request before."""

    def __init__(self, answer: HttpResponse) -> None:
        super().__init__("answered before")
        self.answer = answer


class Running(Conflict):
    """The first request with this key has not been answered yet."""

    retry_after = 1


@dataclass
class Claim:
    """A key that this request has taken."""

    pk: int

    def finish(self, response: HttpResponse, documents: Iterable[Document]) -> None:
        """Keep the answer, or give the key back when it failed on our side. It never fails."""
        try:
            if response.status_code >= 500 or response.status_code == 429:
                IdempotentAnswer.objects.filter(pk=self.pk).delete()
            else:
                self._keep(response, documents)
        except DatabaseError:
            logger.exception("an answer could not be kept; its key stays taken for ten minutes")

    @transaction.atomic
    def _keep(self, response: HttpResponse, documents: Iterable[Document]) -> None:
        kept = {name: response[name] for name in KEPT_HEADERS if name in response}
        IdempotentAnswer.objects.filter(pk=self.pk).update(
            status=response.status_code, headers=kept, body=response.content
        )
        AnsweredDocument.objects.bulk_create(
            (
                AnsweredDocument(answer_id=self.pk, collection=collection, document=document)
                for collection, document in list(dict.fromkeys(documents))[:MOST_DOCUMENTS]
            ),
            batch_size=200,
        )


def claim(actor: Actor, request: HttpRequest) -> Claim | None:
    """Take the key of this request; None when it has none.

    Raises Replayed with the answer when it was done before, Running while it is being done,
    Invalid for a key that is none or came with another request, and Gone when what it made is
    deleted since.
    """
    key = request.headers.get(HEADER)
    if key is None:
        return None
    if not 1 <= len(key) <= LONGEST_KEY or not key.isascii() or not key.isprintable():
        raise Invalid(f"{HEADER} must have 1 to {LONGEST_KEY} printable ASCII characters")
    owner = f"{actor.kind}:{actor.token_id or actor.user_id}"
    sha, now = _sha(request), timezone.now()
    _expired(now).filter(owner=owner, key=key).delete()
    answer, made = IdempotentAnswer.objects.get_or_create(
        owner=owner, key=key, defaults={"request_sha": sha, "created_at": now}
    )
    if made:
        return Claim(answer.pk)
    raise _known(answer, sha)


def forget(deleted: Iterable[Document]) -> None:
    """Remove the text of answers about these documents; called in the transaction that deletes."""
    for collection, group in groupby(sorted(deleted), key=lambda one: one[0]):
        documents = [document for _, document in group]
        for start in range(0, len(documents), 500):
            told = AnsweredDocument.objects.filter(
                collection=collection, document__in=documents[start : start + 500]
            )
            IdempotentAnswer.objects.filter(pk__in=told.values("answer")).update(
                body=b"", headers={}, forgotten=True
            )


def prune() -> int:
    """Remove the answers that are older than a day; how many there were."""
    count = 0
    while ids := list(_expired(timezone.now()).values_list("pk", flat=True)[:500]):
        _, removed = IdempotentAnswer.objects.filter(pk__in=ids).delete()
        count += removed.get("core.IdempotentAnswer", 0)
    return count


def _expired(now: datetime) -> QuerySet[IdempotentAnswer]:
    abandoned = Q(status=None, created_at__lt=now - ABANDONED)
    return IdempotentAnswer.objects.filter(abandoned | Q(created_at__lt=now - KEPT))


def _known(answer: IdempotentAnswer, sha: str) -> DomainError:
    if answer.request_sha != sha:
        return Invalid(f"this {HEADER} came with another request before; take a new one")
    if answer.status is None:
        return Running("the first request with this key is still running; ask again")
    if answer.forgotten:
        return Gone("this was done before, and what it made has been deleted since")
    response = HttpResponse(bytes(answer.body), status=answer.status, headers=answer.headers)
    response[REPLAYED] = "true"
    return Replayed(response)


def _sha(request: HttpRequest) -> str:
    """Over all that makes it the same request: method, address, kind of body, and body."""
    digest = hashlib.sha256()
    for part in (request.method, request.get_full_path(), request.content_type):
        digest.update(f"{part}\n".encode())
    digest.update(request.body)
    return digest.hexdigest()
