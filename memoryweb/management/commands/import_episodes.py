"""`manage.py import_episodes FILE…`: episodes from JSON Lines or JSON, good rows first."""

from argparse import ArgumentParser
from collections import Counter
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from episodes import importing
from episodes.incoming import Outcome
from episodes.models import Episode
from memoryweb import house
from memoryweb.core.actor import system
from memoryweb.core.errors import DomainError
from memoryweb.core.strict_json import loads
from memoryweb.progress import Progress


class Command(BaseCommand):
    help = "Imports episodes: octos episodes, or any rows with a summary and a working_dir."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
        parser.add_argument("--agent", default="import", help="agent_id of rows that have none")
        parser.add_argument(
            "--outcome",
            default="success",
            choices=Episode.Outcome.values,
            help="outcome of rows that have none",
        )
        parser.add_argument(
            "--cwd-index",
            type=Path,
            metavar="FILE",
            help="an octos {working_dir: raw value} index to salvage and compare",
        )
        parser.add_argument("--dry-run", action="store_true", help="read and check, write nothing")

    def handle(self, *args: Any, **options: Any) -> None:
        for path in [*options["files"], *filter(None, [options["cwd_index"]])]:
            if not path.is_file():
                raise CommandError(f"{path} is not a file; nothing was imported")
        if not 1 <= len(options["agent"]) <= 200:
            raise CommandError("--agent must have 1 to 200 characters; nothing was imported")
        house.prepare()
        self.seen: set[str] | None = set() if options["cwd_index"] and options["dry_run"] else None
        self._import(options)
        if options["cwd_index"]:
            self._salvage(options["cwd_index"])

    def _import(self, options: dict[str, Any]) -> None:
        counts: Counter[str] = Counter()
        progress = Progress(
            self.stderr, sum(path.stat().st_size for path in options["files"]), "rows"
        )
        defaults = {"agent_id": options["agent"], "outcome": options["outcome"]}
        for path in options["files"]:
            actor, dry_run = system("import"), options["dry_run"]
            for row, outcome in importing.import_file(actor, path, defaults, dry_run=dry_run):
                self._count(counts, outcome)
                if outcome.error is not None:
                    progress.clear()
                    self.stderr.write(f"{path}:{row.line}: {outcome.error.detail}")
                progress.show(row.end, counts.total())
            progress.file_done(path.stat().st_size)
        progress.clear()
        self._conclude(counts, progress.seconds, options["dry_run"])

    def _count(self, counts: Counter[str], outcome: Outcome) -> None:
        counts[outcome.status] += 1
        self.quarantined = getattr(self, "quarantined", 0)
        self.quarantined += outcome.quarantined and outcome.status != "unchanged"
        if self.seen is not None and outcome.id is not None and outcome.error is None:
            self.seen.add(outcome.id)

    def _conclude(self, counts: Counter[str], seconds: float, dry_run: bool) -> None:
        rows = counts.total()
        self.stdout.write(
            f"{'Dry run, nothing was written: ' if dry_run else ''}{rows:,} rows: "
            f"{counts['created']:,} created, {counts['unchanged']:,} unchanged, "
            f"{counts['failed']:,} bad; {rows / max(seconds, 1e-6):,.0f} rows/s"
        )
        if quarantined := getattr(self, "quarantined", 0):
            self.stdout.write(f"In quarantine, as the guard objects to them: {quarantined:,}")

    def _salvage(self, path: Path) -> None:
        try:
            index = loads(path.read_bytes())
        except DomainError as error:
            raise CommandError(f"{path}: {error.detail}; the episodes are imported") from error
        if not isinstance(index, dict):
            raise CommandError(f"{path} is no {{working_dir: raw value}} object")
        result = importing.salvage(index, self._exists)
        kept = sum(map(len, result.kept.values()))
        dropped = {wd: ids for wd, ids in result.dropped.items() if ids}
        self.stdout.write(
            f"Directory index: {kept:,} ids salvaged in {len(index):,} directories, "
            f"{sum(map(len, dropped.values())):,} dropped because they have no episode"
        )
        for directory, ids in dropped.items():
            self.stdout.write(f"  dropped in {directory}: {', '.join(ids)}")

    def _exists(self, ids: Any) -> set[str]:
        there = importing.existing(ids)
        return there | (set(ids) & self.seen if self.seen is not None else set())
