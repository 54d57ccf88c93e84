"""`manage.py rebuild`: build the search indexes anew; servers swap theirs when it is done."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from memoryweb import house
from memoryweb.core.actor import system
from memoryweb.core.errors import DomainError
from memoryweb.long_work import followed
from search import runs
from search.models import Run


class Command(BaseCommand):
    help = "Builds the search indexes anew from the database, aside, and has servers swap theirs."

    def handle(self, *args: Any, **options: Any) -> None:
        house.enter()
        try:
            run = followed(self.stdout, runs.start_rebuild(system()))
        except DomainError as error:
            raise CommandError(error.detail) from error
        if run.state != Run.State.DONE:
            raise CommandError(f"the run is {run.state}: {run.message or 'it was cancelled'}")
        self.stdout.write(f"{run.done:,} documents read; every process swaps its index now")
