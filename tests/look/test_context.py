"""The frame's context: the navigation by path and role, and the theme by cookie."""

import pytest
from django.contrib.auth.models import AnonymousUser
from django.test import RequestFactory

from memoryweb import context
from memoryweb.core import quarantine
from memoryweb.core.models import QuarantineItem, User


@pytest.fixture(autouse=True)
def nothing_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(context, "WAITING", {})


def current(path: str) -> list[tuple[str, str]]:
    entries = context.navigation(path, administrator=True)
    return [
        (entry.section, entry.current)
        for top in entries
        for entry in (top, *top.children)
        if entry.current
    ]


def test_home_is_current_only_at_its_own_address():
    assert current("/") == [("home", "page")]


def test_a_page_inside_a_section_marks_the_section_as_around_it():
    assert current("/episodes/") == [("episodes", "page")]
    assert current("/episodes/0190/") == [("episodes", "true")]


def test_settings_opens_inside_itself_and_marks_both():
    assert current("/settings/tokens/") == [("settings", "true"), ("tokens", "page")]
    assert context.navigation("/bank/", administrator=True)[-1].children == []


def test_only_an_administrator_is_shown_the_provider_tokens_people_and_the_database():
    settings = context.navigation("/settings/account/", administrator=False)[-1]
    assert [entry.section for entry in settings.children] == ["account", "search_defaults"]
    settings = context.navigation("/settings/account/", administrator=True)[-1]
    assert [entry.section for entry in settings.children] == [
        "account",
        "search_defaults",
        "provider",
        "tokens",
        "people",
        "admin",
    ]


def test_review_shows_how_much_waits_in_quarantine_and_in_conflict(
    monkeypatch: pytest.MonkeyPatch, viewer: User
):
    monkeypatch.setattr(context, "WAITING", {"quarantine": lambda: 3, "conflicts": lambda: 2})
    request = RequestFactory().get("/")
    request.user = viewer
    frame = context.frame(request)
    counts = {entry.section: entry.count for entry in frame["navigation"]}
    assert counts["review"] == 5
    assert counts["home"] is None
    assert frame["waiting"] == {"quarantine": 3, "conflicts": 2}


@pytest.mark.django_db
def test_review_counts_only_what_still_waits():
    QuarantineItem.objects.create(collection="episodes", document="1", text="a")
    QuarantineItem.objects.create(collection="episodes", document="2", text="b", state="rejected")
    assert quarantine.waiting_count() == 1


def test_every_key_of_the_navigation_is_its_own():
    keys = [entry.key for entry in context.SECTIONS]
    assert len(keys) == len(set(keys))


def test_someone_who_has_not_signed_in_gets_no_navigation():
    request = RequestFactory().get("/")
    assert context.frame(request)["navigation"] == []
    request.user = AnonymousUser()
    assert context.frame(request)["navigation"] == []


@pytest.mark.parametrize(
    ("cookie", "theme"), [("dark", "dark"), ("light", "light"), ('"><b', ""), ("", "")]
)
def test_only_a_known_theme_is_taken_from_the_cookie(cookie: str, theme: str):
    request = RequestFactory().get("/")
    request.COOKIES["theme"] = cookie
    assert context.frame(request)["theme"] == theme
