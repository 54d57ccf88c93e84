"""The texts of pages and notes, for the guard to read again when its rules changed.

An archived page is read too: one that was caught waits for a decision when it is restored.
"""

from collections.abc import Sequence
from functools import partial

from bank import publishing, queries, record
from bank.models import Kind, Page
from bank.texts import Text
from memoryweb.core import clock
from memoryweb.core.guard import Finding
from memoryweb.core.rereading import Source, Stored

AT_ONCE = 20


def _count() -> int:
    return Page.objects.filter(quarantined=False).count()


def _after(position: str) -> list[Stored]:
    rows = Page.objects.filter(quarantined=False, pk__gt=int(position or 0)).order_by("pk")
    return [_stored(page) for page in rows[:AT_ONCE]]


def _stored(page: Page) -> Stored:
    inspect = partial(publishing.inspect, Text(Kind(page.kind), page.name, page.content))
    return Stored(str(page.pk), page.document, page.content, inspect)


def _settle(tx: clock.Writing, stored: Stored, findings: Sequence[Finding]) -> bool:
    """Hold the page back if it still says what was read."""
    if not findings:
        return True
    page = Page.objects.filter(pk=int(stored.position), quarantined=False).first()
    if page is None:  # Erased, or held back by another.
        return True
    if (page.document, page.content) != (stored.document, stored.text):
        return False
    record.hold_back(tx, page, findings)
    return True


SOURCE = Source(queries.COLLECTION, _count, _after, _settle)
