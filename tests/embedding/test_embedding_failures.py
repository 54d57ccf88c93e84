"""What the worker could not embed by itself: kept, shown with its cause, tried again, forgotten."""

import html
import threading
from datetime import timedelta

import pytest
from django.utils import timezone

from bank import renaming, services
from bank.models import Kind
from episodes import deletion, session_deletion
from episodes.models import EpisodeVector, MemoryVector
from memoryweb.core.actor import system
from search import failures, runs, switching
from search.embedding import configured
from search.models import EmbeddingFailure, Run
from search.working import Follower
from tests.embedding import double as doubles
from tests.embedding.double import refuse_long_texts, vector_of

LONG = "x" * 2000


class Followed:
    """A follower of a process of its own, and a clock that the test moves."""

    def __init__(self) -> None:
        self.now = timezone.now()
        self.restart()

    def restart(self) -> None:
        """As if the process had ended: only what is in the database stays."""
        self.follower = Follower(threading.Event(), lambda: self.now)
        self.follower._alone = lambda: True

    def __call__(self, after: timedelta = timedelta()) -> None:
        self.now += after
        for _ in range(20):
            if not self.follower.step():
                return
        raise AssertionError("it never rests")


@pytest.fixture
def follow(settings, home, transactional_db) -> Followed:
    settings.MEMORYWEB_EMBEDDING_AUTO = True
    return Followed()


def well(handler, body):
    return False


def read(client, path):
    return " ".join(html.unescape(client.get(path).content.decode()).split())


def kept():
    return list(EmbeddingFailure.objects.values_list("attempts", flat=True))


def failing(api, collection):
    return api("read").get(f"/search/coverage/{collection}?vector=failed").json()["items"]


def test_each_collection_lists_what_failed_with_its_cause_and_one_click_repairs_just_these(
    follow, episode, memory, provider, api, signed_in, curator, work, settings
):
    episode("good", "good")
    episode("long", LONG)
    memory("m1", LONG)
    services.save(system(), Kind.ENTITY, "canal", f"# Canal\n\n{LONG}\n")
    provider.behave = refuse_long_texts
    follow()
    desk = signed_in(curator)
    shown = read(desk, "/coverage/")
    for collection, id in (
        ("episodes", "long"),
        ("memories", "m1"),
        ("pages", "entity/canal"),
    ):
        [one] = failing(api, collection)
        assert (one["id"], one["state"], one["run"], one["attempts"]) == (id, "missing", None, 1)
        assert "413" in one["cause"]
        assert one["again_at"]
        assert f'href="/coverage/{collection}/?vector=failed">1</a>' in shown
        listed = read(desk, f"/coverage/{collection}/?vector=failed")
        assert "(413)" in listed
        assert "the worker by itself" in listed
        assert "Try these again" in listed
    provider.behave = well
    episode("later", "later")
    settings.MEMORYWEB_EMBEDDING_AUTO = False
    desk.post("/runs/start/", {"collection": "episodes", "state": "failed"})
    work()
    assert set(EpisodeVector.objects.values_list("episode", flat=True)) == {"good", "long"}
    assert failing(api, "episodes") == []
    assert EmbeddingFailure.objects.count() == 2


def test_a_failure_outlasts_its_process_and_rests_longer_each_time(
    follow, episode, provider, settings
):
    episode("good", "good")
    episode("long", "too long")
    provider.behave = lambda handler, asked: (
        "too long" in asked["input"] and doubles.sends({}, 413)(handler, asked)
    )
    follow()
    assert list(EpisodeVector.objects.values_list("episode", flat=True)) == ["good"]
    assert kept() == [1]
    asked = len(provider.asked)
    follow.restart()
    follow()
    assert len(provider.asked) == asked
    first, _ = failures.TEXT_RESTS
    follow(first)
    assert kept() == [2]
    follow(first)
    assert kept() == [2]
    provider.behave = well
    follow(first)
    assert EpisodeVector.objects.filter(episode="long").exists()
    assert kept() == []


def test_a_provider_that_is_down_rests_as_a_whole_and_its_failures_do_not_grow(
    follow, episode, provider
):
    for number in range(40):
        episode(f"e{number:02}", f"text {number}")
    provider.behave = doubles.sends({}, 500)
    follow()
    assert kept() == [1] * 16
    asked = len(provider.asked)
    follow.restart()
    follow(timedelta(seconds=20))
    assert len(provider.asked) == asked
    follow(timedelta(seconds=20))
    assert kept() == [2] * 16
    provider.behave = well
    follow(timedelta(seconds=60))
    assert EpisodeVector.objects.count() == 40
    assert kept() == []


def test_what_failed_while_the_clock_was_ahead_does_not_rest_until_then(follow, episode, provider):
    episode("e1", "text")
    provider.behave = doubles.sends({}, 500)
    follow(timedelta(days=365))
    assert kept() == [1]
    provider.behave = well
    follow(timedelta(days=-365))
    assert (EpisodeVector.objects.count(), kept()) == (1, [])


def test_no_rest_is_longer_than_its_bound_but_one_that_the_provider_asks_for():
    assert failures._rest(1, True, 0.0) == timedelta(seconds=30)
    assert failures._rest(30, True, 0.0) == timedelta(minutes=10)
    assert failures._rest(30, False, 0.0) == timedelta(hours=6)
    assert failures._rest(1, True, 90.0) == timedelta(seconds=90)
    assert failures._rest(1, True, 1e9) == timedelta(hours=1)


def test_beyond_a_bound_no_further_text_is_tried_until_some_pass(
    follow, episode, provider, monkeypatch
):
    monkeypatch.setattr(failures, "MOST_KEPT", 2)
    provider.behave = refuse_long_texts
    for name in ("a", "b"):
        episode(name, LONG)
    follow()
    episode("c", "short")
    follow()
    assert not EpisodeVector.objects.exists()
    provider.behave = well
    follow(failures.TEXT_RESTS[0])
    assert EpisodeVector.objects.count() == 3
    assert kept() == []


def test_a_failure_goes_with_its_document_and_counts_for_the_text_that_failed_alone(
    follow, episode, memory, provider, api
):
    provider.behave = refuse_long_texts
    for name in ("edited", "deleted"):
        episode(name, LONG)
    memory("m1", LONG)
    services.save(system(), Kind.ENTITY, "canal", f"# Canal\n\n{LONG}\n")
    follow()
    assert len(kept()) == 4
    deletion.delete_many(system(), ids=["deleted"])
    session_deletion.delete_memories(system(), ["m1"])
    renaming.rename(system(), "canal", "lock")
    [one] = failing(api, "pages")
    assert one["id"] == "entity/lock"
    assert EmbeddingFailure.objects.filter(memory__isnull=False).count() == 0
    episode("edited", "short")
    assert failing(api, "episodes") == []
    follow()
    assert EpisodeVector.objects.filter(episode="edited").exists()
    assert not EmbeddingFailure.objects.filter(episode__isnull=False).exists()


def test_what_a_run_failed_at_is_tried_again_by_the_worker_itself_when_it_has_rested(
    follow, episode, provider, work
):
    episode("long", LONG)
    provider.behave = refuse_long_texts
    runs.start_reindex(system(), runs.Request())
    work()
    [failure] = EmbeddingFailure.objects.all()
    assert failure.run == Run.objects.get()
    provider.behave = well
    follow()
    assert not EpisodeVector.objects.exists()
    follow(failures.TEXT_RESTS[0] + timedelta(minutes=1))
    assert EpisodeVector.objects.exists()


def test_another_provider_is_asked_at_once_for_what_the_one_before_failed_at(
    follow, memory, double, administrator, settings
):
    settings.MEMORYWEB_EMBEDDING_ALLOW_PRIVATE = True
    memory("m1", "a memory")
    double.behave = doubles.sends({}, 500)
    actor = administrator.actor("page")
    configured.choose(actor, configured.checked(f"{double.url}/v1", "toy"))
    follow()
    assert kept() == [1]
    double.behave = well
    configured.choose(actor, configured.checked(f"{double.url}/v1/", "toy"))
    follow(timedelta(seconds=1))
    assert MemoryVector.objects.exists()
    assert kept() == []


def test_a_vector_of_another_width_is_a_failure_of_the_provider(follow, episode, provider, api):
    episode("has", "has", vector_of("has"))
    episode("bare", "bare")
    provider.width = 16
    follow()
    [one] = failing(api, "episodes")
    assert one["cause"] == "its vector has 16 numbers, not 8"
    assert EmbeddingFailure.objects.get().of_provider


def test_with_the_vectors_of_a_model_its_failures_are_removed(episode, provider, work):
    episode("has", "has", vector_of("has"))
    episode("long", LONG)
    provider.behave = refuse_long_texts
    runs.start_reindex(system(), runs.Request(model="newer"))
    work()
    assert kept() == [1]
    switching.remove(system(), "newer")
    assert kept() == []
