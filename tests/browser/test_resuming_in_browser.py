"""Signed out while typing, in a real browser: what was typed is saved after the new login."""

from collections.abc import Callable
from pathlib import Path

import pytest
from django.contrib.sessions.models import Session
from playwright.sync_api import Page as Window
from playwright.sync_api import expect

from bank import services
from bank.models import Kind, Page
from memoryweb.core.models import User
from tests.conftest import PASSWORD

pytestmark = pytest.mark.browser
TYPED = "# Alice\n\nRuns the docks & the <yard>.\n\n- nothing is lost\n"


@pytest.mark.parametrize("width", [375, 1280])
def test_a_page_typed_while_the_session_ended_is_saved_after_the_login(
    transactional_db: None,
    home: Path,
    curator: User,
    open_page: Callable[..., Window],
    width: int,
):
    services.save(curator.actor("page"), Kind.ENTITY, "alice", "# Alice\n\nRuns the docks.\n")
    window = open_page("/bank/alice/edit/", curator, width=width)
    Session.objects.all().delete()
    window.locator("textarea[name=content]").fill(TYPED)
    # The preview is the first to notice. It says so, and the text stays.
    expect(window.locator("#messages")).to_contain_text("You were signed out")
    expect(window.locator("textarea[name=content]")).to_have_value(TYPED)
    window.get_by_role("button", name="Compare and save").click()
    expect(window.get_by_role("heading", level=1)).to_have_text("You were signed out")
    window.get_by_label("Username").fill("curator")
    window.get_by_label("Password").fill(PASSWORD)
    window.get_by_role("button", name="Sign in").click()
    window.get_by_role("button", name="Send it now").click()
    window.get_by_role("button", name="Save", exact=False).first.click()
    expect(window.locator("main")).to_contain_text("nothing is lost")
    assert Page.objects.get(name="alice").content == TYPED
