"""bank.lint, /bank/lint/ and /api/v1/bank/lint"""

from collections.abc import Callable

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from bank import lint, services
from bank.models import Kind, Page
from memoryweb.core.actor import Actor
from memoryweb.core.models import User

pytestmark = pytest.mark.django_db

LONG = "A page with so many words that nobody could take it for a stub."


@pytest.fixture
def bank(written: Callable[..., Page]) -> None:
    """A bank in which each check finds something."""
    written("index", f"# Index\n\n{LONG} [[alice]] [[Chen]] [[nobody]] [[nothing]]\n")
    written("alice", f"# Alice\n\n{LONG} [[nobody]] [[alice]] [[bob]]\n")
    written("bob", f"# Chen\n\n{LONG}\n")
    written("carol", f"# Chen\n\n{LONG} [[Nobody]]\n")
    written("dave", LONG)
    written("eve", "# Eve\n\nShort.\n")


def found(name: lint.Name) -> list[tuple[str, str, list[str]]]:
    check = lint.CHECKS[name]
    items = lint.items(check, list(check.rows(None).order_by(*check.order)))
    return [(one.page.name, one.target, [page.name for page in one.fits]) for one in items]


def test_a_broken_link_is_listed_once_for_each_page_it_is_in(bank):
    assert found("broken") == [
        ("carol", "Nobody", []),
        ("index", "nobody", []),
        ("alice", "nobody", []),
        ("index", "nothing", []),
    ]


def test_a_picture_in_a_page_is_no_broken_link(written):
    written("alice", "# Alice\n\n![[diagram.png]] and [[nobody]].\n")
    assert [target for _, target, _ in found("broken")] == ["nobody"]


def test_a_link_that_fits_several_pages_names_them_all_the_one_it_leads_to_first(bank):
    assert found("ambiguous") == [("index", "Chen", ["bob", "carol"])]


def test_an_orphan_is_a_page_that_no_other_links_to_but_an_index_needs_no_link(bank):
    assert found("orphans") == [("carol", "", []), ("dave", "", []), ("eve", "", [])]


def test_a_link_to_itself_makes_a_page_no_less_an_orphan(written):
    written("alice", "# Alice\n\nSee [[alice]].\n")
    assert [name for name, _, _ in found("orphans")] == ["alice"]


def test_pages_that_share_a_title_in_whatever_case_are_duplicates(bank, written):
    written("dave", f"# CHEN\n\n{LONG}\n")
    assert [name for name, _, _ in found("duplicate_titles")] == ["bob", "carol", "dave"]


def test_a_page_without_heading_and_title_is_untitled_and_a_short_one_a_stub(bank):
    assert [name for name, _, _ in found("untitled")] == ["dave"]
    assert [name for name, _, _ in found("stubs")] == ["eve"]


@pytest.mark.parametrize(
    ("content", "stub"),
    [
        ("", True),
        ("# A heading that is long, but a heading is no text of its own at all\n", True),
        ("x" * 39, True),
        ("x" * 40, False),
        (" x" * 39, True),
        ("字" * 40, False),
        ("---\ntitle: A front matter that is long but is not text\n---\nShort.", True),
    ],
)
def test_a_stub_has_fewer_than_40_characters_besides_headings(written, content: str, stub: bool):
    written("alice", content)
    assert [name for name, _, _ in found("stubs")] == ["alice"] * stub


def test_notes_and_long_term_memory_need_no_title_and_no_length(memory, ada: Actor):
    services.append_note(ada, "Short.")
    services.save(ada, Kind.MEMORY, "", "Short.")
    assert set(lint.counts(ada).values()) == {0}


def test_mending_takes_a_finding_off_its_list(bank, ada: Actor, written):
    written("nobody", f"# Nobody\n\n{LONG} [[carol]] [[dave]]\n")
    written("dave", f"# Dave\n\n{LONG}\n")
    services.archive(ada, Kind.ENTITY, "bob")
    services.archive(ada, Kind.ENTITY, "eve")
    nothing = dict.fromkeys(lint.CHECKS, 0)
    assert lint.counts(ada) == nothing | {"broken": 2}
    assert [(name, target) for name, target, _ in found("broken")] == [
        ("alice", "bob"),
        ("index", "nothing"),
    ]


# The page and the API


def test_each_count_is_as_long_as_its_list_on_the_page_and_at_the_api(bank, desk: Client, api):
    counts = api("read").get("/bank/lint").json()["counts"]
    assert counts == {
        "broken": 4,
        "ambiguous": 1,
        "orphans": 3,
        "duplicate_titles": 2,
        "untitled": 1,
        "stubs": 1,
    }
    for name, count in counts.items():
        answer = api("read").get(f"/bank/lint/{name}").json()
        assert (answer["total"], len(answer["items"])) == (count, count)
        shown = desk.get("/bank/lint/", {"check": name})
        assert shown.content.decode().count("data-item") == count


def test_the_api_names_the_page_the_target_and_what_that_fits(bank, api):
    [item] = api("read").get("/bank/lint/ambiguous").json()["items"]
    assert item == {
        "kind": "entity",
        "name": "index",
        "title": "Index",
        "target": "Chen",
        "fits": ["bob", "carol"],
    }


@pytest.mark.parametrize("name", list(lint.CHECKS))
def test_a_list_is_read_page_by_page_without_losing_a_row(bank, api, name: str):
    whole = api("read").get(f"/bank/lint/{name}").json()["items"]
    read, cursor = [], ""
    while cursor is not None:
        answer = api("read").get(f"/bank/lint/{name}?limit=1&cursor={cursor}").json()
        read += answer["items"]
        cursor = answer["next_cursor"]
    assert read == whole


def test_an_unknown_check_and_an_unknown_parameter_are_refused(memory, api):
    assert api("read").get("/bank/lint/spelling").status_code == 422
    assert api("read").get("/bank/lint?check=stubs").status_code == 422
    assert api("").get("/bank/lint").status_code == 401


def test_the_page_begins_with_the_first_check_that_finds_something(desk: Client, written):
    assert "Nothing to mend here" in desk.get("/bank/lint/").content.decode()
    written("eve", "# Eve\n\nShort. [[eve]]\n")
    shown = desk.get("/bank/lint/?check=nonsense").content.decode()
    assert "Pages that no other page links to." in shown


def test_a_curator_is_offered_to_write_a_missing_page_and_a_viewer_is_not(
    bank, desk: Client, viewer: User, signed_in: Callable[[User], Client]
):
    assert "/bank/new/?name=nothing" in desk.get("/bank/lint/?check=broken").content.decode()
    seen = signed_in(viewer).get("/bank/lint/?check=broken").content.decode()
    assert "/bank/new/" not in seen
    assert "/edit/" not in seen


def test_hostile_titles_and_targets_are_shown_as_text(desk: Client, written):
    written("eve", "# <img src=x onerror=alert(1)>\n\n[[<script>alert(2)</script>]]\n")
    shown = desk.get("/bank/lint/?check=broken").content.decode()
    assert "<script>alert" not in shown
    assert "<img" not in shown
    assert "&lt;script&gt;alert(2)" in shown


@pytest.mark.parametrize("name", list(lint.CHECKS))
def test_the_page_asks_the_same_number_of_queries_for_2_findings_and_for_40(
    desk: Client, written, name: str
):
    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            assert desk.get("/bank/lint/", {"check": name}).status_code == 200
        return len(captured)

    def add(number: int) -> None:
        written(f"page-{number}", f"[[none {number}]] [[Twin]]")
        written(f"twin-{number}", "# Twin\n\nShort.\n")

    add(0)
    add(1)
    few = queries()
    for number in range(2, 20):
        add(number)
    assert queries() == few
