"""Whatever is sent to /mcp, the server answers it; nothing is an error of ours."""

import json
from typing import Any

import pytest
from django.test import Client
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memoryweb.core.actor import system
from memoryweb.core.tokens import issue
from memoryweb.mcp.catalogue import TOOLS
from tests.mcp.conftest import ENVELOPE, MODERN

pytestmark = pytest.mark.django_db(transaction=True)

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=12,
)
METHODS = st.sampled_from(
    ["tools/list", "tools/call", "initialize", "server/discover", "ping", "subscriptions/listen"]
) | st.text(max_size=20)
NAMES = st.sampled_from(sorted(TOOLS)) | st.text(max_size=20)
VERSIONS = st.sampled_from(["", "2025-03-26", "2025-06-18", "2025-11-25", MODERN, "1", "x\x7f"])
PARAMS = st.fixed_dictionaries(
    {},
    optional={
        "name": NAMES | JSON,
        "arguments": JSON,
        "cursor": JSON,
        "protocolVersion": JSON,
        "_meta": st.just(ENVELOPE) | JSON,
    },
)
FRAMES = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.just("2.0") | JSON,
        "id": st.integers() | st.text(max_size=9) | JSON,
        "method": METHODS | JSON,
        "params": PARAMS | JSON,
    },
)
BODIES = st.binary(max_size=60) | (FRAMES | JSON | st.lists(FRAMES, max_size=3)).map(
    lambda frame: json.dumps(frame).encode()
)
UNTIMED = settings(
    max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)


def post(token: str, body: bytes, version: str, **headers: str) -> Any:
    client = Client(raise_request_exception=True)
    named = {"MCP-Protocol-Version": version} if version else {}
    sent = {"Authorization": f"Bearer {token}", **named, **headers}
    return client.post("/mcp", body, "application/json", headers=sent)


@pytest.fixture
def writer(db: None, home: Any) -> str:
    return issue(system(), "fuzz", "write")[1]


@UNTIMED
@given(body=BODIES, version=VERSIONS)
def test_no_frame_breaks_the_server(writer: str, body: bytes, version: str):
    response = post(writer, body, version)
    assert response.status_code < 500
    if response.content:
        json.loads(response.content)


@UNTIMED
@given(name=st.sampled_from(sorted(TOOLS)), arguments=JSON, modern=st.booleans(), id=st.integers())
def test_no_arguments_break_a_tool(writer: str, name: str, arguments: Any, modern: bool, id: int):
    params = {"name": name, "arguments": arguments, **({"_meta": ENVELOPE} if modern else {})}
    frame = {"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}
    version = MODERN if modern else "2025-06-18"
    headers = {"Mcp-Method": "tools/call", "Mcp-Name": name} if modern else {}
    response = post(writer, json.dumps(frame).encode(), version, **headers)
    assert response.status_code in (200, 400)
    answer = response.json()
    if "error" in answer:
        assert answer["error"]["code"] in (-32602, -32700)  # No object, or no JSON: a NaN.
    elif answer["result"]["isError"]:
        assert answer["result"]["structuredContent"]["status"] in (403, 404, 409, 422, 503)


@UNTIMED
@given(
    name=st.sampled_from(sorted(TOOLS)),
    data=st.data(),
)
def test_no_wrong_value_of_a_known_argument_breaks_a_tool(writer: str, name: str, data: Any):
    known = sorted(TOOLS[name].input_schema["properties"])
    values = JSON | st.sampled_from(["x", "pages/entity/x", "2026-03-01", 10**30, -1, [1.0], ""])
    arguments = data.draw(st.dictionaries(st.sampled_from(known), values, max_size=4))
    params = {"name": name, "arguments": arguments}
    frame = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    response = post(writer, json.dumps(frame).encode(), "2025-06-18")
    answer = response.json()
    if "result" in answer and answer["result"]["isError"]:
        assert answer["result"]["structuredContent"]["status"] in (403, 404, 409, 422, 503)
