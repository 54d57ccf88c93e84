"""What a curator decides about texts of sessions that the guard held back.

Such a text is a new memory, the content of one that is there, or what is said of a context.
"""

from collections.abc import Callable

from django.utils import timezone

from episodes.identifiers import new_id
from episodes.models import Context, Memory
from episodes.session_schemas import MemoryIn
from episodes.sessions import COLLECTION, EDITED, NEW, Draft, Saving, content_sha
from memoryweb.core import clock
from memoryweb.core.actor import Actor
from memoryweb.core.errors import Conflict
from memoryweb.core.models import QuarantineItem


def accept(actor: Actor, item: QuarantineItem, *, decide: Callable[[clock.Writing], None]) -> None:
    """Let a text that the guard held back be served; `decide` marks the item in the same
    transaction. Raises Conflict when what it belongs to is gone."""
    kind, _, rest = item.document.partition("/")
    with clock.writing(actor) as tx:
        decide(tx)
        if kind == NEW:
            memory_id = _accept_new(tx, rest, item.text)
            # It is known by its memory from now on: what was approved is not caught again.
            document = f"{EDITED}/{memory_id}"
            QuarantineItem.objects.filter(pk=item.pk).update(document=document)
        elif kind == EDITED:
            _accept_content(tx, rest, item.text)
        else:
            _accept_context(tx, rest, item.text)


def context_of(item: QuarantineItem) -> Context | None:
    """The context that a text which was held back belongs to, if there is one."""
    kind, _, rest = item.document.partition("/")
    if kind == EDITED:
        return Context.objects.filter(memories=rest).first()
    return Context.objects.filter(pk=rest.partition("/")[2] if kind == NEW else rest).first()


def _accept_new(tx: clock.Writing, place: str, text: str) -> str:
    """Add the memory; its id."""
    kind, _, context_id = place.partition("/")
    now = timezone.now()
    context, is_new = Context.objects.get_or_create(
        pk=context_id, defaults={"name": context_id[:500], "created_at": now, "updated_at": now}
    )
    saving = Saving(tx, context.pk, {}, {"created_at": now, "updated_at": now}, is_new)
    given = MemoryIn.model_construct(content=text, type=kind)
    saving.add([draft := Draft(given, new_id())])
    saving.finish()
    return draft.id


def _accept_content(tx: clock.Writing, memory_id: str, text: str) -> None:
    now, sha = timezone.now(), content_sha(text)
    columns = {"content": text, "content_sha": sha, "quarantined": False, "updated_at": now}
    if not Memory.objects.filter(pk=memory_id).update(**columns):
        raise Conflict("the memory that this is a text of was deleted")
    tx.changed(COLLECTION, memory_id)
    tx.audited("memory.edit", f"memories/{memory_id}", fields=["content"], content_sha=sha)


def _accept_context(tx: clock.Writing, context_id: str, text: str) -> None:
    name, _, intent = text.partition("\n")
    now = timezone.now()
    given = {key: value for key, value in (("name", name), ("intent", intent)) if value}
    fields = given if Context.objects.filter(pk=context_id).exists() else {
        "name": context_id[:500], **given
    }  # fmt: skip
    saving = Saving(tx, context_id, fields, {"created_at": now, "updated_at": now})
    saving.write_context()
    saving.finish()
