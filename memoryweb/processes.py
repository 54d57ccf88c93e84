"""The processes of `serve`: this one answers requests, children answer more and do the work."""

import ctypes
import errno
import logging
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

logger = logging.getLogger(__name__)

PR_SET_PDEATHSIG = 1
STOP_SECONDS = 8  # The whole stop has to fit into ten seconds.
LONGEST_PAUSE = 5.0  # seconds until a child that ended is started again
THREADS = 8
# For as long the children of a server that was killed may hold its port.
PORT_PATIENCE = STOP_SECONDS + 2.0


def listen(
    host: str, port: int, waiting: Callable[[], None] = lambda: None, patience: float = 0.0
) -> socket.socket:
    """A listening socket that children can share.

    An address that is taken is tried again for `patience` seconds, and `waiting` is called once.
    Raises OSError when it is still taken then.
    """
    deadline = time.monotonic() + patience
    told = False
    while True:
        try:
            return _bound(host, port)
        except OSError as error:
            if error.errno != errno.EADDRINUSE or time.monotonic() >= deadline:
                raise
        if not told:
            waiting()
            told = True
        time.sleep(0.1)


def _bound(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(1024)
    except BaseException:
        listener.close()
        raise
    return listener


def serve_on(
    listener: socket.socket, host: str, at_stop: Callable[[], None] = lambda: None
) -> None:
    """Answer requests on `listener`, to `host` too, until SIGTERM or Ctrl-C.

    `at_stop` is called when that comes. Then nobody is let in any more, and running requests
    have five seconds to end.
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
        url_scheme="https" if settings.HTTPS else "http",
        # The application words its own 413; this is only the net behind it.
        max_request_body_size=settings.MEMORYWEB_BATCH_BODY_LIMIT + 1024 * 1024,
        # memoryweb.core.proxies decides whose headers are believed, under any server.
        clear_untrusted_proxy_headers=False,
    )

    def close() -> None:
        listener.close()  # Else those who come now would wait for an answer that never comes.
        at_stop()

    stop_on_signals(close)
    server.run()


def _answer_to(host: str) -> None:
    """Take requests for the address that is listened on, whatever other names are configured."""
    if host not in settings.ALLOWED_HOSTS and host not in ("0.0.0.0", "::"):  # noqa: S104
        settings.ALLOWED_HOSTS.append(f"[{host}]" if ":" in host else host)


def stop_on_signals(at_stop: Callable[[], None] = lambda: None) -> None:
    """Leave by SystemExit on SIGTERM and Ctrl-C, and in any case within eight seconds."""

    def stop(number: int, frame: FrameType | None) -> None:
        # A second signal while stopping must not cut the stop short.
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGALRM, _leave)
        signal.alarm(STOP_SECONDS)
        at_stop()
        raise SystemExit(0)

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)


def _leave(number: int, frame: FrameType | None) -> None:
    """A request that does not end keeps nobody waiting: what it had not committed is undone."""
    os._exit(0)


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
        pause = 0.5
        while not self._stopping.is_set():
            started = time.monotonic()
            try:
                self._run(arguments, pass_fds)
            except OSError:  # No memory or no process left: it may have gone at the next try.
                logger.exception("%s could not be started", arguments[0])
            pause = 0.5 if time.monotonic() - started > 60 else min(pause * 2, LONGEST_PAUSE)
            self._stopping.wait(pause)

    def _run(self, arguments: Sequence[str], pass_fds: Sequence[int]) -> None:
        """Start the child and wait until it ends, or until all have to stop."""
        manage = str(Path(settings.BASE_DIR) / "manage.py")
        # This process has said already what is amiss with the settings they share.
        shared = ["--parent", str(os.getpid()), "--skip-checks"]
        child = subprocess.Popen(  # noqa: S603 - our own program and arguments
            [sys.executable, manage, *arguments, *shared],
            pass_fds=pass_fds,
            stdin=subprocess.DEVNULL,
            # Ctrl-C in the terminal reaches only this process, which then stops its children.
            start_new_session=True,
        )
        while child.poll() is None and not self._stopping.wait(0.2):
            pass
        if child.poll() is None:
            _end(child)
        elif not self._stopping.is_set():
            logger.error("%s ended with %s; it is started again", arguments[0], child.returncode)


def _end(child: "subprocess.Popen[bytes]") -> None:
    child.terminate()
    try:
        child.wait(STOP_SECONDS - 2)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
