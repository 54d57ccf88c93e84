"""A POST with an Idempotency-Key is done once, however often it is sent."""

import json
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
    for off in (timedelta(minutes=-11), timedelta(days=365)):  # Or the clock was ahead then.
        IdempotentAnswer.objects.update(status=None, created_at=timezone.now() + off)
        assert post(agent).status_code == 201


def test_an_answer_of_a_clock_that_was_ahead_is_still_given_again(api):
    agent = api()
    post(agent)
    IdempotentAnswer.objects.update(created_at=timezone.now() + timedelta(days=365))
    assert post(agent).headers["Idempotent-Replayed"] == "true"
    assert Episode.objects.count() == 1


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


# What is told of is forgotten with what was deleted, though the request changed nothing


def test_of_a_refusal_its_reason_is_kept_and_not_what_it_quoted(api):
    agent = api()
    post(agent, {**ROW, "id": "a"}, key="k0")
    refused = post(agent, {**ROW, "id": "a", "summary": "Another"}).json()
    assert refused["differs"] == ["summary"]
    again = post(agent, {**ROW, "id": "a", "summary": "Another"})
    assert again.headers["Content-Type"] == "application/problem+json"
    assert again.headers["Idempotent-Replayed"] == "true"
    assert again.json() == {
        "type": "about:blank",
        "title": "Conflict",
        "status": 409,
        "detail": f"{refused['detail']}; this was answered before, and more was said then; "
        "ask again with a new key",
    }


def test_an_answer_that_changed_nothing_goes_with_the_episode_it_told_of(api):
    agent = api()
    post(agent, {**ROW, "id": "a"}, key="k0")
    assert post(agent, {**ROW, "id": "a"}).json()["summary"] == "A walrus"
    deletion.delete(system(), "a")
    assert not IdempotentAnswer.objects.exclude(body=b"").exists()
    assert post(agent, {**ROW, "id": "a"}).status_code == 410


def test_an_answer_that_changed_nothing_goes_with_the_context_it_told_of(api):
    agent, context = api(), {"context_id": "c1", "name": "Walrus counting"}
    post(agent, context, key="k0", path="/sessions")
    assert post(agent, context, path="/sessions").json()["name"] == "Walrus counting"
    assert agent.delete("/sessions/c1").status_code == 200
    assert not IdempotentAnswer.objects.exclude(body=b"").exists()
    assert post(agent, context, path="/sessions").status_code == 410


def test_an_answer_that_comes_after_the_deletion_is_not_kept(api, monkeypatch):
    agent, keep = api(), idempotency.Claim.finish

    def late(claim, response, *told):
        deletion.delete(system(), json.loads(response.content)["id"])
        keep(claim, response, *told)

    monkeypatch.setattr(idempotency.Claim, "finish", late)
    assert post(agent).status_code == 201
    [kept] = IdempotentAnswer.objects.all()
    assert (bytes(kept.body), kept.headers, kept.forgotten) == (b"", {}, True)
    assert post(agent).status_code == 410


# Operations that are done once, and what their answers can hold the text of. One that tells of
# what it did not change has to say so with `clock.told`.
TELLS = {
    "restore_revision": "the page",
    "restore_memory_revision": "the page",
    "restore_note_revision": "the page",
    "append_note": "the page",
    "rename_entity": "the page",
    "memory_command": "the page",
    "store_episode": "the episode",
    "save_session": "the context",
    "approve": "the item",
    "edit": "the item",
    "reject": "the item",
    "store_batch": "",
    "store_vectors": "",
    "store_vector": "",
    "index_many": "",
    "delete_episodes": "",
    "lock_wiki_page": "the page",
    "unlock_wiki_page": "the page",
    "create_wiki": "the wiki",
    "restore_wiki": "the wiki",
    "upload_to_wiki": "",
    "reindex": "",
    "rebuild": "",
    "cancel": "",
}


def test_every_operation_that_is_done_once_is_known_to_say_what_it_tells_of():
    from memoryweb.api import api as whole
    from memoryweb.operations import writes

    done_once = {
        operation.view_func.__name__
        for router in whole._get_bound_routers()
        for path_view in router.path_operations.values()
        for operation in path_view.operations
        if "POST" in operation.methods and writes(operation)
    }
    assert done_once - set(TELLS) == set()
