"""The indexer that the README shows, run as it stands against a real server."""

import json
import os
import re
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.serving import Served, serving

README = (Path(__file__).parents[2] / "README.md").read_text()
[EXAMPLE] = re.findall(r"```python\n(import json, os.*?)```", README, re.DOTALL)


class Provider(BaseHTTPRequestHandler):
    """An OpenAI-compatible endpoint that answers in another order than it was asked."""

    asked: list[list[str]] = []

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.asked.append(body["input"])
        data = [
            {"index": n, "embedding": [float(len(text)), 1.0, 0.5]}
            for n, text in enumerate(body["input"])
        ]
        answer = json.dumps({"data": data[::-1], "model": body["model"]}).encode()
        self.send_response(200 if self.path == "/v1/embeddings" else 404)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_: Any) -> None:
        """Nothing on the terminal."""


@pytest.fixture
def provider() -> Iterator[str]:
    Provider.asked = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    server.server_close()


def asked(served: Served, token: str, path: str, body: Any = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    request = urllib.request.Request(f"{served.url}/api/v1{path}", data, headers)
    with urllib.request.urlopen(request, timeout=30) as response:
        return json.load(response)


def indexed(served: Served, token: str, provider: str, script: Path) -> str:
    script.write_text(EXAMPLE)
    environment = {
        **os.environ,
        "MEMORYWEB_URL": served.url,
        "MEMORYWEB_TOKEN": token,
        "EMBEDDING_URL": provider,
        "EMBEDDING_MODEL": "toy",
    }
    ran = subprocess.run(
        [sys.executable, str(script)], env=environment, capture_output=True, text=True, timeout=60
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def test_the_example_gives_every_memory_its_own_vector_once(tmp_path: Path, provider: str):
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    memories = [{"content": "x" * (n + 1), "id": f"m{n:03}"} for n in range(150)]
    with serving(home) as served:
        token = served.token()
        asked(served, token, "/sessions", {"context_id": "c", "name": "C", "memories": memories})
        out = indexed(served, token, provider, tmp_path / "indexer.py")
        assert out.splitlines() == ["100 indexed", "50 indexed"]
        assert sum(map(len, Provider.asked)) == 150
        left = asked(served, token, "/sessions/memories?needs_vector=true")
        assert left["total"] == 0
        query = {"query_embedding": [7.0, 1.0, 0.5]}
        found = asked(served, token, "/sessions/c/recall", query)["memories"]
        assert (found[0]["id"], found[0]["score"]) == ("m006", 1.0)
        assert indexed(served, token, provider, tmp_path / "indexer.py") == ""


def test_the_example_is_about_forty_lines():
    assert len(EXAMPLE.splitlines()) <= 45
