"""`manage.py check_memory [--repair]`: do database, disk, audit and vectors agree?"""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from bank import sync
from bank.sweep import Sweep
from memoryweb import checking, house


class Command(BaseCommand):
    help = "Names what does not agree and exits 1; 0 when all does. Repairs files only when asked."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--repair",
            action="store_true",
            help="finish saves that were begun, write lost files, take in files edited outside",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        house.enter()
        if options["repair"]:
            Sweep().step(float("inf"))  # So that the scan finds what no stamp shows.
            for report in (sync.recover(), sync.scan(at_once=True)):
                self.stdout.write(f"{report.settled} pages and files settled")
        found = 0
        for found, fault in enumerate(checking.faults(), 1):  # noqa: B007 - counted
            self.stdout.write(fault)
        if found:
            raise CommandError(f"{found} things do not agree")
        self.stdout.write("Database, disk, audit and vectors agree.")
