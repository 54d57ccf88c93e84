"""Two servers on one home: a write through one is in the other's next answer."""

import json
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tests.serving import Served, serving


class Agent:
    def __init__(self, served: Served, token: str) -> None:
        self.base = f"{served.url}/api/v1"
        self.headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}

    def __call__(self, method: str, path: str, body: Any = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.base + path, data, self.headers, method=method)
        with urllib.request.urlopen(request, timeout=60) as response:
            text = response.read()
            return json.loads(text) if text else None

    def remember(self, summary: str, **fields: Any) -> Any:
        row = {"agent_id": "otter", "working_dir": "/srv", "outcome": "success", **fields}
        return self("POST", "/episodes?replace=true", {**row, "summary": summary})

    def find(self, query: str, **fields: Any) -> list[str]:
        answer = self("POST", "/search", {"query": query, **fields})
        assert answer["mode"] != "scan"
        return [result["id"] for result in answer["results"]]


def test_each_process_sees_the_others_writes_at_its_next_request(tmp_path: Path):
    with serving(tmp_path / "home") as one, serving(tmp_path / "home", "--no-worker") as two:
        token = one.token("write")
        left, right = Agent(one, token), Agent(two, token)
        assert left.find("deadlock") == right.find("deadlock") == []
        written = left.remember("Fixed the deadlock", id="a")
        assert right.find("deadlock", min_seq=written["change_seq"]) == ["a"]
        right.remember("Upgraded the compiler", id="a")
        assert left.find("deadlock") == []
        assert left.find("compiler") == ["a"]
        left("DELETE", "/episodes/a")
        assert right.find("compiler") == left.find("compiler") == []


def test_sixteen_writers_over_three_processes_lose_nothing(tmp_path: Path):
    with serving(tmp_path / "home", "--workers", "3") as served:
        agent = Agent(served, served.token("write"))

        def write(n: int) -> bool:
            made = agent.remember(f"Finding number x{n}x", id=f"e{n}")
            return agent.find(f"x{n}x", min_seq=made["change_seq"]) == [f"e{n}"]

        with ThreadPoolExecutor(16) as pool:
            assert all(pool.map(write, range(160)))
        assert agent("GET", "/episodes?limit=1")["total"] == 160
