"""Wikis whose files somebody else edits: looked at in turn, taken in, never overwritten."""

import os
from pathlib import Path

import pytest
from django.db import connection

from bank import outside, places, queries, renaming, rewriting, services, sync, watching, wikis
from bank.models import FileProblem, Kind, Page, Rewriting, Wiki
from bank.paths import mark_of
from bank.watching import Watch
from memoryweb.core.actor import Actor
from memoryweb.core.models import User


@pytest.fixture
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("vault")


@pytest.fixture
def vault(memory: Path, administrator: User, folder: Path, monkeypatch) -> Wiki:
    monkeypatch.setattr(outside, "STILL_WRITTEN", 0.0)
    admin = administrator.actor("page")
    return wikis.create(admin, team_id="", name="Vault", id="vault", folder=str(folder))


def put(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def refs_there() -> list[str]:
    return sorted(page.ref for page in queries.pages_of("vault"))


def test_a_folder_that_is_pointed_at_is_taken_in_as_it_lies(vault: Wiki, folder: Path):
    put(folder / "index.md", "see [[deep/page]]")
    put(folder / "🍀 花园/deep/page.md", "---\ntitle: Deep\n---\n")
    put(folder / "picture.png", "no page")
    put(folder / ".obsidian/app.md", "hidden")
    report = watching.take_in("vault")
    assert (report.settled, report.problems, report.more) == (2, {}, False)
    assert refs_there() == ["index", "🍀 花园/deep/page"]
    link = queries.find(Kind.WIKI, "vault/index").links.get()
    assert link.to.title == "Deep"
    assert watching.take_in("vault").settled == 0


def test_edits_and_deletions_outside_are_seen(vault: Wiki, folder: Path, ada: Actor):
    put(folder / "a.md", "# One\n")
    put(folder / "b.md", "# B\n")
    watching.take_in("vault")
    put(folder / "a.md", "# Two, later\n")
    (folder / "b.md").unlink()
    watching.take_in("vault")
    page = queries.find(Kind.WIKI, "vault/a")
    assert (page.title, page.revision, page.author) == ("Two, later", 2, "")
    assert (folder / "b.md").read_text() == "# B\n"


def test_a_page_archived_here_goes_from_the_folder_too(vault: Wiki, folder: Path, ada: Actor):
    put(folder / "a.md", "# A\n")
    watching.take_in("vault")
    services.archive(ada, Kind.WIKI, "vault/a")
    assert not (folder / "a.md").exists()
    watching.take_in("vault")
    assert refs_there() == []


def test_files_that_cannot_be_pages_are_told_with_the_reason(vault: Wiki, folder: Path):
    put(folder / "Page.md", "# One\n")
    put(folder / "page.md", "# Two\n")
    put(folder / "con.md", "x")
    (folder / "latin.md").write_bytes(b"caf\xe9")
    (folder / "link.md").symlink_to("/etc/passwd")
    (folder / "into").symlink_to(folder.parent)
    watching.take_in("vault")
    assert refs_there() == ["Page"]
    told = dict(FileProblem.objects.values_list("path", "why"))
    assert told == {
        "@vault/page.md": "twin",
        "@vault/con.md": "name",
        "@vault/latin.md": "no text",
        "@vault/link.md": "no file",
    }
    sync.scan()
    assert FileProblem.objects.count() == 4
    for name in ("page.md", "con.md", "latin.md", "link.md"):
        (folder / name).unlink()
    watching.take_in("vault")
    assert not FileProblem.objects.exists()


def test_a_folder_that_is_away_loses_no_page(vault: Wiki, folder: Path):
    put(folder / "a.md", "# A\n")
    watching.take_in("vault")
    folder.rename(folder.with_name("away"))
    watching.take_in("vault")
    assert refs_there() == ["a"]
    assert FileProblem.objects.get().path == "@vault"
    folder.with_name("away").rename(folder)
    watching.take_in("vault")
    assert not FileProblem.objects.exists()


def test_many_files_gone_at_once_are_not_written_again(vault: Wiki, folder: Path):
    for number in range(20):
        put(folder / f"sub/{number}.md", f"# {number}\n")
    watching.take_in("vault")
    for file in (folder / "sub").iterdir():
        file.unlink()
    watching.take_in("vault")
    assert list((folder / "sub").iterdir()) == []
    assert FileProblem.objects.get().why == "missing"


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads every folder")
def test_a_folder_below_that_cannot_be_read_loses_no_page(vault: Wiki, folder: Path):
    put(folder / "sub/a.md", "# A\n")
    watching.take_in("vault")
    (folder / "sub").chmod(0)
    try:
        watching.take_in("vault")
        assert FileProblem.objects.get().path == "@vault/sub"
    finally:
        (folder / "sub").chmod(0o700)
    assert refs_there() == ["sub/a"]


def test_what_a_killed_save_left_beside_a_file_is_kept_and_cleared(vault: Wiki, folder: Path):
    put(folder / "sub/a.md", "# A\n")
    watching.take_in("vault")
    aside = folder / "sub" / f".memoryweb-{mark_of('sub/a.md')}-{'a' * 16}.old"
    put(aside, "# What somebody wrote in between\n")
    watching.take_in("vault")
    assert not aside.exists()
    page = queries.find(Kind.WIKI, "vault/sub/a")
    assert page.revisions.get(number=page.conflict).content == "# What somebody wrote in between\n"


def test_wikis_take_turns(vault: Wiki, folder: Path, home: Path, ada: Actor):
    wikis.create(ada, team_id="", name="Own", id="own")
    now = [100.0]
    watch = Watch(lambda: now[0])
    put(folder / "a.md", "# A\n")
    put(places.own_root("own") / "b.md", "# B\n")
    assert watch.step() == 2
    put(folder / "c.md", "# C\n")
    put(places.own_root("own") / "d.md", "# D\n")
    assert watch.step() == 0
    now[0] += watching.POINTED_EVERY
    assert watch.step() == 1
    now[0] += watching.OWN_EVERY
    assert watch.step() == 1
    assert Page.objects.count() == 4


def test_a_deleted_wiki_is_not_looked_at(vault: Wiki, folder: Path, administrator: User):
    put(folder / "con.md", "x")
    watching.take_in("vault")
    wikis.delete(administrator.actor("page"), "vault")
    watching.forget_problems()
    put(folder / "a.md", "# A\n")
    assert Watch().step() == 0
    assert not FileProblem.objects.exists()


def _asked_while_renamed(folder: Path, count: int, monkeypatch) -> tuple[int, int]:
    """How many queries it takes to follow so many renamed pages, one in ten of which links to the
    next, and how often the whole folder is looked at for that."""
    asked, looks, look = [], [], places.look
    for number in range(count):
        link = "" if number % 10 else f"See [[old {number + 1}]].\n"
        put(folder / f"old {number}.md", f"# {number} of {count}\n\n{link}")
    watching.take_in("vault")
    for number in range(count):
        (folder / f"old {number}.md").rename(folder / f"{count}-{number}.md")
    with monkeypatch.context() as counted:
        counted.setattr(places, "look", lambda *given: looks.append(given) or look(*given))
        with connection.execute_wrapper(lambda do, *given: asked.append(given[0]) or do(*given)):
            assert watching.take_in("vault").settled == count
    return len(asked), len(looks)


def test_a_folder_of_ten_times_as_many_renamed_files_takes_ten_times_as_many_queries(
    vault: Wiki, folder: Path, monkeypatch
):
    few, many = (_asked_while_renamed(folder, count, monkeypatch) for count in (4, 40))
    assert many[0] < 10 * few[0]
    assert (few[1], many[1]) == (1, 1)
    assert refs_there() == sorted(f"{count}-{at}" for count in (4, 40) for at in range(count))
    assert queries.find(Kind.WIKI, "vault/40-0").content == "# 0 of 40\n\nSee [[40-1]].\n"
    assert not Rewriting.objects.exists()


def test_links_wait_until_the_file_that_has_them_is_followed_too(vault: Wiki, folder: Path):
    put(folder / "a.md", "# A\n")
    put(folder / "b.md", "# B\n\nSee [[a]].\n")
    watching.take_in("vault")
    (folder / "a.md").rename(folder / "first.md")
    (folder / "b.md").rename(folder / "second.md")
    renaming.follow(Kind.WIKI, "vault/a", "vault/first", "@vault/first.md")
    (begun,) = rewriting.after_files("vault")
    assert rewriting.carry_on(begun).pages == []
    link = queries.find(Kind.WIKI, "vault/b").links.get()
    assert (link.target, link.to.ref) == ("a", "first")
    watching.take_in("vault")
    assert (folder / "second.md").read_text() == "# B\n\nSee [[first]].\n"
