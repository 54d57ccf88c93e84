"""A `manage.py serve` on a bench's home, asked over one connection that stays open."""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

from django.conf import settings

from memoryweb.core import tokens
from memoryweb.core.actor import system

PATIENCE = 120.0  # seconds until it has to answer
STOP = 30.0


class Client:
    """Posts JSON with a token of its own."""

    def __init__(self, port: int, token: str) -> None:
        self._connection = HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
        self._headers = {
            "Authorization": f"Bearer {token}",
            "Content-Type": "application/json",
        }

    def post(self, path: str, body: Mapping[str, Any]) -> Any:
        """The answer's JSON; raises RuntimeError for any other status than 200."""
        self._connection.request("POST", path, json.dumps(body), self._headers)
        answer = self._connection.getresponse()
        text = answer.read()
        if answer.status != 200:
            raise RuntimeError(f"{path} answered {answer.status}: {text[:200]!r}")
        return json.loads(text)

    def is_up(self) -> bool:
        try:
            self._connection.request("GET", "/healthz")
            answer = self._connection.getresponse()
            answer.read()
        except OSError:
            self._connection.close()
            return False
        return answer.status == 200


@contextmanager
def served(home: Path) -> Iterator[Client]:
    """A server on this home until the block ends. Raises RuntimeError when it does not start."""
    _, token = tokens.issue(system(), "bench", "write")
    port = _free_port()
    command = [sys.executable, str(settings.BASE_DIR / "manage.py"), "serve", "--port", str(port)]
    ours = ("MEMORYWEB_MEMORY_DIR", "DATABASE_URL")  # Of the home that the bench was started on.
    environment = {key: value for key, value in os.environ.items() if key not in ours}
    environment["MEMORYWEB_HOME"] = str(home)
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(command, env=environment, stdout=quiet, stderr=quiet)  # noqa: S603
    try:
        client = Client(port, token)
        _wait(client, process)
        yield client
    finally:
        process.terminate()
        process.wait(STOP)


def _wait(client: Client, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not client.is_up():
        if process.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError("the server did not start")
        time.sleep(0.1)


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
    return port
