"""`manage.py serve`: set up what is missing, then serve and work until told to stop."""

import os
import socket
import threading
import time
import urllib.error
import urllib.request
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import connections

from memoryweb import house, processes

PATIENCE = 60.0  # seconds until it is said that the server does not answer


class Command(BaseCommand):
    help = "Sets up what is missing, then serves memoryweb and runs its worker."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--port", type=int, default=8765)
        parser.add_argument("--demo", action="store_true", help="fill a new home with a sample")
        parser.add_argument("--workers", type=int, default=1, help="server processes")
        parser.add_argument("--no-worker", action="store_true", help="another supervisor runs it")

    def handle(self, *args: Any, **options: Any) -> None:
        if not 1 <= options["workers"] <= 64:
            raise CommandError("--workers must be from 1 to 64")
        host, port = options["host"], options["port"]
        try:
            listener = processes.listen(
                host, port, lambda: self._say_taken(host, port), processes.PORT_PATIENCE
            )
        except (OSError, OverflowError) as error:
            raise CommandError(f"cannot listen on {host}:{port}: {error}") from error
        house.prepare()
        if options["demo"]:
            self._load_demo()
        self._offer_link(_address(listener, host))
        connections.close_all()  # Each thread of the server opens its own.
        self._serve(listener, host, options["workers"], not options["no_worker"])

    def _say_taken(self, host: str, port: int) -> None:
        self.stderr.write(
            f"{host}:{port} is taken; it is tried again for {processes.PORT_PATIENCE:.0f} seconds"
        )

    def _serve(self, listener: socket.socket, host: str, workers: int, with_worker: bool) -> None:
        children, fd = processes.Children(), listener.fileno()
        if with_worker:
            children.keep(["worker"])
        for _ in range(workers - 1):
            os.set_inheritable(fd, True)
            children.keep(["serve_socket", str(fd), "--host", host], [fd])
        address = _address(listener, host)
        threading.Thread(target=self._announce, args=[address], daemon=True).start()
        try:
            processes.serve_on(listener, host, children.tell_to_stop)
        finally:
            children.stop()
            self.stdout.write("memoryweb has stopped.")

    def _load_demo(self) -> None:
        from memoryweb.demo.load import load

        self.stdout.write(load())

    def _offer_link(self, address: str) -> None:
        if not house.has_administrator():
            self.stdout.write(
                "Open this link once, within a day, to become the first administrator:\n"
                f"  {house.public_address(address)}{house.setup_path()}"
            )
            self.stdout.flush()

    def _announce(self, address: str) -> None:
        """Print the address when it answers, not before; and what is wrong when it does not."""
        started, warned = time.monotonic(), False
        while (wrong := _unanswered(f"{address}/healthz")) is not None:
            if not warned and time.monotonic() - started > PATIENCE:
                self.stderr.write(
                    f"{address}/ does not answer after {PATIENCE:.0f} seconds ({wrong}); "
                    "it is tried further, the log says more"
                )
                warned = True
            time.sleep(0.1)
        self.stdout.write(f"memoryweb answers on {address}/ (Ctrl-C stops it)")
        self.stdout.flush()


def _unanswered(url: str) -> str | None:
    """Why this address does not answer yet; None when it does."""
    # Past any proxy that the environment names: this is our own machine.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(url, timeout=5):
            return None
    except urllib.error.HTTPError as error:
        # Another status means that it answers, if to other names than this one.
        return error.read(300).decode().strip() if error.code == 503 else None
    except OSError as error:
        return str(error)


def _address(listener: socket.socket, host: str) -> str:
    port = listener.getsockname()[1]
    shown = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, host)  # noqa: S104
    return (
        f"http://[{shown}]:{port}"
        if ":" in shown and "[" not in shown
        else f"http://{shown}:{port}"
    )
