"""`manage.py import_devbase FILE`: the sessions of a devbase registry."""

from argparse import ArgumentParser
from collections import Counter
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from episodes import devbase
from memoryweb import house
from memoryweb.core.actor import system
from memoryweb.core.errors import DomainError
from memoryweb.progress import Progress, legible


class Command(BaseCommand):
    help = "Imports contexts, memories and vectors from devbase's registry, an SQLite file."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE")
        parser.add_argument("--dry-run", action="store_true", help="read and check, write nothing")

    def handle(self, *args: Any, **options: Any) -> None:
        path = options["file"]
        if not path.is_file():
            raise CommandError(f"{path} is not a file; nothing was imported")
        house.prepare()
        try:
            registry = devbase.Registry(path)
        except DomainError as error:
            raise CommandError(f"{error.detail}; nothing was imported") from error
        try:
            self._import(registry, dry_run=options["dry_run"])
        except DomainError as error:
            raise CommandError(f"{error.detail}; what was read before that is kept") from error
        finally:
            registry.close()

    def _import(self, registry: devbase.Registry, *, dry_run: bool) -> None:
        counts: Counter[str] = Counter()
        progress = Progress(self.stderr, registry.count(), "rows")
        for outcome in devbase.import_registry(system("import"), registry, dry_run=dry_run):
            counts[outcome.status] += 1
            counts["quarantined"] += outcome.quarantined
            if outcome.error:
                progress.clear()
                self.stderr.write(legible(f"{outcome.row}: {outcome.error}"))
            progress.show(counts.total() - counts["quarantined"], counts.total())
        progress.clear()
        self._conclude(counts, dry_run=dry_run)

    def _conclude(self, counts: Counter[str], *, dry_run: bool) -> None:
        rows = counts.total() - counts["quarantined"]
        self.stdout.write(
            f"{'Dry run, nothing was written: ' if dry_run else ''}{rows:,} rows: "
            f"{counts['created']:,} created, {counts['changed']:,} changed, "
            f"{counts['unchanged']:,} unchanged, {counts['failed']:,} bad"
        )
        if counts["quarantined"]:
            self.stdout.write(
                f"In quarantine, as the guard objects to them: {counts['quarantined']:,}"
            )
