"""A provider that behaves, and misbehaves on request: a real HTTP server on this machine."""

import base64
import hashlib
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np

WIDTH = 8
Misbehave = Callable[["Handler", dict[str, Any]], bool]


def vector_of(text: str, width: int = WIDTH) -> list[float]:
    """A unit vector that depends on the words: texts that share some are nearer."""
    total = np.zeros(width)
    for word in text.lower().split() or [text]:
        seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:4], "big")
        total += np.random.default_rng(seed).normal(size=width)
    return (total / np.linalg.norm(total)).tolist()


class Double(ThreadingHTTPServer):
    """`behave` is called before each answer; True when it has answered in its own way."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, width: int = WIDTH) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.width = width
        self.behave: Misbehave = lambda handler, body: False
        self.asked: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.base64 = False
        self.stopping = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    @property
    def texts(self) -> list[str]:
        """Every text that was ever sent, in order."""
        return [text for body in self.asked for text in body["input"]]

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hung up is what some tests are about."""


class Handler(BaseHTTPRequestHandler):
    server: Double
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append(body)
        self.server.headers.append(dict(self.headers))
        if self.server.behave(self, body):
            return
        if self.path == "/v1/embeddings":
            self.answer(openai(body, self.server.width, self.server.base64))
        elif self.path == "/api/embed":
            rows = [vector_of(text, self.server.width) for text in body["input"]]
            self.answer({"model": body["model"], "embeddings": rows})
        else:
            self.answer({"error": "no such path"}, 404)

    def answer(self, body: Any, status: int = 200, **headers: str) -> None:
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        for name, value in {"Content-Length": str(len(raw)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(raw)

    def drip(self, raw: bytes, pause: float) -> None:
        """Send byte after byte until the test ends."""
        for at in range(len(raw)):
            if self.server.stopping.wait(pause):
                return
            self.wfile.write(raw[at : at + 1])
            self.wfile.flush()

    def log_message(self, format: str, *arguments: Any) -> None:
        pass


def openai(body: dict[str, Any], width: int = WIDTH, packed: bool = False) -> dict[str, Any]:
    """What a good OpenAI-compatible provider answers."""

    def shown(vector: list[float]) -> Any:
        raw = np.array(vector, "<f4").tobytes()
        return base64.b64encode(raw).decode() if packed else vector

    items = [
        {"object": "embedding", "index": index, "embedding": shown(vector_of(text, width))}
        for index, text in enumerate(body["input"])
    ]
    return {"object": "list", "data": items, "model": body["model"], "usage": {}}


@contextmanager
def running(width: int = WIDTH) -> Iterator[Double]:
    double = Double(width)
    thread = threading.Thread(target=double.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield double
    finally:
        double.stopping.set()
        double.shutdown()
        double.server_close()


# --- ways to misbehave ---------------------------------------------------------------------------


def sends(body: Any, status: int = 200, **headers: str) -> Misbehave:
    def behave(handler: Handler, asked: dict[str, Any]) -> bool:
        handler.answer(body, status, **headers)
        return True

    return behave


def changes(change: Callable[[dict[str, Any]], Any]) -> Misbehave:
    """Answer well but for what `change` does to it."""

    def behave(handler: Handler, asked: dict[str, Any]) -> bool:
        handler.answer(change(openai(asked, handler.server.width)))
        return True

    return behave


def is_silent(handler: Handler, asked: dict[str, Any]) -> bool:
    handler.server.stopping.wait(30)
    return True


def drips_headers(handler: Handler, asked: dict[str, Any]) -> bool:
    handler.drip(b"HTTP/1.1 200 OK\r\nX-Slow: " + b"a" * 10_000, 0.05)
    return True


def drips_body(handler: Handler, asked: dict[str, Any]) -> bool:
    raw = json.dumps(openai(asked)).encode()
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(raw)))
    handler.end_headers()
    handler.drip(raw, 0.05)
    return True


def hangs_up(handler: Handler, asked: dict[str, Any]) -> bool:
    handler.close_connection = True
    return True


def cuts_off(handler: Handler, asked: dict[str, Any]) -> bool:
    """Fewer bytes than were promised."""
    raw = json.dumps(openai(asked)).encode()
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(raw)))
    handler.end_headers()
    handler.wfile.write(raw[: len(raw) // 2])
    handler.close_connection = True
    return True


def fails_times(count: int, status: int = 500) -> Misbehave:
    """Fail so often, then behave."""
    left = [count]

    def behave(handler: Handler, asked: dict[str, Any]) -> bool:
        left[0] -= 1
        if left[0] < 0:
            return False
        handler.answer({"error": "no"}, status)
        return True

    return behave


def slowly(seconds: float) -> Misbehave:
    def behave(handler: Handler, asked: dict[str, Any]) -> bool:
        time.sleep(seconds)
        return False

    return behave


def refuse_long_texts(handler: Handler, body: dict[str, Any]) -> bool:
    """A model that takes no request with a text of more than 1,000 characters."""
    if any(len(text) > 1000 for text in body["input"]):
        handler.answer({}, 413)
        return True
    return False
