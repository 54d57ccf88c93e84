"""A POST that is sent again, because its answer was lost, is done once and answered the same.

The key belongs to the token, or the person, that sent it. While the first request runs, another
with its key is refused; a request that died without an answer blocks its key for ten minutes.
What failed on our side (500 and above) or came too often (429) is not kept: it may be tried again.
Nothing here outlives what was deleted: an answer goes with the document whose text it may hold,
be it that the request changed it or only told of it. Of a refusal no more is kept than its reason.
"""

import hashlib
import json
import logging
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from http import HTTPStatus
from itertools import groupby
from operator import itemgetter

from django.db import DatabaseError, transaction
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from memoryweb.core.actor import Actor
from memoryweb.core.chunks import chunks
from memoryweb.core.errors import Conflict, DomainError, Gone, Invalid
from memoryweb.core.models import AnsweredDocument, Change, Clock, IdempotentAnswer

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
    """A key that this request has taken, and the clock's number at that moment."""

    pk: int
    since: int

    def finish(
        self, response: HttpResponse, documents: Iterable[Document], own: Collection[int] = ()
    ) -> None:
        """Keep the answer, or give the key back when it failed on our side. It never fails.

        `documents` are those that the answer may tell of; `own` are the numbers of the changes
        that the request itself made.
        """
        try:
            if response.status_code >= 500 or response.status_code == 429:
                self.give_back()
            else:
                self._keep(response, list(dict.fromkeys(documents))[:MOST_DOCUMENTS], own)
        except DatabaseError:
            logger.exception("an answer could not be kept; its key stays taken for ten minutes")

    def give_back(self) -> None:
        """Let the request be tried again with its key: nothing was done."""
        IdempotentAnswer.objects.filter(pk=self.pk).delete()

    @transaction.atomic
    def _keep(
        self, response: HttpResponse, documents: Sequence[Document], own: Collection[int]
    ) -> None:
        answer = IdempotentAnswer.objects.filter(pk=self.pk)
        if _deleted_since(documents, self.since) - set(own):
            answer.update(status=response.status_code, forgotten=True)
            return
        kept = {name: response[name] for name in KEPT_HEADERS if name in response}
        answer.update(status=response.status_code, headers=kept, body=_body(response))
        AnsweredDocument.objects.bulk_create(
            (
                AnsweredDocument(answer_id=self.pk, collection=collection, document=document)
                for collection, document in documents
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
        return Claim(answer.pk, _current_seq())
    raise _known(answer, sha)


def forget(deleted: Iterable[Document]) -> None:
    """Remove the text of answers about these documents; called in the transaction that deletes."""
    for collection, some in _by_collection(deleted):
        told = AnsweredDocument.objects.filter(collection=collection, document__in=some)
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


_REASON = ("type", "title", "status", "detail", "quarantine_id")
_TOLD_ONCE = "this was answered before, and more was said then; ask again with a new key"


def _body(response: HttpResponse) -> bytes:
    """What is kept of an answer. A refusal may quote texts that are deleted later, whose they are
    nobody knows: the text that was refused, what stands in its place, both merged."""
    if response.status_code < 400:
        return response.content
    try:
        said = json.loads(response.content)
    except ValueError:
        said = {"title": HTTPStatus(response.status_code).phrase, "status": response.status_code}
    kept = {name: said[name] for name in _REASON if name in said}
    kept["detail"] = "; ".join([*filter(None, [kept.get("detail")]), _TOLD_ONCE])
    return json.dumps(kept, ensure_ascii=False).encode()


def _deleted_since(documents: Iterable[Document], since: int) -> set[int]:
    """The numbers of the changes after `since` that deleted any of these documents."""
    found: set[int] = set()
    for collection, some in _by_collection(documents):
        gone = Change.objects.filter(collection=collection, document__in=some, op="delete")
        found.update(gone.filter(seq__gt=since).values_list("seq", flat=True))
    return found


def _by_collection(documents: Iterable[Document]) -> Iterator[tuple[str, list[str]]]:
    """Some hundred documents of one collection at a time."""
    for collection, group in groupby(sorted(documents), key=itemgetter(0)):
        ids = (document for _, document in group)
        yield from ((collection, some) for some in chunks(ids, 500))


def _current_seq() -> int:
    return Clock.objects.filter(pk=1).values_list("seq", flat=True).first() or 0


def _expired(now: datetime) -> QuerySet[IdempotentAnswer]:
    """A key is not kept taken either by a request that was abandoned while the clock was ahead."""
    lately = now - ABANDONED, now + ABANDONED
    abandoned = Q(status=None) & ~Q(created_at__range=lately)
    return IdempotentAnswer.objects.filter(abandoned | Q(created_at__lt=now - KEPT))


def _known(answer: IdempotentAnswer, sha: str) -> DomainError:
    if answer.request_sha != sha:
        return Invalid(f"this {HEADER} came with another request before; take a new one")
    if answer.status is None:
        return Running("the first request with this key is still running; ask again")
    if answer.forgotten:
        return Gone("this was answered before, and what it told of has been deleted since")
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
