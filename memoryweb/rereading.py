"""Reading every stored text again when the guard's rules changed, a slice at a time.

What the present rules catch and no curator has approved waits in Review. Nothing is released:
of what waits already, Review says which texts the rules do not object to any longer. Where it
stands is a row of the database, moved on with each slice, so a kill costs one slice at most.
"""

import time
from collections.abc import Sequence
from functools import partial

from django.db.models import F, QuerySet
from django.utils import timezone

from bank import rereading as of_pages
from episodes import rereading as of_episodes
from episodes import session_rereading as of_memories
from memoryweb import review
from memoryweb.core import clock
from memoryweb.core.actor import system
from memoryweb.core.guard import RULES_VERSION, Finding
from memoryweb.core.models import QuarantineItem, Rereading
from memoryweb.core.rereading import Source, Stored, plan, settled

SLICE = 0.8  # seconds of reading before the other chores have their turn
AT_ONCE = 20
RULES = system("rules")


def _judged_by_others() -> QuerySet[QuarantineItem]:
    """What waits because of what other rules said of it."""
    waiting = QuarantineItem.objects.filter(state=QuarantineItem.State.WAITING)
    return waiting.exclude(rules_version=RULES_VERSION)


def _items_after(position: str) -> list[Stored]:
    rows = _judged_by_others().filter(pk__gt=int(position or 0)).order_by("pk")[:AT_ONCE]
    return [
        Stored(str(item.pk), str(item.pk), item.text, partial(review.inspect, item, item.text))
        for item in rows
    ]


def _settle_item(tx: clock.Writing, stored: Stored, findings: Sequence[Finding]) -> bool:
    """Tell the curator what the present rules say of a text that waits."""
    item = _judged_by_others().filter(pk=int(stored.document))
    if findings:
        shown = [finding.as_json() for finding in findings]
        item.update(findings=shown, rules_version=RULES_VERSION, cleared_by="")
    else:
        item.update(cleared_by=RULES_VERSION)
    return True


ITEMS = Source("quarantine", lambda: _judged_by_others().count(), _items_after, _settle_item)
SOURCES = {
    source.name: source
    for source in (of_pages.SOURCE, of_episodes.SOURCE, of_memories.SOURCE, ITEMS)
}


def step(seconds: float = SLICE) -> bool:
    """Read on for so long, and note it; whether there is more to read."""
    until = time.monotonic() + seconds
    reading = _begun()
    while reading.finished_at is None and time.monotonic() < until:
        _read_on(reading, until)
        reading.refresh_from_db()
    return reading.finished_at is None


def progress() -> Rereading | None:
    """The reading that is under way, None when all texts were read by the present rules."""
    reading = Rereading.objects.first()
    if reading is None or (reading.finished_at and reading.rules_version == RULES_VERSION):
        return None
    return reading


def _begun() -> Rereading:
    """The reading by the present rules, begun if it was not."""
    reading = Rereading.objects.first()
    if reading is not None and reading.rules_version == RULES_VERSION:
        return reading
    total = sum(source.count() for source in SOURCES.values())
    begun = {
        "rules_version": RULES_VERSION,
        "collection": next(iter(SOURCES)),
        "position": "",
        "read": 0,
        "total": total,
        "held": 0,
        "started_at": timezone.now(),
        "finished_at": None,
    }
    with clock.writing(RULES) as tx:
        reading, _ = Rereading.objects.update_or_create(pk=1, defaults=begun)
        tx.audited("guard.reread_begin", "guard", rules_version=RULES_VERSION, texts=total)
    return reading


def _read_on(reading: Rereading, until: float) -> None:
    """Plan one slice, and apply it unless another worker did."""
    source = SOURCES[reading.collection]
    read = plan(source, reading.position, until)
    as_read = {"rules_version": RULES_VERSION, "position": reading.position}
    here = Rereading.objects.filter(pk=1, collection=reading.collection, **as_read)
    with clock.writing(RULES) as tx:
        if not here.exists():
            return
        if read.last:
            _go_on(tx, reading)
            return
        count = settled(tx, source, read.read)
        done = read.read[:count]
        held = 0 if source is ITEMS else sum(bool(findings) for _, findings in done)
        position = done[-1][0].position if done else reading.position
        here.update(position=position, read=F("read") + count, held=F("held") + held)


def _go_on(tx: clock.Writing, reading: Rereading) -> None:
    """To the next collection, or to the end."""
    names = list(SOURCES)
    later = names[names.index(reading.collection) + 1 :]
    if later:
        Rereading.objects.filter(pk=1).update(collection=later[0], position="")
        return
    Rereading.objects.filter(pk=1).update(finished_at=timezone.now())
    facts = {"rules_version": RULES_VERSION, "texts": reading.read, "held": reading.held}
    tx.audited("guard.reread", "guard", **facts)
