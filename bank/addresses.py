"""Where pages are: the address behind a wikilink, and the trail above a page."""

from collections.abc import Callable

from django.urls import reverse
from django.utils.text import Truncator

from bank import names
from bank.links import Link, Named, Resolver, extract, name_key
from bank.models import Kind, Label, Page

LOOKED_UP = 2_000  # Links of one text whose pages are looked up; the others show as missing.
Trail = list[tuple[str, str | None]]


def resolver(text: str) -> Callable[[Link], str | None]:
    """Gives the address of each link of this text, None where there is no such page; one query."""
    targets = [link.target for link in extract(text)[:LOOKED_UP]]
    keys = {key for target in targets for key in _keys(target)}
    named = Label.objects.filter(key__in=keys).values("page")
    found = Page.objects.filter(archived_at=None, kind=Kind.ENTITY, pk__in=named)
    rows = found.values_list("name", "title", "aliases") if keys else ()
    resolve = Resolver(Named(name, title, tuple(aliases)) for name, title, aliases in rows).resolve

    def address(link: Link) -> str | None:
        name = resolve(link.target).page
        return None if name is None else address_of(Kind.ENTITY, name)

    return address


def _keys(target: str) -> set[str]:
    name = name_key(target)
    return {name, name.rpartition("/")[2], names.key(target.strip())}


def address_of(kind: Kind | str, name: str) -> str:
    """Where the page of this kind and name is read; a page need not exist."""
    return Page(kind=kind, name=name).get_absolute_url()


def trail(kind: Kind | str, page: Page | None, here: str = "") -> Trail:
    """The links above a page, or above what is done with it."""
    steps: Trail = [("Bank", reverse("bank"))]
    if kind == Kind.NOTE:
        steps.append(("Notes", reverse("notes")))
    if page is not None:
        steps.append((Truncator(page.title).chars(80), page.get_absolute_url() if here else None))
    return [*steps, (here, None)] if here else steps
