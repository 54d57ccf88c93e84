"""/api/v1/search/reindex, /search/rebuild and /runs: long work begun, seen and cancelled."""

from datetime import timedelta

import numpy as np
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from episodes.models import EpisodeVector, MemoryVector
from memoryweb.core.actor import system
from memoryweb.core.models import AuditEntry
from memoryweb.core.vectors import decode_blob
from search import runs
from search.models import Run, RunHold
from tests.embedding import double as doubles
from tests.embedding.double import refuse_long_texts, vector_of

SHAPE = {
    "id",
    "kind",
    "state",
    "done",
    "total",
    "failed",
    "rate",
    "eta_s",
    "errors",
    "coverage_before",
    "coverage_after",
    "created_at",
    "finished_at",
}


def start(api, status=202, **body):
    answer = api("write").post("/search/reindex", body or None)
    assert answer.status_code == status, answer.content
    return answer.json()


def run_of(api, number):
    return api("read").get(f"/runs/{number}").json()


def test_without_a_provider_the_503_says_how_to_configure_one(api, transactional_db):
    detail = start(api, 503)["detail"]
    assert "provider" in detail
    assert "MEMORYWEB_EMBEDDING_URL" in detail
    assert not Run.objects.exists()


def test_a_state_named_a_thousand_times_is_looked_for_once(api, episode, provider):
    episode("e", "text")
    states = ["missing", "stale"] * 500
    with CaptureQueriesContext(connection) as asked:
        assert start(api, 200, dry_run=True, states=states)["count"] == 1
    assert max(len(one["sql"]) for one in asked.captured_queries) < 20_000
    assert Run.objects.get(pk=start(api, states=states)["id"]).states == ["missing", "stale"]


def test_a_dry_run_counts_and_shows_the_first_ten_and_changes_nothing(api, episode, memory):
    for number in range(12):
        episode(f"e{number:02}", f"text {number}")
    episode("has", "has one", vector_of("has one"))
    episode("blank", "  \n")
    memory("m1", "a memory")
    plan = start(api, 200, dry_run=True)
    assert plan["count"] == 13
    assert [one["id"] for one in plan["sample"]] == [f"e{number:02}" for number in range(10)]
    assert plan["sample"][3] == {"collection": "episodes", "id": "e03", "text": "text 3"}
    assert start(api, 200, dry_run=True, collections=["memories"])["count"] == 1
    assert not Run.objects.exists()


def test_a_run_embeds_all_that_lacks_a_current_vector_and_nothing_else(
    api, episode, memory, provider, work
):
    for number in range(20):
        episode(f"e{number:02}", f"text {number}")
    episode("has", "has one", vector_of("has one"))
    episode("stale", "an older text", vector_of("an older text"))
    episode("stale", "a newer text")
    episode("wide", "wide", [1.0] * 16)
    episode("other", "other", vector_of("other"), model="older")
    episode("blank", "  \n")
    memory("m1", "a memory")
    run = start(api)
    assert set(run) == SHAPE
    assert (run["kind"], run["state"], run["done"], run["eta_s"]) == ("reindex", "queued", 0, None)
    work()
    run = run_of(api, run["id"])
    assert set(run) == SHAPE
    assert (run["state"], run["done"], run["total"], run["failed"]) == ("done", 24, 24, 0)
    assert run["errors"] == []
    assert run["coverage_before"]["episodes"] == {"total": 24, "vectorized": 1, "ratio": 1 / 24}
    assert run["coverage_after"]["episodes"] == {"total": 24, "vectorized": 24, "ratio": 1.0}
    assert run["coverage_after"]["memories"] == {"total": 1, "vectorized": 1, "ratio": 1.0}
    assert run["finished_at"]
    texts = [text for text in provider.texts if text != "memoryweb"]
    assert len(texts) == len(set(texts)) == 24
    assert {"has one", "an older text"}.isdisjoint(texts)
    assert max(len(body["input"]) for body in provider.asked) == 16
    for row in EpisodeVector.objects.filter(model="toy").select_related("episode"):
        expected = np.array(vector_of(row.episode.summary), np.float32)
        assert np.allclose(decode_blob(bytes(row.vector)), expected)
        assert row.text_sha == row.episode.summary_sha
    assert MemoryVector.objects.get().memory_id == "m1"
    states = api("read").get("/search/coverage").json()["collections"]["episodes"]
    assert (states["vectorized"], states["missing"], states["other_model"]) == (24, 1, 0)


def test_what_was_embedded_is_found_by_meaning_at_once(api, episode, provider, work):
    episode("quay", "the crane at the quay")
    start(api)
    work()
    answer = api("read").post("/search", {"query": "the crane at the quay"}).json()
    assert answer["mode"] == "hybrid"
    assert round(answer["results"][0]["vector"], 5) == 1.0


def test_a_second_run_of_a_collection_is_refused_while_the_first_is_there(api, episode, provider):
    episode("e1", "text")
    first = start(api, collections=["episodes"])
    refused = start(api, 409)
    assert refused["run"] == first["id"]
    assert start(api, collections=["memories"])["state"] == "queued"


def test_only_the_named_states_are_looked_after(api, episode, provider, work):
    episode("bare", "bare")
    episode("has", "has", vector_of("has"))
    episode("wide", "wide", [1.0] * 16)
    run = start(api, states=["wrong_width"])
    work()
    assert run_of(api, run["id"])["done"] == 1
    assert [text for text in provider.texts if text != "memoryweb"] == ["wide"]


def test_texts_that_cannot_be_embedded_are_counted_named_and_tried_again_on_request(
    api, episode, provider, work
):
    for number in range(20):
        episode(f"e{number:02}", f"text {number}")
    episode("long", "x" * 5000)
    provider.behave = refuse_long_texts
    run = start(api)
    work()
    run = run_of(api, run["id"])
    assert (run["state"], run["done"], run["failed"]) == ("done", 20, 1)
    [error] = run["errors"]
    assert error["id"] == "long"
    assert "(413)" in error["reason"]
    provider.behave = lambda handler, body: False
    again = runs.retry(system(), run["id"])
    work()
    again = run_of(api, again.pk)
    assert (again["total"], again["done"]) == (1, 1)


def test_a_provider_that_fails_now_and_then_costs_nothing(api, episode, provider, work):
    for number in range(40):
        episode(f"e{number:02}", f"text {number}")
    calls = [0]

    def every_second(handler, body):
        calls[0] += 1
        if calls[0] % 2:
            handler.answer({}, 503)
            return True
        return False

    provider.behave = every_second
    run = start(api)
    work()
    run = run_of(api, run["id"])
    assert (run["state"], run["done"], run["failed"]) == ("done", 40, 0)


@pytest.mark.parametrize(
    ("behave", "words"),
    [
        (doubles.sends({}, 500), "failed (500)"),
        (doubles.sends({}, 401), "does not accept the key"),
        (doubles.sends(b"<html>"), "web page"),
        (doubles.hangs_up, "cannot be reached"),
    ],
)
def test_a_provider_that_is_down_ends_the_run_with_its_reason(
    api, episode, provider, work, behave, words
):
    episode("e1", "text")
    provider.behave = behave
    run = start(api)
    work()
    ended = run_of(api, run["id"])
    [error] = ended["errors"]
    assert (ended["state"], ended["failed"], error["id"]) == ("failed", 0, "")
    assert words in error["reason"]
    assert not EpisodeVector.objects.exists()
    provider.behave = lambda handler, body: False
    start(api)
    work()
    assert EpisodeVector.objects.count() == 1


def test_a_provider_that_goes_down_midway_leaves_the_rest_for_the_next_run(
    api, episode, provider, work
):
    for number in range(100):
        episode(f"e{number:03}", f"text {number}")

    def after_two(handler, body):
        if len(handler.server.asked) > 3:  # The probe is one.
            handler.answer({}, 500)
            return True
        return False

    provider.behave = after_two
    run = start(api)
    work()
    run = run_of(api, run["id"])
    assert (run["state"], run["done"], run["failed"], run["total"]) == ("failed", 32, 48, 100)
    assert [error["id"] for error in run["errors"]][:2] == ["", "e032"]
    assert run["coverage_after"]["episodes"]["vectorized"] == 32
    provider.behave = lambda handler, body: False
    run = start(api)
    work()
    run = run_of(api, run["id"])
    assert (run["state"], run["done"], run["total"]) == ("done", 68, 68)


def test_vectors_of_another_width_than_the_active_models_are_never_stored(
    api, episode, provider, work
):
    episode("has", "has", vector_of("has"))
    episode("bare", "bare")
    provider.width = 16
    run = start(api)
    work()
    assert run_of(api, run["id"])["state"] == "failed"
    assert "have 16 numbers, and those in use have 8" in Run.objects.get().message
    assert EpisodeVector.objects.count() == 1


def test_a_provider_whose_width_changes_in_the_middle_ends_the_run_and_leaves_the_rest(
    api, episode, provider, work
):
    for number in range(100):
        episode(f"e{number:03}", f"text {number}")

    def grow(handler, body):
        if "text 16" in body["input"]:
            provider.width = 16
        return False

    provider.behave = grow
    run = start(api)
    work()
    run = run_of(api, run["id"])
    assert (run["state"], run["done"], run["failed"]) == ("failed", 16, 48)
    assert "its vector has 16 numbers, not 8. What is left" in run["errors"][0]["reason"]
    assert EpisodeVector.objects.count() == 16


def test_another_model_fills_beside_the_active_one(api, episode, provider, work):
    for name in ("a", "b"):
        episode(name, name, vector_of(name))
    start(api, 202, model="newer")
    work()
    assert EpisodeVector.objects.filter(model="newer").count() == 2
    assert EpisodeVector.objects.filter(model="toy").count() == 2
    states = api("read").get("/search/coverage").json()["collections"]["episodes"]
    assert (states["model"], states["vectorized"]) == ("toy", 2)


def test_a_queued_run_can_be_cancelled_once(api, episode, provider, work):
    episode("e1", "text")
    run = start(api)
    answer = api("write").post(f"/runs/{run['id']}/cancel", {})
    assert answer.status_code == 200
    assert (answer.json()["state"], set(answer.json())) == ("cancelled", SHAPE)
    assert api("write").post(f"/runs/{run['id']}/cancel", {}).status_code == 409
    work()
    assert provider.asked == []
    assert not RunHold.objects.exists()


def test_a_running_one_stores_nothing_more_once_it_is_cancelled(api, episode, provider, work):
    for number in range(64):
        episode(f"e{number:02}", f"text {number}")

    def cancel_in_the_third(handler, body):
        if len(handler.server.asked) == 3:
            runs.cancel(system(), Run.objects.get().pk)
        return False

    provider.behave = cancel_in_the_third
    run = start(api)
    work()
    run = run_of(api, run["id"])
    assert (run["state"], run["done"]) == ("cancelled", 16)
    assert EpisodeVector.objects.count() == 16
    assert run["coverage_after"]["episodes"]["vectorized"] == 16
    assert start(api)["state"] == "queued"


def test_a_text_that_changes_while_it_is_embedded_is_not_taken_for_done(
    api, episode, provider, work
):
    episode("e1", "before")
    episode("gone", "gone")

    def change_it(handler, body):
        if "before" in body["input"]:
            episode("e1", "after")
            api("write").delete("/episodes/gone")
        return False

    provider.behave = change_it
    run = start(api)
    work()
    run = run_of(api, run["id"])
    assert (run["done"], run["failed"]) == (1, 1)
    assert run["errors"][0]["id"] == "e1"
    assert "changed meanwhile" in run["errors"][0]["reason"]
    assert not EpisodeVector.objects.exists()


def test_a_run_whose_worker_was_killed_is_gone_on_with_and_nothing_is_done_twice(
    api, episode, provider, work
):
    for number in range(64):
        episode(f"e{number:02}", f"text {number}")

    class Killed(BaseException):
        pass

    def die(run):
        if run.done == 32:
            raise Killed

    from threading import Event

    from search.running import work as work_on

    start(api)
    run = runs.claim("first")
    with pytest.raises(Killed):
        work_on(run, "first", Event(), die)
    assert runs.claim("second") is None  # Its lease has not ended.
    Run.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    work()
    run = run_of(api, run.pk)
    assert (run["state"], run["done"], run["total"]) == ("done", 64, 64)
    assert run["coverage_before"]["episodes"]["vectorized"] == 0
    texts = [text for text in provider.texts if text != "memoryweb"]
    assert sorted(texts) == sorted(set(texts))


def test_a_lease_of_a_clock_that_was_ahead_holds_no_more(api, episode, provider):
    episode("e1", "text")
    start(api)
    runs.claim("first")
    Run.objects.update(lease_until=timezone.now() + timedelta(days=365))
    assert runs.claim("second").owner == "second"


def test_of_two_that_want_a_run_one_gets_it(api, episode, provider):
    episode("e1", "text")
    start(api)
    assert runs.claim("first") is not None
    assert runs.claim("second") is None


def test_whoever_lost_the_lease_stores_nothing(api, episode, provider, work):
    for number in range(32):
        episode(f"e{number:02}", f"text {number}")

    def taken_over(handler, body):
        if len(handler.server.asked) == 2:
            Run.objects.update(owner="somebody else")
        return False

    provider.behave = taken_over
    start(api)
    work()
    run = Run.objects.get()
    assert (run.state, run.done, run.owner) == ("running", 0, "somebody else")
    assert not EpisodeVector.objects.exists()


def test_the_list_is_newest_first_and_says_how_many_there_are(api, episode, provider, work):
    for _ in range(3):
        start(api)
        work()
    answer = api("read").get("/runs?limit=2").json()
    numbers = [run["id"] for run in answer["items"]]
    assert numbers == sorted(numbers, reverse=True)
    assert answer["total"] == 3
    assert answer["next_cursor"]
    assert all(set(run) == SHAPE for run in answer["items"])


def test_a_run_that_is_not_there_is_404(api, db):
    assert api("read").get("/runs/999").status_code == 404
    assert api("write").post("/runs/999/cancel", {}).status_code == 404


def test_who_began_and_how_it_ended_is_in_the_audit(api, episode, provider, work):
    episode("e1", "text")
    start(api)
    work()
    entries = {entry.action: entry for entry in AuditEntry.objects.all()}
    assert entries["run.reindex"].actor == "token test write"
    assert entries["run.done"].facts == {"done": 1, "failed": 0, "total": 1}


@pytest.mark.parametrize(
    "body", [{"collections": []}, {"collections": ["wikis"]}, {"states": ["odd"]}, {"all": True}]
)
def test_what_is_no_request_is_refused(api, transactional_db, provider, body):
    start(api, 422, **body)


def test_a_rebuild_builds_aside_and_the_old_index_answers_until_it_is_there(
    api, episode, work, monkeypatch
):
    from search.live import live

    episode("quay", "the crane at the quay")
    search = {"query": "crane"}
    assert api("read").post("/search", search).json()["results"]
    before = live.view().indexes
    answer = api("write").post("/search/rebuild", {})
    assert answer.status_code == 202, answer.content
    assert api("write").post("/search/rebuild", {}).status_code == 409
    work()
    run = run_of(api, answer.json()["id"])
    assert (run["kind"], run["state"], run["done"], run["total"]) == ("rebuild", "done", 1, 1)
    answer = api("read").post("/search", search).json()
    assert (answer["mode"], answer["reasons"]) == ("bm25", ["no_query_vector"])
    live._builder.join()
    assert live.view().indexes is not before
    assert api("read").post("/search", search).json()["results"][0]["id"] == "quay"


def test_new_and_changed_text_is_embedded_by_itself_when_that_is_wanted(
    episode, memory, provider, settings, work, home
):
    episode("e1", "first")
    work()
    assert provider.asked == []
    settings.MEMORYWEB_EMBEDDING_AUTO = True
    work()
    assert provider.texts == ["first"]
    episode("e1", "changed")
    memory("m1", "a memory")
    work()
    assert sorted(provider.texts) == ["a memory", "changed", "first"]
    assert EpisodeVector.objects.get().text_sha
    work()
    assert len(provider.asked) == 3
    assert not Run.objects.exists()
