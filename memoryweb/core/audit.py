"""The audit is only ever added to; the database itself refuses anything else."""

from datetime import datetime
from typing import Literal

from django.db import connection
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.models import QuerySet

from memoryweb.core.models import AuditEntry

TABLE = "core_auditentry"
REFUSALS = ("UPDATE", "DELETE")


def protect(schema: BaseDatabaseSchemaEditor) -> None:
    """Have SQLite refuse to change or remove entries. Whoever must, lifts it with `unprotect`."""
    if schema.connection.vendor == "sqlite":
        for verb in REFUSALS:
            schema.execute(
                f"CREATE TRIGGER audit_refuses_{verb.lower()} BEFORE {verb} ON {TABLE} "
                "BEGIN SELECT RAISE(ABORT, 'the audit is only added to'); END"
            )


def unprotect(schema: BaseDatabaseSchemaEditor) -> None:
    if schema.connection.vendor == "sqlite":
        for verb in REFUSALS:
            schema.execute(f"DROP TRIGGER IF EXISTS audit_refuses_{verb.lower()}")


def entries(
    actor: str = "", action: str = "", target: str = "", since: datetime | None = None
) -> QuerySet[AuditEntry]:
    """Entries for which every given part holds; `actor` and `action` are whole words of ours."""
    found = AuditEntry.objects.all()
    if actor:
        found = found.filter(actor=actor)
    if action:
        found = found.filter(action=action)
    if target:
        found = found.filter(target__startswith=target)
    if since is not None:
        found = found.filter(at__gte=since)
    return found


def actors() -> list[str]:
    return _distinct("actor")


def actions() -> list[str]:
    return _distinct("action")


def _distinct(column: Literal["actor", "action"]) -> list[str]:
    """Its different values, from one step in the index to the next, not from every entry.

    A "loose index scan", which SQLite and PostgreSQL have to be told (SQLite's own DISTINCT
    reads all of the index).
    """
    with connection.cursor() as cursor:
        # It begins as the read that it is, so that it does not queue with the writers.
        cursor.execute(
            "SELECT value FROM (WITH RECURSIVE steps(value) AS ("  # noqa: S608 - our own names
            f"SELECT min({column}) FROM {TABLE} "
            f"UNION ALL SELECT (SELECT min({column}) FROM {TABLE} WHERE {column} > value) "
            "FROM steps WHERE value IS NOT NULL) SELECT value FROM steps) AS found "
            "WHERE value IS NOT NULL"
        )
        return [value for (value,) in cursor.fetchall()]
