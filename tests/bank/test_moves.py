"""bank.moves and bank.renaming.follow: a file renamed outside is its page under another name."""

import unicodedata
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from bank import outside, problems, queries, renaming, services, sync, watching, wikis
from bank.models import FileProblem, Kind, Page, Revision
from bank.reasons import Why
from memoryweb.core.actor import Actor
from memoryweb.core.errors import Moved, Unavailable
from memoryweb.core.models import AuditEntry, QuarantineItem, User

ALICE = "# Alice\n\nRuns the docks.\n"
OTHER = "# Alice\n\nRuns the docks and the crane.\n"
ENTITIES = "bank/entities"


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outside, "STILL_WRITTEN", 0.0)


@pytest.fixture
def folder(memory: Path) -> Path:
    return memory / ENTITIES


def names() -> set[str]:
    return set(Page.objects.filter(archived_at=None).values_list("name", flat=True))


def files(folder: Path) -> set[str]:
    return {file.name for file in folder.iterdir()}


def rewritten() -> list[str]:
    entries = AuditEntry.objects.filter(action="page.file_rewritten")
    return list(entries.order_by("target").values_list("target", flat=True))


def test_a_renamed_file_is_the_same_page_with_its_history(folder: Path, written, ada: Actor):
    before = written("alice", "# Alice\n\nFirst.\n")
    written("alice", ALICE)
    (folder / "alice.md").rename(folder / "Ada Chen.md")
    assert (sync.scan().settled, sync.scan().settled) == (1, 0)
    page = queries.find(Kind.ENTITY, "ada-chen")
    assert (page.pk, page.path, page.former_names) == (
        before.pk,
        f"{ENTITIES}/Ada Chen.md",
        ["alice"],
    )
    told = page.revisions.order_by("number").values_list("number", "via", "message")
    assert list(told)[1:] == [(2, "page", ""), (3, "file", "Renamed outside from “alice”")]
    entry = AuditEntry.objects.get(action="page.rename")
    assert (entry.target, entry.via) == ("pages/entity/ada-chen", "file")
    assert entry.facts["renamed_from"] == "alice"
    assert (names(), files(folder), rewritten()) == ({"ada-chen"}, {"Ada Chen.md"}, [])
    services.save(ada, Kind.ENTITY, "ada-chen", OTHER, base=3)
    assert (folder / "Ada Chen.md").read_text() == OTHER


def test_the_old_address_leads_to_the_new_one_for_people_and_programs(
    folder: Path, written, desk, api: Callable[..., Any]
):
    written()
    (folder / "alice.md").rename(folder / "ada.md")
    sync.scan()
    assert desk.get("/bank/alice/").headers["Location"] == "/bank/ada/"
    answer = api("read").get("/bank/entities/alice")
    assert answer.headers["Location"] == "/api/v1/bank/entities/ada"
    assert "Renamed outside from “alice”" in desk.get("/bank/ada/history/").content.decode()
    activity = desk.get("/activity/").content.decode()
    assert "page.rename" in activity
    assert "renamed from alice" in activity


def test_links_of_other_pages_follow(folder: Path, written):
    written()
    written("bob", "# Bob\n\nSee [[alice]].\n")
    (folder / "alice.md").rename(folder / "ada.md")
    sync.scan()
    bob = queries.find(Kind.ENTITY, "bob")
    assert bob.content == "# Bob\n\nSee [[ada]].\n"
    assert bob.author == "memoryweb"  # Nobody edited this one outside.
    assert (folder / "bob.md").read_text() == "# Bob\n\nSee [[ada]].\n"


def test_a_file_that_came_by_copying_and_deleting_is_known_by_its_text(folder: Path, written):
    written()
    (folder / "ada.md").write_text(ALICE)
    (folder / "alice.md").unlink()
    sync.scan()
    assert (names(), files(folder)) == ({"ada"}, {"ada.md"})


def test_the_new_file_may_turn_up_after_the_old_one_is_gone(
    folder: Path, written, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(outside, "STILL_WRITTEN", 60.0)
    written()
    (folder / "alice.md").unlink()
    for _ in range(2):
        assert sync.scan().settled == 0
        assert FileProblem.objects.get().why == Why.GONE
        assert files(folder) == set()
    (folder / "ada.md").write_text(ALICE)  # Though it was written just now.
    sync.scan()
    assert (names(), files(folder), problems.warning()) == ({"ada"}, {"ada.md"}, "")


def test_the_new_file_may_be_seen_before_the_old_one_is_gone(
    folder: Path, written, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(outside, "STILL_WRITTEN", 60.0)
    written()
    (folder / "ada.md").write_text(ALICE)
    assert sync.scan().settled == 0
    (folder / "alice.md").unlink()
    sync.scan()
    assert (names(), files(folder)) == ({"ada"}, {"ada.md"})


@pytest.mark.parametrize("off", [timedelta(seconds=-181), timedelta(days=365)])  # A clock ahead.
def test_what_does_not_turn_up_in_time_is_written_again_and_told(
    folder: Path, written, desk, monkeypatch: pytest.MonkeyPatch, off: timedelta
):
    monkeypatch.setattr(outside, "STILL_WRITTEN", 60.0)
    written()
    (folder / "alice.md").unlink()
    sync.scan()
    FileProblem.objects.update(since=timezone.now() - timedelta(seconds=179))
    sync.scan()
    assert (files(folder), rewritten()) == (set(), [])
    FileProblem.objects.update(since=timezone.now() + off)
    sync.scan()
    assert (files(folder), rewritten()) == ({"alice.md"}, ["pages/entity/alice"])
    activity = desk.get("/activity/?action=page.file_rewritten").content.decode()
    assert "a deleted file takes no page away. Archive the page" in activity
    assert not FileProblem.objects.exists()


def test_what_is_lost_stays_listed_while_there_is_no_time_to_write_it_again(
    folder: Path, written, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(outside, "STILL_WRITTEN", 60.0)
    written()
    (folder / "alice.md").unlink()
    sync.scan()
    gone = timezone.now() - timedelta(seconds=181)
    FileProblem.objects.update(since=gone)
    assert sync.scan(0).more
    assert FileProblem.objects.get().since == gone
    sync.scan()
    assert (files(folder), FileProblem.objects.exists()) == ({"alice.md"}, False)


def test_a_folder_of_which_most_files_are_renamed_at_once_is_no_loss(folder: Path):
    for number in range(30):
        (folder / f"page-{number:02}.md").write_text(f"# Page\n\nNumber {number}.\n")
    sync.scan()
    for number in range(18):
        (folder / f"page-{number:02}.md").rename(folder / f"moved-{number:02}.md")
    report = sync.scan()
    assert (report.settled, report.problems) == (18, {})
    assert names() == {path.stem for path in folder.iterdir()}
    assert len(names()) == Page.objects.count() == 30
    assert queries.find(Kind.ENTITY, "moved-07").content == "# Page\n\nNumber 7.\n"


def test_most_files_renamed_while_others_go_hold_back_none_of_those_renamed(folder: Path):
    for number in range(30):
        (folder / f"page-{number:02}.md").write_text(f"# Page\n\nNumber {number}.\n")
    sync.scan()
    for number in range(20):
        (folder / f"page-{number:02}.md").unlink()
    for number in range(20, 30):
        (folder / f"page-{number:02}.md").rename(folder / f"moved-{number:02}.md")
    report = sync.scan()
    assert report.settled == 10
    assert {path: one.why for path, one in report.problems.items()} == {ENTITIES: Why.MISSING}
    assert queries.find(Kind.ENTITY, "moved-29").former_names == ["page-29"]


# Where nothing is concluded


def test_two_new_files_with_its_text_are_pages_of_their_own(folder: Path, written):
    written()
    (folder / "alice.md").rename(folder / "ada.md")
    (folder / "adela.md").write_text(ALICE)
    sync.scan()
    assert names() == {"alice", "ada", "adela"}
    assert rewritten() == ["pages/entity/alice"]


def test_two_pages_of_one_text_that_are_gone_are_written_again(folder: Path, written):
    written("alice", ALICE)
    written("bob", ALICE)
    (folder / "alice.md").unlink()
    (folder / "bob.md").rename(folder / "ada.md")
    sync.scan()
    assert names() == {"alice", "bob", "ada"}
    assert rewritten() == ["pages/entity/alice", "pages/entity/bob"]


def test_a_copy_while_the_old_file_stands_is_a_page_of_its_own(folder: Path, written):
    written()
    (folder / "ada.md").write_text(ALICE)
    sync.scan()
    (folder / "alice.md").unlink()
    sync.scan()
    assert (names(), files(folder)) == ({"alice", "ada"}, {"alice.md", "ada.md"})


def test_a_file_renamed_and_edited_is_a_page_of_its_own(folder: Path, written):
    written()
    (folder / "alice.md").rename(folder / "ada.md")
    (folder / "ada.md").write_text(OTHER)
    sync.scan()
    assert queries.find(Kind.ENTITY, "ada").content == OTHER
    assert (folder / "alice.md").read_text() == ALICE
    assert rewritten() == ["pages/entity/alice"]


@pytest.mark.parametrize("to", ["a.b.md", "con.md", ".hidden.md", "alice.md~"])
def test_a_name_that_no_page_can_have_renames_none(folder: Path, written, to: str):
    written()
    (folder / "alice.md").rename(folder / to)
    sync.scan()
    assert (names(), files(folder)) == ({"alice"}, {"alice.md", to})
    assert rewritten() == ["pages/entity/alice"]


def test_a_name_to_which_the_guard_objects_renames_no_page(folder: Path, written):
    written("deploy", "# Deploy\n\nprevious instructions.\n")
    (folder / "deploy.md").rename(folder / "ignore-all.md")
    sync.scan()
    sync.scan()
    assert files(folder) == {"deploy.md", "ignore-all.md"}
    assert not queries.find(Kind.ENTITY, "deploy").quarantined
    assert queries.find(Kind.ENTITY, "ignore-all").quarantined
    assert QuarantineItem.objects.get().document == "entity/ignore-all"


def test_a_file_moved_over_another_page_s_is_an_edit_of_that(folder: Path, written):
    written()
    written("bob", "# Bob\n\nSails.\n")
    (folder / "alice.md").replace(folder / "bob.md")
    sync.scan()
    assert (names(), files(folder)) == ({"alice", "bob"}, {"alice.md", "bob.md"})
    assert queries.find(Kind.ENTITY, "bob").content == ALICE
    texts = Revision.objects.filter(page__name="bob").order_by("number")
    assert list(texts.values_list("content", flat=True)) == ["# Bob\n\nSails.\n", ALICE]


def test_a_note_is_its_day_and_not_renamed(memory: Path, ada: Actor):
    services.append_note(ada, "Tea.", services.day("2026-03-01"))
    (memory / "2026-03-01.md").rename(memory / "2026-03-02.md")
    sync.scan()
    assert names() == {"2026-03-01", "2026-03-02"}


# Another spelling of the same name


def test_a_rename_of_case_or_of_the_form_of_characters_alone_is_no_new_name(folder: Path, written):
    written()
    composed = unicodedata.normalize("NFC", "café")
    written(composed, "# Café\n\nTea.\n")
    (folder / "alice.md").rename(folder / "Alice.md")
    (folder / f"{composed}.md").rename(folder / f"{unicodedata.normalize('NFD', composed)}.md")
    sync.scan()
    assert names() == {"alice", composed}
    assert len(files(folder)) == 2
    assert Revision.objects.count() == 2
    assert (sync.scan().settled, rewritten()) == (0, [])


# A save meets it


def test_a_save_in_the_moment_between_is_asked_to_come_again(folder: Path, written, ada: Actor):
    written()
    (folder / "alice.md").rename(folder / "ada.md")
    with pytest.raises(Unavailable, match="nothing was saved; its file is called “ada"):
        services.save(ada, Kind.ENTITY, "alice", OTHER, base=1)
    sync.scan()
    assert (names(), files(folder)) == ({"ada"}, {"ada.md"})
    with pytest.raises(Moved):
        queries.find(Kind.ENTITY, "alice")


def test_a_save_finds_the_file_under_another_spelling(folder: Path, written, ada: Actor):
    written()
    (folder / "alice.md").rename(folder / "Alice.md")
    services.save(ada, Kind.ENTITY, "alice", OTHER, base=1)
    assert (files(folder), (folder / "Alice.md").read_text()) == ({"Alice.md"}, OTHER)
    assert sync.scan().problems == {}


def test_a_save_of_a_page_whose_file_is_merely_gone_goes_on(folder: Path, written, ada: Actor):
    written()
    (folder / "alice.md").unlink()
    services.save(ada, Kind.ENTITY, "alice", OTHER, base=1)
    assert (folder / "alice.md").read_text() == OTHER


# Wikis


def test_a_file_renamed_or_moved_in_a_wiki_is_the_same_page(
    memory: Path, administrator: User, tmp_path_factory: pytest.TempPathFactory
):
    vault = tmp_path_factory.mktemp("vault")
    admin = administrator.actor("page")
    wikis.create(admin, team_id="", name="Vault", id="vault", folder=str(vault))
    for name in ("index", "guide/dock", "Case"):
        (vault / name).parent.mkdir(exist_ok=True)
        (vault / f"{name}.md").write_text(f"# {name}\n\nSee [[guide/dock]].\n")
    watching.take_in("vault")
    before = queries.find(Kind.WIKI, "vault/guide/dock")
    (vault / "harbour").mkdir()
    (vault / "guide/dock.md").rename(vault / "harbour/quay.md")
    (vault / "Case.md").rename(vault / "case.md")
    watching.take_in("vault")
    after = queries.find(Kind.WIKI, "vault/harbour/quay")
    assert (after.pk, after.former_names) == (before.pk, ["vault/guide/dock"])
    assert sorted(page.ref for page in queries.pages_of("vault")) == [
        "Case",
        "harbour/quay",
        "index",
    ]
    assert "[[harbour/quay]]" in (vault / "index.md").read_text()
    assert {str(one.relative_to(vault)) for one in vault.rglob("*.md")} == {
        "case.md",
        "harbour/quay.md",
        "index.md",
    }


def test_a_look_that_takes_longer_than_a_scan_may_is_followed_by_as_much_work(
    folder: Path, written, monkeypatch: pytest.MonkeyPatch
):
    for name in ("ada", "bob", "carol"):
        written(name, f"# {name}\n\nRuns the docks.\n")
        (folder / f"{name}.md").rename(folder / f"{name}-chen.md")
    passed: list[float] = []
    monkeypatch.setattr(sync.time, "monotonic", lambda: sum(passed))
    for module, name in ((outside, "plan"), (renaming, "follow")):
        slow = getattr(module, name)
        monkeypatch.setattr(module, name, lambda *a, do=slow, **k: passed.append(9) or do(*a, **k))
    assert [sync.scan(0.5).settled for _ in range(4)] == [1, 1, 1, 0]
    assert names() == {"ada-chen", "bob-chen", "carol-chen"}
