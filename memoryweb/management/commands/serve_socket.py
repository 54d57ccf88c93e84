"""One more server process of `serve --workers N`, on the socket it shares."""

import socket
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from memoryweb import processes


class Command(BaseCommand):
    help = "Serves on a socket inherited from `serve --workers`; not meant to be called by hand."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("fd", type=int)
        parser.add_argument("--host", required=True)
        parser.add_argument("--parent", type=int, required=True)

    def handle(self, *args: Any, **options: Any) -> None:
        processes.die_with(options["parent"])
        processes.serve_on(socket.socket(fileno=options["fd"]), options["host"])
