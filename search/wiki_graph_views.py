"""The graph of a wiki as a picture, drawn here."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from http import HTTPStatus
from typing import Any

import numpy as np
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_GET
from django.views.decorators.vary import vary_on_headers

from bank import wikis
from memoryweb.core.errors import NotFound
from memoryweb.core.parts import is_part
from search.wiki import service
from search.wiki.drawing import layout
from search.wiki.service import Graph, Node
from search.wiki_forms import GraphForm
from search.wiki_views import page_url, trail

WIDTH, HEIGHT, MARGIN = 1000, 640, 60  # Of a graph's picture.


@require_GET
@vary_on_headers("HX-Request")
def graph_page(request: HttpRequest, wiki: str) -> HttpResponse:
    """The pages around one and their links as a picture, and as a list."""
    found, form = wikis.get(wiki), GraphForm.of(request.GET)
    valid, part = form.is_valid(), is_part(request)
    context: dict[str, Any] = {
        "wiki": found,
        "form": form,
        "trail": trail(found, "Graph"),
        "json_url": reverse("api:wiki_graph", args=[wiki]),
    }
    if valid:
        asked = form.cleaned_data
        context |= _picture(wiki, asked["page"].strip(), asked["hop"], asked["most"])
    template = "wikis/_graph.html" if part else "wikis/graph.html"
    status = HTTPStatus.OK if valid else HTTPStatus.UNPROCESSABLE_ENTITY
    return render(request, template, context, status=status)


def _picture(wiki: str, centre: str, hop: int, most: int) -> dict[str, Any]:
    try:
        drawn = service.graph(wiki, centre, hop=hop, most=most)
    except NotFound:
        return {"missing": centre}
    return {"graph": drawn, "centre": centre, "picture": _drawn(wiki, drawn)}


@dataclass(frozen=True)
class Dot:
    """A page in the picture; `label` is empty where there is no room for it."""

    node: Node
    x: float
    y: float
    size: float
    label: str
    url: str


@lru_cache(maxsize=64)
def _places(count: int, edges: tuple[tuple[int, int], ...]) -> list[tuple[float, float]]:
    points = layout(count, edges)
    return [(float(x), float(y)) for x, y in points]


def _drawn(wiki: str, graph: Graph) -> dict[str, Any]:
    at = {node.page.page_id: number for number, node in enumerate(graph.nodes)}
    edges = tuple((at[a], at[b]) for a, b in graph.edges if a in at and b in at)
    places = _places(len(graph.nodes), edges)
    dots = [_dot(wiki, node, *places[number]) for number, node in enumerate(graph.nodes)]
    lines = [(dots[a], dots[b]) for a, b in edges]
    return {"dots": _named(dots), "lines": lines, "width": WIDTH, "height": HEIGHT}


def _dot(wiki: str, node: Node, x: float, y: float) -> Dot:
    return Dot(
        node,
        round(MARGIN + x * (WIDTH - 2 * MARGIN), 1),
        round(MARGIN / 2 + y * (HEIGHT - MARGIN), 1),
        round(min(4 + node.degree**0.5 * 1.5, 16), 1),
        "",
        page_url(wiki, node.page.page_id),
    )


def _named(dots: Sequence[Dot]) -> list[Dot]:
    """The dots with the titles that there is room for, those with the most links first."""
    taken = np.empty((0, 4))
    named = list(dots)
    order = sorted(range(len(dots)), key=lambda at: (dots[at].node.hop, -dots[at].node.degree))
    for at in order:
        label, box = _label(dots[at])
        apart = (
            (taken[:, 0] > box[2])
            | (taken[:, 2] < box[0])
            | (taken[:, 1] > box[3])
            | (taken[:, 3] < box[1])
        )
        if apart.all():
            taken = np.vstack([taken, box])
            named[at] = replace(dots[at], label=label)
    return named


def _label(dot: Dot) -> tuple[str, tuple[float, float, float, float]]:
    """What stands above a dot, and the box that it fills: left, top, right, bottom."""
    title = dot.node.page.title
    label = title if len(title) <= 20 else f"{title[:19]}…"
    half = sum(13 if ord(character) > 0x2E7F else 7 for character in label) / 2
    return label, (dot.x - half, dot.y - dot.size - 16, dot.x + half, dot.y - dot.size)
