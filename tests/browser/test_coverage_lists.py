"""Runs, models and the lists of coverage in a real browser, against a provider on this machine."""

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import expect

from episodes import store, vectors
from memoryweb.core import active_model
from memoryweb.core.actor import system
from memoryweb.core.models import User
from search import runs
from search.embedding import batches
from search.embedding.querying import query_vectors
from search.live import live
from search.other_index import other
from search.working import Worker
from tests.embedding.double import Double, running, vector_of

pytestmark = pytest.mark.browser


@pytest.fixture
def provider(settings: Any, transactional_db: None, home: Any) -> Iterator[Double]:
    """The double as the configured provider, of the model `toy`."""
    forget = (live.forget, other.forget, query_vectors.forget)
    with running() as double, pytest.MonkeyPatch.context() as patch:
        patch.setattr(batches, "PAUSES", (0.0, 0.0, 0.0))
        settings.MEMORYWEB_EMBEDDING_URL = f"{double.url}/v1"
        settings.MEMORYWEB_EMBEDDING_MODEL = "toy"
        for each in forget:
            each()
        yield double
        for each in forget:
            each()


@pytest.fixture
def remember(provider: Double) -> Callable[..., None]:
    def make(id: str, text: str, vector: list[float] | None = None, model: str = "toy") -> None:
        row = {"id": id, "agent_id": "otter", "working_dir": "/srv", "outcome": "success"}
        store.store(system(), store.parse({**row, "summary": text}))
        if vector is not None:
            vectors.set_vector(system(), vectors.Sent(id, vector, None, model))

    return make


def work() -> None:
    """What the worker does until there is nothing left to do."""
    worker = Worker()
    while worker.once():
        pass


def test_the_provider_is_tested_by_a_button(open_page: Any, administrator: User, provider: Double):
    page = open_page("/settings/provider/", administrator)
    page.get_by_role("button", name="Test", exact=True).click()
    page.get_by_text("It answers, and its vectors mean something.").wait_for()
    expect(page.get_by_text("8 numbers")).to_be_visible()


def test_a_run_is_the_same_in_two_windows_and_after_a_reload_and_ends_by_cancel(
    open_page: Any, curator: User, provider: Double, remember: Callable[..., None]
):
    for number in range(40):
        remember(f"e{number:02}", f"text {number}")
    reached = threading.Event()

    def stuck_at_the_third(handler: Any, body: Any) -> bool:
        if len(provider.asked) == 3:
            reached.set()
            provider.stopping.wait(20)
        return False

    provider.behave = stuck_at_the_third
    first = open_page("/runs/", curator)
    first.get_by_role("button", name="Embed what lacks a vector").click()
    first.wait_for_url("**/runs/*/")
    worker = threading.Thread(target=work)
    worker.start()
    try:
        assert reached.wait(20)
        first.get_by_text("16 of 40").wait_for()
        second = open_page(first.url, curator)
        for window in (first, second):
            window.reload()
            window.get_by_text("16 of 40").wait_for()
        first.get_by_role("button", name="Cancel").click()
        first.get_by_text("The run is cancelled. What it had stored stays.").wait_for()
        second.get_by_role("status").filter(has_text="cancelled").wait_for()
    finally:
        provider.stopping.set()
        worker.join(20)
    assert (runs.all_runs().get().state, runs.all_runs().get().done) == ("cancelled", 16)


def test_models_are_compared_judged_switched_and_switched_back(
    open_page: Any, curator: User, remember: Callable[..., None]
):
    for text in ("quay", "bread"):
        remember(text, text, vector_of(text))
    runs.start_reindex(system(), runs.Request(model="newer"))
    work()
    page = open_page("/coverage/", curator)
    page.get_by_role("link", name="Compare newer with toy").click()
    page.get_by_label("Queries, one a line").fill("quay")
    page.get_by_role("button", name="Compare").click()
    page.get_by_role("button", name="just this").first.click()
    page.get_by_text("1 of them judged").wait_for()
    expect(page.get_by_role("row", name="nDCG at 10 1.000 1.000")).to_be_visible()
    page.get_by_role("button", name="Switch to newer").click()
    page.get_by_text("Searches compare newer now.").wait_for()
    assert active_model.active().model == "newer"
    page.get_by_role("button", name="Switch to this").click()
    page.get_by_text("Searches compare toy now.").wait_for()
    assert active_model.active().model == "toy"


@pytest.mark.parametrize("width", [375, 1280])
def test_each_number_of_coverage_leads_to_as_many_documents(
    open_page: Any, viewer: User, remember: Callable[..., None], width: int
):
    remember("has", "has", vector_of("has"))
    remember("bare", "bare " + "w" * 300)
    remember("wide", "wide", [1.0] * 16)
    remember("odd", "odd", vector_of("odd"), "elder")
    page = open_page("/coverage/", viewer, width)
    links = page.locator("main :is(td, .section-head, .coverage-links) > a").evaluate_all(
        "all => all.map(one => [one.getAttribute('href'), one.textContent])"
    )
    counted = {address: int(text.split()[0]) for address, text in links if text[:1].isdigit()}
    assert len(counted) > 15
    for address, number in counted.items():
        page.goto(address)
        expect(page.locator("tr[data-item]"), address).to_have_count(number)
        assert page.evaluate("document.documentElement.scrollWidth") == width
