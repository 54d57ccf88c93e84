"""Every id has an address that works, on pages and in the API."""

import time
import uuid
from urllib.parse import quote

import pytest
from django.urls import reverse

from episodes.identifiers import address, content_id, from_address, new_id
from tests.episodes.builders import sent

IDS = [
    "0190f3c2-7b1e-7cc2-9a51-3f2f0f6d8a41",
    "harbor@0f3c2a9b1d4e",
    "a/b",
    "/srv/app",
    "a//b",
    "trailing/",
    ".",
    "..",
    "../../etc/passwd",
    "a/../b",
    "C:\\temp\\x",
    "50 % off? #1 & more; a=b+c",
    "%2e%2e%2f",
    "~tilde",
    " spaces ",
    "new\nline\ttab",
    "日本語",
    "e\u0301 é",
    "🦦",
    "\u202eright to left",
    "batch",
    "embeddings",
    "delete",
    "undo",
    "undo/1",
    "x/edit",
    "x/delete",
    "x/embedding",
    "x/similar",
    "edit",
    "similar",
    "<script>alert(1)</script>",
    "x" * 200,
]


@pytest.mark.parametrize("id", IDS)
def test_an_address_leads_back_to_its_id(id: str):
    assert from_address(address(id)) == id


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("id", IDS)
def test_every_stored_id_has_a_page_and_an_address_in_the_api(api, signed_in, curator, id: str):
    agent, browser = api("write"), signed_in(curator)
    assert agent.post("/episodes", sent(id=id)).status_code == 201
    path = quote(address(id))
    assert agent.get(f"/episodes/{path}").json()["id"] == id
    assert agent.put(f"/episodes/{path}/embedding", {"embedding": [1]}).status_code == 200
    assert agent.get(f"/episodes/{path}/similar").status_code == 200
    for name in ("episode", "edit_episode", "delete_episode"):
        page = browser.get(reverse(name, args=[id]))
        assert page.status_code == 200, name
    assert agent.patch(f"/episodes/{path}", {"outcome": "failure"}).json()["id"] == id
    assert agent.delete(f"/episodes/{path}").status_code == 204


@pytest.mark.parametrize("id", ["a/b", "50 % off? #1 & more; a=b+c", "日本語", "%2e%2e%2f", "🦦"])
def test_an_id_that_is_percent_encoded_once_works_as_well(api, id: str):
    agent = api("write")
    agent.post("/episodes", sent(id=id))
    assert agent.get(f"/episodes/{quote(id, safe='')}").json()["id"] == id


@pytest.mark.parametrize("path", ["~", "~!!", "~é", "~YQ=="])
def test_a_tilde_before_nonsense_is_not_found(api, path: str):
    assert api("read").get(f"/episodes/{quote(path)}").status_code == 404


def test_new_ids_are_version_7_and_in_the_order_of_their_milliseconds(monkeypatch):
    moments = iter([1_700_000_000_000, 1_700_000_000_001])
    monkeypatch.setattr(time, "time_ns", lambda: next(moments) * 1_000_000)
    first, second = new_id(), new_id()
    assert first < second
    assert first.startswith("018bcfe5-6800-7")
    assert uuid.UUID(first).variant == uuid.RFC_4122


def test_the_id_of_a_row_depends_on_its_content_and_on_nothing_else():
    assert content_id({"a": 1, "b": "é"}) == content_id({"b": "é", "a": 1})
    assert content_id({"a": 1}) != content_id({"a": 2})
    assert uuid.UUID(content_id({"a": 1})).version == 5
    # Rows imported by an earlier release must be known again.
    assert (
        content_id({"summary": "a", "working_dir": "/b"}) == "458e3703-13eb-5baf-8a58-2827853089e9"
    )
