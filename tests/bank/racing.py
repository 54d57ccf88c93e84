"""One of several processes that write to one bank at the same time; prints what it was answered.

Run as a program: `python -m tests.bank.racing ROLE NUMBER ROUNDS`.
"""

import json
import os
import sys
import threading
from datetime import date
from typing import Any

DAY = date(2026, 3, 1)


def main(role: str, number: str, rounds: int) -> list[dict[str, Any]]:
    answers: list[dict[str, Any]] = []
    work = {"append": append, "save": save, "create": create, "archive": archive}[role]
    threads = [
        threading.Thread(target=work, args=(f"{number}{letter}", rounds, answers))
        for letter in "ab"
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answers


def append(who: str, rounds: int, answers: list[dict[str, Any]]) -> None:
    from bank import services

    for turn in range(rounds):
        text = f"Line {who}-{turn}."
        services.append_note(ada(), text, DAY)
        answers.append({"text": text})


def save(who: str, rounds: int, answers: list[dict[str, Any]]) -> None:
    """Add a line to the page, as somebody does who reads, edits and saves what was read."""
    from bank import queries, services
    from bank.models import Kind
    from memoryweb.core.errors import Conflict

    done = 0
    while done < rounds:
        page = queries.find(Kind.ENTITY, "shared")
        line = f"Line {who}-{done}."
        text = f"{page.content}{line}\n"
        try:
            services.save(ada(), Kind.ENTITY, "shared", text, base=page.revision)
        except Conflict:
            answers.append({"stale": line})
            continue
        answers.append({"text": line})
        done += 1


def create(who: str, rounds: int, answers: list[dict[str, Any]]) -> None:
    from bank import services
    from bank.models import Kind
    from memoryweb.core.errors import Conflict

    for turn in range(rounds):
        try:
            text = f"# Page {turn}\n\nBy {who}.\n"
            services.save(ada(), Kind.ENTITY, f"page-{turn}", text, if_none=True)
        except Conflict:
            continue
        answers.append({"created": f"page-{turn}", "by": who})


def archive(who: str, rounds: int, answers: list[dict[str, Any]]) -> None:
    """Make a page and take it away, again and again."""
    from bank import services
    from bank.models import Kind
    from memoryweb.core.errors import NotFound

    for turn in range(rounds):
        text = f"# Shared\n\nBy {who} in turn {turn}.\n"
        services.save(ada(), Kind.ENTITY, "shared", text)
        answers.append({"text": text})
        try:
            services.archive(ada(), Kind.ENTITY, "shared")
        except NotFound:
            continue


def ada() -> Any:
    from memoryweb.core.actor import Actor, Role

    return Actor("person", "ada", "page", Role.CURATOR)


if __name__ == "__main__":
    role, number, rounds = sys.argv[1:]
    os.environ["DJANGO_SETTINGS_MODULE"] = "memoryweb.settings"
    import django

    django.setup()
    print(json.dumps(main(role, number, int(rounds))))
