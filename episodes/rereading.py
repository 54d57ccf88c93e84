"""The episodes that are served, for the guard to read again when its rules changed."""

from collections.abc import Sequence
from functools import partial

from episodes import queries
from episodes.models import Episode
from episodes.queries import COLLECTION
from episodes.texts import recalled_text
from memoryweb.core import clock, quarantine
from memoryweb.core.guard import Finding, scan
from memoryweb.core.rereading import Source, Stored

AT_ONCE = 50


def _after(position: str) -> list[Stored]:
    rows = Episode.objects.filter(quarantined=False, pk__gt=position).order_by("pk")[:AT_ONCE]
    return [_stored(episode) for episode in rows]


def _stored(episode: Episode) -> Stored:
    text = recalled_text(vars(episode))
    inspect = partial(scan, text, posture="recalled")
    return Stored(episode.pk, episode.pk, text, inspect)


def _settle(tx: clock.Writing, stored: Stored, findings: Sequence[Finding]) -> bool:
    """Hold the episode back if it is still the one that was read."""
    if not findings:
        return True
    episode = Episode.objects.filter(pk=stored.document, quarantined=False).first()
    if episode is None:  # Deleted, or held back by another.
        return True
    if recalled_text(vars(episode)) != stored.text:
        return False
    Episode.objects.filter(pk=episode.pk).update(quarantined=True)
    quarantine.hold(tx.actor, COLLECTION, episode.pk, stored.text, findings)
    tx.changed(COLLECTION, episode.pk)
    rules = sorted({finding.rule for finding in findings})
    tx.audited("episode.hold", f"episodes/{episode.pk}", rules=rules)
    return True


SOURCE = Source(COLLECTION, lambda: queries.searchable().count(), _after, _settle)
