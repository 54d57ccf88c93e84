"""The recall box of a session, and what a shell of it gets."""

import base64
import html
import json
import re
import shlex
import struct
import subprocess
from typing import Any

import pytest
from django.test import Client

from episodes import memory_vectors, sessions
from episodes.session_schemas import MemoryPatch
from memoryweb.core.actor import system
from search.live import View, live
from search.schemas import QUERY_CHARACTERS

# Transactions that end: the index is built by a thread, which sees no others.
pytestmark = pytest.mark.django_db(transaction=True)
PATH = "/sessions/shop/recall/"


@pytest.fixture
def browser(signed_in, viewer) -> Client:
    """Recall changes nothing: who may only read may recall."""
    return signed_in(viewer)


def text(response: Any) -> str:
    return html.unescape(response.content.decode())


def recalled(page: str) -> list[str]:
    found = re.findall(r'class="result-title"><a href="/sessions/memories/([^"]*)/"', page)
    return [html.unescape(one) for one in found]


def scores(page: str) -> list[str]:
    return re.findall(r'class="score">([\d.-]+)<', page)


@pytest.fixture
def compass(memory) -> None:
    memory("The worker sorts locks", "east", [1.0, 0.0], created_at="2026-03-01T10:00:00Z")
    memory("Queues drain at night", "north", [0.0, 1.0], created_at="2026-03-02T10:00:00Z")
    memory("Worker and queues", "between", [1.0, 1.0], created_at="2026-03-03T10:00:00Z")


def test_words_recall_by_bm25_and_stand_in_the_address(browser, compass):
    page = text(browser.get(PATH, {"query": "queues"}))
    assert set(recalled(page)) == {"north", "between"}
    assert scores(page)[0] == "1.0000"
    assert "keyword" in page
    assert 'value="queues"' in page


@pytest.mark.parametrize(
    "pasted",
    ["[1.0, 0.1]", " [1, 0.1]\n", base64.b64encode(struct.pack("<2f", 1.0, 0.1)).decode()],
)
def test_a_pasted_vector_recalls_by_cosine(browser, compass, pasted: str):
    page = text(browser.post(PATH, {"embedding": pasted}))
    assert recalled(page) == ["east", "between", "north"]
    assert scores(page)[0] == "0.9950"
    assert "semantic" in page


@pytest.mark.parametrize(
    ("pasted", "reason"),
    [
        ("[]", "no values"),
        ("[0, 0]", "zero"),
        ("[1, NaN]", ""),
        ('["1", "2"]', "number"),
        ("[1, 2", "JSON list"),
        ("nonsense!", "base64"),
        ("AAA=", ""),
        ("", "required"),
        ("[" * 100_000, "JSON list"),
        ('{"a": 1}', "base64"),
    ],
)
def test_what_is_no_vector_is_refused_with_its_reason(browser, compass, pasted, reason):
    answer = browser.post(PATH, {"embedding": pasted})
    assert answer.status_code == 422
    [error] = answer.context["vector_form"].errors["embedding"]
    assert reason in error
    part = browser.post(PATH, {"embedding": pasted}, headers={"HX-Request": "true"})
    assert part.status_code == 422
    assert html.unescape(str(error)) in text(part)


def test_a_memory_is_the_query_by_its_own_vector(browser, compass):
    page = text(browser.get(PATH, {"like": "north"}))
    assert recalled(page) == ["north", "between", "east"]
    assert "The query is the vector of" in page


def test_a_memory_without_a_vector_is_the_query_by_its_words(browser, compass, memory):
    memory("Locks and queues", "plain")
    page = text(browser.get(PATH, {"like": "plain"}))
    assert recalled(page)[0] == "plain"
    assert "it has no vector of its text as it is now" in page


def test_an_unknown_memory_as_the_query_is_not_found(browser, compass):
    assert browser.get(PATH, {"like": "none"}).status_code == 404


def test_each_number_of_what_was_skipped_leads_to_as_many_memories(browser, compass, memory):
    memory("without", "w1")
    memory("edited", "w2", [1.0, 0.0])
    sessions.edit_memory(system(), "w2", MemoryPatch(content="edited since"))
    memory("wide", "wide", [1.0, 0.0, 0.0])
    for n in range(3):
        memory(f"other {n}", f"o{n}", [1.0, 0.0], model="other")
    memory_vectors.index(system(), memory_vectors.Sent("east", [1.0], model="other"))
    page = browser.post(PATH, {"embedding": "[1, 0]"})
    skipped = {one["words"]: one for one in page.context["outcome"].skipped}
    assert {words: one["count"] for words, one in skipped.items()} == {
        "without a vector of the text as it is now": 2,
        "with a vector of another width": 1,
        "with vectors of other models only": 3,
    }
    for one in skipped.values():
        assert html.escape(one["url"]) in page.content.decode()
        assert browser.get(one["url"]).context["page"].total == one["count"]


@pytest.mark.parametrize("query", ["skipped=model", "skipped=dimension&model=m", "skipped=x"])
def test_a_list_of_what_was_skipped_that_does_not_say_by_what_is_a_mistake(
    browser, compass, query: str
):
    page = text(browser.get(f"/sessions/shop/?{query}"))
    assert "This filter has a mistake" in page


def test_a_vector_of_no_known_width_says_that_nothing_could_be_compared(browser, compass):
    page = text(browser.post(PATH, {"embedding": "[1, 2, 3]"}))
    assert "None of this session's memories could be compared" in page
    assert "3 with a vector of another width" in page


def test_a_model_may_be_named(browser, compass):
    memory_vectors.index(system(), memory_vectors.Sent("north", [1.0, 0.0], model="other"))
    sent = {"embedding": "[1, 0]", "embedding_model": "other"}
    assert recalled(text(browser.post(PATH, sent))) == ["north"]


def test_a_degraded_recall_says_so(browser, compass, monkeypatch):
    view = live.view()
    broken = View(**{**vars(view), "indexes": None, "reasons": ("index_failed",)})
    monkeypatch.setattr(live, "view", lambda *_: broken)
    page = text(browser.get(PATH, {"query": "queues"}))
    assert "The index could not be built." in page
    assert set(recalled(page)) == {"north", "between"}


def test_no_words_found_says_so_and_no_query_says_nothing(browser, compass):
    assert "No memory of this session has one of these words." in text(
        browser.get(PATH, {"query": "zebra"})
    )
    empty = browser.get(PATH, {"query": " "})
    assert empty.status_code == 200
    assert empty.context["outcome"] is None


def test_a_query_that_is_too_long_is_refused(browser, compass):
    assert browser.get(PATH, {"query": "x" * (QUERY_CHARACTERS + 1)}).status_code == 422


def test_htmx_gets_the_part_with_its_address(browser, compass):
    part = browser.get(PATH, {"query": "queues"}, headers={"HX-Request": "true"})
    assert b"<!doctype" not in part.content
    assert 'href="/sessions/shop/recall/?query=queues"' in text(part)


def test_the_curl_line_recalls_the_same(browser, compass, token):
    page = text(browser.get(PATH, {"query": "it's queues"}))
    command = re.search(r"<code>(curl -s .*?recall.*?)</code>", page, re.DOTALL)[1]
    words = shlex.split(command)
    body, address = json.loads(words[words.index("-d") + 1]), words[2]
    agent = Client(headers={"Authorization": f"Bearer {token('read')}"})
    path = address.removeprefix("http://testserver")
    answer = agent.post(path, body, content_type="application/json")
    assert {one["id"] for one in answer.json()["memories"]} == set(recalled(page))


# What a shell gets


def test_the_environment_is_that_of_the_api_and_each_variable_can_be_copied(browser, compass, api):
    page = browser.get("/sessions/shop/environment/?query=queues")
    told = api("read").client.get(page.context["json_url"]).json()["environment"]
    assert page.context["injected"].environment == told
    for name, value in told.items():
        assert name in text(page)
        assert value in text(page)
    assert "context_env shop --query queues" in text(page)


def test_the_command_survives_every_shell_character(browser, memory):
    memory("x", context="a'b; $(rm) `x`")
    address = "/sessions/a'b; $(rm) `x`/environment/"
    command = browser.get(address, {"query": 'it\'s "$HOME"'}).context["command"]
    # What the shell would run, its program replaced by one that says its arguments.
    said = command.replace(".venv/bin/python manage.py context_env", "printf '%s\\n'")
    inner = said.removeprefix('eval "$(').removesuffix(')"')
    done = subprocess.run(["sh", "-c", inner], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["a'b; $(rm) `x`", "--query", 'it\'s "$HOME"']


def test_an_empty_session_gives_a_shell_nothing(browser, db):
    sessions.save(system(), context_id="empty", name="Empty")
    assert "no memory that is served" in text(browser.get("/sessions/empty/environment/"))


@pytest.mark.parametrize("junk", ["\0", "\u202e", "9" * 30, "x" * 30_000, "-1", "1e999", "%"])
@pytest.mark.parametrize(
    "name", ["query", "like", "limit", "q", "type", "model", "dimension", "cursor", "state"]
)
def test_junk_in_an_address_is_never_a_failure_of_ours(browser, compass, name, junk):
    fixed = {"skipped": "dimension", "model": "m", "dimension": "2"}
    for path in (PATH, "/sessions/shop/environment/", "/sessions/shop/", "/sessions/",
                 "/sessions/memories/", "/sessions/vectors/"):  # fmt: skip
        for beside in ({}, fixed):
            answer = browser.get(path, {**beside, name: junk})
            assert answer.status_code in (200, 404, 422), path
