"""`manage.py worker`: what must happen though nobody asks for a page."""

import logging
import time
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand
from django.db import close_old_connections

from memoryweb import chores, house, processes
from search import coverage_days, working

logger = logging.getLogger(__name__)


class Command(BaseCommand):
    help = "Runs the background chores; `serve` supervises one, production runs it as a service."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--parent", type=int, help="end with this process")
        parser.add_argument("--once", action="store_true", help="do every chore once and end")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["parent"] is None:
            house.prepare()
        else:
            processes.die_with(options["parent"])
        runs = working.Worker()
        if options["once"]:
            chores.run_due()
            while runs.once():
                pass
            return
        processes.stop_on_signals()
        coverage_days.tell()
        runs.start()
        try:
            while True:
                chores.run_due()
                close_old_connections()
                time.sleep(chores.PAUSE)
        finally:
            runs.stop()
