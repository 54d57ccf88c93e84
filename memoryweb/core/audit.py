"""The audit is only ever added to; the database itself refuses anything else."""

from datetime import datetime

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
    return list(AuditEntry.objects.order_by("actor").values_list("actor", flat=True).distinct())


def actions() -> list[str]:
    return list(AuditEntry.objects.order_by("action").values_list("action", flat=True).distinct())
