"""Hands a message from a plain view to the official SDK's server, and its answer back.

The SDK speaks ASGI and wants an event loop. Each request gets a loop of its own for as long as it
lasts; the tools run in the thread of the request, where the database connection is. This takes
one millisecond a message beside the tool's own work, five on two cores that are very busy.
"""

import asyncio
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import mcp.types as types
from asgiref.sync import async_to_sync, sync_to_async
from django.http import HttpResponse
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.exceptions import MCPError

from memoryweb.core import clock, idempotency
from memoryweb.core.api_auth import ApiRequest
from memoryweb.core.errors import DomainError, Invalid
from memoryweb.core.strict_json import loads
from memoryweb.mcp.catalogue import INSTRUCTIONS, TOOLS
from memoryweb.mcp.tool import Json, Tool

# Only these revisions know batches; without the header a client speaks the second.
BATCHED = ("2024-11-05", "2025-03-26")
MOST_IN_BATCH = 100
NO_MESSAGE = 'a message is an object with "jsonrpc": "2.0" and a method, a result or an error'
KEPT_HEADERS = ("content-type", "allow")

Context = ServerRequestContext[Any, Any]


@dataclass
class Heard:
    """What the SDK answered to one message."""

    status: int = 500
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""


def exchange(request: ApiRequest) -> HttpResponse:
    """The answer to the message, or to each message of a batch, in order.

    A call that writes is done once for its Idempotency-Key. Raises as `idempotency.claim`.
    """
    try:
        message = loads(request.body)
    except DomainError as error:
        return _refusal(types.PARSE_ERROR, error.detail)
    batch = message if isinstance(message, list) and _knows_batches(request) else None
    if problem := _problem([message] if batch is None else batch):
        return _refusal(types.INVALID_REQUEST, problem)
    if batch is None and not _is_message(message):
        return _refusal(types.INVALID_REQUEST, NO_MESSAGE)
    if batch is None:
        return _once(request) if _writes(message) else _answer(request)
    if idempotency.HEADER in request.headers and any(map(_writes, batch)):
        raise Invalid(f"an {idempotency.HEADER} goes with one call, not with a batch")
    said = b",".join(body for body in _answers(request, batch) if body)
    whole = Heard(200, {"content-type": "application/json"}, b"[%s]" % said)
    return _response(whole if said else Heard(202))


def _answers(request: ApiRequest, batch: Sequence[Any]) -> Iterator[bytes]:
    """What is no message has an error of its own, in its place."""
    heard = iter(_heard(request, [json.dumps(m).encode() for m in batch if _is_message(m)]))
    for one in batch:
        yield next(heard).body if _is_message(one) else _error(types.INVALID_REQUEST, NO_MESSAGE)


def _answer(request: ApiRequest) -> HttpResponse:
    (heard,) = _heard(request, [request.body])
    return _response(heard)


def _is_message(message: Any) -> bool:
    """Whether it is a request, a notification or an answer of JSON-RPC 2.0."""
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        return False
    if "method" in message:
        return isinstance(message["method"], str)
    return "id" in message and ("result" in message or "error" in message)


def _writes(message: Any) -> bool:
    """Whether it is a call of a tool that writes."""
    params = message.get("params") if isinstance(message, dict) else None
    tool = TOOLS.get(str(params.get("name"))) if isinstance(params, dict) else None
    return message.get("method") == "tools/call" and tool.writes if tool else False


def _once(request: ApiRequest) -> HttpResponse:
    """As the API does a POST with a key; of a call that failed nothing is kept."""
    claim = idempotency.claim(request.actor, request)
    with clock.noting() as noted:
        response = _answer(request)
    if claim is not None and _succeeded(response):
        claim.finish(response, noted.documents, noted.seqs)
    elif claim is not None:
        claim.give_back()
    return response


def _succeeded(response: HttpResponse) -> bool:
    if response.status_code != 200:
        return False
    result = json.loads(response.content).get("result")
    return isinstance(result, dict) and not result.get("isError")


def _problem(messages: Sequence[Any]) -> str:
    """What is wrong with them that the SDK would overlook; "" for nothing."""
    if not 1 <= len(messages) <= MOST_IN_BATCH:
        return f"a batch has 1 to {MOST_IN_BATCH} messages"
    named = [one for one in messages if isinstance(one, dict)]
    if len(messages) > 1 and any(one.get("method") == "initialize" for one in named):
        return "initialize is no part of a batch"
    if not all(type(one.get("id", "")) in (str, int) for one in named):
        return "an id is a string or a whole number"
    return ""


def _knows_batches(request: ApiRequest) -> bool:
    return request.headers.get("MCP-Protocol-Version", BATCHED[-1]) in BATCHED


def _refusal(code: int, message: str) -> HttpResponse:
    return HttpResponse(_error(code, message), status=400, content_type="application/json")


def _error(code: int, message: str) -> bytes:
    error = {"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": message}}
    return json.dumps(error).encode()


def _response(heard: Heard) -> HttpResponse:
    response = HttpResponse(heard.body, status=heard.status)
    for name in KEPT_HEADERS:
        if name in heard.headers:
            response[name] = heard.headers[name]
    return response


# The SDK's side


def _heard(request: ApiRequest, bodies: Sequence[bytes]) -> list[Heard]:
    heard: list[Heard] = async_to_sync(_served)(request, bodies)
    return heard


async def _served(request: ApiRequest, bodies: Sequence[bytes]) -> list[Heard]:
    manager = StreamableHTTPSessionManager(_server(), json_response=True, stateless=True)
    async with manager.run():
        return [await _one(manager, request, body) for body in bodies]


async def _one(manager: StreamableHTTPSessionManager, request: ApiRequest, body: bytes) -> Heard:
    heard, unread = Heard(), [body]

    async def receive() -> dict[str, Any]:
        if not unread:
            await asyncio.Event().wait()  # The client never leaves before the answer.
        return {"type": "http.request", "body": unread.pop(), "more_body": False}

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":
            heard.status = message["status"]
            pairs = message.get("headers", ())
            heard.headers = {k.decode("latin-1").lower(): v.decode("latin-1") for k, v in pairs}
        else:
            heard.body += message.get("body", b"")

    await manager.handle_request(_scope(request), receive, send)
    return heard


def _scope(request: ApiRequest) -> dict[str, Any]:
    # Who says nothing about what they accept takes anything. Messages of a batch have lengths
    # of their own.
    sent = {"Accept": "*/*", **request.headers}
    sent.pop("Content-Length", None)
    headers = [
        (name.lower().encode(), text.encode("latin-1", "replace")) for name, text in sent.items()
    ]
    place = {"path": request.path, "query_string": b"", "root_path": "", "scheme": "http"}
    kind = {"type": "http", "http_version": "1.1", "method": "POST"}
    return {**kind, **place, "headers": headers, "memoryweb.request": request}


@cache
def _server() -> Server[Any]:
    return Server(
        "memoryweb",
        version="1",
        title="memoryweb",
        instructions=INSTRUCTIONS,
        get_tool_input_schema=_input_schema,  # Else it lists all tools at every call.
        on_list_tools=_list,
        on_call_tool=_call,
    )


def _input_schema(name: str) -> Json | None:
    tool = TOOLS.get(name)
    return tool.input_schema if tool else None


async def _list(context: Context, params: Any) -> types.ListToolsResult:
    """The tools that this token may call: what is not listed, no model tries."""
    actor = _request(context).actor
    tools = [_described(tool) for tool in TOOLS.values() if actor.role >= tool.role]
    return types.ListToolsResult(tools=tools)


async def _call(context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
    tool = TOOLS.get(params.name)
    if tool is None:
        raise MCPError(types.INVALID_PARAMS, f"there is no tool {params.name[:100]!r}")
    outcome = await sync_to_async(tool.call)(_request(context), params.arguments or {})
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=text) for text in outcome.texts],
        structured_content=outcome.answer,
        is_error=outcome.failed,
    )


def _request(context: Context) -> ApiRequest:
    request: ApiRequest = context.request.scope["memoryweb.request"]  # type: ignore[union-attr]
    return request


@cache
def _described(tool: Tool) -> types.Tool:
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=tool.input_schema,
        output_schema=tool.output_schema,
        annotations=types.ToolAnnotations(
            title=tool.title,
            read_only_hint=not tool.writes,
            destructive_hint=tool.destructive,
            idempotent_hint=tool.idempotent or not tool.writes,
            open_world_hint=False,
        ),
    )
