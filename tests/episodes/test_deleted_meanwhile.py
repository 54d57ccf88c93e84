"""Somebody deletes an episode just after it was written: the writer is told what it wrote."""

import pytest

from episodes import deletion, store
from episodes.models import Episode
from memoryweb.core import clock
from memoryweb.core.actor import system

ROW = {"id": "a", "agent_id": "me", "working_dir": "/srv", "outcome": "success", "summary": "One"}


@pytest.fixture
def deleted_at_once(transactional_db, monkeypatch):
    """Each write is followed at once by somebody else's deletion."""
    committed = clock.Writing._committed

    def then_deleted(tx: clock.Writing) -> None:
        committed(tx)
        if tx.actor.name == "test write":
            deletion.delete(system(), "a")

    monkeypatch.setattr(clock.Writing, "_committed", then_deleted)


def test_a_new_episode_is_answered_as_it_was_stored(api, deleted_at_once):
    answer = api().post("/episodes", ROW)
    assert (answer.status_code, answer.json()["summary"]) == (201, "One")
    assert not Episode.objects.exists()


def test_a_replaced_episode_is_answered_as_it_was_replaced(api, deleted_at_once):
    store.store(system(), store.parse(ROW))
    answer = api().post("/episodes?replace=true", {**ROW, "summary": "Two"})
    assert (answer.status_code, answer.json()["summary"]) == (200, "Two")


def test_an_edited_episode_is_answered_as_it_was_edited(api, deleted_at_once):
    store.store(system(), store.parse(ROW))
    answer = api().patch("/episodes/a", {"summary": "Three"})
    assert (answer.status_code, answer.json()["summary"]) == (200, "Three")


def test_an_unchanged_episode_that_goes_before_it_is_read_is_stored_anew(
    api, transactional_db, monkeypatch
):
    store.store(system(), store.parse(ROW))
    current, deleted = clock.current_seq, []

    def first_deleted() -> int:
        if not deleted:
            deleted.append("a")
            deletion.delete(system(), "a")
        return current()

    monkeypatch.setattr(store.clock, "current_seq", first_deleted)
    answer = api().post("/episodes", ROW)
    assert answer.status_code == 201
    assert Episode.objects.count() == 1
