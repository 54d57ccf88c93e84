"""A wiki that is asked: as of its last change, with what it cannot see said to be so."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from bank import services, wikis
from bank.models import Kind
from memoryweb.core.actor import Actor
from memoryweb.core.errors import NotFound
from memoryweb.core.models import User
from search.wiki import feeding, pool
from search.wiki.opening import NeedsRebuild
from search.wiki.reading import Reader
from search.wiki.searching import Query
from search.wiki.service import Graph, WikiAnswer, graph, search_wiki


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


@pytest.fixture(autouse=True)
def garden(ada: Actor) -> None:
    wikis.create(ada, team_id="", name="Garden", id="garden")
    texts = {
        "hub": "# Hub\n\n[[rose]] [[tulip]] [[fern]] [[nowhere]]",
        "rose": "# Rose\n\nA thorny flower, see [[tulip]].",
        "tulip": "# Tulip\n\nFrom a bulb. Back to [[rose]].",
        "fern": "# Fern\n\nNo flower at all. [[moss]]",
        "moss": "# Moss\n\nGrows in the shade.",
    }
    for ref, content in texts.items():
        services.save(ada, Kind.WIKI, f"garden/{ref}", content)


def test_a_search_finds_a_page_at_once_and_marks_its_words() -> None:
    found = search_wiki("garden", Query("thorny"))
    (result,) = found.answer.results
    assert (result.page_id, found.state.status, found.state.stale) == ("rose", "ready", False)
    assert result.highlight is not None
    marked = [result.highlight.text[start:end] for start, end in result.highlight.spans]
    assert marked == ["thorny"]


def test_a_wiki_that_is_not_there_is_not_found() -> None:
    with pytest.raises(NotFound):
        search_wiki("nowhere", Query("thorny"))


def test_a_graph_holds_what_lies_within_so_many_links_of_a_page() -> None:
    near = graph("garden", "moss", hop=2)
    assert [(node.page.page_id, node.hop) for node in near.nodes] == [
        ("moss", 0),
        ("fern", 1),
        ("hub", 2),
    ]
    assert set(near.edges) == {("fern", "moss"), ("hub", "fern")}
    assert not near.cut


def test_a_graph_has_a_link_in_both_directions_once() -> None:
    whole = graph("garden")
    assert sorted(whole.edges) == [
        ("fern", "moss"),
        ("hub", "fern"),
        ("hub", "rose"),
        ("hub", "tulip"),
        ("rose", "tulip"),
    ]


def test_a_graph_too_large_keeps_the_pages_with_the_most_links_and_says_so() -> None:
    part = graph("garden", most=3)
    assert part.cut
    assert {node.page.page_id for node in part.nodes} == {"hub", "rose", "tulip"}
    around = graph("garden", "hub", hop=1, most=3)
    assert around.cut
    assert [node.page.page_id for node in around.nodes] == ["hub", "rose", "tulip"]


def test_a_graph_around_no_page_is_not_found() -> None:
    with pytest.raises(NotFound):
        graph("garden", "oak")


@pytest.mark.parametrize(
    "ask", [lambda: search_wiki("garden", Query("thorny")), lambda: graph("garden")]
)
def test_an_index_that_is_lost_in_between_is_built_and_nothing_is_said_to_be_missing(
    monkeypatch: pytest.MonkeyPatch, ask: Callable[[], WikiAnswer | Graph]
) -> None:
    assert ask().state.status == "ready"

    @contextmanager
    def damaged(self: Reader) -> Iterator[None]:
        raise NeedsRebuild("damaged")
        yield

    with monkeypatch.context() as patch:
        patch.setattr(Reader, "one_state", damaged)
        assert not ask().state.searchable
    assert ask().state.status == "ready"
