"""Many new entities at once: the protocol of bank.services, with one transaction for all of them.

Alone a page costs two transactions and several waits for the disk.
"""

from collections.abc import Sequence

from bank import publishing, queries, record
from bank.models import FileOperation, Kind, Page
from bank.record import New
from memoryweb.core import clock
from memoryweb.core.actor import Actor, Role

LARGEST = 200  # Pages; other writers wait for so many about half a second.


def create(actor: Actor, news: Sequence[New]) -> list[Page]:
    """Make these entities; one whose name is in use by now is left out.

    What the guard found in one puts it in quarantine. Raises Forbidden; Unavailable when the
    disk fails, and then all pages are stored and their files follow.
    """
    actor.require(Role.CURATOR)
    with publishing.hold(Kind.ENTITY, *(new.text.name for new in news)):
        used = _used([_key(new) for new in news])
        free = [new for new in news if _key(new) not in used]
        if not free:
            return []
        with clock.writing(actor) as tx:
            pages = [page for page, _ in record.create_many(tx, free)]
            ops = record.first_operations(pages)
        with publishing.explained("the pages are stored, and their files follow"):
            publishing.publish_new(ops)
    return pages


def _key(new: New) -> str:
    return queries.key_of(Kind.ENTITY, new.text.name)


def _used(keys: Sequence[str]) -> set[str]:
    """The names that have a page, or a file that is still to go."""
    living = Page.objects.filter(kind=Kind.ENTITY, key__in=keys, archived_at=None)
    going = FileOperation.objects.filter(page__kind=Kind.ENTITY, page__key__in=keys, done_at=None)
    return {*living.values_list("key", flat=True), *going.values_list("page__key", flat=True)}
