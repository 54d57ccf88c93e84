"""The pages of wikis in a browser without script: lists, a search, its graph, and changes."""

import io
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from bank import services, wiki_pages, wikis
from bank.models import Kind, Wiki
from memoryweb.core.actor import Actor
from memoryweb.core.models import User
from search.wiki import feeding, pool
from search.wiki.drawing import layout

SignIn = Callable[[User], Client]


@pytest.fixture(autouse=True)
def fresh(home: Path, db: None) -> Iterator[None]:
    pool.shared.cache_clear()
    for memory in (feeding._untouched, feeding._failed):
        memory.clear()
    yield
    pool.shared().close()


@pytest.fixture
def ada(curator: User) -> Actor:
    return curator.actor("page")


@pytest.fixture
def garden(ada: Actor) -> Wiki:
    made = wikis.create(ada, team_id="", name="Garden", id="garden")
    texts = {
        "rose": "# Rose\n\nA thorny flower, see [[guide/tulip]].",
        "guide/tulip": "# Tulip\n\nFrom a bulb.",
    }
    for ref, content in texts.items():
        services.save(ada, Kind.WIKI, f"garden/{ref}", content)
    return made


def text(client: Client, address: str, status: int = 200) -> str:
    response = client.get(address)
    assert response.status_code == status
    return str(response.content.decode())


def test_the_list_begins_with_the_built_in_wikis(
    viewer: User, signed_in: SignIn, garden: Wiki
) -> None:
    page = text(signed_in(viewer), "/wikis/")
    assert page.index("Memory bank") < page.index("Memories") < page.index("Garden")
    assert "New wiki" not in page
    assert page.count("<time") == 1  # Nobody made those that are built in.


def test_a_wiki_shows_its_pages_and_a_search_marks_the_words(
    viewer: User, signed_in: SignIn, garden: Wiki
) -> None:
    desk = signed_in(viewer)
    assert "/wikis/garden/pages/guide/tulip/" in text(desk, "/wikis/garden/")
    found = text(desk, "/wikis/garden/?q=thorny&hop=1&decay=0.5")
    assert "<mark>thorny</mark>" in found
    assert "1 link away" in found
    assert "× 0.5" in found
    assert ">2 pages</p>" in found


def test_a_search_that_is_cut_off_says_that_there_may_be_more(
    viewer: User, signed_in: SignIn, garden: Wiki
) -> None:
    found = text(signed_in(viewer), "/wikis/garden/?q=thorny&hop=1&decay=0.5&limit=1")
    assert ">1 page, the best; there may be more</p>" in found
    assert "see guide/tulip." in found  # A link reads as its words.


def test_a_search_without_a_match_says_so(viewer: User, signed_in: SignIn, garden: Wiki) -> None:
    assert "No page matches" in text(signed_in(viewer), "/wikis/garden/?q=walrus")


@pytest.mark.parametrize("query", ["hop=6", "decay=2", "limit=0", "min_score=-1", "hop=x"])
def test_a_value_out_of_bounds_is_named(
    viewer: User, signed_in: SignIn, garden: Wiki, query: str
) -> None:
    assert "errorlist" in text(signed_in(viewer), f"/wikis/garden/?q=x&{query}", 422)


def test_a_part_is_answered_to_htmx(viewer: User, signed_in: SignIn, garden: Wiki) -> None:
    part = signed_in(viewer).get("/wikis/garden/?q=thorny", headers={"HX-Request": "true"})
    assert b"<html" not in part.content
    assert b"<mark>thorny</mark>" in part.content


def test_the_graph_draws_each_page_once_and_lists_it(
    viewer: User, signed_in: SignIn, garden: Wiki
) -> None:
    drawn = text(signed_in(viewer), "/wikis/garden/graph/?page=rose&hop=1")
    assert drawn.count("<circle") == 2
    assert drawn.count("<line") == 1
    assert "2 pages, 1 line around" in drawn
    assert "Around it" in drawn
    assert "No such page" in text(signed_in(viewer), "/wikis/garden/graph/?page=oak")


def test_a_layout_is_the_same_every_time_and_keeps_pages_apart() -> None:
    edges = [(0, one) for one in range(1, 30)]
    points = layout(30, edges)
    assert (points == layout(30, edges)).all()
    assert points.min() >= 0
    assert points.max() <= 1
    apart = ((points[:, None] - points[None]) ** 2).sum(axis=2) + 9 * (
        points[:, :1] == points[:, 0]
    )
    assert apart.min() > 1e-4
    assert layout(0, []).shape == (0, 2)
    assert layout(1, []).tolist() == [[0.5, 0.5]]


def test_a_curator_makes_a_wiki_and_uploads_a_zip(curator: User, signed_in: SignIn) -> None:
    desk = signed_in(curator)
    made = desk.post("/wikis/-/new/", {"name": "Yard"}, follow=True)
    (address, _), *_ = made.redirect_chain
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("a.md", "# Alder\n\nA tree.")
        archive.writestr("b.txt", "nothing")
    file = SimpleUploadedFile("v.zip", packed.getvalue())
    told = desk.post(address, {"file": file}).content.decode()
    assert "1 created" in told
    assert "1 left" in told
    wiki = address.split("/")[2]
    assert "Alder" in text(desk, f"/wikis/{wiki}/?q=tree")
    assert "b.txt" in text(desk, f"/wikis/{wiki}/files/")


def test_a_curator_points_at_no_folder(curator: User, signed_in: SignIn, tmp_path: Path) -> None:
    refused = signed_in(curator).post("/wikis/-/new/", {"name": "V", "folder": str(tmp_path)})
    assert refused.status_code == 403


def test_a_deleted_wiki_is_brought_back_by_an_administrator(
    curator: User, administrator: User, signed_in: SignIn, garden: Wiki
) -> None:
    assert "2 pages" in text(signed_in(curator), "/wikis/garden/delete/")
    signed_in(curator).post("/wikis/garden/delete/")
    assert text(signed_in(curator), "/wikis/garden/", 404)
    boss = signed_in(administrator)
    assert "Bring back" in text(boss, "/wikis/")
    boss.post("/wikis/-/deleted/garden/")
    assert "Rose" in text(boss, "/wikis/garden/")


def test_removing_a_page_names_who_links_to_it(
    curator: User, signed_in: SignIn, garden: Wiki
) -> None:
    desk, address = signed_in(curator), "/wikis/-/remove/garden/pages/guide/tulip/"
    assert "Rose" in text(desk, address)
    stale = desk.post(address, {"base": 9})
    assert stale.status_code == 409
    desk.post(address, {"base": 1, "unlink": "on"})
    assert "[[" not in services.queries.find(Kind.WIKI, "garden/rose").content


def test_a_locked_page_says_by_whom(curator: User, signed_in: SignIn, garden: Wiki) -> None:
    desk = signed_in(curator)
    desk.post("/wikis/-/lock/garden/pages/rose/")
    assert f"{curator.username} locked this page" in text(desk, "/wikis/garden/pages/rose/")
    desk.post("/wikis/-/lock/garden/pages/rose/", {"unlock": "1"})
    assert "locked this page" not in text(desk, "/wikis/garden/pages/rose/")


@pytest.mark.parametrize(
    "address",
    ["-/new/", "garden/edit/", "garden/upload/", "garden/delete/", "-/remove/garden/pages/rose/"],
)
def test_a_viewer_changes_nothing(
    viewer: User, signed_in: SignIn, garden: Wiki, address: str
) -> None:
    assert signed_in(viewer).post(f"/wikis/{address}").status_code == 403


def test_a_wiki_asks_as_many_questions_for_fifty_pages_as_for_two(
    viewer: User,
    signed_in: SignIn,
    garden: Wiki,
    ada: Actor,
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    for number in range(45):
        services.save(ada, Kind.WIKI, f"garden/p{number}", f"# Page {number}\n\nThorny [[rose]].")
    desk = signed_in(viewer)
    text(desk, "/wikis/garden/?q=thorny&hop=2")
    with django_assert_max_num_queries(16):
        text(desk, "/wikis/garden/")
    with django_assert_max_num_queries(16):
        text(desk, "/wikis/garden/?q=thorny&hop=2")


def test_files_of_a_folder_are_taken_in_by_their_paths(
    curator: User, viewer: User, signed_in: SignIn, garden: Wiki
) -> None:
    def sent(person: User, paths: list[str]) -> Any:
        files = [SimpleUploadedFile("page", b"# Fern\n"), SimpleUploadedFile("page", b"# Up\n")]
        body = {"paths": paths, "files": files}
        return signed_in(person).post("/wikis/garden/files/upload/", body)

    told = sent(curator, ["vault/deep/fern.md", "vault/../../up.md"])
    assert told.json()["counts"] == {"created": 1, "left": 1}
    assert "../up.md" in told.json()["rows"]
    assert wiki_pages.find("garden", "deep/fern").title == "Fern"
    assert sent(curator, ["vault/one.md"]).status_code == 422
    assert sent(viewer, ["vault/a.md", "vault/b.md"]).status_code == 403


@pytest.mark.parametrize(
    "address", ["bank/edit/", "bank/upload/", "bank/delete/", "memories/delete/"]
)
def test_no_form_is_shown_that_a_built_in_wiki_refuses(
    curator: User, signed_in: SignIn, address: str
) -> None:
    assert signed_in(curator).get(f"/wikis/{address}").status_code == 404


def test_a_page_of_a_wiki_leads_to_its_json(viewer: User, signed_in: SignIn, garden: Wiki) -> None:
    desk = signed_in(viewer)
    address = "/api/v1/wikis/garden/page?ref=guide%2Ftulip"
    page = desk.get(wiki_pages.find("garden", "guide/tulip").get_absolute_url())
    assert page.context["json_url"] == address
    assert desk.get(address).json()["title"] == "Tulip"


def test_a_page_to_be_written_is_begun_in_its_own_wiki(
    curator: User, ada: Actor, signed_in: SignIn, garden: Wiki
) -> None:
    content = "# Oak\n\nStands by the [[rose]] and the [[指南/birch]].\n"
    services.save(ada, Kind.WIKI, "garden/oak", content)
    client, begun = signed_in(curator), "/wikis/-/edit/garden/pages/%E6%8C%87%E5%8D%97/birch/"
    for address in ("/wikis/garden/pages/oak/", "/wikis/garden/lint/?check=broken"):
        assert f'href="{begun}"' in text(client, address)
    page = text(client, begun)
    assert '<a href="/wikis/garden/">Garden</a>' in page  # above it, and where Cancel leads
    assert 'class="button" href="/wikis/garden/">Cancel' in page


def test_a_preview_finds_the_pages_of_its_own_wiki(
    curator: User, signed_in: SignIn, garden: Wiki
) -> None:
    sent = {"content": "# Rose\n\nSee [[guide/tulip]] and [[oak]].", "step": "preview"}
    page = signed_in(curator).post(
        "/wikis/-/edit/garden/pages/rose/", sent, headers={"HX-Request": "true"}
    )
    prose = page.content.decode()
    assert 'href="/wikis/garden/pages/guide/tulip/"' in prose
    assert prose.count("There is no such page yet.") == 1
