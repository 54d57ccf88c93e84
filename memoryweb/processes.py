"""The processes of `serve`: this one answers requests, children answer more and do the work."""

import ctypes
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FrameType

from django.conf import settings
from django.db import connections

from memoryweb.core import health

PR_SET_PDEATHSIG = 1
STOP_SECONDS = 8.0  # The whole stop has to fit into ten seconds.
THREADS = 8


def listen(host: str, port: int) -> socket.socket:
    """A listening socket that children can share. Raises OSError when the address is taken."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((host, port))
    listener.listen(1024)
    return listener


def serve_on(
    listener: socket.socket, host: str, at_stop: Callable[[], None] = lambda: None
) -> None:
    """Answer requests on `listener`, to `host` too, until SIGTERM or Ctrl-C.

    `at_stop` is called when that comes; then running requests have five seconds to end.
    """
    from waitress.server import create_server

    from memoryweb.wsgi import application
    from search.live import live

    _answer_to(host)
    live.warm()
    health.start()  # Until it is done nobody is answered; what fails is tried by /healthz again.
    connections.close_all()  # Each thread of the server opens its own.
    server = create_server(
        application,
        sockets=[listener],
        threads=THREADS,
        ident="memoryweb",
        # Connections that say nothing must not keep the others out.
        connection_limit=1000,
        channel_timeout=30,
        cleanup_interval=5,
        # What a proxy says of itself is not trusted; that it speaks TLS is a setting.
        url_scheme="https" if settings.HTTPS else "http",
        # The application words its own 413; this is only the net behind it.
        max_request_body_size=settings.MEMORYWEB_BATCH_BODY_LIMIT + 1024 * 1024,
        clear_untrusted_proxy_headers=True,
    )
    stop_on_signals(at_stop)
    server.run()


def _answer_to(host: str) -> None:
    """Take requests for the address that is listened on, whatever other names are configured."""
    if host not in settings.ALLOWED_HOSTS and host not in ("0.0.0.0", "::"):  # noqa: S104
        settings.ALLOWED_HOSTS.append(f"[{host}]" if ":" in host else host)


def stop_on_signals(at_stop: Callable[[], None] = lambda: None) -> None:
    def stop(number: int, frame: FrameType | None) -> None:
        # A second signal while stopping must not cut the stop short.
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        at_stop()
        raise SystemExit(0)

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)


def die_with(parent: int) -> None:
    """Ask the kernel for SIGTERM when the parent is gone, also by kill -9. Linux only."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != parent:
            raise SystemExit(0)  # It was gone before we asked.


class Children:
    """Child processes kept running: one that ends is started again, with a growing pause."""

    def __init__(self) -> None:
        self._stopping = threading.Event()
        self._threads: list[threading.Thread] = []

    def keep(self, arguments: Sequence[str], pass_fds: Sequence[int] = ()) -> None:
        """Run `manage.py ARGUMENTS` until `stop`."""
        thread = threading.Thread(target=self._keep, args=(arguments, pass_fds), daemon=True)
        thread.start()
        self._threads.append(thread)

    def tell_to_stop(self) -> None:
        """Have them stop, all at once, and do not wait."""
        self._stopping.set()

    def stop(self) -> None:
        self.tell_to_stop()
        for thread in self._threads:
            thread.join(STOP_SECONDS)

    def _keep(self, arguments: Sequence[str], pass_fds: Sequence[int]) -> None:
        manage = str(Path(settings.BASE_DIR) / "manage.py")
        pause = 0.5
        while not self._stopping.is_set():
            started = time.monotonic()
            child = subprocess.Popen(  # noqa: S603 - our own program and arguments
                [sys.executable, manage, *arguments, "--parent", str(os.getpid())],
                pass_fds=pass_fds,
                stdin=subprocess.DEVNULL,
                # Ctrl-C in the terminal reaches only this process, which then stops its children.
                start_new_session=True,
            )
            while child.poll() is None and not self._stopping.wait(0.2):
                pass
            if child.poll() is None:
                _end(child)
            pause = 0.5 if time.monotonic() - started > 60 else min(pause * 2, 30)
            self._stopping.wait(pause)


def _end(child: "subprocess.Popen[bytes]") -> None:
    child.terminate()
    try:
        child.wait(STOP_SECONDS - 2)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
