"""Where pages are: the address behind a wikilink, and the trail above a page."""

from collections.abc import Callable

from django.urls import reverse
from django.utils.text import Truncator

from bank import linking
from bank.links import Link, extract
from bank.models import Kind, Page, Wiki

LOOKED_UP = 2_000  # Links of one text whose pages are looked up; the others show as missing.
Trail = list[tuple[str, str | None]]


def resolver(text: str, wiki: str = "", page: Page | None = None) -> Callable[[Link], str | None]:
    """Gives the address of each link of this text, None where there is no such page in the wiki,
    which is the bank if it is "". `page` is the one that says it."""
    leads = linking.candidates({link.target for link in extract(text)[:LOOKED_UP]}, wiki)
    waiting = linking.led_by_old_name(page) if page else {}

    def address(link: Link) -> str | None:
        if renamed := waiting.get(link.target):
            return renamed.get_absolute_url()
        found = leads.get(link.target)
        return address_of(found[0].kind, found[0].name) if found else None

    return address


def address_of(kind: Kind | str, name: str) -> str:
    """Where the page of this kind and name is read; a page need not exist."""
    return Page(kind=kind, name=name).get_absolute_url()


def trail(kind: Kind | str, page: Page | None, here: str = "", name: str = "") -> Trail:
    """The links above a page, or above what is done with it; `name` is that of one to be."""
    if kind == Kind.WIKI and (named := page.name if page else name):
        wiki = named.partition("/")[0]
        called = Wiki.objects.filter(pk=wiki).values_list("name", flat=True).first() or wiki
        steps: Trail = [("Wikis", reverse("wikis")), (called, reverse("wiki", args=[wiki]))]
    else:
        steps = [("Bank", reverse("bank"))]
    if kind == Kind.NOTE:
        steps.append(("Notes", reverse("notes")))
    if page is not None:
        steps.append((Truncator(page.title).chars(80), page.get_absolute_url() if here else None))
    return [*steps, (here, None)] if here else steps
