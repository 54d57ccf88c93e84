"""A real Chromium on a real server. Whatever its console complains about fails the test, and so
does a breach of the policy or a request that leaves the server."""

import os
import shutil
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from memoryweb.core.models import User

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
# A slow machine is not a fault: this is long enough for one that does ten things at once.
PATIENCE = 30_000
expect.set_options(timeout=PATIENCE)
WATCH_POLICY = """
    document.addEventListener("securitypolicyviolation", (event) =>
        console.error(`policy: ${event.violatedDirective} ${event.blockedURI} ${event.sample}`));
"""
# The browser notes every answer over 399; a refused form is part of what is tested.
ANSWERS = ("status of 403", "Error Code 403", "status of 409", "status of 422")


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """The installed browser; without one a test is skipped, on the build server it fails.

    Not for longer than a module: its event loop would be in the way of whatever follows.
    """
    path = shutil.which("chromium")
    if path is None:
        missing = pytest.fail if os.environ.get("CI") == "true" else pytest.skip
        missing("chromium is not installed")
    with pytest.MonkeyPatch.context() as patch, sync_playwright() as playwright:
        # Playwright keeps an event loop in this thread; the ORM is not used from inside it.
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
        launched = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield launched
        launched.close()


class Watched:
    """A window of one person, and all that was wrong in it."""

    def __init__(self, context: BrowserContext, address: str) -> None:
        self.context = context
        self.wrong: list[str] = []
        self._address = address
        context.add_init_script(WATCH_POLICY)
        context.on("request", lambda request: self._asked(request.url))
        context.on("console", lambda message: self._said(message.type, message.text))
        context.on("weberror", lambda error: self.wrong.append(str(error.error)))

    def _asked(self, url: str) -> None:
        if not url.startswith((self._address, "data:", "blob:")):
            self.wrong.append(f"asked for {url}")

    def _said(self, kind: str, text: str) -> None:
        if kind in ("error", "warning") and not any(answer in text for answer in ANSWERS):
            self.wrong.append(f"{kind}: {text}")


@pytest.fixture
def open_page(chromium: Browser, live_server: Any) -> Iterator[Callable[..., Page]]:
    """Opens a path, as a person or as nobody: `open_page("/search/", curator, width=375)`.

    Further options are those of a Playwright context. At the end nothing may have been wrong.
    """
    windows: list[Watched] = []

    def make(path: str, person: User | None = None, width: int = 1280, **options: Any) -> Page:
        size = {"width": width, "height": 800}
        context = chromium.new_context(viewport=size, base_url=live_server.url, **options)
        context.set_default_timeout(PATIENCE)
        windows.append(Watched(context, live_server.url))
        if person is not None:
            context.add_cookies([session_of(person, live_server.url)])
        page = context.new_page()
        page.goto(path)
        return page

    yield make
    for window in windows:
        window.context.close()
    assert [wrong for window in windows for wrong in window.wrong] == []


def session_of(person: User, address: str) -> Any:
    client = Client()
    client.force_login(person, "django.contrib.auth.backends.ModelBackend")
    name = settings.SESSION_COOKIE_NAME
    return {"name": name, "value": client.cookies[name].value, "url": address}
