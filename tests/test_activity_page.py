import pytest

from episodes import store
from memoryweb.core.actor import system

pytestmark = pytest.mark.django_db


@pytest.fixture
def desk(signed_in, viewer):
    row = {"id": "a/b", "agent_id": "otter", "working_dir": "/srv", "outcome": "success"}
    store.store(system(), store.parse({**row, "summary": "Fixed it"}))
    return signed_in(viewer)


def test_each_entry_leads_to_what_it_was_done_to(desk):
    page = desk.get("/activity/").content.decode()
    assert 'href="/episodes/a/b/"' in page
    assert "episode.create" in page


def test_entries_can_be_filtered(desk):
    assert "episode.create" in desk.get("/activity/?action=episode.create").content.decode()
    page = desk.get("/activity/?since=2999-01-01")
    assert "Nothing matches" in page.content.decode()


@pytest.mark.parametrize(
    "query", ["since=yesterday", "since=0001-01-01", "action=made-up", "actor=nobody"]
)
def test_a_filter_that_means_nothing_is_said_at_its_field(desk, query):
    answer = desk.get(f"/activity/?{query}")
    assert answer.status_code == 422
    assert "errorlist" in answer.content.decode()


def test_a_page_number_that_means_nothing_shows_the_nearest(desk):
    assert desk.get("/activity/?page=abc").status_code == 200
    assert desk.get("/activity/?page=999").status_code == 200
