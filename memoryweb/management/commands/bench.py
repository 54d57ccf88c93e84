"""`manage.py bench NAME [--docs N] [--json]`: how fast and how good the product is here."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from memoryweb.benches import benches


class Command(BaseCommand):
    help = "Measures one part of the product on this machine, and prints the figures."

    def add_arguments(self, parser: ArgumentParser) -> None:
        told = "; ".join(
            f"{name}: {(module.__doc__ or '').splitlines()[0]}"
            for name, module in benches().items()
        )
        parser.add_argument("name", choices=sorted(benches()), help=told.replace("%", "%%"))
        parser.add_argument("--docs", type=int, metavar="N", help="on how many documents")
        parser.add_argument("--json", action="store_true", help="print JSON instead of tables")

    def handle(self, *args: Any, **options: Any) -> None:
        tables = benches()[options["name"]].measure(options["docs"])
        if options["json"]:
            shown = {"bench": options["name"], "tables": [table.as_json() for table in tables]}
            self.stdout.write(json.dumps(shown, ensure_ascii=False, indent=2))
            return
        for table in tables:
            self.stdout.writelines(f"{line}\n" for line in (*table.lines(), ""))
