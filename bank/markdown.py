"""What a page's text says about the page: its front matter, title, abstract, tags and aliases."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import regex
import yaml

from bank.links import WIKILINK, link_of, mask_code
from bank.names import key

ABSTRACT_LENGTH = 100
TITLE_LENGTH = 200
FRONT_MATTER_LIMIT = 16 * 1024  # Characters; what is longer is kept but not read.
FRONT_MATTER_DEPTH = 16
LABELS_LIMIT = 100  # Tags or aliases of one page, and characters of one of them.

# Front matter


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """A page cut in two: `raw + body` is the text, whatever the front matter looks like.

    `raw` runs from the byte order mark, if any, through the closing fence's line end. `data`
    is what it says, made of JSON's types only, or None where there is none or it cannot be
    read; `error` then says why, naming the line of the page.
    """

    raw: str
    data: dict[str, Any] | None
    error: str
    body: str


_SURROGATE = re.compile(r"[\ud800-\udfff]")  # YAML's escapes can spell half of a character.
_FENCED = re.compile(r"\ufeff?---\r?\n(?P<yaml>(?:.*\n)*?)---\r?(?:\n|\Z)")


def split(text: str) -> FrontMatter:
    """Front matter is what stands between two lines of exactly `---`, the first at the start."""
    fenced = _FENCED.match(text)
    rest = body(text)
    raw = text[: len(text) - len(rest)]
    data, error = _parse(fenced["yaml"]) if fenced else (None, "")
    return FrontMatter(raw, data, error, rest)


def body(text: str) -> str:
    """The text without its front matter, which is not read for it."""
    fenced = _FENCED.match(text)
    return text[fenced.end() :] if fenced else text.removeprefix("\ufeff")


def _parse(source: str) -> tuple[dict[str, Any] | None, str]:
    if len(source) > FRONT_MATTER_LIMIT:
        return None, f"The front matter is over {FRONT_MATTER_LIMIT:,} characters; it is not read."
    try:
        data = yaml.load(source, _Loader)  # noqa: S506 - a SafeLoader, and narrower
    except yaml.YAMLError as error:
        return None, f"The front matter cannot be read: {_reason(error)}."
    if data is not None and not isinstance(data, dict):
        return None, "The front matter cannot be read: it is not made of `name: value` lines."
    read = _with_text_keys(data or {})
    if any("\0" in text or _SURROGATE.search(text) for text in _texts(read)):
        return None, "The front matter cannot be read: it spells a character that there is not."
    return read, ""


def _reason(error: yaml.YAMLError) -> str:
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark:
        return f"line {error.problem_mark.line + 2}: {error.problem}"
    return "it holds a character that YAML does not allow"


def _with_text_keys(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(name): _with_text_keys(inner) for name, inner in value.items()}
    return [_with_text_keys(inner) for inner in value] if isinstance(value, list) else value


def _texts(value: Any) -> Iterator[str]:
    """Every text in a value of JSON's types, names included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from (text for pair in value.items() for inner in pair for text in _texts(inner))
    elif isinstance(value, list):
        yield from (text for inner in value for text in _texts(inner))


class _Loader(yaml.SafeLoader):
    """YAML's core: text, numbers, true and false, null, lists, mappings; bounded in depth.

    No aliases (a few lines of them unfold to gigabytes) and no explicit types. Dates, times,
    `no`, `on` and numbers too long for JSON stay the text that was typed.
    """

    yaml_implicit_resolvers: dict[str, Any] = {}
    depth = 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        event = self.peek_event()  # type: ignore[no-untyped-call]
        if isinstance(event, yaml.AliasEvent):
            raise _unread("aliases are not read", event)
        if getattr(event, "tag", None) is not None:
            raise _unread("types are not read", event)
        if self.depth >= FRONT_MATTER_DEPTH:
            raise _unread("nested too deep", event)
        self.depth += 1
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node


def _unread(problem: str, event: Any) -> yaml.MarkedYAMLError:
    return yaml.MarkedYAMLError(problem=problem, problem_mark=event.start_mark)


for _tag, _pattern, _first in (
    ("null", r"~|null|Null|NULL|", [*"~nN", ""]),
    ("bool", r"true|True|TRUE|false|False|FALSE", [*"tTfF"]),
    ("int", r"[-+]?(?:0|[1-9][0-9]{0,14})", [*"-+0123456789"]),
    ("float", r"[-+]?(?:0|[1-9][0-9]{0,14})\.[0-9]{1,15}", [*"-+0123456789"]),
):
    _Loader.add_implicit_resolver(
        f"tag:yaml.org,2002:{_tag}", re.compile(rf"(?:{_pattern})\Z"), _first
    )


# What a page says about itself


@dataclass(frozen=True, slots=True)
class PageText:
    """What lists, links and search need of a page's text; `flags` name what a person should mend.

    Flags: front_matter_unreadable, title_not_text, tags_not_text, aliases_not_text, no_title
    (neither front matter nor a heading names the page), no_summary (see `shape_problem`).
    """

    front: FrontMatter
    title: str
    abstract: str
    tags: tuple[str, ...]
    aliases: tuple[str, ...]
    flags: tuple[str, ...]


def read(text: str, name: str) -> PageText:
    """Everything a page says about itself; `name` is its title when it gives none."""
    front = split(text)
    data = front.data or {}
    title = _own_title(front)
    tags, tags_fine = _labels(data, ("tags", "tag"), re.compile(r"[,\s]"))
    aliases, aliases_fine = _labels(data, ("aliases", "alias"), re.compile(","))
    flags = {
        "front_matter_unreadable": bool(front.error),
        "title_not_text": not isinstance(data.get("title", ""), str),
        "tags_not_text": not tags_fine,
        "aliases_not_text": not aliases_fine,
        "no_title": not title,
        "no_summary": bool(_shape_problem_of(front.body)),
    }
    return PageText(
        front=front,
        title=title or name,
        abstract=_abstract_of(front.body),
        tags=tags,
        aliases=aliases,
        flags=tuple(flag for flag, raised in flags.items() if raised),
    )


def title(text: str, name: str) -> str:
    """The front matter's title when it is text, else the first heading, else the name."""
    return _own_title(split(text)) or name


def abstract(text: str) -> str:
    """The first line that is no heading and not blank, cut after 100 characters with `...`.

    Front matter is dropped first. The cut never falls inside what a reader sees as one
    character.
    """
    return _abstract_of(split(text).body)


def summary_row(name: str, abstract: str) -> str:
    """A page's line in the Memory Bank section that agents are given."""
    return f"- **{name}**: {abstract}"


def shape_problem(text: str) -> str:
    """Why the text does not start with a heading and a one-line summary, or nothing."""
    return _shape_problem_of(split(text).body)


def _shape_problem_of(body: str) -> str:
    lines = [line.strip() for line in body.split("\n") if line.strip()][:2]
    if not lines or not _HEADING.match(lines[0]):
        return "A page starts with a heading, such as `# Alice Chen`."
    if len(lines) < 2 or lines[1].startswith("#"):
        return "A page's heading is followed by a summary of one line."
    return ""


def _abstract_of(body: str) -> str:
    lines = (line.strip() for line in body.split("\n"))
    line = next((line for line in lines if line and not line.startswith("#")), "")
    return line if len(line) <= ABSTRACT_LENGTH else cut(line, ABSTRACT_LENGTH) + "..."


def cut(line: str, length: int) -> str:
    """At most `length` code points, cut back to where a reader's character ends."""
    window = line[: length + 20]
    ends = [match.end() for match in regex.finditer(r"\X", window)]
    return line[: max((end for end in ends if end <= length), default=length)]


_HEADING = re.compile(r" {0,3}#{1,6}[ \t]+\S")
_FIRST_HEADING = re.compile(
    r"^ {0,3}#{1,6}[ \t]+(?P<atx>\S.*)$|^ {0,3}(?P<setext>[^\s#>`].*)\n {0,3}=+[ \t\r]*$",
    re.MULTILINE,
)
_INLINE_LINK = re.compile(r"!?\[([^\[\]]{1,200})\]\([^()\s]{0,500}\)")
# A link in which an abstract was cut off: what there is of its label, or else of its target.
_CUT_LINK = re.compile(r"!?\[\[(?:[^\[\]|\n]{0,500}\|)?([^\[\]\n]{0,500})\]?\.\.\.$")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")


def _own_title(front: FrontMatter) -> str:
    given = (front.data or {}).get("title")
    if isinstance(given, str) and given.strip():
        return cut(" ".join(given.split()), TITLE_LENGTH)
    heading = _FIRST_HEADING.search(mask_code(front.body))
    if heading is None:
        return ""
    return cut(_plain(front.body[slice(*heading.span(heading.lastgroup or 0))]), TITLE_LENGTH)


def _plain(heading: str) -> str:
    """The words of a heading without the marks around them."""
    text = heading.strip()[: TITLE_LENGTH * 5]
    closed = text.rstrip("#")
    text = closed.strip() if closed.endswith((" ", "\t")) else text
    return words(text)


def words(line: str) -> str:
    """What a reader reads of a line: labels in place of links, no marks around words."""
    text = WIKILINK.sub(lambda match: link_of(match, line).shown, line)
    text = _INLINE_LINK.sub(r"\1", _CUT_LINK.sub(r"\1...", text))
    return _ESCAPED.sub(r"\1", text.replace("**", "").replace("`", ""))


_FENCE = re.compile(r"[ \t]*(```|~~~)")
_RULE = re.compile(r"[ \t]*(?=[ \t|:*_-]{3})[|:*_-][ \t|:*_-]*\r?$")  # one, or a table's
_LEADING = re.compile(r"^[ \t]*(?:(?:#{1,6}|[-*+])[ \t]+|>[ \t]*)+")


def readable(markdown: str) -> str:
    """The words of a text line by line, without the marks around them; code as it stands."""
    lines, fence = list[str](), ""
    for line in markdown.split("\n"):
        edge = _FENCE.match(line)
        if edge and fence in ("", edge[1]):
            fence = "" if fence else edge[1]
        elif fence:
            lines.append(line)
        elif not _RULE.match(line):
            lines.append(words(_LEADING.sub("", line)))
    return "\n".join(lines)


def _labels(
    data: dict[str, Any], fields: tuple[str, ...], separator: re.Pattern[str]
) -> tuple[tuple[str, ...], bool]:
    """The labels of the first field that is there, and whether all of it could be read."""
    value: Any = next((data[field] for field in fields if data.get(field) is not None), [])
    if isinstance(value, dict):
        return (), False
    items = value if isinstance(value, list) else separator.split(str(value))
    items = [item for item in items if item is not None]
    readable = [item for item in items if isinstance(item, str | int | float)]
    unique: dict[str, str] = {}
    for item in readable:
        label = " ".join(str(item).split()).lstrip("#").strip()[:LABELS_LIMIT]
        unique.setdefault(key(label), label)
    unique.pop("", None)
    return tuple(unique.values())[:LABELS_LIMIT], len(readable) == len(items)
