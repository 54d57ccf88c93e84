from typing import Any

from django.db import migrations

from memoryweb.core import audit


def protect(apps: Any, schema_editor: Any) -> None:
    last = apps.get_model("core", "AuditEntry").objects.order_by("-id").first()
    if last is not None:
        apps.get_model("core", "Clock").objects.update(audit_head=last.hash)
    audit.protect(schema_editor)


def unprotect(apps: Any, schema_editor: Any) -> None:
    audit.unprotect(schema_editor)


class Migration(migrations.Migration):
    dependencies = [("core", "0002_audit_head")]
    operations = [migrations.RunPython(protect, unprotect)]
