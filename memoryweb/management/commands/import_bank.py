"""`manage.py import_bank FOLDER`: a folder of Markdown into the bank, or into another wiki."""

from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from bank import importing, sync, uploads, vault, wikis
from bank.importing import Outcome
from bank.vault import Plan
from memoryweb import house
from memoryweb.core.actor import system
from memoryweb.core.errors import DomainError
from memoryweb.progress import Progress

ACTOR = system("import")


class Command(BaseCommand):
    help = "Imports a folder of Markdown: an octos memory folder, or a vault with folders."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", type=Path, metavar="FOLDER")
        parser.add_argument(
            "--wiki",
            metavar="ID",
            help="the wiki it goes into, made if there is none; else the bank",
        )
        parser.add_argument(
            "--dry-run", action="store_true", help="say what would be done, write nothing"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        house.prepare()
        folder, wiki, dry_run = options["folder"], options["wiki"], options["dry_run"]
        try:
            if wiki is None or wiki == wikis.BANK:
                self._into_bank(folder, dry_run=dry_run)
            else:
                self._into_wiki(folder, wiki, dry_run=dry_run)
        except DomainError as error:
            raise CommandError(error.detail) from error

    def _into_bank(self, folder: Path, *, dry_run: bool) -> None:
        if not dry_run:
            sync.recover()  # So that the plan knows of every page.
            sync.scan()
        plan = vault.plan(folder)
        self._tell(plan, importing.carry_out(ACTOR, plan, dry_run=dry_run), dry_run=dry_run)

    def _into_wiki(self, folder: Path, wiki: str, *, dry_run: bool) -> None:
        missing = wikis.is_missing(wiki)
        plan = uploads.from_folder(wiki, folder)
        if missing and not dry_run:
            wikis.create(ACTOR, team_id="", name=wiki, id=wiki)
        self._tell(plan, uploads.carry_out(ACTOR, plan, dry_run=dry_run), dry_run=dry_run)
        if missing:
            told = "would be made" if dry_run else "was made"
            self.stdout.write(f"The wiki “{wiki}” {told}")

    def _tell(self, plan: Plan, outcomes: Iterator[Outcome], *, dry_run: bool) -> None:
        progress = Progress(self.stderr, len(plan.pages) + len(plan.left), "files")
        counts: Counter[str] = Counter()
        for outcome in outcomes:
            self._count(counts, outcome)
            if line := _told(outcome):
                progress.clear()
                self.stdout.write(line)
            progress.show(counts["files"], counts["files"])
        progress.clear()
        self._conclude(counts, plan.others, progress.seconds, dry_run=dry_run)

    def _count(self, counts: Counter[str], outcome: Outcome) -> None:
        counts.update([outcome.status, "files"])
        counts["renamed"] += bool(outcome.why)
        counts["quarantined"] += outcome.quarantined

    def _conclude(
        self, counts: Counter[str], others: int, seconds: float, *, dry_run: bool
    ) -> None:
        files = counts["files"]
        self.stdout.write(
            f"{'Dry run, nothing was written: ' if dry_run else ''}{files:,} Markdown files: "
            f"{counts['created']:,} created, {counts['updated']:,} updated, "
            f"{counts['unchanged']:,} unchanged, {counts['left']:,} left; "
            f"{files / max(seconds, 1e-6):,.0f} files/s"
        )
        for count, meaning in (
            (counts["renamed"], "Pages of another name, which their own still finds"),
            (counts["quarantined"], "In quarantine, as the guard objects to them"),
            (counts["competing"], "Unlike the pages that are here, so both texts wait in Review"),
            (others, "Other files, no Markdown and not looked at"),
        ):
            if count:
                self.stdout.write(f"{meaning}: {count:,}")


def _told(outcome: Outcome) -> str:
    """What is said of one file, if there is anything to say."""
    if outcome.status == "left":
        return f"{outcome.file}: left: {outcome.detail}"
    said = []
    if outcome.why:
        said.append(f"its page is “{outcome.name}”. {outcome.why}")
    if outcome.quarantined:
        said.append(f"“{outcome.name}” is in quarantine")
    if outcome.status == "updated":
        said.append(f"“{outcome.name}” takes over its new text")
    if outcome.status == "competing":
        said.append(f"“{outcome.name}” {outcome.detail}, and both texts are kept")
    return f"{outcome.file}: {'; '.join(said)}" if said else ""
