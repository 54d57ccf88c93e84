"""`manage.py bench NAME [--docs N] [--folder PATH] [--queries FILE] [--json]`.

How fast and how good the product is here.
"""

import json
from argparse import ArgumentParser
from inspect import signature
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from memoryweb.benches import benches

OPTIONS = ("folder", "queries")  # What only some benches take.


class Command(BaseCommand):
    help = "Measures one part of the product on this machine, and prints the figures."

    def add_arguments(self, parser: ArgumentParser) -> None:
        told = "; ".join(
            f"{name}: {(module.__doc__ or '').splitlines()[0]}"
            for name, module in benches().items()
        )
        parser.add_argument("name", choices=sorted(benches()), help=told.replace("%", "%%"))
        parser.add_argument("--docs", type=int, metavar="N", help="on how many documents")
        parser.add_argument("--folder", type=Path, metavar="PATH", help="of these files (wiki)")
        parser.add_argument(
            "--queries", type=Path, metavar="FILE", help="asked of them, a JSON line each (wiki)"
        )
        parser.add_argument("--json", action="store_true", help="print JSON instead of tables")

    def handle(self, *args: Any, **options: Any) -> None:
        measure = benches()[options["name"]].measure
        given = {name: options[name] for name in OPTIONS if options[name] is not None}
        if refused := given.keys() - signature(measure).parameters.keys():
            raise CommandError(f"this bench takes no --{min(refused)}")
        if missing := [path for path in given.values() if not path.exists()]:
            raise CommandError(f"there is no {missing[0]}")
        tables = measure(options["docs"], **given)
        if options["json"]:
            shown = {"bench": options["name"], "tables": [table.as_json() for table in tables]}
            self.stdout.write(json.dumps(shown, ensure_ascii=False, indent=2))
            return
        for table in tables:
            self.stdout.writelines(f"{line}\n" for line in (*table.lines(), ""))
