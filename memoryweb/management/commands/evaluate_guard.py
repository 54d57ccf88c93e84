"""`manage.py evaluate_guard FILE [--json]`: recall and false alarms on a labelled set."""

import json
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from memoryweb.core.guard.evaluate import Evaluation, Tallies, evaluate


class Command(BaseCommand):
    help = "Report how much the guard finds in a JSONL file of labelled texts, by source and kind."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="JSONL rows of text, label, source and kind")
        parser.add_argument("--posture", choices=("injected", "recalled"), default="injected")
        parser.add_argument("--json", action="store_true", help="print JSON instead of a table")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            result = evaluate(_rows(options["file"]), posture=options["posture"])
        except (OSError, ValueError, KeyError) as problem:
            raise CommandError(f"{options['file']}: {problem}") from problem
        if options["json"]:
            self.stdout.write(json.dumps(result.as_json(), ensure_ascii=False, indent=2))
        else:
            self.stdout.writelines(line + "\n" for line in _table(result))


def _rows(file: Path) -> Iterator[dict[str, str]]:
    with file.open(encoding="utf-8") as lines:
        for line in lines:
            if line.strip():
                yield json.loads(line)


def _table(result: Evaluation) -> Iterator[str]:
    yield from _section("recall", result.malicious)
    yield from _section("false alarms", result.benign)


def _section(title: str, tallies: Tallies) -> Iterator[str]:
    yield f"{title:<40}{'rows':>7}{'flagged':>9}{'rate':>9}"
    named = [("overall", tallies.overall)]
    named += [(f"source {name}", tally) for name, tally in sorted(tallies.by_source.items())]
    named += [(f"kind {name}", tally) for name, tally in sorted(tallies.by_kind.items())]
    for name, tally in named:
        yield f"  {name:<38}{tally.rows:>7}{tally.flagged:>9}{tally.rate:>9.1%}"
