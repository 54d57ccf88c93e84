"""The session pages in a real browser: live recall, lazily loaded parts, every width and theme,
and everything but what is live without script."""

import json
import re
from collections.abc import Callable
from importlib.resources import files
from typing import Any

import axe_playwright_python
import pytest
from playwright.sync_api import expect

from episodes import code_vectors, memory_vectors, sessions
from episodes.session_schemas import CodeVectorIn, MemoryIn
from memoryweb.core.actor import system
from memoryweb.core.models import User
from search.live import live

pytestmark = pytest.mark.browser


@pytest.fixture
def remember(transactional_db: None) -> Callable[..., None]:
    def make(id: str, content: str, vector: list[float] | None = None, **fields: Any) -> None:
        context = fields.pop("context", "shop")
        given = MemoryIn(id=id, content=content, **fields)
        sessions.save(system(), context_id=context, name=f"The {context}", memories=[given])
        if vector is not None:
            memory_vectors.index(system(), memory_vectors.Sent(id, vector, model="toy"))

    live.forget()
    return make


@pytest.fixture
def shop(remember: Callable[..., None]) -> None:
    remember("locks", "The worker sorts its locks", [1.0, 0.0], type="decision")
    remember("queues", "Queues drain at night", [0.0, 1.0])
    remember("plain", "Nobody made a vector of this")


@pytest.fixture
def extreme(remember: Callable[..., None]) -> None:
    remember("wide", "W" * 3000, source="s" * 200, context="x" * 200)
    remember("path", "/a/long/path" * 60 + " مرحبا بالعالم 部署手册", context="x" * 200)
    sessions.save(system(), context_id="x" * 200, name="W" * 500, intent="I" * 3000)
    given = CodeVectorIn(
        symbol_name="f" * 400, file_path="/srv/" + "深い/" * 200, embedding=[1.0],
        embedding_model="m" * 200,
    )  # fmt: skip
    code_vectors.store(system(), "c" * 200, given)


def test_words_are_recalled_as_they_are_typed(open_page: Any, viewer: User, shop: None):
    page = open_page("/sessions/shop/", viewer)
    page.get_by_label("What to recall").fill("queues")
    found = page.locator("#recalled .result")
    found.first.wait_for()
    assert found.all_inner_texts()[0].count("Queues drain at night") == 1
    expect(page).to_have_url(re.compile(r"/sessions/shop/$"))
    page.get_by_label("What to recall").fill("zebra")
    page.get_by_text("No memory of this session has one of these words.").wait_for()


def test_a_vector_is_pasted_and_its_mistake_is_told_in_place(
    open_page: Any, viewer: User, shop: None
):
    page = open_page("/sessions/shop/", viewer)
    page.get_by_text("Recall by a vector", exact=True).click()
    box = page.locator("textarea[name=embedding]")
    box.fill("[0, 0]")
    page.get_by_role("button", name="Recall by this vector").click()
    page.locator("#recalled [role=alert]").wait_for()
    box.fill(json.dumps([0.1, 1.0]))
    page.get_by_role("button", name="Recall by this vector").click()
    page.locator("#recalled .result").first.wait_for()
    expect(page.locator("#recalled .result").first).to_contain_text("Queues drain")
    page.get_by_role("link", name="1 without a vector").click()
    page.wait_for_url("**skipped=no_vector**")
    expect(page.locator("#memories tr[data-item]")).to_have_count(1)


def test_what_a_shell_gets_and_similar_memories_come_by_themselves(
    open_page: Any, viewer: User, shop: None
):
    page = open_page("/sessions/shop/", viewer)
    page.get_by_text("Without a query").wait_for()
    page.goto("/sessions/memories/locks/")
    page.get_by_text("Of all sessions, nearest first").wait_for()


def test_filters_change_the_list_and_the_address(open_page: Any, viewer: User, shop: None):
    page = open_page("/sessions/shop/", viewer)
    page.get_by_label("Type").select_option("decision")
    page.wait_for_url("**type=decision**")
    page.wait_for_function("document.querySelectorAll('#memories tr[data-item]').length == 1")
    assert "/sessions/shop/memories?type=decision" in page.locator("#twin a").get_attribute("href")


def test_memories_are_deleted_and_brought_back(open_page: Any, curator: User, shop: None):
    page = open_page("/sessions/shop/", curator)
    page.get_by_label("Select all on this page").check()
    expect(page.get_by_text("3 selected")).to_be_visible()
    page.locator(".bulk").get_by_role("button", name="Delete…").click()
    page.get_by_role("button", name="Delete 3 memories").click()
    page.get_by_text("Looked again").wait_for()
    page.goto("/sessions/")
    page.get_by_role("button", name="Bring all back").click()
    page.get_by_text("3 memories restored.").wait_for()


def test_without_script_everything_works(open_page: Any, curator: User, shop: None):
    page = open_page("/sessions/shop/", curator, java_script_enabled=False)
    page.get_by_label("What to recall").fill("queues")
    page.get_by_role("button", name="Recall", exact=True).click()
    expect(page.locator(".result")).to_have_count(1)
    page.get_by_text("Recall by a vector", exact=True).click()
    page.locator("textarea[name=embedding]").fill("[1, 0]")
    page.get_by_role("button", name="Recall by this vector").click()
    expect(page.locator(".result")).to_have_count(2)
    page.goto("/sessions/shop/")
    page.get_by_role("link", name="Show it").click()
    expect(page.get_by_text("DEVBASE_CONTEXT_MEMORIES", exact=True)).to_be_visible()


PATHS = [
    "/sessions/", "/sessions/new/", "/sessions/memories/", "/sessions/vectors/",
    f"/sessions/vectors/{'c' * 200}/",
    f"/sessions/{'x' * 200}/", f"/sessions/{'x' * 200}/recall/?like=wide",
    f"/sessions/{'x' * 200}/environment/", f"/sessions/{'x' * 200}/edit/",
    f"/sessions/{'x' * 200}/delete/", "/sessions/memories/wide/", "/sessions/memories/path/edit/",
    "/sessions/memories/path/delete/",
]  # fmt: skip


@pytest.mark.parametrize(("theme", "width"), [("dark", 1280), ("light", 375)])
def test_every_page_fits_with_long_words_ids_and_paths(
    open_page: Any, curator: User, extreme: None, width: int, theme: str
):
    page = open_page("/sessions/", curator, width, color_scheme=theme)
    for path in PATHS:
        page.goto(path)
        page.wait_for_load_state("networkidle")
        assert page.evaluate("document.documentElement.scrollWidth") == width, path


AXE = files(axe_playwright_python).joinpath("axe.min.js").read_text()
FAULTS = """async () => (await axe.run({runOnly: ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa"]}))
    .violations.map(({id, nodes}) => `${id}: ${nodes[0].html.slice(0, 160)}`)"""


@pytest.mark.parametrize(("theme", "width"), [("light", 1280), ("dark", 375)])
def test_every_page_keeps_the_rules_for_all_who_use_it(
    open_page: Any, curator: User, shop: None, extreme: None, theme: str, width: int
):
    remembered = ["/sessions/shop/", "/sessions/shop/add/", "/sessions/shop/recall/?query=queues"]
    held = ["/sessions/memories/locks/", "/search/?q=queues", "/sessions/memories/?type=fact"]
    page = open_page("/sessions/", curator, width, color_scheme=theme, bypass_csp=True)
    faults = {}
    for path in [*PATHS, *remembered, *held]:
        page.goto(path)
        page.wait_for_load_state("networkidle")
        page.evaluate(AXE)
        if found := page.evaluate(FAULTS):
            faults[path] = found
    assert faults == {}


@pytest.mark.parametrize("path", ["/sessions/", "/sessions/memories/", "/sessions/vectors/"])
def test_an_empty_page_fits_too(open_page: Any, curator: User, transactional_db: None, path: str):
    page = open_page(path, curator, 375)
    assert page.evaluate("document.documentElement.scrollWidth") == 375


def test_the_first_command_is_copied_whole(open_page: Any, curator: User, transactional_db: None):
    page = open_page("/sessions/", curator, permissions=["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy").first.click()
    page.get_by_text("Copied").wait_for(state="attached")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith("curl -s http://localhost:")
    assert "order-worker" in copied
