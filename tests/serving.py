"""A real `manage.py serve` on a home of its own, for tests that need processes and sockets."""

import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[1]


def environment(home: Path, **extra: str) -> dict[str, str]:
    """The environment of a fresh machine: nothing of ours but the home."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("MEMORYWEB_", "DJANGO_"))}
    return {**kept, "MEMORYWEB_HOME": str(home), "MEMORYWEB_TIME_ZONE": "Asia/Shanghai", **extra}


def manage(home: Path, *arguments: str, **extra: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env=environment(home, **extra),
        capture_output=True,
        text=True,
        timeout=300,
    )


def set_up(home: Path) -> None:
    """A home as `serve` leaves it, without serving."""
    made = manage(home, "worker", "--once")
    assert made.returncode == 0, made.stderr


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Served:
    """A running server: what it printed, its address, its token, and how to end it."""

    def __init__(self, home: Path, *arguments: str, **extra: str) -> None:
        self.home = home
        self.printed: list[str] = []
        self.process = subprocess.Popen(
            [sys.executable, "-u", "manage.py", "serve", "--port", str(free_port()), *arguments],
            cwd=ROOT,
            env=environment(home, **extra),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        threading.Thread(target=self._read, daemon=True).start()
        self.url = self.wait_for(r"memoryweb answers on (http://\S+?)/ ")

    def _read(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self.printed.append(line)

    def wait_for(self, pattern: str, seconds: float = 90) -> str:
        """The first group of `pattern` once the server has printed it."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if match := re.search(pattern, "".join(self.printed)):
                return match[1]
            assert self.process.poll() is None, "".join(self.printed)
            time.sleep(0.05)
        raise AssertionError(f"{pattern} was not printed:\n{''.join(self.printed)}")

    def token(self, scope: str = "write") -> str:
        return manage(self.home, "create_token", "test", "--scope", scope).stdout.split()[-1]

    def stop(self) -> float:
        """Seconds that a clean stop took."""
        started = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(30)
        return time.monotonic() - started


@contextmanager
def serving(home: Path, *arguments: str, **extra: str) -> Iterator[Served]:
    served = Served(home, *arguments, **extra)
    try:
        yield served
    finally:
        if served.process.poll() is None:
            served.stop()


def status(url: str) -> int:
    try:
        with urllib.request.urlopen(url, timeout=10) as response:
            return response.status
    except urllib.error.HTTPError as error:
        return error.code
