"""`manage.py create_token NAME --scope write`: the token alone on the last line."""

import re
from argparse import ArgumentParser, ArgumentTypeError
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from memoryweb import house
from memoryweb.core import tokens
from memoryweb.core.actor import SCOPES, system
from memoryweb.core.errors import DomainError

UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def duration(text: str) -> timedelta:
    """`90d`, `12h`, `30m` or `2w`."""
    match = re.fullmatch(r"([1-9][0-9]{0,4})([mhdw])", text)
    if match is None:
        raise ArgumentTypeError(f"{text!r} is no duration; write 90d, 12h, 30m or 2w")
    return timedelta(**{UNITS[match[2]]: int(match[1])})


class Command(BaseCommand):
    help = "Makes an API token and prints it once, alone on the last line."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name")
        parser.add_argument("--scope", required=True, choices=SCOPES)
        parser.add_argument("--agent", default="", help="the token writes only as this agent")
        parser.add_argument("--expires", type=duration, help="90d, 12h, 30m, 2w; default never")

    def handle(self, *args: Any, **options: Any) -> None:
        house.enter()
        expires_at = timezone.now() + options["expires"] if options["expires"] else None
        try:
            token, text = tokens.issue(
                system(), options["name"], options["scope"], options["agent"], expires_at
            )
        except DomainError as error:
            raise CommandError(error.detail) from error
        self.stderr.write(f"home: {settings.MEMORYWEB_HOME}")
        self.stderr.write(f"{token.name}: scope {token.scope}. It is not shown again.")
        self.stdout.write(text)
