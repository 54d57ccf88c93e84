"""The pages of runs: a bar that moves, errors with another try, cancel, and repair by state."""

import re

import pytest

from bank import services
from bank.models import Kind
from memoryweb.core.actor import system
from search import runs
from search.models import Run
from search.reindex import CORPORA
from tests.embedding import double as doubles
from tests.embedding.double import refuse_long_texts, vector_of


@pytest.fixture
def desk(signed_in, curator):
    return signed_in(curator)


def read(client, path, **headers):
    answer = client.get(path, headers=headers)
    assert answer.status_code == 200
    return answer.content.decode()


def test_before_the_first_run_the_page_says_what_will_appear(desk, transactional_db):
    text = read(desk, "/runs/")
    assert "Nothing has run yet" in text
    assert "No embedding provider is configured" in text
    assert "every 2s" not in text


def test_a_run_is_begun_watched_and_its_page_survives_a_reload(desk, episode, provider, work):
    for number in range(20):
        episode(f"e{number:02}", f"text {number}")
    answer = desk.post("/runs/start/")
    run = Run.objects.get()
    assert answer["Location"] == f"/runs/{run.pk}/"
    text = read(desk, f"/runs/{run.pk}/")
    assert "waits for the worker" in text
    assert 'hx-trigger="every 1s"' in text
    assert '<noscript><meta http-equiv="refresh"' in text
    part = read(desk, f"/runs/{run.pk}/", **{"HX-Request": "true"})
    assert part.lstrip().startswith('<div id="run"')
    work()
    text = read(desk, f"/runs/{run.pk}/")
    assert "20 of 20" in text
    assert "0 % before, 100 % after" in text
    assert "every 1s" not in text
    assert "http-equiv" not in text
    assert "Vectors of episodes, memories, pages by toy" in read(desk, "/runs/")


def test_what_failed_is_listed_with_its_reason_and_can_be_tried_again(
    desk, episode, provider, work
):
    episode("good", "good")
    episode("long", "x" * 5000)
    provider.behave = refuse_long_texts
    desk.post("/runs/start/")
    work()
    first = Run.objects.get()
    text = read(desk, f"/runs/{first.pk}/")
    assert "does not take the text or the request (413)" in text
    assert "/episodes/long/" in text
    provider.behave = lambda handler, body: False
    desk.post(f"/runs/{first.pk}/retry/")
    work()
    again = Run.objects.latest("id")
    assert (again.state, again.done, again.total) == ("done", 1, 1)
    assert f"again what run {first.pk} failed at" in read(desk, f"/runs/{again.pk}/")


def test_a_run_that_was_stopped_says_why(desk, episode, provider, work):
    episode("e1", "text")
    provider.behave = doubles.sends({}, 401)
    desk.post("/runs/start/")
    work()
    text = read(desk, Run.objects.get().get_absolute_url())
    assert "does not accept the key (401)" in text
    provider.behave = lambda handler, body: False
    again = re.findall(r'name="(collection|model|state)" value="(\w+)"', text)
    assert again == [*(("collection", name) for name in CORPORA), ("model", "toy")]
    desk.post("/runs/start/", {"collection": list(CORPORA), "model": "toy"})
    work()
    assert Run.objects.latest("id").state == "done"


def test_a_run_is_cancelled_on_its_page(desk, episode, provider):
    episode("e1", "text")
    run = runs.start_reindex(system(), runs.Request())
    assert ">Cancel</button>" in read(desk, run.get_absolute_url())
    desk.post(f"/runs/{run.pk}/cancel/")
    text = read(desk, run.get_absolute_url())
    assert "cancelled" in text
    assert ">Cancel</button>" not in text


def test_a_viewer_looks_and_begins_nothing(signed_in, viewer, episode, provider):
    episode("e1", "text")
    run = runs.start_reindex(system(), runs.Request())
    client = signed_in(viewer)
    assert (
        "<button"
        not in read(client, run.get_absolute_url()).partition('id="run"')[2].partition("</dl>")[0]
    )
    for path in ("start/", "rebuild/", f"{run.pk}/cancel/", f"{run.pk}/retry/"):
        assert client.post(f"/runs/{path}").status_code == 403
    assert Run.objects.get().state == "queued"


def test_coverage_repairs_just_the_documents_in_one_state(desk, episode, provider, work):
    episode("bare", "bare")
    episode("has", "has", vector_of("has"))
    episode("wide", "wide", [1.0] * 16)
    text = read(desk, "/coverage/")
    assert text.count("Repair just these") == 2
    desk.post("/runs/start/", {"collection": "episodes", "state": "wrong_width"})
    run = Run.objects.get()
    assert (run.collections, run.states) == (["episodes"], ["wrong_width"])
    assert "A run embeds what lacks a vector" in read(desk, "/coverage/")
    work()
    assert [one for one in provider.texts if one != "memoryweb"] == ["wide"]
    assert read(desk, "/coverage/").count("Repair just these") == 1


def test_a_second_run_is_refused_and_an_unknown_state_too(desk, episode, provider):
    episode("e1", "text")
    desk.post("/runs/start/")
    assert desk.post("/runs/start/").status_code == 409
    assert desk.post("/runs/start/", {"state": "odd"}).status_code == 422


def test_the_list_costs_the_same_at_any_number_of_runs(
    desk, episode, provider, work, django_assert_num_queries
):
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    def cost() -> int:
        with CaptureQueriesContext(
            connection,
        ) as queries:
            read(desk, "/runs/")
        return len(queries)

    desk.post("/runs/start/")
    work()
    one = cost()
    for _ in range(4):
        desk.post("/runs/start/")
        work()
    assert cost() == one


def test_a_rebuild_is_begun_on_the_page(desk, episode, work):
    episode("e1", "text")
    desk.post("/runs/rebuild/")
    work()
    run = Run.objects.get()
    assert (run.kind, run.state) == ("rebuild", "done")
    assert "Indexes built anew" in read(desk, run.get_absolute_url())


def test_what_failed_is_counted_listed_with_its_cause_and_tried_again_alone(
    desk, episode, provider, work, api
):
    episode("good", "good")
    episode("long", "x" * 5000)
    provider.behave = refuse_long_texts
    desk.post("/runs/start/")
    work()
    episode("later", "later")
    failed = "/coverage/episodes/?vector=failed"
    assert f'href="{failed}">1</a>' in read(desk, "/coverage/")
    text = read(desk, failed)
    assert "does not take the text or the request (413)" in text
    assert "/episodes/long/" in text
    assert "/episodes/later/" not in text
    [one] = api("read").get("/search/coverage/episodes?vector=failed").json()["items"]
    assert (one["id"], one["state"], one["run"]) == ("long", "missing", Run.objects.get().pk)
    assert "413" in read(desk, "/episodes/long/")
    provider.behave = lambda handler, body: False
    desk.post("/runs/start/", {"collection": "episodes", "state": "failed"})
    work()
    assert [len(one) for one in provider.texts[-1:]] == [5000]
    assert "later" not in provider.texts
    assert "Nothing here any more" in read(desk, failed)


def test_each_document_is_embedded_again_on_its_own_page(
    desk, home, episode, memory, provider, work
):
    episode("bare", "bare")
    episode("other", "other")
    memory("m1", "a memory")
    services.save(system(), Kind.ENTITY, "harbor", "# Harbor\n\nServes the cranes.\n")
    wanted = {
        "/episodes/bare/": ("episodes", "bare"),
        "/sessions/memories/m1/": ("memories", "m1"),
        "/bank/harbor/": ("pages", "entity/harbor"),
    }
    for path, (collection, document) in wanted.items():
        assert "Re-embed" in read(desk, path)
        desk.post("/runs/start/", {"collection": collection, "document": document})
        work()
        run = Run.objects.latest("id")
        assert (run.done, run.total, run.documents) == (1, 1, [document])
        assert f"Vector of {collection}/{document} by toy" in read(desk, run.get_absolute_url())
        assert "Re-embed" not in read(desk, path)
    assert "other" not in provider.texts


def test_documents_of_no_one_collection_are_refused(desk, episode, provider):
    assert desk.post("/runs/start/", {"document": "e1"}).status_code == 422


@pytest.mark.parametrize("collection", ["memories", "pages"])
def test_each_state_of_memories_and_pages_is_repaired_alone(
    desk, home, memory, provider, work, collection
):
    memory("m1", "one")
    services.save(system(), Kind.ENTITY, "harbor", "# Harbor\n\nServes the cranes.\n")
    assert f'name="collection" value="{collection}"' in read(desk, "/coverage/")
    address = {"memories": "/sessions/memories/", "pages": "/coverage/pages/"}[collection]
    assert f'href="{address}?vector=missing">1</a>' in read(desk, "/coverage/")
    desk.post("/runs/start/", {"collection": collection, "state": "missing"})
    work()
    assert Run.objects.get().done == 1
    assert f'href="{address}?vector=current">1</a>' in read(desk, "/coverage/")
