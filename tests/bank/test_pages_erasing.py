"""Erasing a page in the browser: what goes is said, and the name has to be typed."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from bank import queries, services
from bank.models import Kind, Page
from memoryweb.core.actor import Actor, system
from memoryweb.core.models import AuditEntry, User

CLEAN = "# Alice\n\nRuns the docks.\n"


def text(response: Any) -> str:
    return response.content.decode()


@pytest.fixture
def office(memory: Path, signed_in: Callable[[User], Client], administrator: User) -> Client:
    """An administrator's browser."""
    return signed_in(administrator)


@pytest.fixture
def alice(written, ada: Actor) -> Page:
    """Alice, in two revisions, linked to by Bob."""
    written(content=CLEAN)
    written("bob", "# Bob\n\nSee [[alice]].\n")
    return services.save(ada, Kind.ENTITY, "alice", CLEAN + "And the crane.\n").page


def sent(page: Page, **more: Any) -> dict[str, Any]:
    return {"name": page.name, "reason": "a key leaked", "base": page.revision} | more


def test_the_page_says_what_goes_and_what_stays(office: Client, alice: Page):
    shown = text(office.get("/bank/alice/erase/"))
    assert "all 2 revisions" in shown
    assert "bank/entities/alice.md" in shown
    assert 'href="/bank/bob/"' in shown
    assert "Backups" in shown
    assert queries.find(Kind.ENTITY, "alice").content == alice.content


@pytest.mark.django_db(transaction=True)
def test_a_backup_beside_the_file_is_said_to_stay_and_is_in_the_receipt(
    office: Client, alice: Page, memory: Path
):
    (memory / "bank/entities/alice.md.bak").write_text("# Alice\n\nOnce a secret.\n")
    asked = text(office.get("/bank/alice/erase/"))
    assert "bank/entities/alice.md.bak" in asked.partition("<h2>What stays</h2>")[2]
    shown = text(office.post("/bank/alice/erase/", sent(alice)))
    assert "bank/entities/alice.md.bak" in shown.partition("Files that are left")[2]
    assert "Nothing of it was found again" not in shown


@pytest.mark.django_db(transaction=True)
def test_a_confirmed_erasure_is_done_and_answers_with_its_receipt(
    office: Client, alice: Page, home: Path
):
    (home / "backups").mkdir()
    (home / "backups" / "odd.zip").write_bytes(b"not a database")
    response = office.post("/bank/alice/erase/", sent(alice))
    assert response.status_code == 200
    shown = text(response)
    assert "entity/alice" in shown
    assert "Nothing of it was found again" in shown
    assert "odd.zip" in shown
    assert not Page.objects.filter(name="alice").exists()
    entry = AuditEntry.objects.latest("pk")
    assert (entry.action, entry.actor) == ("page.erase", "person administrator")
    assert entry.facts["reason"] == "a key leaked"
    assert office.get("/bank/alice/history/").status_code == 404


@pytest.mark.parametrize("wrong", [{"name": "bob"}, {"name": ""}, {"reason": ""}, {"base": "x"}])
def test_nothing_is_erased_without_its_name_and_a_reason(office, alice, wrong: dict[str, Any]):
    response = office.post("/bank/alice/erase/", sent(alice, **wrong))
    assert response.status_code == 422
    assert Page.objects.filter(name="alice").exists()


def test_a_page_that_was_saved_meanwhile_is_not_erased(office: Client, alice: Page, ada: Actor):
    services.save(ada, Kind.ENTITY, "alice", CLEAN)
    response = office.post("/bank/alice/erase/", sent(alice))
    assert response.status_code == 409
    assert "Not erased." in text(response)
    assert response.context["form"].initial["base"] == 3
    assert Page.objects.filter(name="alice").exists()


@pytest.mark.django_db(transaction=True)
def test_an_archived_page_is_erased_from_the_list(office: Client, alice: Page, ada: Actor):
    services.archive(ada, Kind.ENTITY, "alice")
    services.save(ada, Kind.ENTITY, "alice", CLEAN)
    address = f"/bank/archived/{alice.pk}/erase/"
    assert address in text(office.get("/bank/archived/"))
    assert address in text(office.get("/bank/alice/erase/"))
    response = office.post(address, sent(alice))
    assert response.status_code == 200
    assert office.get(address).status_code == 404
    assert queries.find(Kind.ENTITY, "alice").content == CLEAN


def test_a_name_is_confirmed_in_either_normal_form(office: Client, written, ada: Actor):
    page = written("café", CLEAN)
    response = office.post(page.get_absolute_url() + "erase/", sent(page, name="cafe\u0301"))
    assert response.status_code == 200


def test_only_administrators_are_offered_it(desk: Client, office: Client, alice: Page):
    for address in ("/bank/alice/", "/bank/alice/archive/"):
        assert "/bank/alice/erase/" in text(office.get(address))
        assert "/bank/alice/erase/" not in text(desk.get(address))
    assert desk.get("/bank/alice/erase/").status_code == 403
    assert desk.post("/bank/alice/erase/", sent(alice)).status_code == 403
    services.archive(system(), Kind.ENTITY, "alice")
    assert "erase/" not in text(desk.get("/bank/archived/"))
    assert desk.post(f"/bank/archived/{alice.pk}/erase/", sent(alice)).status_code == 403


@pytest.mark.parametrize("address", ["/bank/notes/2026-03-01/", "/bank/memory/"])
def test_notes_and_the_long_term_memory_are_erased_in_the_same_way(office, ada, address: str):
    kind, name = (Kind.NOTE, "2026-03-01") if "notes" in address else (Kind.MEMORY, "MEMORY")
    page = services.save(ada, kind, name, "Tea.\n").page
    assert office.post(f"{address}erase/", sent(page)).status_code == 200
    assert not Page.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_files_that_would_bring_the_page_back_are_named_before_and_after(
    office: Client, alice: Page, memory: Path
):
    twin = memory / "bank/entities/Alice.md"
    twin.write_text("# Alice\n\nAnother text.\n")
    assert "bank/entities/Alice.md" in text(office.get("/bank/alice/erase/"))
    shown = text(office.post("/bank/alice/erase/", sent(alice)))
    assert "Look again." in shown
    assert "bank/entities/Alice.md" in shown
    assert "Nothing of it was found again" not in shown
    assert twin.read_text() == "# Alice\n\nAnother text.\n"
