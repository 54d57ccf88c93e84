"""What the frame of every page needs: the navigation and the chosen theme."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from django.http import HttpRequest

from bank import queries as bank
from memoryweb.core import quarantine

# What waits for a decision, in Review: how many of each.
WAITING: dict[str, Callable[[], int]] = {
    "quarantine": quarantine.waiting_count,
    "conflicts": lambda: bank.in_conflict().count(),
}

THEMES = ("light", "dark")


@dataclass(frozen=True)
class Entry:
    """One line of the navigation. `key` is the letter pressed after `g`."""

    label: str
    url: str
    section: str
    icon: str = ""
    key: str = ""
    count: int | None = None
    current: str = ""
    children: list["Entry"] = field(default_factory=list)


SECTIONS = (
    Entry("Home", "/", "home", "home", "h"),
    Entry("Search", "/search/", "search", "search", "s"),
    Entry("Episodes", "/episodes/", "episodes", "episodes", "e"),
    Entry("Sessions", "/sessions/", "sessions", "sessions", "o"),
    Entry("Bank", "/bank/", "bank", "bank", "b"),
    Entry("Context", "/context/", "context", "context", "x"),
    Entry("Review", "/review/", "review", "review", "r"),
    Entry("Coverage", "/coverage/", "coverage", "coverage", "c"),
    Entry("Runs", "/runs/", "runs", "runs", "u"),
    Entry("Activity", "/activity/", "activity", "activity", "a"),
    Entry("Settings", "/settings/", "settings", "settings", "t"),
)

BANK = (
    Entry("Pages", "/bank/", "pages"),
    Entry("Notes", "/bank/notes/", "notes"),
    Entry("Long-term", "/bank/memory/", "long_term"),
    Entry("Wikis", "/wikis/", "wikis"),
)
SETTINGS = (
    Entry("Account", "/settings/account/", "account"),
    Entry("Search", "/settings/search/", "search_defaults"),
)
ADMINISTRATION = (
    Entry("Provider", "/settings/provider/", "provider"),
    Entry("Tokens", "/settings/tokens/", "tokens"),
    Entry("People", "/settings/people/", "people"),
    Entry("Database", "/admin/", "admin"),
)


def frame(request: HttpRequest) -> dict[str, Any]:
    """The template context of base.html; no navigation for someone who has not signed in."""
    user = getattr(request, "user", None)
    if user is None or not user.is_authenticated:
        return {"navigation": [], "theme": theme(request)}
    waiting = {name: count() for name, count in WAITING.items()}
    entries = navigation(request.path, user.is_staff, sum(waiting.values()))
    return {"navigation": entries, "theme": theme(request), "waiting": waiting}


def theme(request: HttpRequest) -> str:
    """The theme chosen in this browser, or nothing to follow the system's."""
    chosen = request.COOKIES.get("theme", "")
    return chosen if chosen in THEMES else ""


def navigation(path: str, administrator: bool, waiting: int = 0) -> list[Entry]:
    """The sections, with the one that holds `path` marked and Settings opened inside itself."""
    below = {"bank": BANK, "settings": SETTINGS + ADMINISTRATION if administrator else SETTINGS}
    return [
        replace(
            _placed(entry, path, below.get(entry.section, ())),
            count=waiting if entry.section == "review" else None,
        )
        for entry in SECTIONS
    ]


def _placed(entry: Entry, path: str, below: tuple[Entry, ...] = ()) -> Entry:
    urls = (entry.url, *(child.url for child in below))
    inside = path.startswith(urls) if entry.url != "/" else path == "/"
    # Of the entries below, those that hold the page; the longest of them is the nearest.
    nearest = max((child.url for child in below if path.startswith(child.url)), key=len, default="")
    return replace(
        entry,
        current=("page" if path == entry.url else "true") if inside else "",
        children=[_placed(child, path if child.url == nearest else "") for child in below]
        if inside
        else [],
    )
