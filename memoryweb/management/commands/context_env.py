"""`eval "$(manage.py context_env CONTEXT_ID)"`: a context's memories as shell variables."""

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from memoryweb import house
from memoryweb.core.errors import DomainError, Invalid
from memoryweb.core.strict_json import loads
from memoryweb.core.vectors import Vector
from search import injection, recall
from search.schemas import QUERY_CHARACTERS


class Command(BaseCommand):
    help = (
        "Prints DEVBASE_CONTEXT_MEMORIES, DEVBASE_CONTEXT_MEMORY_COUNT and "
        "DEVBASE_CONTEXT_RECALL_METHOD as exports for a POSIX shell, quoted so that no content "
        "of a memory is ever run."
    )
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("context_id")
        parser.add_argument("--query", default="", help="what the memories shall be about")
        parser.add_argument(
            "--query-embedding",
            metavar="FILE",
            help="a JSON array, the vector of the query; - reads standard input",
        )
        parser.add_argument("--embedding-model", help="whose vectors to compare with")

    def handle(self, *args: Any, **options: Any) -> None:
        house.enter()
        if len(options["query"]) > QUERY_CHARACTERS:
            raise CommandError(f"--query may have at most {QUERY_CHARACTERS:,} characters")
        try:
            injected = injection.inject(
                options["context_id"],
                query=options["query"],
                query_embedding=_vector(options["query_embedding"]),
                embedding_model=options["embedding_model"],
            )
        except DomainError as error:
            raise CommandError(error.detail) from error
        self.stdout.write(injected.exports, ending="")
        for count, what in (
            (injected.skipped_by_guard, "kept out by the guard"),
            (injected.shortened, "cut to fit"),
            (injected.left_out, "left out for want of room"),
        ):
            if count:
                self.stderr.write(f"{count} {'memory' if count == 1 else 'memories'} {what}")


def _vector(file: str | None) -> Vector | None:
    """The vector in a file: an array of numbers, or an object that holds it as `embedding`."""
    if file is None:
        return None
    try:
        text = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except OSError as error:
        raise CommandError(f"{file}: {error.strerror}") from error
    value = loads(text)
    if isinstance(value, dict):
        value = value.get("embedding")
    vector = recall.given_vector(value)
    if vector is None:
        raise Invalid.field("query_embedding", "the file holds no vector")
    return vector
