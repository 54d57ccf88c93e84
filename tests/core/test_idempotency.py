"""A POST with an Idempotency-Key is done once, however often it is sent."""

import threading
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from episodes import deletion, store
from episodes.models import Episode
from memoryweb.core import idempotency
from memoryweb.core.actor import system
from memoryweb.core.models import AnsweredDocument, IdempotentAnswer

pytestmark = pytest.mark.django_db
ROW = {"agent_id": "me", "working_dir": "/srv", "outcome": "success", "summary": "A walrus"}


def post(agent, body=ROW, key="k1", path="/episodes"):
    return agent.post(path, body, headers={"Idempotency-Key": key})


def test_the_same_request_is_done_once_and_answered_the_same(api):
    agent = api()
    first, again = post(agent), post(agent)
    assert (first.status_code, again.status_code) == (201, 201)
    assert again.json() == first.json()
    for header in ("ETag", "X-Change-Seq", "Content-Type"):
        assert again.headers[header] == first.headers[header]
    assert again.headers["Idempotent-Replayed"] == "true"
    assert "Idempotent-Replayed" not in first.headers
    assert Episode.objects.count() == 1


def test_without_a_key_each_request_counts(api):
    agent = api()
    agent.post("/episodes", ROW)
    agent.post("/episodes", ROW)
    assert Episode.objects.count() == 2


@pytest.mark.parametrize(
    ("body", "path"),
    [({**ROW, "summary": "A seal"}, "/episodes"), (ROW, "/episodes?replace=true")],
)
def test_a_key_that_came_with_another_request_is_refused(api, body, path):
    agent = api()
    post(agent)
    assert post(agent, body, path=path).status_code == 422
    assert Episode.objects.count() == 1


def test_each_token_has_keys_of_its_own(api):
    assert post(api()).json()["id"] != post(api()).json()["id"]


@pytest.mark.parametrize("key", ["", "x" * 201, "a\x7fb"])
def test_a_key_that_is_none_is_refused(api, key):
    assert post(api(), key=key).status_code == 422
    assert not Episode.objects.exists()


def test_what_the_rules_refuse_takes_no_key(api):
    agent = api()
    assert post(agent, {**ROW, "outcome": "odd"}).status_code == 422
    assert post(agent).status_code == 201


def test_a_refusal_by_the_writer_is_answered_again_though_it_would_pass_now(api):
    agent = api()
    post(agent, {**ROW, "id": "a"}, key="k0")
    refused = post(agent, {**ROW, "id": "a", "summary": "Another"})
    deletion.delete(system(), "a")
    again = post(agent, {**ROW, "id": "a", "summary": "Another"})
    assert (refused.status_code, again.status_code) == (409, 409)
    assert not Episode.objects.exists()


def test_a_failure_on_our_side_is_tried_again(api, monkeypatch):
    agent = api()

    def explode(*arguments, **options):
        raise RuntimeError

    with monkeypatch.context() as patch:
        patch.setattr(store, "store", explode)
        assert post(agent).status_code == 500
    assert not IdempotentAnswer.objects.exists()
    assert post(agent).status_code == 201


def test_no_answer_outlives_the_text_it_holds(api):
    agent = api()
    made = post(agent).json()["id"]
    deletion.delete(system(), made)
    [kept] = IdempotentAnswer.objects.all()
    assert bytes(kept.body) == b""
    again = post(agent)
    assert again.status_code == 410
    assert not Episode.objects.exists()


def test_after_a_day_the_key_is_free(api):
    agent = api()
    post(agent)
    IdempotentAnswer.objects.update(created_at=timezone.now() - timedelta(hours=25))
    assert "Idempotent-Replayed" not in post(agent).headers
    assert Episode.objects.count() == 2


def test_old_answers_are_pruned_with_what_they_name(api):
    agent = api()
    post(agent)
    post(agent, key="k2")
    first = IdempotentAnswer.objects.filter(key="k1")
    first.update(created_at=timezone.now() - timedelta(hours=25))
    assert idempotency.prune() == 1
    assert (IdempotentAnswer.objects.count(), AnsweredDocument.objects.count()) == (1, 1)


def test_a_request_whose_process_was_killed_frees_its_key_in_time(api):
    agent = api()
    post(agent)
    IdempotentAnswer.objects.update(status=None)
    running = post(agent)
    assert (running.status_code, running.headers["Retry-After"]) == (409, "1")
    IdempotentAnswer.objects.update(created_at=timezone.now() - timedelta(minutes=11))
    assert post(agent).status_code == 201


@pytest.mark.django_db(transaction=True)
def test_of_two_at_once_one_is_done(api):
    agent, answers = api(), []
    both = threading.Barrier(2)

    def send():
        both.wait(10)
        answers.append(post(agent).status_code)
        connection.close()

    senders = [threading.Thread(target=send) for _ in range(2)]
    for one in senders:
        one.start()
    for one in senders:
        one.join(30)
    assert sorted(answers) in ([201, 201], [201, 409])
    assert Episode.objects.count() == 1
