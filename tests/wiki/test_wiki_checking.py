"""check_memory on wikis: the record, the files and the index of each say the same."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from bank import places, wiki_pages, wikis
from bank.models import Wiki
from memoryweb import checking
from memoryweb.core.actor import Actor
from memoryweb.core.models import User
from search.wiki import feeding, pool
from search.wiki.index import Entry
from search.wiki.opening import connect


@pytest.fixture
def ada(curator: User) -> Actor:
    return curator.actor("page")


@pytest.fixture
def docs(home: Path, db: None, ada: Actor) -> Iterator[Wiki]:
    pool.shared.cache_clear()
    feeding._untouched.clear()
    made = wikis.create(ada, team_id="", name="Documents", id="docs")
    for ref in ("one", "two", "deep/three"):
        wiki_pages.write_page(ada, "docs", ref, f"# {ref}\n\nAbout [[one]].\n")
    assert feeding.catch_up("docs").status == "ready"
    yield made
    pool.shared().close()


def told() -> list[str]:
    return list(checking.wikis())


def written(*statements: str) -> None:
    """Change the index behind everybody's back, its checksum apart."""
    with closing(connect(places.index_of("docs"))) as connection:
        for statement in statements:
            connection.execute(statement)


def test_a_sound_wiki_has_no_faults(docs: Wiki):
    assert told() == []


def test_files_that_are_missing_changed_or_new_are_named(docs: Wiki):
    folder = places.own_root("docs")
    (folder / "one.md").unlink()
    (folder / "deep/three.md").write_text("another")
    (folder / "new.md").write_text("new")
    assert told() == [
        "file @docs/deep/three.md: it holds another text than the record",
        "file @docs/new.md: it is not in the record yet",
        "file @docs/one.md: it is missing",
    ]


def test_rows_of_the_index_that_are_not_those_written_are_damage(docs: Wiki):
    written("DELETE FROM page_meta WHERE page_id = 'two'")
    [fault] = told()
    assert fault.startswith("index of docs: damaged:")


def test_damage_within_fts5_is_found(docs: Wiki):
    written("UPDATE wiki_fts_data SET block = zeroblob(40) WHERE id > 10")
    [fault] = told()
    assert fault.startswith("index of docs: damaged:")


def test_an_index_that_was_never_told_of_a_change_is_named(docs: Wiki):
    docs.pages.filter(name="docs/one").update(title="Another")
    docs.pages.filter(name="docs/two").update(quarantined=True)
    assert told() == [
        "index of docs: one: it is stale there",
        "index of docs: two: it is in the index, and there is no such page",
        "index of docs: two: the index has a link to one that it does not have",
    ]


def test_an_index_that_is_behind_or_gone_is_no_fault(docs: Wiki, ada: Actor):
    wiki_pages.write_page(ada, "docs", "four", "new [[two]]")
    assert told() == []
    places.drop_index("docs")
    assert told() == []


def test_a_page_that_changes_while_the_record_is_read_is_no_fault(
    docs: Wiki, ada: Actor, monkeypatch: pytest.MonkeyPatch
):
    entries = feeding.wiki_entries

    def changing(wiki: str) -> Iterator[Entry]:
        wiki_pages.write_page(ada, "docs", "one", "# one\n\nAnother.\n")
        return entries(wiki)

    monkeypatch.setattr(feeding, "wiki_entries", changing)
    assert told() == []


def test_what_is_left_of_a_wiki_that_is_no_more_is_named(docs: Wiki, home: Path):
    (home / "wikis/ghost").mkdir()
    assert told() == ["folder wikis/ghost: there is no such wiki"]
