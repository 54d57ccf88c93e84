"""The official SDK's own client against a running server, in both eras of the protocol."""

import asyncio
import json
import urllib.request
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from tests.mcp.test_mcp_tools import ASKED_FOR, ATTACK, WRITING
from tests.serving import Served, serving

ERAS = ["legacy", "auto", "2026-07-28"]
PAGE = "# Order worker\n\nTakes orders from the queue.\n"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("home")) as server:
        yield server


@pytest.fixture(scope="module")
def token(served: Served) -> str:
    return served.token()


@asynccontextmanager
async def connected(served: Served, token: str, era: str) -> AsyncIterator[Client]:
    headers = {"Authorization": f"Bearer {token}"}
    async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
        transport = streamable_http_client(f"{served.url}/mcp", http_client=http)
        async with Client(transport, mode=era) as client:
            yield client


async def called(client: Client, tool: str, **arguments: Any) -> Any:
    """The structured answer; the client itself holds it to the tool's output schema."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result
    assert json.loads(result.content[0].text) == result.structured_content
    return result.structured_content


def in_era(served: Served, token: str, era: str, script: Any) -> Any:
    async def run() -> Any:
        async with connected(served, token, era) as client:
            return await script(client)

    return asyncio.run(run())


@pytest.mark.parametrize("era", ERAS)
def test_the_client_connects_and_lists_every_tool(served: Served, token: str, era: str):
    async def script(client: Client) -> Any:
        return (await client.list_tools()).tools

    assert {tool.name for tool in in_era(served, token, era, script)} == ASKED_FOR


@pytest.mark.parametrize("era", ERAS)
def test_the_client_calls_every_tool(served: Served, token: str, era: str):
    """Each answer is checked by the client against the output schema that was listed."""
    name, context, repo = f"order-{era}", f"shop-{era}", f"repo-{era}"

    async def script(client: Client) -> set[str]:
        done = set()

        async def call(tool: str, **arguments: Any) -> Any:
            done.add(tool)
            return await called(client, tool, **arguments)

        await call("memory_save", name=name, content=PAGE)
        await call("save_memory", name=name, content=PAGE + "\nMore.\n")
        assert (await call("memory_recall", name=name))["revision"] == 2
        assert (await call("recall_memory", query="orders queue"))["results"]
        assert (await call("memory_recall", name=name, page=1))["parts"] == 1
        assert "Said" in (await call("memory_note", text="Said."))["content"]
        await call(
            "episode_save",
            agent_id="otter",
            working_dir="/srv/shop",
            outcome="success",
            summary=f"Sorted the locks of {name}",
        )
        found = (await call("memory_search", query="sorted locks", explain=True))["results"]
        assert found[0]["explain"]["contributions"]
        assert name in (await call("memory_context", query="locks"))["text"]
        saved = await call(
            "devkit_session_save",
            context_id=context,
            name=name,
            memories=[{"type": "error", "content": "It deadlocks"}],
        )
        (memory,) = saved["memory_ids"]
        vector = {"embedding": [0.6, 0.8], "embedding_model": "m"}
        await call("devkit_session_index", memory_id=memory, **vector)
        listed = await call("devkit_session_list", status="active")
        assert context in {one["id"] for one in listed["items"]}
        assert (await call("devkit_session_resume", context_id=context))["total"] == 1
        recalled = await call(
            "devkit_session_recall", context_id=context, query_embedding=[1, 1], embedding_model="m"
        )
        assert [one["id"] for one in recalled["memories"]] == [memory]
        await call("devkit_embedding_store", repo_id=repo, symbol_name="f", **vector)
        for tool in ("devkit_embedding_search", "devkit_semantic_search"):
            found = await call(tool, repo_id=repo, query_embedding=[0.6, 0.8])
            assert [one["name"] for one in found["symbols"]] == ["f"]
        (first, *_) = (await call("search", query=name))["results"]
        assert (await call("fetch", id=first["id"]))["title"] == first["title"]
        await call("memory_forget", name=name)
        return done

    assert in_era(served, token, era, script) == ASKED_FOR


@pytest.mark.parametrize("era", ERAS)
def test_what_goes_wrong_reaches_the_client_as_a_result_or_an_error(
    served: Served, token: str, era: str
):
    async def script(client: Client) -> tuple[Any, Any, Any]:
        refused = await client.call_tool("memory_save", {"name": "notes", "content": ATTACK})
        invalid = await client.call_tool("memory_search", {"query": 5})
        with pytest.raises(MCPError) as unknown:
            await client.call_tool("no_such_tool", {})
        return refused, invalid, unknown.value

    refused, invalid, unknown = in_era(served, token, era, script)
    assert refused.is_error
    assert refused.structured_content["quarantine_id"] > 0
    assert invalid.is_error
    assert "query" in invalid.content[0].text
    assert unknown.error.code == -32602


def test_a_reader_is_listed_only_what_reads(served: Served):
    async def script(client: Client) -> Any:
        return (await client.list_tools()).tools

    listed = in_era(served, served.token("read"), "auto", script)
    assert {tool.name for tool in listed} == ASKED_FOR - WRITING


def test_a_client_without_a_token_does_not_get_in(served: Served):
    async def script(client: Client) -> Any:
        return await client.list_tools()

    with pytest.raises((MCPError, httpx2.HTTPStatusError, ExceptionGroup)):
        in_era(served, "mw_none", "legacy", script)


@pytest.mark.parametrize("era", ["legacy", "2026-07-28"])
def test_sixteen_calls_at_once_lose_nothing(served: Served, token: str, era: str):
    day = {"legacy": "2026-03-02", "2026-07-28": "2026-03-03"}[era]

    async def script(client: Client) -> Any:
        notes = (called(client, "memory_note", text=f"Note {n}.", date=day) for n in range(16))
        return await asyncio.gather(*notes)

    written = in_era(served, token, era, script)
    longest = max(written, key=lambda note: note["revision"])
    assert sorted(note["revision"] for note in written) == list(range(1, 17))
    assert all(f"Note {n}." in longest["content"] for n in range(16))


# One script over both doors


class Http:
    """The agent's script over the API."""

    def __init__(self, served: Served, token: str) -> None:
        self.url, self.token = f"{served.url}/api/v1", token

    def __call__(self, method: str, path: str, body: Any = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        request = urllib.request.Request(f"{self.url}{path}", data, headers, method=method)
        with urllib.request.urlopen(request, timeout=60) as response:
            text = response.read()
        return json.loads(text) if text else None


EPISODE = {
    "id": "e1",
    "agent_id": "otter",
    "working_dir": "/srv/shop",
    "outcome": "success",
    "summary": "Moved the order queue to Redis streams",
    "created_at": "2026-03-01T08:00:00Z",
}
VARYING = {"took_ms", "updated_at", "change_seq", "seq", "task_id", "created_at", "author"}


def steady(answer: Any) -> Any:
    """Without moments, counters and who it was."""
    if isinstance(answer, dict):
        return {key: steady(value) for key, value in answer.items() if key not in VARYING}
    return [steady(one) for one in answer] if isinstance(answer, list) else answer


@pytest.fixture(scope="module")
def over_api(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    with serving(tmp_path_factory.mktemp("http")) as served:
        return over_http(Http(served, served.token()))


def over_http(http: Http) -> list[Any]:
    return [
        http("POST", "/bank/context", {"query": "order queue"}),
        http("PUT", "/bank/entities/order-worker", {"content": PAGE}),
        http("POST", "/episodes", EPISODE),
        http("POST", "/search", {"query": "order queue"}),
        http("GET", "/bank/entities/order-worker"),
        http("POST", "/bank/notes/append", {"text": "Done.", "date": "2026-03-01"}),
        http("DELETE", "/bank/entities/order-worker"),
        http("POST", "/search", {"query": "order queue"}),
        http("POST", "/bank/context", {"query": "order queue"}),
    ]


async def over_mcp(client: Client) -> list[Any]:
    answers = [
        await called(client, "memory_context", query="order queue"),
        await called(client, "memory_save", name="order-worker", content=PAGE),
        await called(client, "episode_save", **EPISODE),
        await called(client, "memory_search", query="order queue"),
        await called(client, "memory_recall", name="order-worker"),
        await called(client, "memory_note", text="Done.", date="2026-03-01"),
    ]
    forgotten = await called(client, "memory_forget", name="order-worker")
    assert forgotten["archived"]
    return [
        *answers,
        None,
        await called(client, "memory_search", query="order queue"),
        await called(client, "memory_context", query="order queue"),
    ]


@pytest.mark.parametrize("era", ["legacy", "2026-07-28"])
def test_a_whole_task_gives_the_same_over_both_doors(tmp_path: Path, over_api: list[Any], era: str):
    """Start, context, save, search, recall, note, forget; each door on a home of its own."""
    with serving(tmp_path) as served:
        over_tools = in_era(served, served.token(), era, over_mcp)
    assert steady(over_tools) == steady(over_api)
    assert len(over_api[3]["results"]) == 2
    assert len(over_api[7]["results"]) == 1
