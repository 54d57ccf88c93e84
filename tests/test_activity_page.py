import html
import re
from dataclasses import replace

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from bank import renaming, services
from bank.models import Kind
from episodes import store
from memoryweb.core import clock
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


def test_a_cursor_that_no_list_gave_is_refused(desk):
    assert desk.get("/activity/?cursor=abc").status_code == 422


def test_older_entries_are_reached_by_next_and_none_is_shown_twice(desk):
    with clock.writing(system()) as tx:
        for n in range(120):
            tx.audited("test.write", f"tests/n{n}x")
    seen, address = [], "/activity/?action=test.write"
    while address:
        page = desk.get(address).content.decode()
        seen += re.findall(r"tests/n(\d+)x", page)
        following = re.search(r'rel="next" href="([^"]+)"', page)
        address = following and "/activity/" + html.unescape(following[1])
    assert seen == [str(n) for n in range(119, -1, -1)]


def test_the_page_costs_as_many_queries_with_many_entries_as_with_few(desk):
    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            desk.get("/activity/")
        return len(captured)

    few = queries()
    with clock.writing(system()) as tx:
        for n in range(300):
            tx.audited(f"test.write{n % 7}", "episodes/a/b")
    assert queries() == few


@pytest.mark.parametrize("column", ["actor", "action"])
def test_the_choices_are_read_from_an_index_and_not_from_every_entry(column, desk):
    with CaptureQueriesContext(connection) as captured:
        desk.get("/activity/")
    [query] = [q["sql"] for q in captured if f"min({column})" in q["sql"]]
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN QUERY PLAN {query}")
        plan = " ".join(row[3] for row in cursor.fetchall())
    assert f"SEARCH core_auditentry USING COVERING INDEX core_audite_{column}" in plan
    assert "SCAN core_auditentry" not in plan


@pytest.fixture
def page_of(home, curator):
    def make(name: str, content: str, **more):
        return services.save(curator.actor("page"), Kind.ENTITY, name, content, **more).page

    return make


def test_a_save_leads_to_what_it_changed_and_the_first_one_does_not(desk, page_of):
    page_of("alice", "# Alice\n\nOne.\n")
    page_of("alice", "# Alice\n\nTwo.\n")
    page = desk.get("/activity/").content.decode()
    assert page.count("/bank/alice/history/") == 1
    assert 'href="/bank/alice/history/2/?against=1"' in page
    changes = desk.get("/bank/alice/history/2/?against=1").content.decode()
    assert "<del>One</del>" in changes
    assert "<ins>Two</ins>" in changes


def test_what_was_renamed_since_is_found_under_its_new_name(desk, page_of, curator):
    page_of("alice", "# Alice\n\nOne.\n")
    page_of("alice", "# Alice\n\nTwo.\n")
    renaming.rename(curator.actor("page"), "alice", "alicia")
    page = desk.get("/activity/?action=page.edit").content.decode()
    assert '<a href="/bank/alicia/" data-main>pages/entity/alice</a>' in page
    assert 'href="/bank/alicia/history/2/?against=1"' in page


def test_a_page_that_took_the_name_since_is_not_shown_the_changes_of_another(
    desk, page_of, curator
):
    page_of("alice", "# Alice\n\nOne.\n")
    page_of("alice", "# Alice\n\nTwo.\n")
    services.archive(curator.actor("page"), Kind.ENTITY, "alice")
    page_of("alice", "# Another\n\nPage.\n")
    page = desk.get("/activity/?action=page.edit").content.decode()
    assert "/history/" not in page


def test_of_a_hash_the_first_digits_are_shown_and_all_on_hover(desk, page_of):
    sha = page_of("alice", "# Alice\n\nOne.\n").sha256
    page = desk.get("/activity/").content.decode()
    assert f'<span class="mono" title="{sha}">{sha[:8]}…</span>' in page
    assert page.count(sha) == 1


def test_the_way_and_the_facts_of_an_entry_are_said_in_plain_words(desk):
    with clock.writing(replace(system(), via="api")) as tx:
        tx.audited("test.write", "tests/one", pointed=False, kinds=["a", "b"], texts=2)
    page = desk.get("/activity/?action=test.write").content.decode()
    assert '<span class="muted small">by API</span>' in page
    assert re.sub(r"\s+", " ", page).count("pointed no, kinds a, b, texts 2") == 1
