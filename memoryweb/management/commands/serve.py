"""`manage.py serve`: set up what is missing, then serve and work until told to stop."""

import os
import socket
import threading
import urllib.error
import urllib.request
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import connections

from memoryweb import house, processes


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
            listener = processes.listen(host, port)
        except (OSError, OverflowError) as error:
            raise CommandError(f"cannot listen on {host}:{port}: {error}") from error
        house.prepare()
        if options["demo"]:
            self._load_demo()
        self._offer_link(_address(listener, host))
        connections.close_all()  # Each thread of the server opens its own.
        self._serve(listener, host, options["workers"], not options["no_worker"])

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
                f"  {address}{house.setup_path()}"
            )
            self.stdout.flush()

    def _announce(self, address: str) -> None:
        """Print the address when it answers, not before."""
        for _ in range(600):
            try:
                with urllib.request.urlopen(f"{address}/healthz", timeout=5):  # noqa: S310
                    break
            except (urllib.error.URLError, OSError):
                threading.Event().wait(0.1)
        self.stdout.write(f"memoryweb answers on {address}/ (Ctrl-C stops it)")
        self.stdout.flush()


def _address(listener: socket.socket, host: str) -> str:
    port = listener.getsockname()[1]
    shown = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, host)  # noqa: S104
    return (
        f"http://[{shown}]:{port}"
        if ":" in shown and "[" not in shown
        else f"http://{shown}:{port}"
    )
