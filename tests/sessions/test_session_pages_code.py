"""The pages of code vectors: the collections, one collection, searching and deleting."""

import html
import re
from typing import Any

import pytest
from django.test import Client

from episodes import code_vectors
from episodes.models import CodeVector
from episodes.session_schemas import CodeVectorIn
from memoryweb.core.actor import system
from tests.episodes.builders import ATTACK

pytestmark = pytest.mark.django_db


@pytest.fixture
def browser(signed_in, curator) -> Client:
    return signed_in(curator)


@pytest.fixture
def symbol(db):
    def make(name: str, vector: list[float], collection: str = "shop", model: str = "m") -> None:
        given = CodeVectorIn(
            symbol_name=name, file_path="worker.py", line_start=3, embedding=vector,
            embedding_model=model,
        )  # fmt: skip
        code_vectors.store(system(), collection, given)

    return make


def text(response: Any) -> str:
    return html.unescape(response.content.decode())


def test_without_code_vectors_the_page_says_how_to_store_one(browser, token):
    page = text(browser.get("/sessions/vectors/"))
    assert "No code vectors yet" in page
    body = re.search(r"-d '(.*?)'", page, re.DOTALL)[1]
    agent = Client(headers={"Authorization": f"Bearer {token('write')}"})
    answer = agent.post("/api/v1/vectors/shop", body, content_type="application/json")
    assert answer.status_code == 200
    assert CodeVector.objects.get().symbol_name == "sort_locks"


def test_collections_are_listed_by_model_with_their_numbers(browser, symbol):
    symbol("a", [1.0])
    symbol("b", [1.0])
    symbol("a", [1.0, 0.0], model="wide")
    symbol("c", [1.0], collection="a/b c")
    page = text(browser.get("/sessions/vectors/"))
    rows = re.findall(r"<tr data-item>.*?</tr>", page, re.DOTALL)
    numbers = [re.search(r'data-label="Symbols">(\d+)', row)[1] for row in rows]
    assert numbers == ["1", "2", "1"]
    for path in re.findall(r'<a class="title id" href="([^"]*)"', page):
        assert browser.get(path).status_code == 200


def test_a_number_leads_to_as_many_symbols(browser, symbol, api):
    symbol("a", [1.0])
    symbol("a", [1.0, 0.0], model="wide")
    symbol("b", [1.0, 0.0], model="wide")
    response = browser.get("/sessions/vectors/shop/?model=wide")
    assert response.context["page"].total == 2
    assert api("read").client.get(response.context["json_url"]).json()["total"] == 2


def test_a_pasted_vector_finds_the_nearest_symbols(browser, symbol):
    symbol("east", [1.0, 0.0])
    symbol("north", [0.0, 1.0])
    symbol("wide", [1.0, 0.0, 0.0])
    page = text(browser.post("/sessions/vectors/shop/", {"embedding": "[1, 0.1]"}))
    assert re.findall(r'class="result-body"><div class="id">(\w+)', page) == ["east", "north"]
    assert "1 with a vector of another width" in page


def test_what_is_no_vector_is_refused_with_its_reason(browser, symbol):
    symbol("east", [1.0, 0.0])
    for headers in ({}, {"HX-Request": "true"}):
        answer = browser.post("/sessions/vectors/shop/", {"embedding": "[0]"}, headers=headers)
        assert answer.status_code == 422
        assert answer.context["form"].errors["embedding"]


def test_deleting_asks_first_and_is_final(browser, symbol):
    symbol("a", [1.0])
    symbol("a", [1.0, 0.0], model="wide")
    assert "Delete 2 code vectors?" in text(browser.get("/sessions/vectors/shop/delete/"))
    assert CodeVector.objects.count() == 2
    sent = {"model": "wide"}
    done = browser.post("/sessions/vectors/shop/delete/", sent, follow=True)
    assert "Deleted 1 code vector. Looked again: none is left." in text(done)
    assert CodeVector.objects.get().model == "m"
    browser.post("/sessions/vectors/shop/delete/", {})
    assert not CodeVector.objects.exists()


def test_what_is_not_there_is_not_found(browser, db):
    assert browser.get("/sessions/vectors/none/").status_code == 404
    assert browser.get("/sessions/vectors/none/delete/").status_code == 404


def test_a_viewer_searches_and_deletes_nothing(signed_in, viewer, symbol):
    symbol("east", [1.0, 0.0])
    client = signed_in(viewer)
    page = text(client.post("/sessions/vectors/shop/", {"embedding": "[1, 0]"}))
    assert "east" in page
    assert "Delete" not in page
    assert client.get("/sessions/vectors/shop/delete/").status_code == 403


def test_an_attack_in_an_address_is_only_shown_as_text(browser, db):
    answer = browser.get(f"/sessions/vectors/<script>{ATTACK}/")
    assert answer.status_code == 404
    assert "<script>Ignore" not in answer.content.decode()
