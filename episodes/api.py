"""Episodes over HTTP: each operation parses, calls the writer or a query, and answers."""

from collections.abc import Iterable, Iterator
from typing import Annotated, Any

from django.http import HttpRequest, HttpResponse
from ninja import Header, Query, Router, Status

from episodes import deletion, queries, store, vectors
from episodes.models import Episode
from episodes.schemas import (
    BatchAnswer,
    BulkDelete,
    BulkVector,
    BulkVectors,
    BulkVectorsAnswer,
    DeleteAnswer,
    EpisodeFilter,
    EpisodeIn,
    EpisodeOut,
    EpisodePatch,
    EpisodeWritten,
    Failure,
    Order,
    Receipt,
    VectorIn,
    VectorWritten,
    read,
)
from memoryweb.core import clock
from memoryweb.core.api_auth import ApiRequest, write
from memoryweb.core.errors import DomainError, FieldError, Invalid
from memoryweb.core.paging import Listed, Paging, page
from memoryweb.core.strict_json import loads

router = Router()
IfMatch = Annotated[str, Header(alias="If-Match")]

NDJSON = {"application/x-ndjson", "application/ndjson", "application/jsonl"}
MAX_BATCH = 10_000
BATCH_BODY = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {
                "schema": {"type": "array", "maxItems": MAX_BATCH, "items": {"type": "object"}}
            },
            "application/x-ndjson": {"schema": {"type": "string"}},
        },
    }
}


@router.get("", response=Listed[EpisodeOut])
def list_episodes(
    request: ApiRequest,
    filters: Query[EpisodeFilter],
    paging: Query[Paging],
    order: Order = "-created_at",
) -> dict[str, Any]:
    """Episodes, newest first unless `order` says otherwise."""
    found = page(
        queries.matching(filters),
        queries.ORDERS[order],
        limit=paging.limit,
        cursor=paging.cursor,
        described=queries.described,
    )
    items = [queries.shown(episode) for episode in found.items]
    return {"items": items, "next_cursor": found.next_cursor, "total": found.total}


@router.post("", auth=write, response={201: EpisodeWritten, 200: EpisodeWritten})
def store_episode(
    request: ApiRequest, response: HttpResponse, episode: EpisodeIn, replace: bool = False
) -> Status[EpisodeWritten]:
    """Store an episode, with its vector or without: 201 when it is new, 200 when it was there.

    An id that exists with other content is 409, unless `replace` asks to replace it. A vector
    that is refused does not refuse its episode; `vector.reason` tells why.
    """
    stored, outcome = store.store(request.actor, episode, replace=replace)
    status = 201 if outcome.status == "created" else 200
    return Status(status, _written(response, stored, outcome.seq))


@router.post("/batch", auth=write, response=BatchAnswer, openapi_extra=BATCH_BODY)
def store_batch(request: ApiRequest, response: HttpResponse, replace: bool = False) -> BatchAnswer:
    """Store up to 10,000 episodes: good rows land, bad rows are named by their index."""
    outcomes = list(store.store_many(request.actor, _batch_rows(request), replace=replace))
    counts = {s: sum(o.status == s for o in outcomes) for s in ("created", "unchanged", "replaced")}
    written = [o for o in outcomes if o.status in ("created", "replaced")]
    answer = BatchAnswer(
        **counts,
        quarantined=sum(o.quarantined for o in written),
        failed=[failure(i, o.id, o.error) for i, o in enumerate(outcomes) if o.error],
        change_seq=max((o.seq for o in outcomes), default=clock.current_seq()),
    )
    response["X-Change-Seq"] = str(answer.change_seq)
    return answer


@router.post("/embeddings", auth=write, response=BulkVectorsAnswer)
def store_vectors(
    request: ApiRequest,
    response: HttpResponse,
    bulk: BulkVectors,
    model: Annotated[str, Query(max_length=200)] = "",
) -> BulkVectorsAnswer:
    """Store the vectors of up to 1,000 episodes; each that fails is named with its reason."""
    sent = [_sent_vector(item, bulk.model or model) for item in bulk.items]
    result = vectors.set_vectors(request.actor, sent)
    response["X-Change-Seq"] = str(result.seq)
    return BulkVectorsAnswer(
        stored=result.stored,
        states=result.states,
        failed=[failure(i, _id_in(bulk.items[i]), e) for i, e in sorted(result.failed.items())],
        change_seq=result.seq,
    )


@router.post("/delete", auth=write, response=DeleteAnswer)
def delete_episodes(
    request: ApiRequest, response: HttpResponse, wanted: BulkDelete
) -> DeleteAnswer:
    """Delete episodes by id or by filter, for good; the receipt says what was looked at again."""
    do = deletion.preview if wanted.dry_run else deletion.delete_many
    receipt = do(request.actor, ids=wanted.ids, wanted=wanted.filter)
    response["X-Change-Seq"] = str(receipt.seq)
    return DeleteAnswer(
        deleted=0 if wanted.dry_run else receipt.rows,
        dry_run=wanted.dry_run,
        receipt=Receipt.model_validate(receipt, from_attributes=True),
        change_seq=receipt.seq,
    )


@router.put("/{episode:episode_id}/embedding", auth=write, response=VectorWritten)
def store_vector(
    request: ApiRequest, response: HttpResponse, episode_id: str, vector: VectorIn
) -> VectorWritten:
    """Give an episode its vector; the answer is the state that this vector is in."""
    sent = vectors.Sent(episode_id, vector.embedding, vector.embedding_b64, vector.model or "")
    state, seq = vectors.set_vector(request.actor, sent)
    response["X-Change-Seq"] = str(seq)
    return VectorWritten(state=state, change_seq=seq)


@router.get("/{episode:episode_id}", response=EpisodeOut)
def get_episode(request: ApiRequest, response: HttpResponse, episode_id: str) -> EpisodeOut:
    """One episode; its ETag is what If-Match takes."""
    episode = queries.find(episode_id)
    response["ETag"] = episode.etag
    return queries.shown(episode)


@router.patch("/{episode:episode_id}", auth=write, response=EpisodeWritten)
def edit_episode(
    request: ApiRequest,
    response: HttpResponse,
    episode_id: str,
    patch: EpisodePatch,
    if_match: IfMatch = "",
) -> EpisodeWritten:
    """Change the fields that are sent and leave the others alone."""
    episode, seq = store.edit(request.actor, episode_id, patch, if_match=if_match)
    return _written(response, episode, seq)


@router.delete("/{episode:episode_id}", auth=write, response={204: None})
def delete_episode(
    request: ApiRequest, response: HttpResponse, episode_id: str, if_match: IfMatch = ""
) -> Status[None]:
    """Delete an episode with its vectors, in every index, for good."""
    receipt = deletion.delete(request.actor, episode_id, if_match=if_match)
    response["X-Change-Seq"] = str(receipt.seq)
    return Status(204, None)


def _written(response: HttpResponse, episode: Episode, seq: int) -> EpisodeWritten:
    clock.told(queries.COLLECTION, episode.id)  # Where nothing was changed, too.
    response["ETag"] = episode.etag
    response["X-Change-Seq"] = str(seq)
    return EpisodeWritten(**dict(queries.shown(episode)), change_seq=seq)


def _batch_rows(request: HttpRequest) -> Iterable[EpisodeIn | DomainError]:
    """The rows of the body, each parsed only when its turn comes."""
    if request.content_type in NDJSON:
        lines = [line for line in request.body.split(b"\n") if line.strip()]
        return _each(lines, loads)
    rows = loads(request.body)
    if not isinstance(rows, list):
        raise Invalid("send a JSON array of episodes, or NDJSON as application/x-ndjson")
    return _each(rows, lambda row: row)


def _each(rows: list[Any], read: Any) -> Iterator[EpisodeIn | DomainError]:
    if len(rows) > MAX_BATCH:
        raise Invalid(f"a batch has at most {MAX_BATCH:,} episodes; this one has {len(rows):,}")
    return (_parsed(row, read) for row in rows)


def _parsed(row: Any, read: Any) -> EpisodeIn | DomainError:
    try:
        return store.parse(read(row))
    except DomainError as error:
        return error


def _sent_vector(item: Any, model: str) -> vectors.Sent | DomainError:
    try:
        one = read(BulkVector, item)
    except Invalid as error:
        return error
    return vectors.Sent(one.id, one.embedding, one.embedding_b64, one.model or model)


def _id_in(item: Any) -> str | None:
    if not isinstance(item, dict) or not isinstance(item.get("id"), str):
        return None
    return store.sayable(item["id"])


def failure(index: int, episode_id: str | None, error: DomainError) -> Failure:
    """One item of a batch that failed, in the shape of every batch's answer."""
    errors = error.errors if isinstance(error, Invalid) else ()
    told = errors or (FieldError((), error.detail),)
    return Failure(
        index=index, id=episode_id, errors=[{"loc": list(e.loc), "msg": e.msg} for e in told]
    )
