"""Who may come in at /mcp, and what becomes of a message, whichever era it is of."""

import json

import pytest
from django.test import Client

from memoryweb.core import api_auth, tokens
from memoryweb.core.actor import system
from memoryweb.core.limits import RateLimit
from tests.mcp.conftest import ENVELOPE, LEGACY, MODERN

pytestmark = pytest.mark.django_db

PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
HELLO = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {
        "protocolVersion": LEGACY,
        "capabilities": {},
        "clientInfo": {"name": "by hand", "version": "1"},
    },
}


# The door


def test_without_a_token_it_is_401_and_says_what_kind_of_door_it_is(agent):
    response = agent("").send(PING)
    assert response.status_code == 401
    assert response["WWW-Authenticate"] == "Bearer"
    assert response["Content-Type"] == "application/problem+json"


@pytest.mark.parametrize("text", ["", "Bearer", "Bearer mw_000000000000_" + "x" * 43, "Basic eDp5"])
def test_a_token_that_is_none_is_401(text: str):
    client = Client(headers={"Authorization": text})
    assert client.post("/mcp", PING, "application/json").status_code == 401


def test_a_revoked_token_is_401_from_the_next_message_on(token):
    made = token("read")
    client = Client(headers={"Authorization": f"Bearer {made}"})
    assert client.post("/mcp", PING, "application/json").status_code == 200
    tokens.revoke(system(), made.split("_")[1])
    assert client.post("/mcp", PING, "application/json").status_code == 401


def test_a_login_does_not_open_it(signed_in, administrator):
    assert signed_in(administrator).post("/mcp", PING, "application/json").status_code == 401


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "null", "http://testserver.evil.example", "", "http://"]
)
def test_a_page_of_another_site_is_refused(agent, origin: str):
    response = agent().send(PING, Origin=origin)
    assert response.status_code == 403
    assert "MEMORYWEB_CSRF_TRUSTED_ORIGINS" in response.json()["detail"]


def test_a_foreign_page_learns_nothing_of_tokens(agent):
    assert agent("").send(PING, Origin="https://evil.example").status_code == 403


@pytest.mark.parametrize("origin", ["http://testserver", "https://memory.example"])
def test_its_own_origin_and_those_that_are_trusted_may_ask(agent, settings, origin: str):
    settings.CSRF_TRUSTED_ORIGINS = ["https://memory.example"]
    assert agent().send(PING, Origin=origin).status_code == 200


def test_a_host_that_is_not_ours_is_refused(agent, settings):
    settings.ALLOWED_HOSTS = ["memory.example"]
    assert agent().send(PING).status_code == 400
    assert agent().send(PING, Host="memory.example").status_code == 200


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "PATCH", "HEAD", "OPTIONS"])
def test_there_is_no_stream_to_get_and_no_session_to_delete(agent, method: str):
    response = agent().client.generic(method, "/mcp")
    assert response.status_code == 405
    assert response["Allow"] == "POST"


def test_a_body_over_the_limit_is_413(agent, settings):
    settings.MEMORYWEB_BODY_LIMIT = 1000
    assert agent().send({**PING, "params": {"x": "x" * 1000}}).status_code == 413


def test_messages_count_for_the_rate_limit_of_the_token(agent, settings, monkeypatch):
    settings.MEMORYWEB_RATE_LIMIT = 2
    monkeypatch.setattr(api_auth, "rate_limit", RateLimit())
    one = agent()
    assert [one.send(PING).status_code for _ in range(3)] == [200, 200, 429]
    assert 0 < int(one.send(PING)["Retry-After"]) <= 60


def test_no_answer_is_kept_by_a_cache(agent):
    assert agent().send(PING)["Cache-Control"] == "private, no-store"


# The handshake of the older era


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
def test_a_handshake_agrees_on_the_revision_that_was_asked_for(agent, version: str):
    hello = {**HELLO, "params": {**HELLO["params"], "protocolVersion": version}}
    response = agent(version="").send(hello)
    assert response.status_code == 200
    assert response["Content-Type"] == "application/json"
    result = response.json()["result"]
    assert result["protocolVersion"] == version
    assert result["serverInfo"]["name"] == "memoryweb"
    assert "memory_context" in result["instructions"]
    assert result["capabilities"] == {"tools": {"listChanged": False}}
    assert "Mcp-Session-Id" not in response  # There is nothing to come back to.


def test_a_revision_that_nobody_knows_is_answered_with_the_newest_of_the_era(agent):
    hello = {**HELLO, "params": {**HELLO["params"], "protocolVersion": "1999-01-01"}}
    assert agent(version="").send(hello).json()["result"]["protocolVersion"] == "2025-11-25"


@pytest.mark.parametrize("method", ["notifications/initialized", "notifications/cancelled", "x"])
@pytest.mark.parametrize("version", [LEGACY, MODERN, ""])
def test_a_notification_is_202_without_a_word(agent, method: str, version: str):
    response = agent(version=version).send({"jsonrpc": "2.0", "method": method})
    assert response.status_code == 202
    assert response.content == b""


def test_a_method_that_is_not_there_is_an_error_of_the_protocol(agent):
    response = agent().send({**PING, "method": "resources/list"})
    assert response.status_code == 200
    assert response.json()["error"]["code"] == -32601


# The stateless era


def test_discover_tells_the_revisions_of_the_era_and_who_answers(agent):
    result = agent(version=MODERN).ask("server/discover")
    assert result["supportedVersions"] == [MODERN]
    assert result["capabilities"] == {"tools": {"listChanged": False}}
    assert result["cacheScope"] == "private"


def test_every_answer_of_the_era_is_stamped(agent):
    result = agent(version=MODERN).ask("tools/list")
    assert result["resultType"] == "complete"
    assert result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "memoryweb"


def test_a_method_that_is_not_there_is_404_in_this_era(agent):
    response = agent(version=MODERN).request("resources/list")
    assert response.status_code == 404
    assert response.json()["error"]["code"] == -32601


def test_a_revision_that_is_not_served_is_400_and_names_those_that_are(agent):
    envelope = {**ENVELOPE, "io.modelcontextprotocol/protocolVersion": "2031-01-01"}
    frame = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": envelope}}
    headers = {"MCP-Protocol-Version": "2031-01-01", "Mcp-Method": "tools/list"}
    response = agent(version="").send(frame, **headers)
    assert response.status_code == 400
    assert response.json()["error"]["data"]["supported"] == [MODERN]


@pytest.mark.parametrize("header", ["Mcp-Method", "Mcp-Name", "MCP-Protocol-Version"])
def test_a_header_that_contradicts_the_message_is_400(agent, header: str):
    params = {"name": "memory_context", "arguments": {}, "_meta": ENVELOPE}
    frame = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    right = {"Mcp-Method": "tools/call", "Mcp-Name": "memory_context"}
    asked = agent(version=MODERN)
    assert asked.send(frame, **right).status_code == 200
    wrong = "2030-01-01" if header == "MCP-Protocol-Version" else "other"
    response = asked.send(frame, **{**right, header: wrong})
    assert response.status_code == 400
    assert response.json()["error"]["code"] in (-32020, -32022)


def test_the_streams_that_this_server_does_not_have_are_refused_at_once(agent):
    response = agent(version=MODERN).request("subscriptions/listen", notifications={})
    assert response.status_code in (400, 404, 406)


# Batches


def test_a_batch_of_the_revision_that_has_them_is_answered_in_order(agent):
    frames = [
        {**PING, "id": 7},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {**PING, "id": "b", "method": "nope"},
    ]
    response = agent(version="2025-03-26").send(frames)
    assert response.status_code == 200
    assert [one["id"] for one in response.json()] == [7, "b"]
    assert response.json()[1]["error"]["code"] == -32601


def test_a_batch_of_notifications_is_202(agent):
    frames = [{"jsonrpc": "2.0", "method": "notifications/initialized"}] * 2
    response = agent(version="").send(frames)
    assert (response.status_code, response.content) == (202, b"")


@pytest.mark.parametrize("version", ["2025-06-18", "2025-11-25", MODERN])
def test_later_revisions_have_no_batches(agent, version: str):
    assert agent(version=version).send([PING]).status_code == 400


@pytest.mark.parametrize("frames", [[], [PING] * 101, [PING, HELLO]])
def test_a_batch_that_is_empty_or_endless_or_says_hello_is_400(agent, frames: list):
    response = agent(version="2025-03-26").send(frames)
    assert response.status_code == 400
    assert response.json()["error"]["code"] == -32600


def test_what_is_no_message_in_a_batch_spoils_only_its_own_answer(agent):
    answers = agent(version="").send([1, {**PING, "id": 2}]).json()
    assert (answers[0]["id"], answers[0]["error"]["code"]) == (None, -32600)
    assert answers[1] == {"jsonrpc": "2.0", "id": 2, "result": {}}


# Junk


JUNK = [
    b"",
    b"{",
    b"\xff\xfe",
    b"[" * 100_000,
    b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":NaN}}',
    b'{"jsonrpc":"2.0","id":1e999,"method":"ping"}',
    b"9" * 10_000,
    b"null",
    b"1",
    b'"x"',
    b"{}",
    b'{"jsonrpc":"1.0","id":1,"method":"ping"}',
    b'{"jsonrpc":"2.0","id":null,"method":"ping"}',
    b'{"jsonrpc":"2.0","id":{},"method":"ping"}',
    b'{"jsonrpc":"2.0","id":1,"method":5}',
    b'{"jsonrpc":"2.0","id":1,"method":"ping","params":[1]}',
    b'{"jsonrpc":"2.0","id":1}',
]


@pytest.mark.parametrize("version", [LEGACY, MODERN, ""])
@pytest.mark.parametrize("body", JUNK)
def test_junk_is_400_and_an_error_of_the_protocol(agent, body: bytes, version: str):
    response = agent(version=version).send(body)
    assert response.status_code == 400
    assert response.json()["error"]["code"] in (-32700, -32600, -32602)
    assert len(response.content) < 4000


@pytest.mark.parametrize("version", [LEGACY, MODERN, ""])
@pytest.mark.parametrize(
    "body",
    [
        b"null",
        b"1",
        b'"x"',
        b"{}",
        b'{"jsonrpc":"1.0","id":1,"method":"ping"}',
        b'{"id":1,"method":"ping"}',
        b'{"jsonrpc":"2.0","id":1,"method":5}',
        b'{"jsonrpc":"2.0","id":1}',
    ],
)
def test_json_that_is_no_message_is_an_invalid_request(agent, body: bytes, version: str):
    answer = agent(version=version).send(body).json()
    assert (answer["id"], answer["error"]["code"]) == (None, -32600)


def test_a_message_that_is_no_json_by_its_header_is_refused(agent):
    response = agent().client.post(
        "/mcp", json.dumps(PING), "text/plain", headers={"MCP-Protocol-Version": LEGACY}
    )
    assert response.status_code in (400, 415)
