"""Deleting from a page: kept aside for some minutes, and brought back whole."""

from datetime import timedelta

import pytest
from django.utils import timezone

from episodes import deletion, queries, store
from episodes.models import DeletedEpisode, Episode, RefusedVector
from episodes.schemas import EpisodeFilter, EpisodePatch
from memoryweb.core import clock
from memoryweb.core.actor import system
from memoryweb.core.errors import Conflict, Forbidden, Invalid, NotFound
from memoryweb.core.models import QuarantineItem
from tests.episodes.builders import ATTACK, sent


def delete(*ids: str) -> deletion.Receipt:
    return deletion.delete_many(system("page"), ids=ids, undoable=True)


def shown(id: str) -> dict[str, object]:
    return queries.shown(queries.find(id)).model_dump()


def test_an_undo_brings_everything_back_times_and_vectors_included(remember):
    remember(vector=[0.1, -2.5], branch="main", key_decisions=["Sort"])
    before = shown("one")
    receipt = delete("one")
    assert (receipt.rows, receipt.vectors, receipt.verified) == (1, 1, True)
    assert not Episode.objects.exists()
    assert deletion.undo(system("page"), receipt.batch) == (["one"], [])
    assert shown("one") == before
    assert not DeletedEpisode.objects.exists()
    assert [c.op for c in clock.changes_since(0)][-2:] == ["delete", "put"]


def test_an_undo_brings_back_why_a_vector_was_refused(remember):
    remember(embedding=[0, 0], embedding_model="m")
    before, refused = shown("one"), list(RefusedVector.objects.values())
    receipt = delete("one")
    assert not RefusedVector.objects.exists()
    deletion.undo(system("page"), receipt.batch)
    assert shown("one") == before
    [back], [was] = list(RefusedVector.objects.values()), refused
    assert back | {"id": 0} == was | {"id": 0}


def test_an_undo_brings_back_all_that_were_deleted_together_and_only_those(remember):
    for id in ("one", "two", "three"):
        remember(id)
    receipt = delete("one", "two")
    delete("three")
    restored, _ = deletion.undo(system("page"), receipt.batch)
    assert sorted(restored) == ["one", "two"]
    assert set(Episode.objects.values_list("pk", flat=True)) == {"one", "two"}


def test_an_id_that_is_used_again_is_not_overwritten(remember):
    remember()
    receipt = delete("one")
    remember(summary="Another")
    with pytest.raises(Conflict):
        deletion.undo(system("page"), receipt.batch)
    assert Episode.objects.get().summary == "Another"


def test_the_others_come_back_when_one_id_is_used_again(remember):
    remember("one")
    remember("two")
    receipt = delete("one", "two")
    remember("one", summary="Another")
    assert deletion.undo(system("page"), receipt.batch) == (["two"], ["one"])
    assert DeletedEpisode.objects.get().episode_id == "one"


def test_quarantine_is_brought_back_with_its_episode(remember):
    remember(summary=ATTACK)
    receipt = delete("one")
    assert not QuarantineItem.objects.exists()
    deletion.undo(system("page"), receipt.batch)
    assert Episode.objects.get().quarantined is True
    assert QuarantineItem.objects.get().findings


def test_after_its_minutes_nothing_is_kept_and_nothing_comes_back(remember, settings):
    settings.MEMORYWEB_TRASH_MINUTES = 10
    remember()
    receipt = delete("one")
    assert deletion.purge() == 0
    DeletedEpisode.objects.update(deleted_at=timezone.now() - timedelta(minutes=10, seconds=1))
    with pytest.raises(NotFound):
        deletion.undo(system("page"), receipt.batch)
    assert deletion.purge() == 1
    assert not DeletedEpisode.objects.exists()


def test_an_unknown_undo_is_not_found(db):
    with pytest.raises(NotFound):
        deletion.undo(system("page"), "none")


def test_an_episode_that_matches_no_more_is_left_alone(remember, monkeypatch):
    """Between the choice and the transaction somebody else edits one of the chosen."""
    remember("one", outcome="failure")
    remember("two", outcome="failure")
    chosen = deletion._found

    def found_and_edited(ids, wanted):
        found = chosen(ids, wanted)
        store.edit(system(), "two", EpisodePatch(outcome="success"))
        return found

    monkeypatch.setattr(deletion, "_found", found_and_edited)
    receipt = deletion.delete_many(system(), wanted=EpisodeFilter(outcome="failure"))
    assert (receipt.rows, receipt.verified) == (1, True)
    assert Episode.objects.get().pk == "two"


def test_the_writer_itself_refuses_a_viewer_and_an_empty_filter(remember, viewer):
    remember()
    with pytest.raises(Forbidden):
        deletion.delete_many(viewer.actor(), ids=["one"])
    with pytest.raises(Invalid):
        deletion.delete_many(system(), wanted=EpisodeFilter())
    with pytest.raises(Forbidden):
        store.store(viewer.actor(), store.parse(sent()))
    assert Episode.objects.count() == 1
