from datetime import UTC, datetime

from memoryweb.core.guard import scan, scan_page
from memoryweb.demo import sample


def test_exactly_the_poisoned_episode_is_caught() -> None:
    rows = sample.episodes(datetime.now(UTC))
    caught = [row["id"] for row in rows if scan(row["summary"], posture="recalled")]
    assert caught == [sample.POISONED_EPISODE]


def test_the_poisoned_episode_shows_several_kinds_of_attack() -> None:
    summary = sample.embedded_texts()[sample.POISONED_EPISODE]
    kinds = {finding.kind for finding in scan(summary, posture="recalled")}
    assert {"instruction-override", "conceal-from-user"} <= kinds


def test_the_proposed_page_is_caught() -> None:
    proposal = sample.page_proposal()
    assert scan_page(proposal.name, proposal.content, "")


def test_nothing_else_that_agents_are_shown_is_caught() -> None:
    notes = [note.text for note in sample.notes()]
    decisions = [
        decision
        for row in sample.episodes(datetime.now(UTC))
        if row["id"] != sample.POISONED_EPISODE
        for decision in row["key_decisions"]
    ]
    for text in [sample.long_term(), *notes, *sample.session_texts(), *decisions]:
        assert scan(text) == [], text
    for name, content in sample.entities():
        assert scan_page(name, content, "") == [], name
