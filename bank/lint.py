"""What of a wiki is worth mending, the bank included: each check is a query of its own, by an
index.

A check gives rows of links or of labels, or pages; `items` says of each the page to go to.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from django.db.models import Exists, OuterRef, QuerySet

from bank import linking, withholding
from bank.models import Kind, Label, Link, Page
from memoryweb.core.actor import Actor

# Pages that nobody has to link to (TencentDB Agent Memory, knowledge wiki).
STRUCTURAL = ("index", "log", "schema", "purpose", "overview")


Name = Literal["broken", "ambiguous", "orphans", "duplicate_titles", "untitled", "stubs"]


@dataclass(frozen=True)
class Check:
    """`order` is that of its list; `rows` has every finding of a wiki once, so its count is theirs.

    A wiki is given by its id, the bank as None. `page` is the path from a row to the page that
    the finding is in.
    """

    name: Name
    title: str
    meaning: str
    rows: Callable[[str | None], QuerySet[Any]]
    order: Sequence[str]
    page: Literal["", "source", "page"]

    def readable(self, reader: Actor, wiki: str | None) -> QuerySet[Any]:
        """The findings in pages that are not kept from the reader."""
        return self.rows(wiki).filter(withholding.readable(reader, self.page))


@dataclass(frozen=True)
class Item:
    """One finding: the page it is in, the link's target if it is one, and what that fits."""

    page: Page
    target: str = ""
    fits: Sequence[Page] = ()


def _broken(wiki: str | None) -> QuerySet[Link]:
    return _with_source(Link.objects.filter(to=None, source__wiki=wiki))


def _ambiguous(wiki: str | None) -> QuerySet[Link]:
    return _with_source(Link.objects.filter(candidates__gt=1, source__wiki=wiki))


def _with_source(links: QuerySet[Link]) -> QuerySet[Link]:
    return links.select_related("source").defer("source__content")


def _orphans(wiki: str | None) -> QuerySet[Page]:
    inward = Link.objects.filter(to=OuterRef("pk")).exclude(source=OuterRef("pk"))
    kind = Kind.ENTITY if wiki is None else Kind.WIKI
    pages = Page.objects.filter(kind=kind, wiki=wiki, archived_at=None)
    pages = pages.exclude(name__in=[f"{wiki}/{name}" if wiki else name for name in STRUCTURAL])
    return pages.filter(~Exists(inward)).defer("content")


def _of_one_title(wiki: str | None) -> QuerySet[Label]:
    titles = Label.objects.filter(role=Label.Role.TITLE, page__wiki=wiki)
    others = titles.filter(key=OuterRef("key")).exclude(pk=OuterRef("pk"))
    return _with_page(titles.filter(Exists(others)))


def _lacking(what: str) -> Callable[[str | None], QuerySet[Label]]:
    def rows(wiki: str | None) -> QuerySet[Label]:
        key = linking.scoped(what, wiki or "")  # Which says the wiki, so no page need be asked.
        return _with_page(Label.objects.filter(role=Label.Role.LINT, key=key))

    return rows


def _with_page(labels: QuerySet[Label]) -> QuerySet[Label]:
    return labels.select_related("page").defer("page__content")


CHECKS: dict[Name, Check] = {
    check.name: check
    for check in (
        Check(
            "broken",
            "Broken links",
            "Links to pages that there are not. Write the page, or mend the link.",
            _broken,
            ("target", "id"),
            "source",
        ),
        Check(
            "ambiguous",
            "Ambiguous links",
            "Links that fit several pages equally well; they lead to the first. "
            "Name the page that is meant.",
            _ambiguous,
            ("target", "id"),
            "source",
        ),
        Check(
            "orphans",
            "Orphans",
            "Pages that no other page links to.",
            _orphans,
            ("name", "id"),
            "",
        ),
        Check(
            "duplicate_titles",
            "Duplicate titles",
            "Pages that share their title with another page. They may be one subject.",
            _of_one_title,
            ("key", "id"),
            "page",
        ),
        Check(
            "untitled",
            "Without a title",
            "Pages with neither a title in their front matter nor a heading.",
            _lacking("no_title"),
            ("text", "id"),
            "page",
        ),
        Check(
            "stubs",
            "Stubs",
            "Pages with next to no text besides headings.",
            _lacking("stub"),
            ("text", "id"),
            "page",
        ),
    )
}


def counts(reader: Actor, wiki: str | None = None) -> dict[Name, int]:
    """How many findings each check has in pages of the wiki that the reader may read."""
    return {check.name: check.readable(reader, wiki).count() for check in CHECKS.values()}


def items(check: Check, rows: Sequence[Any], wiki: str | None = None) -> list[Item]:
    """The findings that these rows of the check are, in their order."""
    if check.name != "ambiguous":
        return [_item(row) for row in rows]
    fitting = linking.candidates({link.target for link in rows}, wiki or "")
    wanted = {one.page for found in fitting.values() for one in found}
    pages = Page.objects.defer("content").in_bulk(wanted)
    return [
        Item(
            link.source,
            link.target,
            [pages[one.page] for one in fitting.get(link.target, ()) if one.page in pages],
        )
        for link in rows
    ]


def _item(row: Page | Link | Label) -> Item:
    if isinstance(row, Link):
        return Item(row.source, row.target)
    return Item(row.page if isinstance(row, Label) else row)
