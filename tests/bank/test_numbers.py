"""Revision numbers: one that a caller has seen is never that of another page of the same name."""

from pathlib import Path

import pytest
from django.test import Client

from bank import batch, queries, record, renaming, services
from bank.models import Kind, Page
from bank.record import New, Origin
from bank.texts import Text
from memoryweb.core import clock
from memoryweb.core.actor import Actor
from memoryweb.core.errors import Conflict

CLEAN = "# Alice\n\nRuns the docks.\n"


def text(number: int) -> str:
    return f"# Alice\n\nRuns dock {number}.\n"


def saved(ada: Actor, name: str, number: int, base: int | None = None) -> Page:
    return services.save(ada, Kind.ENTITY, name, text(number), base=base).page


@pytest.fixture
def archived(memory: Path, ada: Actor) -> Page:
    """A page of three revisions that was archived."""
    for number in (1, 2, 3):
        saved(ada, "alice", number)
    return services.archive(ada, Kind.ENTITY, "alice").page


def test_a_page_that_is_made_anew_counts_on_from_the_one_before(archived: Page, ada: Actor, api):
    assert saved(ada, "Alice", 4).revision == 4
    agent = api("write", "otter")
    stale = agent.put("/bank/entities/alice", {"content": text(5), "base": 3})
    assert stale.status_code == 409
    stale = agent.delete("/bank/entities/alice", headers={"If-Match": '"1"'})
    assert stale.status_code == 409
    assert agent.put("/bank/entities/alice", {"content": text(5), "base": 4}).status_code == 200


def test_its_first_revision_has_none_before_it(archived: Page, ada: Actor, api, desk):
    saved(ada, "alice", 4)
    diff = api("read").get("/bank/entities/alice/revisions/4/diff").json()
    assert (diff["against"], diff["removed"]) == (None, 0)
    history = desk.get("/bank/alice/history/").content.decode()
    assert "The first is 4" in history
    assert "against=3" not in history
    assert "against=3" not in desk.get("/bank/alice/history/4/").content.decode()


def test_notes_and_the_long_term_memory_count_on_too(memory: Path, ada: Actor):
    for kind, name in ((Kind.NOTE, "2026-03-01"), (Kind.MEMORY, "")):
        services.save(ada, kind, name, "One.\n")
        services.archive(ada, kind, name)
        assert services.save(ada, kind, name, "Two.\n").page.revision == 2


def test_an_import_of_many_counts_on(archived: Page, ada: Actor):
    new = New(Text(Kind.ENTITY, "alice", CLEAN), Origin.of(ada), "bank/entities/alice.md")
    other = New(Text(Kind.ENTITY, "bob", CLEAN), Origin.of(ada), "bank/entities/bob.md")
    made = {page.name: page.revision for page in batch.create(ada, [new, other])}
    assert made == {"alice": 4, "bob": 1}


def test_a_page_that_is_restored_counts_on_from_the_one_that_was_there_meanwhile(
    archived: Page, ada: Actor
):
    saved(ada, "alice", 4)
    services.archive(ada, Kind.ENTITY, "alice")
    page = services.restore(ada, archived.pk).page
    assert (page.revision, page.content) == (3, text(3))
    assert saved(ada, "alice", 5).revision == 5


def test_a_new_page_of_a_name_that_was_given_up_counts_on(memory: Path, ada: Actor):
    saved(ada, "alice", 1)
    saved(ada, "alice", 2)
    renaming.rename(ada, "alice", "carol")
    assert saved(ada, "alice", 3).revision == 3


def test_a_page_that_takes_a_name_over_is_numbered_after_all_that_had_it(
    archived: Page, ada: Actor
):
    saved(ada, "bob", 9)
    page = renaming.rename(ada, "bob", "alice").page
    assert (page.revision, page.content) == (4, text(9))
    assert queries.revision(page, 4).content == text(9)
    with pytest.raises(Conflict):
        saved(ada, "alice", 5, base=1)
    assert saved(ada, "alice", 5, base=4).revision == 5


def test_a_page_that_gets_its_own_name_back_keeps_its_number(memory: Path, ada: Actor):
    saved(ada, "alice", 1)
    renaming.rename(ada, "alice", "carol")
    assert renaming.rename(ada, "carol", "alice").page.revision == 1


def test_the_buttons_name_the_number_that_the_next_revision_gets(memory, ada: Actor, desk: Client):
    page = saved(ada, "alice", 1)
    saved(ada, "alice", 2)
    with clock.writing(ada) as tx:
        aside = Text(Kind.ENTITY, "alice", text(3))
        page.refresh_from_db()
        record.set_aside(tx, page, aside, Origin.of(ada), [])
    assert (page.revision, page.conflict) == (2, 3)
    assert "Restore as revision 4" in desk.get("/bank/alice/history/1/restore/").content.decode()
    sent = {"content": text(5), "base": 2, "step": "confirm"}
    assert "Save as revision 4" in desk.post("/bank/alice/edit/", sent).content.decode()
    assert services.revert(ada, Kind.ENTITY, "alice", 1).revision.number == 4


@pytest.mark.parametrize("via", ["import", "file"])
def test_two_texts_are_said_to_compete_by_what_brought_the_other(
    memory, ada: Actor, desk: Client, via: str
):
    page = saved(ada, "alice", 1)
    with clock.writing(ada) as tx:
        aside = Text(Kind.ENTITY, "alice", text(2))
        record.set_aside(tx, page, aside, Origin("", via), [])
    for address in ("/bank/alice/", "/bank/alice/settle/"):
        shown = desk.get(address).content.decode()
        assert ("An import brought another text" in shown) == (via == "import")
        assert ("Somebody changed the file" in shown) == (via == "file")
