"""What a save answers over HTTP, and which revision a caller says they have seen."""

from typing import Any

from django.http import HttpResponse

from bank.saving import Saved
from bank.schemas import EntityWritten, NoteWritten, entity, note, previous
from memoryweb.core.actor import Actor
from memoryweb.core.api_auth import ApiRequest
from memoryweb.core.errors import Invalid


def base_of(base: int | None, if_match: str) -> int | None:
    """The revision that the caller has seen; an ETag that is none of ours is of no revision."""
    tag = if_match.strip().removeprefix("W/").strip('"')
    if tag in ("", "*"):
        return base
    seen = int(tag) if tag.isascii() and tag.isdigit() and len(tag) < 10 else 0
    if base is not None and base != seen:
        raise Invalid("base and If-Match name two different revisions")
    return seen


def entity_written(request: ApiRequest, response: HttpResponse, saved: Saved) -> EntityWritten:
    _tell(response, saved)
    shown = entity(saved.page, request.actor)
    return EntityWritten(entity=shown, **_outcome(saved, request.actor))


def note_written(request: ApiRequest, response: HttpResponse, saved: Saved) -> NoteWritten:
    _tell(response, saved)
    shown = note(saved.page, request.actor).model_dump()
    return NoteWritten(**shown, **_outcome(saved, request.actor))


def _tell(response: HttpResponse, saved: Saved) -> None:
    response["ETag"] = saved.page.etag
    response["X-Change-Seq"] = str(saved.seq)


def _outcome(saved: Saved, reader: Actor) -> dict[str, Any]:
    return {
        "previous": previous(saved.previous, reader),
        "created": saved.created,
        "changed": saved.changed,
        "change_seq": saved.seq,
    }
