"""What a vector is worth: the annotation and the filter say the same of every episode."""

from collections.abc import Callable

import pytest

from episodes import queries, store, vectors
from episodes.models import Episode
from episodes.schemas import EpisodeFilter, EpisodePatch
from memoryweb.core.actor import system
from memoryweb.core.errors import Invalid

STATES = ("current", "missing", "stale", "wrong_width", "other_model", "zero")


@pytest.fixture
def one_of_each(remember: Callable[..., Episode]) -> dict[str, str]:
    """Episode id -> the state it must be in; the active model is "m" with width 2."""
    remember("current", vector=[1.0, 0.0])
    remember("missing")
    remember("stale", vector=[1.0, 0.0])
    store.edit(system(), "stale", EpisodePatch(summary="Another text"))
    remember("wrong_width", vector=[1.0, 0.0, 0.0])
    remember("wider_model", vector=[1.0, 0.0, 0.0], model="wide")
    remember("other_model", vector=[1.0, 0.0], model="other")
    remember("zero")
    with pytest.raises(Invalid):
        vectors.set_vector(system(), vectors.Sent("zero", [0.0, 0.0], model="m"))
    remember("broken")
    with pytest.raises(Invalid):
        vectors.set_vector(system(), vectors.Sent("broken", ["a"], model="m"))
    remember("both", vector=[1.0, 0.0])
    vectors.set_vector(system(), vectors.Sent("both", [1.0, 0.0, 0.0], model="wide"))
    return {
        "current": "current",
        "missing": "missing",
        "stale": "stale",
        "wrong_width": "wrong_width",
        "wider_model": "wrong_width",
        "other_model": "other_model",
        "zero": "zero",
        "broken": "missing",
        "both": "current",
    }


def test_each_episode_is_in_the_state_of_its_vector(one_of_each: dict[str, str]):
    rows = queries.with_vector_state(Episode.objects.all())
    assert {row.id: row.vector_state for row in rows} == one_of_each


@pytest.mark.parametrize("state", STATES)
def test_the_filter_finds_those_that_are_shown_in_the_state(one_of_each: dict[str, str], state):
    found = queries.matching(EpisodeFilter(vector=state)).values_list("pk", flat=True)
    assert set(found) == {id for id, of in one_of_each.items() if of == state}


def test_without_any_good_vector_there_are_two_states(remember):
    remember("none")
    remember("zero")
    with pytest.raises(Invalid):
        vectors.set_vector(system(), vectors.Sent("zero", [0.0]))
    found = {s: set(queries.matching(EpisodeFilter(vector=s))) for s in STATES}
    assert {s: {e.id for e in rows} for s, rows in found.items() if rows} == {
        "missing": {"none"},
        "zero": {"zero"},
    }


def test_only_current_vectors_of_served_episodes_are_compared(one_of_each: dict[str, str]):
    rows = queries.with_comparable_vector(queries.searchable()).exclude(comparable=None)
    compared = rows.values_list("pk", flat=True)
    assert sorted(compared) == ["both", "current"]
    Episode.objects.filter(pk="both").update(quarantined=True)
    assert list(compared.all()) == ["current"]


def test_a_vector_of_a_text_that_changed_meanwhile_is_stale_at_once(remember):
    old = remember().summary_sha
    store.edit(system(), "one", EpisodePatch(summary="Another text"))
    state, _ = vectors.set_vector(system(), vectors.Sent("one", [1.0], model="m", text_sha=old))
    assert state == "stale"
    assert queries.find("one").vector_state == "stale"
