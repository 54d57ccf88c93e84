"""Which pages: lists, links in both directions, history, and the rows that agents are given."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Max, OuterRef, Prefetch, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from bank import gate, linking, markdown, names, refs, withholding
from bank.models import FileOperation, Kind, Label, Link, Page, Revision, Wiki
from memoryweb.core import clock
from memoryweb.core.actor import Actor
from memoryweb.core.errors import Moved, NotFound
from memoryweb.core.guard import scan
from memoryweb.core.models import QuarantineItem
from memoryweb.core.substrings import contains

COLLECTION = "pages"
MEMORY_NAME = "MEMORY"
APPENDED = "+"  # Ends the document of a quarantined text that is to be added to a note.


def find(kind: Kind, name: str) -> Page:
    """The page that goes by this name, in whatever spelling. Raises NotFound, and Moved when a
    page went by it before."""
    key = key_of(kind, name)
    page = living().filter(kind=kind, key=key).first()
    if page is not None:
        clock.told(page.collection, page.document)
        return page
    if now := _moved_to(kind, name):
        raise _moved(kind, now, "this page")
    raise NotFound(_MISSING[kind])


def read(kind: Kind, name: str) -> Page:
    """As `find`, for who only reads: Moved is also raised for a title, an alias or the name of an
    imported file by which a wikilink leads to one page alone."""
    try:
        return find(kind, name)
    except Moved:
        raise
    except NotFound:
        if now := _led_to(kind, name):
            raise _moved(kind, now, "the page of this name") from None
        raise


def _moved(kind: Kind, now: str, what: str) -> NotFound:
    """That a page has another name now; one that is held back for its name is not told."""
    if scan(now) and living().filter(kind=kind, name=now, quarantined=True).exists():
        return NotFound(f"{what} has another name now, to which the guard objects; see Bank")
    return Moved(f"{what} is called “{now}” now", now)


def _led_to(kind: Kind, name: str) -> str:
    wiki, target = refs.split(name) if kind == Kind.WIKI else ("", name)
    fitting = linking.candidates([target], wiki).get(target, [])
    return fitting[0].name if len(fitting) == 1 and fitting[0].kind == kind else ""


def _moved_to(kind: Kind, name: str) -> str:
    """What the page is called that had this name before, "" if none had."""
    key = key_of(kind, name)
    former = Label.objects.filter(role=Label.Role.FORMER, key=former_key(kind, name))
    pages = living().filter(kind=kind, pk__in=former.values("page"))
    for now, before in pages.values_list("name", "former_names") if key else ():
        if key in {key_of(kind, one) for one in before}:
            return str(now)
    return ""


def formerly(documents: Iterable[tuple[Kind, str]]) -> QuerySet[Page]:
    """The pages that had one of these whole names before, without their texts."""
    keys = {former_key(kind, name) for kind, name in documents}
    former = Label.objects.filter(role=Label.Role.FORMER, key__in=keys)
    return living().filter(pk__in=former.values("page")).defer("content")


def former_key(kind: Kind, name: str) -> str:
    """By which a page is found that had this whole name before."""
    if kind != Kind.WIKI:
        return key_of(kind, name)
    wiki, ref = refs.split(name)
    return linking.whole_key(ref, wiki)


_MISSING = {
    Kind.ENTITY: "there is no page of this name",
    Kind.NOTE: "there is no note of this day",
    Kind.MEMORY: "there is no long-term memory yet",
    Kind.WIKI: "there is no such page in this wiki",
}


def key_of(kind: Kind, name: str) -> str:
    """What pages of one name have in common; no page has the key of a name that none can have."""
    if kind == Kind.MEMORY:
        return MEMORY_NAME
    if kind == Kind.NOTE:
        return name
    try:
        if kind == Kind.WIKI:
            wiki, ref = refs.split(name)
            return f"{wiki}/{refs.key_of(refs.normal(ref))}"
        return names.key(names.slug(name))
    except names.NameRefused:
        return ""


_SEARCHED = (Label.Role.NAME, Label.Role.TITLE, Label.Role.ALIAS, Label.Role.TAG)


def wiki(pk: str) -> Wiki:
    """The wiki of this id. Raises NotFound; a deleted one is not there."""
    found = Wiki.objects.filter(pk=pk, deleted_at=None).first()
    if found is None:
        raise NotFound(f"there is no wiki “{pk[:80]}”")
    return found


def pages_of(wiki: str) -> QuerySet[Page]:
    """The pages of a wiki, by name."""
    return Page.objects.filter(wiki=wiki, archived_at=None).order_by("name", "pk")


def entities(q: str = "", tag: str = "", reader: Actor | None = None) -> QuerySet[Page]:
    """The entities by name; `q` is found in name, title, abstract, tags and aliases.

    For a `reader` a page that is kept from them is found by its name alone.
    """
    found = Page.objects.filter(kind=Kind.ENTITY, archived_at=None)
    readable = Q() if reader is None else withholding.readable(reader)
    labels = Q() if reader is None else withholding.readable(reader, "page")
    if q.strip():
        named = Label.objects.filter(key__contains=names.key(q.strip()), role__in=_SEARCHED)
        named = named.filter(labels | Q(role=Label.Role.NAME)) if labels else named
        described = contains("abstract", q.strip()) & readable
        found = found.filter(Q(pk__in=named.values("page")) | described)
    if tag.strip():
        tagged = Label.objects.filter(labels, role=Label.Role.TAG, key=names.key(tag.strip()))
        found = found.filter(pk__in=tagged.values("page"))
    return found.order_by("name", "pk")


def notes() -> QuerySet[Page]:
    """The daily notes, the latest day first."""
    return Page.objects.filter(kind=Kind.NOTE, archived_at=None).order_by("-name", "pk")


def living() -> QuerySet[Page]:
    """The pages that there are: not archived, and not of a wiki that was deleted."""
    return Page.objects.filter(archived_at=None, wiki__deleted_at=None)


def archived() -> QuerySet[Page]:
    """Pages that were archived, the latest first; each can be restored while its name is free."""
    # Of an erased page nothing is left but a row, until its file is gone too.
    erased = FileOperation.objects.filter(op=FileOperation.Op.ERASE).values("page")
    pages = Page.objects.filter(wiki__deleted_at=None).exclude(archived_at=None)
    pages = pages.exclude(pk__in=erased)
    return pages.order_by("-archived_at", "pk")


def archived_page(pk: int) -> Page:
    """One of them. Raises NotFound."""
    page = archived().filter(pk=pk).first()
    if page is None:
        raise NotFound("there is no such archived page")
    return page


def archived_under(kind: Kind, name: str) -> Page | None:
    """What was archived last under a name that no page has now."""
    named = {"kind": kind, "key": key_of(kind, name)}
    return None if living().filter(**named).exists() else archived().filter(**named).first()


def tags(reader: Actor) -> dict[str, int]:
    """Every tag of the entities that the reader may read, with its number of pages."""
    readable = withholding.readable(reader, "page")
    rows = Label.objects.filter(readable, role=Label.Role.TAG, page__kind=Kind.ENTITY)
    counted = rows.values_list("text").annotate(count=Count("pk"))  # A page has a label once.
    return dict(counted.order_by("text"))


def described(rows: QuerySet[Page]) -> QuerySet[Page]:
    """With what a list shows of each page, in a fixed number of queries: no text, its links in.

    `page.backlinks.all()` then holds the links; `names_of_backlinks` their pages' names.
    """
    return rows.defer("content").prefetch_related(inward_links())


def inward_links() -> "Prefetch[str, QuerySet[Link], str]":
    """The links to a page with the names of the pages they stand in."""
    columns = ("to_id", "source__name", "source__kind", "source__quarantined")
    links = Link.objects.select_related("source").only(*columns)
    return Prefetch("backlinks", links)


def with_link_counts(rows: QuerySet[Page]) -> QuerySet[Page]:
    """Annotate `links_in`, the pages that link to each, `links_out`, its own links, and
    `links_broken`, those of them that lead to no page."""
    inward = Link.objects.filter(to=OuterRef("pk")).order_by().values("to")
    outward = Link.objects.filter(source=OuterRef("pk")).order_by().values("source")
    sources, links = Count("source", distinct=True), Count("pk")
    return rows.defer("content").annotate(
        links_in=Coalesce(Subquery(inward.annotate(n=sources).values("n")), 0),
        links_out=Coalesce(Subquery(outward.annotate(n=links).values("n")), 0),
        links_broken=Coalesce(Subquery(outward.filter(to=None).annotate(n=links).values("n")), 0),
    )


def names_of_backlinks(page: Page, reader: Actor) -> list[str]:
    """The names of the pages that link here, each once, as far as the reader may read them."""
    sources = (link.source for link in page.backlinks.all())
    return sorted({one.name for one in sources if not withholding.is_withheld(reader, one)})


def backlinks(page: Page, reader: Actor) -> QuerySet[Page]:
    """The pages that link to this one, by name, as far as the reader may read them."""
    sources = Link.objects.filter(to=page).values("source")
    pages = Page.objects.filter(withholding.readable(reader), pk__in=sources)
    return pages.defer("content").order_by("name", "pk")


def outgoing(page: Page, reader: Actor) -> list[Link]:
    """The links of the page's text, in its order, each with the page it leads to, if any; none of
    a text that is kept from the reader."""
    if withholding.is_withheld(reader, page):
        return []
    links = list(page.links.select_related("to").defer("to__content").order_by("pk"))
    for link in links:
        link.to = link.to and withholding.as_read(reader, link.to)
    return links


def revisions(page: Page) -> QuerySet[Revision]:
    """The page's history without the texts, the latest first; `before` is the number of the
    revision before each, None for the first."""
    return with_before(page.revisions.all()).order_by("-number")


def with_before(rows: QuerySet[Revision]) -> QuerySet[Revision]:
    """Without the texts, and with the number of the revision `before` each."""
    earlier = Revision.objects.filter(page=OuterRef("page"), number__lt=OuterRef("number"))
    before = Subquery(earlier.order_by("-number").values("number")[:1])
    return rows.defer("content").annotate(before=before)


def first_number(page: Page) -> int:
    """The number of the page's first revision: above 1 where pages of its name came before."""
    first = page.revisions.order_by("number").values_list("number", flat=True).first()
    return first or page.revision


def before(page: Page, number: int) -> Revision | None:
    """The revision before one, None for the first: numbers have gaps."""
    return page.revisions.filter(number__lt=number).order_by("-number").first()


def revision(page: Page, number: int) -> Revision:
    """One revision with its text. Raises NotFound."""
    found = page.revisions.filter(number=number).first()
    if found is None:
        raise NotFound("this page has no such revision")
    return found


def held(*pages: Page) -> QuerySet[QuarantineItem]:
    """What of these pages waits for a curator's decision: their own text, or proposals."""
    waiting = QuarantineItem.objects.filter(state=QuarantineItem.State.WAITING)
    documents = [page.document + end for page in pages for end in ("", APPENDED)]
    return waiting.filter(collection=COLLECTION, document__in=documents).order_by("-pk")


def ever_held(page: Page) -> QuerySet[QuarantineItem]:
    """What was ever held back for pages of this page's name, in whatever spelling it was given."""
    items = QuarantineItem.objects.filter(collection=COLLECTION)
    filed = items.filter(document__startswith=f"{page.kind}/").order_by()
    documents = filed.values_list("document", flat=True).distinct()
    return items.filter(document__in=[one for one in documents if _is_for(one, page)])


def _is_for(document: str, page: Page) -> bool:
    kind, name = Kind(page.kind), document.partition("/")[2]
    # The ref of a wiki's page may end like what is to be added to a note.
    names = (name,) if kind == Kind.WIKI else (name, name.removesuffix(APPENDED))
    return page.key in {key_of(kind, one) for one in names}


def archived_before(page: Page) -> datetime | None:
    """When a page of this page's name was archived last, this one left out; None if none was."""
    others = Page.objects.filter(kind=page.kind, key=page.key).exclude(pk=page.pk)
    found: datetime | None = others.aggregate(last=Max("archived_at"))["last"]
    return found


def holds_back(item: QuarantineItem) -> bool:
    """Whether what waits is the text of a page itself, and not a proposal for it."""
    kind, _, name = item.document.partition("/")
    pages = Page.objects.filter(kind=kind, name=name, archived_at=None, quarantined=True)
    return pages.filter(content=item.text).exists()


def revision_when_held(item: QuarantineItem) -> int | None:
    """The revision of the page that a waiting text would replace, if it is the one that the page
    had when the text was held back; None if it changed since, or there is no page."""
    kind, _, name = item.document.partition("/")
    page = living().filter(kind=kind, name=name, updated_at__lte=item.created_at).first()
    return page.revision if page else None


def in_conflict() -> QuerySet[Page]:
    """The pages of which two texts compete, the latest first."""
    return living().filter(conflict__isnull=False).order_by("-updated_at")


def servable() -> QuerySet[Page]:
    """What a search and an agent may be served: all but what is archived or quarantined."""
    return living().filter(quarantined=False)


def servable_of_bank() -> QuerySet[Page]:
    """What of the bank itself may be served."""
    return Page.objects.filter(archived_at=None, quarantined=False, wiki=None)


@dataclass(frozen=True)
class Summary:
    """The Memory Bank section: its rows, and what was left out of it.

    `skipped_by_guard` hit a rule as they would be shown; for `omitted` many there was no room.
    """

    rows: tuple[str, ...]
    pages: tuple[str, ...]
    omitted: int
    skipped_by_guard: tuple[str, ...]

    @property
    def text(self) -> str:
        return "\n".join(self.rows)


def summary(max_rows: int | None = None, prefer: Collection[str] = ()) -> Summary:
    """One row a page, by name. Where there is not room for all, those named in `prefer` come
    first and then the latest edited."""
    pages = servable().filter(kind=Kind.ENTITY)
    columns = pages.values_list("name", "abstract")
    if max_rows is None:
        chosen = sorted(columns.order_by("name"))
    else:
        wanted = {key_of(Kind.ENTITY, name) for name in prefer}
        latest = columns.order_by("-updated_at", "name")
        preferred = list(latest.filter(key__in=wanted)[:max_rows])
        others = latest.exclude(key__in=wanted)[: max_rows - len(preferred)]
        chosen = sorted([*preferred, *others])
    rows = [markdown.summary_row(name, abstract) for name, abstract in chosen]
    hits = set(gate.hits(rows))
    return Summary(
        rows=_without(rows, hits),
        pages=_without([name for name, _ in chosen], hits),
        omitted=0 if max_rows is None else pages.count() - len(chosen),
        skipped_by_guard=tuple(chosen[at][0] for at in sorted(hits)),
    )


def _without(items: Sequence[str], indexes: Collection[int]) -> tuple[str, ...]:
    return tuple(item for at, item in enumerate(items) if at not in indexes)
