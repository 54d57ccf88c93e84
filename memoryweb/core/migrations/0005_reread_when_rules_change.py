"""Approvals name the text and the rules that they are about; the reading by new rules is noted."""

import hashlib
from typing import Any

from django.db import migrations, models


def note_approvals(apps: Any, schema_editor: Any) -> None:
    """What was approved before was approved as it was held, for the rules that had found it."""
    QuarantineItem = apps.get_model("core", "QuarantineItem")
    for item in QuarantineItem.objects.filter(state="approved").iterator():
        item.approved_sha256 = hashlib.sha256(
            item.text.encode(errors="surrogatepass")
        ).hexdigest()
        item.approved_rules = sorted({finding["rule"] for finding in item.findings})
        item.save(update_fields=["approved_sha256", "approved_rules"])


class Migration(migrations.Migration):
    dependencies = [
        ("core", "0004_verbose_names"),
    ]

    operations = [
        migrations.AddField(
            model_name="quarantineitem",
            name="approved_sha256",
            field=models.CharField(blank=True, max_length=64),
        ),
        migrations.AddField(
            model_name="quarantineitem",
            name="approved_rules",
            field=models.JSONField(blank=True, default=list),
        ),
        migrations.AddField(
            model_name="quarantineitem",
            name="cleared_by",
            field=models.CharField(blank=True, max_length=64),
        ),
        migrations.CreateModel(
            name="Rereading",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("rules_version", models.CharField(max_length=64)),
                ("collection", models.CharField(blank=True, max_length=30)),
                ("position", models.CharField(blank=True, max_length=400)),
                ("read", models.PositiveIntegerField(default=0)),
                ("total", models.PositiveIntegerField(default=0)),
                ("held", models.PositiveIntegerField(default=0)),
                ("started_at", models.DateTimeField()),
                ("finished_at", models.DateTimeField(null=True)),
            ],
        ),
        migrations.RunPython(note_approvals, migrations.RunPython.noop),
    ]
