"""A page's Markdown as HTML that can run, fetch and style nothing, in bounded time.

A page may be built to take minutes, or may just be very large. So the parser counts what it does,
and where that has cost enough the formatted part of the page ends; what follows is given as it is
written. What was formatted is remembered, since a page is read more often than it is changed.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from threading import Lock

import nh3
from markdown_it import MarkdownIt
from markdown_it.ruler import RuleOptionsType
from markdown_it.rules_block import StateBlock, reference
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from bank.links import WIKILINK, Link, link_of

# Costs, in about a microsecond each; an ordinary page costs some thousands.
BLOCKS_LIMIT = 300_000
INLINE_LIMIT = 500_000
LINE_COST = 8  # A line on which a block may begin.
PLACE_COST = 5  # A place in a line where something may begin.
BRACKET_COST = 24  # It may try every bracket after it, down to the nesting limit.
TOKEN_COST = 6  # What was found, has to be drawn and to be cleaned.
PASSES = 4
NESTING_LIMIT = 40
_REL = "noopener nofollow noreferrer"
_BLOCKS = ("p", "li", "h2", "h3", "h4", "h5", "h6", "blockquote", "td", "th")
REMEMBERED = 4_000_000  # Characters of HTML that a process keeps.
Resolve = Callable[[Link], str | None]


@dataclass(frozen=True, slots=True)
class Rendered:
    """Safe HTML, and the `rest` of the text where it is too large or tangled to be formatted."""

    html: str
    rest: str = ""


def render(body: str, resolve: Resolve = lambda link: None) -> Rendered:
    """A page's body (without front matter) as HTML that can run, fetch and style nothing.

    `resolve` gives a wikilink's address, or None where the page is missing. Headings start
    at h2, as the page around has the h1. An image is a link to it, so that nothing is fetched
    unasked.
    """
    return _remembered(body, resolve)


def _render(body: str, resolve: Resolve) -> Rendered:
    lines = body.count("\n") + 1
    for tried in range(PASSES):
        head, rest = _cut(body, lines)
        try:
            drawn = _MARKDOWN.render(head, {"resolve": resolve})
        except _CostsTooMuch as limit:
            # What was looked at more than once may still cost too much up to there.
            lines = min(limit.line, lines // 2 if tried else lines)
        else:
            return Rendered(_CLEANER.clean(drawn), rest)
    return Rendered("", body)


def _cut(text: str, lines: int) -> tuple[str, str]:
    """The first lines, and the others."""
    end = -1
    for _ in range(lines):
        end = text.find("\n", end + 1)
        if end < 0:
            return text, ""
    return text[: end + 1], text[end + 1 :]


class _CostsTooMuch(Exception):
    def __init__(self, line: int) -> None:
        super().__init__()
        self.line = line  # Where the block begins that is not formatted any more, from 0.


@dataclass(slots=True)
class _Cost:
    """What parsing has cost since `line`, of at most `left`."""

    left: int
    line: int = 0
    tokens: int = 0

    def add(self, cost: int, tokens: int) -> None:
        """`tokens` is how many there are by now."""
        self.left -= cost + TOKEN_COST * (tokens - self.tokens)
        self.tokens = tokens
        if self.left < 0:
            raise _CostsTooMuch(self.line)


def _begin(state: StateCore) -> None:
    state.env.update(blocks=_Cost(BLOCKS_LIMIT), inline=_Cost(INLINE_LIMIT))


def _count_block(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    # The parser drops what is nested deeper than its limit; nobody may lose sight of text.
    if state.level >= NESTING_LIMIT - 2:
        raise _CostsTooMuch(start)
    cost = state.env["blocks"]
    cost.line = max(start, cost.line)
    cost.add(LINE_COST, len(state.tokens))
    return False  # Never matches: the next rule has its turn.


def _count_inline(state: StateInline, silent: bool) -> bool:
    opens, cost = state.src[state.pos : state.pos + 2], state.env["inline"]
    dear = "[" in opens or opens[0] == "<"
    cost.add(BRACKET_COST if dear else PLACE_COST, len(state.tokens))
    cost.line += opens[0] == "\n" and not silent
    return False


def _inline(state: StateCore) -> None:
    """Parse what stands in each block, knowing its line."""
    cost = state.env["inline"]
    for token in state.tokens:
        if token.type == "inline":
            cost.line, cost.tokens = (token.map or [0])[0], 0
            cost.add(PLACE_COST, 1)
            token.children = token.children or []
            state.md.inline.parse(token.content, state.md, state.env, token.children)


def _wikilink(state: StateInline, silent: bool) -> bool:
    match = WIKILINK.match(state.src, state.pos, state.posMax)
    if match is None or not (link := link_of(match, state.src)).target:
        return False
    if not silent:
        for token in _wrapped(link.shown, _led(link, state.env["resolve"])):
            state.push(token.type, token.tag, token.nesting).attrs = token.attrs
            state.tokens[-1].content = token.content
    state.pos = match.end()
    return True


def _led(link: Link, resolve: Resolve) -> dict[str, str]:
    """The attributes of what is drawn for a link."""
    if link.to_file:
        return {"class": "image", "title": "A file that is no page."}
    address = resolve(link)
    if address is None:
        return {"class": "missing", "title": "There is no such page yet."}
    return {"class": "wikilink", "href": address}


def _reference_but_no_footnote(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    # A definition is not drawn; the text of a footnote, which looks like one, has to be.
    footnote = state.src.startswith("[^", state.bMarks[start] + state.tShift[start])
    return not footnote and reference(state, start, end, silent)


def _settle(state: StateCore) -> None:
    """Headings one level down, no style attributes (the policy forbids them), no images."""
    for token in state.tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, int(token.tag[1]) + 1)}"
        if style := token.attrs.pop("style", None):
            token.attrs["class"] = f"align-{str(style).rpartition(':')[2]}"
        if token.children:
            token.children = list(_without_images(token.children))


def _without_images(tokens: list[Token]) -> Iterator[Token]:
    links = 0  # How many links are open: a link within a link would end the outer one.
    for token in tokens:
        links += token.nesting if token.type in ("link_open", "link_close") else 0
        if token.type != "image":
            yield token
            continue
        source = str(token.attrs["src"])
        remote = source.startswith(("http:", "https:")) and not links
        address = {"href": source} if remote else {}
        yield from _wrapped(f"Image: {token.content or source}", {"class": "image", **address})


def _wrapped(text: str, attributes: Mapping[str, str]) -> list[Token]:
    """The text in a link when the attributes have an address, else in a span."""
    kind, tag = ("link", "a") if "href" in attributes else ("span", "span")
    return [
        Token(f"{kind}_open", tag, 1, attrs=dict(attributes)),
        Token("text", "", 0, content=text),
        Token(f"{kind}_close", tag, -1),
    ]


def _parser() -> MarkdownIt:
    parser = MarkdownIt("js-default", {"maxNesting": NESTING_LIMIT})
    ends: RuleOptionsType = {"alt": ["paragraph", "reference", "blockquote", "list", "table"]}
    parser.block.ruler.at("reference", _reference_but_no_footnote)
    parser.block.ruler.before("table", "count", _count_block, ends)
    parser.inline.ruler.before("text", "count", _count_inline)
    parser.inline.ruler.before("link", "wikilink", _wikilink)
    parser.core.ruler.before("normalize", "begin", _begin)
    parser.core.ruler.at("inline", _inline)
    parser.core.ruler.push("settle", _settle)
    return parser


_MARKDOWN = _parser()
_CLEANER = nh3.Cleaner(
    tags={
        *("p", "br", "hr", "ul", "ol", "li", "blockquote", "pre", "code", "em", "strong", "s", "a"),
        *("h2", "h3", "h4", "h5", "h6", "table", "thead", "tbody", "tr", "th", "td", "span"),
    },
    attributes={"a": {"href", "title"}, "ol": {"start"}, "span": {"title"}},
    allowed_classes={
        "a": {"wikilink", "image"},
        "span": {"missing", "image"},
        "td": {"align-left", "align-center", "align-right"},
        "th": {"align-left", "align-center", "align-right"},
    },
    set_tag_attribute_values={tag: {"dir": "auto"} for tag in _BLOCKS},
    url_schemes={"http", "https", "mailto"},
    link_rel=_REL,
)

# What was drawn before


@dataclass(frozen=True, slots=True)
class _Drawn:
    """What became of a text while its links led to these addresses."""

    rendered: Rendered
    leads: Mapping[Link, str | None]

    @property
    def size(self) -> int:
        return len(self.rendered.html) + len(self.rendered.rest)

    def stands(self, resolve: Resolve) -> bool:
        return all(resolve(link) == address for link, address in self.leads.items())


class Remembered:
    """What was drawn last, by the digest of its text; drawn again when a link leads elsewhere."""

    def __init__(self, most: int = REMEMBERED) -> None:
        self._most, self._size = most, 0
        self._drawn: OrderedDict[bytes, _Drawn] = OrderedDict()
        self._lock = Lock()

    def __call__(self, body: str, resolve: Resolve) -> Rendered:
        digest = sha256(body.encode(errors="surrogatepass")).digest()
        with self._lock:
            known = self._drawn.get(digest)
        if known is None or not known.stands(resolve):
            leads: dict[Link, str | None] = {}
            rendered = _render(body, lambda link: leads.setdefault(link, resolve(link)))
            known = _Drawn(rendered, leads)
        self._keep(digest, known)
        return known.rendered

    def _keep(self, digest: bytes, drawn: _Drawn) -> None:
        """As the latest; the earliest go where there is no room for all."""
        with self._lock:
            before = self._drawn.pop(digest, None)
            self._drawn[digest] = drawn
            self._size += drawn.size - (before.size if before else 0)
            while self._size > self._most:
                _, dropped = self._drawn.popitem(last=False)
                self._size -= dropped.size


_remembered = Remembered()
