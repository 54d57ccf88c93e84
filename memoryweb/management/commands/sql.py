"""`manage.py sql ["SELECT …"]`: a read-only SQL prompt with our functions."""

import sqlite3
import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import connection

from memoryweb.core.sqlite.reading import open_read_only
from memoryweb.progress import legible

PROMPT, CONTINUED = "memoryweb> ", "      ...> "
WIDEST = 80  # characters of a column; a longer value is cut in the prompt, and whole in a pipe
CHUNK = 500  # rows by which the columns' widths are settled


class Command(BaseCommand):
    help = (
        "Answers a SELECT, statements from standard input, or those typed at a prompt. Nothing can "
        "be written. cosine_similarity(a, b) compares vectors, vector('[0.1, 0.7]') makes one; the "
        "view agent_memories shows each memory with its vector."
    )
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("statement", nargs="?", help="one statement; none opens the prompt")

    def handle(self, *args: Any, **options: Any) -> None:
        if connection.vendor != "sqlite":
            raise CommandError("this prompt is for SQLite; psql knows the functions of pgvector")
        path = Path(connection.settings_dict["NAME"])
        if not path.is_file():
            raise CommandError(f"there is no database at {path} yet; `manage.py serve` makes it")
        database = open_read_only(path)
        try:
            self._answer_all(database, options["statement"])
        finally:
            database.close()

    def _answer_all(self, database: sqlite3.Connection, statement: str | None) -> None:
        if statement is not None:
            self._answer(database, statement)
        elif sys.stdin.isatty():
            self._prompt(database)
        else:
            for each in statements(iter(sys.stdin.readline, "")):
                self._answer(database, each)

    def _prompt(self, database: sqlite3.Connection) -> None:
        try:
            import readline  # noqa: F401 - gives input() a history
        except ImportError:
            pass
        self.stdout.write("Only reads. End a statement with ; and the prompt with Ctrl-D.")
        for each in statements(_typed()):
            try:
                self._answer(database, each)
            except CommandError as error:
                self.stderr.write(str(error))
        self.stdout.write("")

    def _answer(self, database: sqlite3.Connection, statement: str) -> None:
        try:
            cursor = database.execute(statement)
            if cursor.description is not None:
                self._print([column[0] for column in cursor.description], cursor)
        except (sqlite3.Error, sqlite3.Warning) as error:
            raise CommandError(_explained(error)) from error

    def _print(self, names: list[str], rows: Iterator[tuple[Any, ...]]) -> None:
        """Columns as wide as their first 500 rows need."""
        most = WIDEST if self.stdout.isatty() else None
        widths, count = [len(name) for name in names], 0
        while chunk := [[shown(value, most) for value in row] for row in islice(rows, CHUNK)]:
            if not count:
                widths = [max(map(len, column)) for column in zip(names, *chunk, strict=True)]
                self._line(names, widths)
                self._line(["-" * width for width in widths], widths)
            for row in chunk:
                self._line(row, widths)
            count += len(chunk)
        if not count:
            self._line(names, widths)
        self.stderr.write(f"{count:,} row{'' if count == 1 else 's'}")

    def _line(self, values: list[str], widths: list[int]) -> None:
        cells = [value.ljust(width) for value, width in zip(values, widths, strict=True)]
        self.stdout.write("  ".join(cells).rstrip())


def shown(value: object, most: int | None = None) -> str:
    """A value on one line: NULL, a blob by its size, and nothing that a terminal would obey."""
    if value is None:
        return "NULL"
    if isinstance(value, bytes):
        return f"<{len(value):,} bytes>"
    text = legible(str(value))
    return text if most is None or len(text) <= most else text[: most - 1] + "…"


def statements(lines: Iterator[str]) -> Iterator[str]:
    """Whole statements out of lines; the last needs no semicolon."""
    pending = ""
    for line in lines:
        pending += line
        if sqlite3.complete_statement(pending):
            yield pending
            pending = ""
    if pending.strip():
        yield pending


def _typed() -> Iterator[str]:
    """What is typed, up to the end of input; Ctrl-C drops the line."""
    prompt = PROMPT
    while True:
        try:
            line = input(prompt)
        except EOFError:
            return
        except KeyboardInterrupt:
            print()
            prompt = PROMPT
            continue
        prompt = PROMPT if line.rstrip().endswith(";") or not line.strip() else CONTINUED
        if line.strip():
            yield line + "\n"


def _explained(error: Exception) -> str:
    text = legible(str(error))  # It may quote what is stored.
    if "not authorized" in text or "readonly" in text:
        return f"this prompt only reads ({text}); nothing was changed"
    return text
