"""What a dry run and the pages say of providers whose vectors do not fit, and what is done then."""

import html

import pytest

from episodes.models import EpisodeVector
from memoryweb.core.actor import system
from search import runs
from search.models import Run
from tests.embedding import double as doubles
from tests.embedding.double import vector_of


@pytest.fixture
def desk(signed_in, administrator):
    return signed_in(administrator)


def read(client, path, **posted):
    answer = client.post(path, posted) if posted else client.get(path)
    return " ".join(html.unescape(answer.content.decode()).split())


def dry(api):
    plan = api("write").post("/search/reindex", {"dry_run": True}).json()
    return plan["model"], plan["count"]


def test_a_provider_of_another_width_is_told_on_its_page_and_changes_nothing(
    desk, api, episode, provider, work
):
    episode("has", "has", vector_of("has"))
    episode("bare", "bare")
    provider.width = 16
    assert "Its vectors have another width than the stored ones." in read(
        desk, "/settings/provider/", do="test"
    )
    assert dry(api) == (
        "toy",
        1,
    )  # It asks no provider: it counts what lacks a vector 8 numbers wide.
    run = runs.start_reindex(system(), runs.Request())
    work()
    run.refresh_from_db()
    assert run.state == "failed"
    assert "have 16 numbers, and those in use have 8; nothing was changed" in run.message
    assert "It was stopped.</strong> The provider's vectors of toy have 16" in read(
        desk, run.get_absolute_url()
    )
    assert list(EpisodeVector.objects.values_list("episode", "dimension")) == [("has", 8)]


def test_a_provider_of_zero_vectors_is_told_and_stores_none(desk, api, episode, provider, work):
    episode("bare", "bare")
    zero = {"embedding": [0.0] * 8}
    provider.behave = doubles.changes(
        lambda good: {**good, "data": [{**item, **zero} for item in good["data"]]}
    )
    text = read(desk, "/settings/provider/", do="test")
    assert "The test failed." in text
    assert "no direction" in text
    assert dry(api) == ("toy", 1)
    run = runs.start_reindex(system(), runs.Request())
    work()
    run.refresh_from_db()
    assert run.state == "failed"
    assert "no direction" in run.message
    assert not EpisodeVector.objects.exists()


@pytest.fixture
def moved_on(episode, provider, settings):
    """Two vectors by `toy`, and a provider that is set to a newer model of the same width."""
    episode("has", "has", vector_of("has"))
    episode("odd", "odd", vector_of("odd"), "elder")
    settings.MEMORYWEB_EMBEDDING_MODEL = "newer"


def test_another_model_of_the_same_width_is_noticed_and_nothing_is_mixed(desk, api, moved_on, work):
    text = read(desk, "/coverage/")
    assert 'The provider is set to <span class="id">newer</span>, and searches compare' in text
    assert 'href="/episodes/?vector=other_model">1</a>' in text
    assert "another model" in read(desk, "/settings/provider/")
    assert dry(api) == ("newer", 2)  # By `newer` there is no vector at all yet.
    runs.start_reindex(system(), runs.Request())
    work()
    counted = api("read").get("/search/coverage").json()["collections"]["episodes"]
    assert (counted["model"], counted["vectorized"], counted["other_model"]) == ("toy", 1, 1)
    models = EpisodeVector.objects.order_by("model", "episode").values_list("model", "episode")
    assert list(models) == [("elder", "odd"), ("newer", "has"), ("newer", "odd"), ("toy", "has")]


def test_a_repair_is_of_the_model_that_searches_compare_whatever_the_provider_is_set_to(
    desk, api, moved_on, provider, work
):
    desk.post("/runs/start/", {"collection": "episodes", "state": "other_model"})
    work()
    run = Run.objects.get()
    assert (run.model, run.done, run.total) == ("toy", 1, 1)
    assert provider.asked[-1]["model"] == "toy"
    counted = api("read").get("/search/coverage").json()["collections"]["episodes"]
    assert (counted["vectorized"], counted["other_model"]) == (2, 0)
