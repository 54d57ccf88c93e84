"""An agent that speaks the Model Context Protocol by hand, frame by frame."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

MODERN = "2026-07-28"
LEGACY = "2025-06-18"
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "by hand", "version": "1"},
}


class Agent:
    """Holds one token; each message is a POST of its own."""

    def __init__(self, token: str, version: str = LEGACY) -> None:
        authorization = {"Authorization": f"Bearer {token}"} if token else {}
        self.client = Client(headers={"Accept": "application/json", **authorization})
        self.version = version

    def send(self, frame: Any, **headers: str) -> Any:
        body = frame if isinstance(frame, str | bytes) else json.dumps(frame)
        if self.version:
            headers = {"MCP-Protocol-Version": self.version, **headers}
        return self.client.post("/mcp", body, "application/json", headers=headers)

    def ask(self, method: str, **params: Any) -> Any:
        """The answer's result."""
        response = self.request(method, **params)
        assert response.status_code == 200, response.content
        return response.json()["result"]

    def request(self, method: str, **params: Any) -> Any:
        headers = {}
        if self.version == MODERN:
            headers["Mcp-Method"] = method
            if "name" in params:
                headers["Mcp-Name"] = params["name"]
            params["_meta"] = ENVELOPE
        frame = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        return self.send(frame, **headers)

    def call(self, tool: str, **arguments: Any) -> Any:
        """The structured answer of a call that went well; its first text says the same."""
        result = self.ask("tools/call", name=tool, arguments=arguments)
        assert not result["isError"], result
        assert json.loads(result["content"][0]["text"]) == result["structuredContent"]
        return result["structuredContent"]

    def fail(self, tool: str, **arguments: Any) -> Any:
        """The problem document of a call that went wrong."""
        result = self.ask("tools/call", name=tool, arguments=arguments)
        assert result["isError"], result
        assert json.loads(result["content"][0]["text"]) == result["structuredContent"]
        return result["structuredContent"]


@pytest.fixture
def agent(token: Callable[..., str]) -> Callable[..., Agent]:
    def make(scope: str = "write", name: str = "", version: str = LEGACY) -> Agent:
        return Agent(token(scope, name) if scope else "", version)

    return make
