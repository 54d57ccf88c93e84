"""Django's admin shows everything and changes it only through the writers."""

import pytest
from django.apps import apps
from django.contrib import admin
from django.db import connection
from django.urls import reverse
from django.utils import timezone

from bank import services
from bank.models import Kind, Page
from episodes import deletion, store
from episodes.models import Episode
from memoryweb.core import clock, tokens
from memoryweb.core.actor import system
from memoryweb.core.models import ApiToken, AuditEntry
from search.models import CoverageDay, Judgement

pytestmark = pytest.mark.django_db


@pytest.fixture
def desk(signed_in, administrator):
    return signed_in(administrator)


def remember(*ids: str) -> None:
    for one in ids:
        row = {"id": one, "agent_id": "otter", "working_dir": "/srv", "outcome": "success"}
        store.store(system(), store.parse({**row, "summary": f"Fixed {one}"}))


@pytest.mark.parametrize("role", ["viewer", "curator"])
def test_only_administrators_enter(signed_in, person, role):
    answer = signed_in(person(role)).get("/admin/")
    assert answer.status_code == 302
    assert answer.headers["Location"].startswith("/admin/login/")


def test_everything_is_called_what_it_is_called_elsewhere(desk):
    index = desk.get("/admin/").content.decode()
    assert "Suggested queries" in index
    assert "API tokens" in index


OURS = [model for model in admin.site._registry if model._meta.app_label != "axes"]


@pytest.mark.parametrize("model", OURS, ids=lambda model: model._meta.label)
def test_every_list_opens_and_nothing_can_be_added(desk, model):
    remember("a")
    name = f"admin:{model._meta.app_label}_{model._meta.model_name}"
    assert desk.get(reverse(f"{name}_changelist")).status_code == 200
    assert desk.get(reverse(f"{name}_add")).status_code == 403


def test_every_model_of_search_is_shown():
    shown = {model for model in admin.site._registry if model._meta.app_label == "search"}
    assert shown == set(apps.get_app_config("search").get_models())


def test_what_people_judged_and_what_was_covered_is_shown_and_changed_nowhere(desk):
    day, now = timezone.localdate(), timezone.now()
    covered = CoverageDay.objects.create(
        day=day, collection="episodes", model="toy", counts={"current": 2}, blank=0
    )
    judged = {"query": "a quay", "collection": "episodes", "document": "e1", "grade": 3}
    judgement = Judgement.objects.create(**judged, judged_by="person ann", judged_at=now)
    for row, words in ((covered, "episodes"), (judgement, "a quay")):
        name = f"admin:search_{row._meta.model_name}"
        assert words in desk.get(reverse(f"{name}_changelist")).content.decode()
        address = reverse(f"{name}_change", args=[row.pk])
        assert words in desk.get(address).content.decode()
        assert desk.post(address, {"grade": 0, "blank": 9}).status_code == 403
        assert desk.post(reverse(f"{name}_delete", args=[row.pk])).status_code == 403


def act(desk, action: str, *ids: str):
    body = {"action": action, "_selected_action": ids, "post": "yes"}
    return desk.post(reverse("admin:episodes_episode_changelist"), body, follow=True)


def test_deleting_here_goes_through_the_writer(desk):
    remember("a", "b")
    before = clock.current_seq()
    assert act(desk, "delete_selected", "a").status_code == 200
    assert list(Episode.objects.values_list("pk", flat=True)) == ["b"]
    assert [(c.document, c.op) for c in clock.changes_since(before)] == [("a", "delete")]
    assert AuditEntry.objects.filter(via="admin").exists()
    desk.post(reverse("admin:episodes_episode_delete", args=["b"]), {"post": "yes"})
    assert [(c.document, c.op) for c in clock.changes_since(before + 1)][-1] == ("b", "delete")


@pytest.mark.django_db(transaction=True)
def test_an_episode_is_deleted_in_the_writers_own_transaction(desk, monkeypatch):
    remember("a")
    inside = []
    monkeypatch.setattr(
        deletion, "_index_check", lambda *asked: inside.append(connection.in_atomic_block) or set()
    )
    desk.post(reverse("admin:episodes_episode_delete", args=["a"]), {"post": "yes"})
    assert not Episode.objects.exists()
    assert inside == [False]


def test_reindexing_announces_each_document(desk):
    remember("a", "b")
    before = clock.current_seq()
    answer = act(desk, "reindex", "a", "b")
    assert "2 episodes are read into the index again" in answer.content.decode()
    assert sorted(c.document for c in clock.changes_since(before)) == ["a", "b"]


def test_revoking_here_ends_the_token_and_is_audited(desk):
    token, text = tokens.issue(system(), "laptop", "read")
    body = {"action": "revoke", "_selected_action": [token.pk]}
    desk.post(reverse("admin:core_apitoken_changelist"), body)
    assert tokens.find(text) is None
    assert ApiToken.objects.get().revoked_at is not None
    assert AuditEntry.objects.filter(action="token.revoke", via="admin").exists()


def test_no_page_here_shows_a_secret(desk, administrator):
    token, _ = tokens.issue(system(), "laptop", "read")
    shown = desk.get(reverse("admin:core_apitoken_change", args=[token.pk])).content.decode()
    assert token.secret_hash not in shown
    shown = desk.get(reverse("admin:core_user_change", args=[administrator.pk])).content.decode()
    assert administrator.password not in shown


def test_archiving_pages_here_goes_through_the_writer(desk, home):
    page = services.save(system(), Kind.ENTITY, "alice", "# Alice\n\nRuns the docks.\n").page
    before = clock.current_seq()
    body = {"action": "archive", "_selected_action": [page.pk], "post": "yes"}
    desk.post(reverse("admin:bank_entity_changelist"), body, follow=True)
    assert not Page.objects.filter(archived_at=None).exists()
    changes = [(change.document, change.op) for change in clock.changes_since(before)]
    assert changes == [("entity/alice", "delete")]
    assert not (home / "memory/bank/entities/alice.md").exists()
