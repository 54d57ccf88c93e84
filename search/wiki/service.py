"""A wiki as of its last change: its index is caught up, then asked, and says how it stands."""

from collections.abc import Collection
from dataclasses import asdict, dataclass, replace
from html import escape
from itertools import islice
from typing import Any

from bank.markdown import body
from memoryweb.core.errors import NotFound
from search.wiki import pool
from search.wiki.feeding import State, catch_up, page_id, pages
from search.wiki.feeding import named as these
from search.wiki.opening import NeedsRebuild
from search.wiki.reading import PageMeta, Reader
from search.wiki.searching import LINK_WEIGHT, Answer, Query, Result, search, with_highlights
from search.wiki.snippet import Highlight

GRAPH_MOST = 500  # Pages that one picture can show.


@dataclass(frozen=True)
class WikiAnswer:
    """What a search found. While `state` is not searchable it found nothing because it could not
    look, which is not the same as that nothing is there."""

    answer: Answer
    state: State


@dataclass(frozen=True, slots=True)
class Node:
    """A page of a graph; `hop` is its distance from the page in the middle, `degree` counts all
    its links, those to pages outside of the picture too."""

    page: PageMeta
    hop: int
    degree: int


@dataclass(frozen=True)
class Graph:
    """Pages, nearest first, and the links among them by ids; `cut` when there were more pages."""

    nodes: tuple[Node, ...]
    edges: tuple[tuple[str, str], ...]
    cut: bool
    state: State


def search_wiki(wiki: str, query: Query) -> WikiAnswer:
    """What the wiki holds on the query, with highlights. Raises NotFound and Unavailable."""
    state = catch_up(wiki)
    if not state.searchable:
        return WikiAnswer(Answer((), (), state.seq), state)
    try:
        with pool.shared().reader(state.file) as reader:
            answer = search(reader, query)
    except NeedsRebuild:
        state = _lost(wiki)
        return WikiAnswer(Answer((), (), state.seq), state)
    texts = _texts(wiki, [result.page_id for result in answer.results])
    answer = answer if not state.stale else _still_served(answer, texts)
    return WikiAnswer(with_highlights(answer, query, texts.get), state)


def _lost(wiki: str) -> State:
    """How the index stands that was damaged or taken away since it was caught up: nobody may
    take the answer for that of a whole one."""
    return replace(catch_up(wiki), stale=False, status="building")


def _still_served(answer: Answer, texts: Collection[str]) -> Answer:
    """What an index of before the latest changes found, without pages that went since then.

    Their neighbours are left out too: of those nobody has asked the record.
    """
    kept = [replace(one, related=()) for one in answer.results if one.page_id in texts]
    reached = tuple(one for one in kept if all(step.page_id in texts for step in one.way))
    paths = {one.path for one in reached}
    links = tuple(one for one in answer.links if {one.source, one.target} <= paths)
    return Answer(reached, links, answer.seq)


def _texts(wiki: str, ids: Collection[str]) -> dict[str, str]:
    rows = pages(wiki).filter(these(wiki, ids)).values_list("kind", "name", "content")
    return {page_id(kind, name): body(content) for kind, name, content in rows}


def graph(wiki: str, centre: str = "", *, hop: int = 2, most: int = GRAPH_MOST) -> Graph:
    """The pages within `hop` links of one, or with no `centre` those with the most links.

    Raises NotFound for a wiki that there is not and for a page that its index does not hold,
    Unavailable.
    """
    state = catch_up(wiki)
    if not state.searchable:
        return Graph((), (), False, state)
    try:
        return _graph(state, wiki, centre, hop, most)
    except NeedsRebuild:
        return Graph((), (), False, _lost(wiki))


def _graph(state: State, wiki: str, centre: str, hop: int, most: int) -> Graph:
    with pool.shared().reader(state.file) as reader, reader.one_state():
        if centre:
            if not reader.pages([centre]):
                raise NotFound("there is no page of this name in the wiki")
            hops, cut = _around(reader, centre, hop, most)
        else:
            hops = dict.fromkeys(reader.most_linked(most), 0)
            cut = reader.count() > len(hops)
        served = _texts(wiki, list(hops)) if state.stale else hops
        hops = {page: at for page, at in hops.items() if page in served}
        known, degrees = reader.pages(hops), reader.degrees(hops)
        nodes = (Node(known[one], at, degrees[one]) for one, at in hops.items() if one in known)
        return Graph(tuple(nodes), tuple(_among(reader, hops)), cut, state)


def _around(reader: Reader, centre: str, hop: int, most: int) -> tuple[dict[str, int], bool]:
    """The distance of each page within `hop` links, and whether there were more than `most`."""
    hops, outermost = {centre: 0}, [centre]
    for distance in range(1, hop + 1):
        around = reader.neighbours(outermost, structural=True)
        found = {other for links in around.values() for other, _ in links} - hops.keys()
        # Those with the most links first, where there is not room for all.
        degrees = reader.degrees(found)
        ranked = sorted(found, key=lambda page: (-degrees[page], page))
        outermost = list(islice(ranked, most - len(hops)))
        hops.update(dict.fromkeys(outermost, distance))
        if len(outermost) < len(found):
            return hops, True
    return hops, False


def _among(reader: Reader, hops: Collection[str]) -> list[tuple[str, str]]:
    around = reader.neighbours(hops, structural=True)
    return [
        (page, other)
        for page, links in around.items()
        for other, direction in links
        if other in hops and (direction == "out" or (direction == "both" and page < other))
    ]


# As JSON, the same at every door


def told(one: Result) -> dict[str, Any]:
    """A result as JSON. `highlight` is HTML, the matches in <mark>; `via` is absent at hop 0."""
    told: dict[str, Any] = {
        "path": one.path,
        "title": one.title,
        "snippet": one.snippet,
        "score": one.score,
        "type": one.type,
        "hop": one.hop,
        "related": [asdict(other) for other in one.related],
        "highlight": _marked(one.highlight),
    }
    return told if one.via is None else {**told, "via": one.via}


def _marked(highlight: Highlight | None) -> str:
    if highlight is None:
        return ""
    text, at, parts = highlight.text, 0, list[str]()
    for start, end in highlight.spans:
        parts += [escape(text[at:start]), "<mark>", escape(text[start:end]), "</mark>"]
        at = end
    return "".join([*parts, escape(text[at:])])


def told_graph(graph: Graph) -> dict[str, Any]:
    """A graph as JSON: nodes, edges, and whether there was more."""
    nodes = [
        {
            "id": node.page.page_id,
            "path": node.page.rel_path,
            "title": node.page.title,
            "type": node.page.type,
            "hop": node.hop,
            "degree": node.degree,
        }
        for node in graph.nodes
    ]
    edges = [
        {"source": source, "target": target, "weight": LINK_WEIGHT}
        for source, target in graph.edges
    ]
    return {"nodes": nodes, "edges": edges, "cut": graph.cut}
