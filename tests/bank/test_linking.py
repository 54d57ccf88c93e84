"""Which page a wikilink leads to, among the pages that there are."""

from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest

from bank import importing, linking, renaming, services, vault
from bank.models import Kind, Link, Page
from memoryweb.core.actor import Actor, system

pytestmark = pytest.mark.django_db


def leads_to(target: str) -> str | None:
    found = linking.candidates([target]).get(target)
    return found[0].name if found else None


def fitting(target: str) -> list[str]:
    return [one.name for one in linking.candidates([target]).get(target, [])]


@pytest.fixture
def pages(tmp_path: Path, memory: Path, written: Callable[..., Page], ada: Actor) -> None:
    """A few of every kind: named here, imported from folders, renamed, with titles and aliases."""
    front = "---\ntitle: {}\naliases: [{}]\n---\n# X\n\nText.\n"
    written("alice-chen", front.format("Alice L. Chen", "Chen, AC"))
    written("ac", front.format("Air conditioning", "cooler, Cooler"))
    written("知识图谱", front.format("知识图谱", "knowledge graph"))
    written("twin-1", front.format("Twin", ""))
    written("twin-2", front.format("Twin", ""))
    written("harbour", front.format("The harbour", ""))
    renaming.rename(ada, "harbour", "port")
    services.append_note(ada, "Rain.", date(2026, 3, 1))
    for path in ("projects/Plan.md", "archive/old/Plan.md", "archive/readme.md"):
        (tmp_path / "vault" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "vault" / path).write_text(f"# About {path}\n\nText.\n")
    list(importing.carry_out(system("import"), vault.plan(tmp_path / "vault")))


@pytest.mark.parametrize(
    ("target", "page"),
    [
        ("alice-chen", "alice-chen"),
        ("Alice Chen", "alice-chen"),
        ("ALICE-CHEN", "alice-chen"),
        ("alice-chen.md", "alice-chen"),
        ("./alice-chen", "alice-chen"),
        ("people/alice-chen", "alice-chen"),
        ("2026-03-01", "2026-03-01"),
        ("alice l. chen", "alice-chen"),
        ("chen", "alice-chen"),
        ("AC", "ac"),  # A name comes before an alias.
        ("harbour", "port"),  # What it was called before,
        ("The Harbour", "port"),  # and what it is titled.
        ("Knowledge Graph", "知识图谱"),
        ("知识图谱", "知识图谱"),
        ("readme", "readme"),
        ("nobody", None),
        ("", None),
        ("../../etc/passwd", None),
    ],
)
def test_a_target_leads_by_name_then_former_name_then_title_then_alias(
    pages, target: str, page: str | None
):
    assert leads_to(target) == page


def test_the_path_of_an_imported_file_leads_to_its_own_page_and_its_name_to_the_first(pages):
    plans = {one.imported_from: one.name for one in Page.objects.filter(origin__endswith="Plan")}
    for path in ("projects/Plan", "archive/old/Plan"):
        assert leads_to(path) == leads_to(path.upper()) == plans[f"vault/{path}"]
    assert leads_to("old/plan") == plans["vault/archive/old/Plan"]
    assert leads_to("plan") == "plan"
    assert sorted(fitting("plan")) == sorted(plans.values())


def test_several_pages_that_fit_one_rule_are_all_given_the_best_first(pages):
    assert fitting("Twin") == ["twin-1", "twin-2"]
    assert fitting("twin-2") == ["twin-2"]


def test_a_page_with_one_alias_twice_is_one_candidate(pages):
    assert fitting("cooler") == ["ac"]


def test_an_archived_page_is_led_to_by_nothing(pages, ada: Actor):
    services.archive(ada, Kind.ENTITY, "alice-chen")
    assert leads_to("alice-chen") is None
    assert leads_to("chen") is None


def test_where_links_lead_is_asked_in_as_many_queries_for_one_as_for_many(
    pages, django_assert_num_queries
):
    with django_assert_num_queries(1):
        linking.candidates(["alice-chen"])
    with django_assert_num_queries(1):
        linking.candidates(["alice-chen", "twin", "nobody", *(f"page-{n}" for n in range(90))])


def test_links_that_are_stored_lead_where_the_resolver_says(pages, written):
    targets = ["Alice Chen", "harbour", "Twin", "old/plan", "chen", "nobody"]
    page = written("index", "# Index\n\n" + " ".join(f"[[{one}]]" for one in targets))
    stored = {
        link.target: (link.to and link.to.name, link.candidates)
        for link in Link.objects.filter(source=page).select_related("to")
    }
    assert stored == {one: (leads_to(one), len(fitting(one))) for one in targets}
