"""Another model fills beside the active one, is switched to and back, and removed on request."""

import pytest

from episodes.models import EpisodeVector
from memoryweb.core import active_model
from memoryweb.core.actor import system
from memoryweb.core.models import AuditEntry
from search import runs, switching
from tests.embedding.double import vector_of


@pytest.fixture
def both(episode, provider, work):
    """Two models: `toy` is compared, `newer` lies beside it."""
    for name in ("quay", "bread"):
        episode(name, name, vector_of(name))
    runs.start_reindex(system(), runs.Request(model="newer"))
    work()


def put(api, status=200, scope="admin", **body):
    answer = api(scope).put("/search/settings", body)
    assert answer.status_code == status, answer.content
    return answer.json()


def test_a_switch_and_the_switch_back_take_one_call_each_and_keep_every_vector(api, both):
    assert active_model.active().model == "toy"
    assert put(api, active_model="newer")["active_model"] == {"model": "newer", "dimension": 8}
    search = {"query": "quay"}
    assert api("read").post("/search", search).json()["mode"] == "hybrid"
    coverage = api("read").get("/search/coverage").json()["collections"]["episodes"]
    assert (coverage["model"], coverage["vectorized"]) == ("newer", 2)
    assert put(api, active_model="toy")["active_model"]["model"] == "toy"
    assert EpisodeVector.objects.count() == 4
    facts = AuditEntry.objects.filter(action="model.activate").latest("id").facts
    assert facts == {"dimension": 8, "before": "newer (8)"}


def test_the_query_is_embedded_by_the_model_that_is_compared(api, both, provider):
    put(api, active_model="newer")
    assert api("read").post("/search", {"query": "a quay"}).json()["mode"] == "hybrid"
    assert provider.asked[-1]["model"] == "newer"


def test_a_model_without_vectors_cannot_be_switched_to(api, both):
    assert "embed with it first" in put(api, 404, active_model="nobody's")["detail"]
    assert put(api, 403, scope="write", active_model="newer")
    assert active_model.active().model == "toy"


def test_a_model_that_is_removed_while_it_is_counted_is_not_switched_to(api, both, monkeypatch):
    count = switching.widths

    def counted_then_removed(model):
        found = count(model)
        switching.remove(system(), model)
        return found

    monkeypatch.setattr(switching, "widths", counted_then_removed)
    assert "removed meanwhile" in put(api, 404, active_model="newer")["detail"]
    assert active_model.active().model == "toy"


def test_vectors_are_removed_only_on_request_and_never_those_compared(
    signed_in, administrator, curator, both
):
    page = signed_in(administrator).get("/coverage/").content.decode()
    assert page.count('name="do" value="use"') == page.count('name="do" value="remove"') == 1
    remove = {"do": "remove", "model": "newer"}
    assert signed_in(curator).post("/runs/model/", remove).status_code == 403
    desk = signed_in(administrator)
    assert desk.post("/runs/model/", {"do": "remove", "model": "toy"}).status_code == 409
    assert desk.post("/runs/model/", remove).status_code == 302
    assert list(EpisodeVector.objects.values_list("model", flat=True)) == ["toy", "toy"]


def test_a_curator_switches_on_the_coverage_page(signed_in, curator, both):
    desk = signed_in(curator)
    desk.post("/runs/model/", {"do": "use", "model": "newer"})
    assert active_model.active().model == "newer"
    assert "Searches compare newer now." in desk.get("/coverage/").content.decode()
