"""`manage.py admin_link`: a fresh one-time link that makes an administrator."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from memoryweb import house


class Command(BaseCommand):
    help = "Prints a one-time link that makes an administrator; it is good for a day."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--address", help="where people reach it")

    def handle(self, *args: Any, **options: Any) -> None:
        house.enter()
        address = options["address"] or house.public_address("http://127.0.0.1:8765")
        self.stdout.write(f"{address.rstrip('/')}{house.setup_path()}")
