"""`manage.py reindex`: embed what lacks a current vector, with a bar, while the server serves."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from memoryweb import house
from memoryweb.core import active_model
from memoryweb.core.actor import system
from memoryweb.core.errors import Conflict, DomainError
from memoryweb.long_work import followed
from search import runs
from search.models import Run
from search.reindex import CORPORA, Plan


class Command(BaseCommand):
    help = "Embeds every document without a current vector, by the configured provider."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="only list what lacks a vector")
        parser.add_argument("--model", default="", help="another model of the same provider")
        parser.add_argument("--collection", action="append", choices=list(CORPORA), default=[])

    def handle(self, *args: Any, **options: Any) -> None:
        house.enter()
        wanted = runs.Request(options["collection"], options["model"])
        if options["dry_run"]:
            self._list(runs.planned(wanted))
            return
        try:
            run = self._started(wanted)
        except DomainError as error:
            raise CommandError(error.detail) from error
        self._tell(followed(self.stdout, run))

    def _started(self, wanted: runs.Request) -> Run:
        """A new run, or the one that is under way: it may be one that a kill left behind."""
        try:
            return runs.start_reindex(system(), wanted)
        except Conflict as error:
            run = runs.find(error.members["run"])
            self.stdout.write(f"Run {run.pk} is under way already, and is gone on with.")
            return run

    def _list(self, plan: Plan) -> None:
        of = f" of {plan.model}" if plan.model else ""
        self.stdout.write(f"{plan.count:,} documents lack a current vector{of}")
        for one in plan.sample:
            self.stdout.write(f"  {one['collection']}/{one['id']}: {one['text'][:80]}")
        if plan.count > len(plan.sample):
            self.stdout.write(f"  and {plan.count - len(plan.sample):,} more")

    def _tell(self, run: Run) -> None:
        for error in run.errors.order_by("id")[: runs.ERRORS_SHOWN]:
            self.stdout.write(f"  {error.collection}/{error.document}: {error.reason}")
        self.stdout.write(f"{run.done:,} embedded, {run.failed:,} failed, of {run.total:,}")
        for name in run.collections:
            before, after = (
                (each or {}).get(name, {}).get("ratio")
                for each in (run.coverage_before, run.coverage_after)
            )
            if before is not None and after is not None:
                self.stdout.write(f"  {name}: {before:.1%} covered before, {after:.1%} now")
        if run.done and (active := active_model.active()) and active.model != run.model:
            self.stdout.write(
                f"Searches compare {active.model} still; switch to {run.model} under Coverage."
            )
        if run.state != Run.State.DONE:
            raise CommandError(f"the run is {run.state}: {run.message or 'it was cancelled'}")
