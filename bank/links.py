"""[[Wikilinks]]: found in a page's body, rewritten when a page is renamed; bank.linking resolves.

Links in code fences and inline code are text, not links. Fences are found as CommonMark
finds them, at any indentation and inside lists and quotes; indented code is not told apart
from a nested list, so links in it count.
"""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass

from bank.names import key

# A target holds no backtick, so code never starts inside one; a pipe in a table is `\|`.
WIKILINK = re.compile(
    r"(?P<embed>!?)\[\["
    r"(?P<target>[^\[\]|#`\n]{0,500})"
    r"(?:\#(?P<section>[^\[\]|`\n]{0,500}))?"
    r"(?:\|(?P<label>[^\[\]\n]{0,1000}))?"
    r"\]\]"
)
_LINK_OR_ESCAPE = re.compile(rf"\\[^\n]|{WIKILINK.pattern}")
_FENCE = re.compile(r"[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*(?P<fence>`{3,}|~{3,})(?P<info>.*)")
# Of a file that is no page: whatever is embedded, and what nobody calls a page.
_FILE = re.compile(r"\.(?!md$)[a-z][a-z0-9]{1,7}$", re.IGNORECASE)
_ATTACHMENT = re.compile(
    r"\.(?:png|jpe?g|gif|svg|webp|avif|bmp|pdf|mp[34]|wav|ogg|m4a|webm|mov|mkv|zip|canvas)$",
    re.IGNORECASE,
)
_TICKS = re.compile(r"`+")
_TICKS_OR_ESCAPE = re.compile(r"\\.|(`+)", re.DOTALL)
_NOT_NEWLINE = re.compile(r"[^\n]")


@dataclass(frozen=True, slots=True)
class Link:
    """One link as written; `span` is where its target stands in the text it came from."""

    target: str
    section: str
    label: str
    embed: bool
    span: tuple[int, int]

    @property
    def to_file(self) -> bool:
        """Whether it leads to a picture or another file, and so to no page."""
        return bool((_FILE if self.embed else _ATTACHMENT).search(self.target))

    @property
    def shown(self) -> str:
        """What a reader sees: the label, else the target with its section."""
        return self.label or " › ".join(part for part in (self.target, self.section) if part)


def extract(body: str) -> list[Link]:
    """Every link of a page's body to a page in order, embeds included; those within the page and
    those to other files left out."""
    found = (
        link_of(match, body)
        for match in _LINK_OR_ESCAPE.finditer(mask_code(body))
        if match["target"] is not None
    )
    return [link for link in found if link.target and not link.to_file]


def rewrite(body: str, targets: Collection[str], new: str) -> str:
    """The body with every link to one of these targets naming `new`; labels stay as they are."""
    pieces, done = [], 0
    for link in extract(body):
        if link.target in targets:
            start, end = link.span
            pieces += [body[done:start], new]
            done = end
    return "".join(pieces) + body[done:]


def unlink(body: str, targets: Collection[str]) -> str:
    """The body with every link to one of these targets replaced by the words that it shows."""
    pieces, done = [], 0
    for match in _LINK_OR_ESCAPE.finditer(mask_code(body)):
        if match["target"] is None or (link := link_of(match, body)).target not in targets:
            continue
        pieces += [body[done : match.start()], link.shown]
        done = match.end()
    return "".join(pieces) + body[done:]


def link_of(match: re.Match[str], text: str) -> Link:
    """The Link of a WIKILINK match; `text` is what the match's positions count in."""
    start, end = match.span("target")
    written = text[start:end].removesuffix("\\")
    start += len(written) - len(written.lstrip())
    target = written.strip()
    label = text[slice(*match.span("label"))] if match["label"] else ""
    return Link(
        target=target,
        section=(match["section"] or "").removesuffix("\\").strip(),
        label=label.replace("`", "").strip(),
        embed=bool(match["embed"]),
        span=(start, start + len(target)),
    )


def mask_code(text: str) -> str:
    """The text with its fences and code spans overwritten by backticks: same length and lines."""
    masked: list[str] = []
    paragraph: list[str] = []  # A code span ends with its paragraph at the latest.
    fence = ""
    for line in text.split("\n"):
        if fence:
            fence = "" if _closes(line, fence) else fence
            masked.append("`" * len(line))
            continue
        fence = _opened_by(line)
        if fence or not line.strip(" \t\r>"):
            masked += [*_mask_spans(paragraph), "`" * len(line) if fence else line]
            paragraph = []
        else:
            paragraph.append(line)
    return "\n".join(masked + _mask_spans(paragraph))


def _opened_by(line: str) -> str:
    match = _FENCE.match(line)
    if match is None or (match["fence"][0] == "`" and "`" in match["info"]):
        return ""
    return match["fence"]


def _closes(line: str, fence: str) -> bool:
    mark = line.strip(" \t\r>")
    return len(mark) >= len(fence) and mark == fence[0] * len(mark)


def _mask_spans(paragraph: list[str]) -> list[str]:
    text = "\n".join(paragraph)
    if "`" not in text:
        return paragraph
    closers: dict[int, list[int]] = defaultdict(list)
    for run in _TICKS.finditer(text):
        closers[len(run[0])].append(run.start())
    pieces, at = [], 0
    while opener := _TICKS_OR_ESCAPE.search(text, at):
        end = _span_end(opener, closers)
        pieces.append(text[at : opener.start()])
        pieces.append(_NOT_NEWLINE.sub("`", text[opener.start() : end]) if opener[1] else opener[0])
        at = end
    return ("".join(pieces) + text[at:]).split("\n")


def _span_end(opener: re.Match[str], closers: dict[int, list[int]]) -> int:
    """Where the code opened here ends: after the next run as long, else after the opener."""
    if not opener[1]:
        return opener.end()
    starts = closers[len(opener[1])]
    after = bisect_left(starts, opener.end())
    return starts[after] + len(opener[1]) if after < len(starts) else opener.end()


# What targets and names have in common


def name_key(target: str) -> str:
    """What a target and the page id it names have in common."""
    return key(path_of(target)).replace(" ", "-")


def names_page(target: str, page_id: str) -> bool:
    """Whether the target names this page by its id, the end of its path or its base name."""
    written, page = name_key(target), name_key(page_id)
    return written in tails(page) or written.rpartition("/")[2] == page


def path_of(target: str) -> str:
    """The path that a target names, without what leads nowhere."""
    parts = target.strip().removesuffix(".md").split("/")
    return "/".join(part for part in parts if part not in ("", ".", ".."))


def tails(path: str) -> list[str]:
    """`a/b/c` gives `a/b/c`, `b/c`, `c`."""
    parts = path.split("/")
    return ["/".join(parts[start:]) for start in range(len(parts))]
