"""What an agent is given to begin with: long-term memory, notes, the bank and past experiences.

Gathers the texts, has each scanned by the render gate, and fits what is left into the budget.
Nothing that is quarantined, and nothing that hits a rule now, is ever in it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from typing import Any

from django.db.models import Q
from django.utils import timezone

from bank import gate, markdown
from bank.addresses import address_of
from bank.gate import Gated
from bank.models import Kind, Page
from episodes.schemas import read
from memoryweb.core.guard import Finding
from memoryweb.core.guard.rule import Posture
from search import budget, services
from search.budget import Fitted, Section
from search.pieces import LONG, QUARTERS, Piece, brief, pieces, weight
from search.schemas import SearchIn
from search.services import Found, Result

DEFAULT_TOKENS = 2500
MOST_TOKENS = 100_000
DAYS = 7  # before today
FLOOR = 0.55  # on the better of the two scores of an experience
EXPERIENCES = 10
DIRECTORY_LENGTH = 80  # characters of a working directory, from its end
LEAST_ROW = len("\n- **x**:")
NAMED = 50  # texts kept out that are named; all are counted


@dataclass(frozen=True)
class KeptOut:
    """A text the guard keeps from agents: it waits for a decision, or it hits a rule now."""

    kind: str
    title: str
    url: str
    waits: bool
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True)
class Part:
    """A section and what the guard kept out of it: how many texts, and some of them by name."""

    section: Section
    skipped: int = 0
    kept_out: Sequence[KeptOut] = ()


@dataclass(frozen=True)
class Context:
    """What is given, of a budget of tokens. `found` is the search behind the experiences."""

    budget: int
    fitted: Fitted
    skipped: int
    kept_out: list[KeptOut] = field(default_factory=list)
    found: Found | None = None


def context(max_tokens: int, query: SearchIn | None = None, today: date | None = None) -> Context:
    """What an agent is given of `max_tokens` on a day, by default today in the configured zone.

    `query` comes from `recalling`. Raises Invalid for a query without meaning.
    """
    today = today or timezone.localdate()
    room = max_tokens * QUARTERS
    found = services.search(query) if query else None
    parts = [*_texts(today), _bank(room)]
    if found is not None:
        parts.append(_experiences(found.results))
    skipped = sum(part.skipped for part in parts)
    return Context(
        budget=max_tokens,
        fitted=budget.fit([part.section for part in parts], max_tokens, skipped),
        skipped=skipped,
        kept_out=[one for part in parts for one in part.kept_out],
        found=found,
    )


def recalling(**asked: Any) -> SearchIn | None:
    """The search for past experiences, or None where neither words nor a vector are given.

    Takes SearchIn's query, query_embedding, query_embedding_b64, embedding_model and
    prefer_working_dir. Raises Invalid.
    """
    given = {name: value for name, value in asked.items() if value not in (None, "")}
    vector = given.keys() & {"query_embedding", "query_embedding_b64"}
    if not str(given.get("query", "")).strip() and not vector:
        return None
    fixed = {"collections": ["episodes"], "min_score": FLOOR, "limit": EXPERIENCES}
    return read(SearchIn, given | fixed)


# Long-term memory and notes


def _texts(today: date) -> list[Part]:
    """The sections made of whole texts, in the order in which they are given."""
    before = [(today - timedelta(days=days)).isoformat() for days in range(1, DAYS + 1)]
    wanted = Q(kind=Kind.MEMORY) | Q(kind=Kind.NOTE, name__in=[today.isoformat(), *before])
    rows = Page.objects.filter(wanted, archived_at=None).order_by("-name")
    there = list(rows.only("kind", "name", "title", "content", "quarantined"))
    notes = [page for page in there if page.kind == Kind.NOTE]
    return [
        _text(budget.LONG_TERM, [page for page in there if page.kind == Kind.MEMORY]),
        _text(budget.RECENT, [page for page in notes if page.name in before], dated=True),
        _text(budget.TODAY, [page for page in notes if page.name not in before]),
    ]


def _text(name: str, sources: Iterable[Page], *, dated: bool = False) -> Part:
    found: list[Piece] = []
    kept_out = []
    for page in sources:
        body = _body(page)
        findings = gate.findings(body) if not page.quarantined else ()
        if page.quarantined or findings:
            kept_out.append(_kept_out(page, findings))
        elif its := pieces(body, opening=not found):
            found += _under(page.name, its) if dated else its
    units = sum(piece.ends for piece in found)
    return Part(Section(name, "paragraph", found, units), len(kept_out), kept_out)


def _body(page: Page) -> str:
    """The text without front matter, and a note's without the headings that only say its day."""
    body = markdown.split(page.content).body
    if page.kind != Kind.NOTE:
        return body
    day = (f"# {page.name}", f"## {page.name}")
    return "\n".join(line for line in body.split("\n") if line.strip() not in day)


def _under(day: str, of_note: list[Piece]) -> list[Piece]:
    first, *others = of_note
    return [replace(first, gap="\n\n", text=f"### {day}\n\n{first.text}"), *others]


def _kept_out(page: Page, findings: tuple[Finding, ...]) -> KeptOut:
    """By its name if it waits: its title is of the text that is held back."""
    kind, title = Kind(page.kind).label, page.name if page.quarantined else page.title
    return KeptOut(kind, title, page.get_absolute_url(), page.quarantined, findings)


# The bank


def _bank(room: int) -> Part:
    """A row for each page, the latest edited first; no more are read than there is room for."""
    entities = Page.objects.filter(kind=Kind.ENTITY, archived_at=None)
    latest = entities.filter(quarantined=False).order_by("-updated_at", "name")
    columns = latest.values_list("name", "abstract", "title")
    found = list(columns[: room // LEAST_ROW + 1])
    rows = [_line(markdown.summary_row(name, abstract)) for name, abstract, _ in found]
    gated = _gated(rows, room)
    hits = [
        KeptOut(
            "Row of a page",
            found[at][2],
            address_of(Kind.ENTITY, found[at][0]),
            waits=False,
            findings=gate.findings(rows[at]),
        )
        for at in gated.hits[:NAMED]
    ]
    waiting = entities.filter(quarantined=True)
    held = [_kept_out(page, ()) for page in waiting.defer("content").order_by("name")[:NAMED]]
    waits = waiting.count() if len(held) == NAMED else len(held)
    # Every name is above the empty one; said so, they are counted by their index alone.
    units = entities.filter(name__gt="").count() - waits - len(gated.hits)
    section = Section(budget.BANK, "page", [Piece("\n", rows[at]) for at in gated.kept], units)
    return Part(section, len(gated.hits) + waits, hits + held)


def _gated(rows: Sequence[str], room: int, posture: Posture = "injected") -> Gated:
    """The rows that pass the gate, until they weigh more than there is room for, and hits among
    them."""
    kept: list[int] = []
    hits: list[int] = []
    for group in gate.gated(rows, posture):
        kept += group.kept
        hits += group.hits
        room -= sum(weight(rows[at]) for at in group.kept)
        if room < 0:
            break
    return Gated(tuple(kept), tuple(hits))


def _line(text: str) -> str:
    """The text in one line, whatever a reader might take for the end of one."""
    return " ".join(text.split())


# Past experiences


def _experiences(results: Sequence[Result]) -> Part:
    """A row for each episode, the best first, its summary in a few sentences."""
    rows = [_experience(result) for result in results]
    gated = _gated(rows, len(rows) * 2 * LONG * QUARTERS, "recalled")
    kept_out = [
        KeptOut(
            "Episode",
            results[at].shown.title,
            results[at].shown.url,
            waits=False,
            findings=gate.findings(rows[at], "recalled"),
        )
        for at in gated.hits
    ]
    found = [Piece("\n", rows[at]) for at in gated.kept]
    section = Section(budget.EXPERIENCES, "episode", found, len(found))
    return Part(section, len(kept_out), kept_out)


def _experience(result: Result) -> str:
    shown = result.shown
    facts = shown.facts
    day = timezone.localtime(shown.created_at).date().isoformat()
    directory = _line(facts["working_dir"])
    if len(directory) > DIRECTORY_LENGTH:
        directory = f"…{directory[-DIRECTORY_LENGTH:]}"
    return f"- **{day}, {facts['outcome']}, {directory}**: {brief(_line(shown.summary), LONG)}"
