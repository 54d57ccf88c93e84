"""What is pasted into an agent's program, so that it finds this memory."""

import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass

SHELL = "$MEMORYWEB_TOKEN"  # What stands for a token that is not to be shown.
SETTINGS = "${env:MEMORYWEB_TOKEN}"  # The same in Cursor's and VS Code's files.


@dataclass(frozen=True)
class Lines:
    """A text to paste, and where."""

    title: str
    place: str
    text: str


def ways(address: str, token: str = "") -> list[Lines]:
    """How programs are told of the MCP server at this address. Without a token the lines name
    the variable that holds it."""
    header = f"Authorization: Bearer {token or SHELL}"
    named = {"Authorization": f"Bearer {token or SETTINGS}"}
    shown = {"Authorization": f"Bearer {token or 'mw_…'}"}
    quoted = shlex.quote(header) if token else f'"{header}"'
    call = '{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}'
    server = {"url": address, "headers": named}
    return [
        Lines(
            "Claude Code",
            "in a shell",
            f"claude mcp add --transport http memoryweb {shlex.quote(address)} \\\n"
            f"  --header {quoted}",
        ),
        Lines("Cursor", ".cursor/mcp.json", _json({"mcpServers": {"memoryweb": server}})),
        Lines(
            "VS Code",
            ".vscode/mcp.json",
            _json({"servers": {"memoryweb": {"type": "http", **server}}}),
        ),
        Lines(
            "Any other MCP client",
            "streamable HTTP",
            _json({"url": address, "headers": shown}),
        ),
        Lines(
            "curl",
            "in a shell",
            f"curl -s {shlex.quote(address)} \\\n"
            f"  -H {quoted} -H 'Content-Type: application/json' \\\n"
            f"  -d {shlex.quote(call)}",
        ),
    ]


def _json(value: Mapping[str, object]) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)
