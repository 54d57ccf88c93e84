"""Revisions say whether they are held back, and names how far their revisions were counted."""

import hashlib
from typing import Any

import django.db.models.deletion
from django.db import migrations, models
from django.db.models import F, Max

from bank import names


def mark_held_revisions(apps: Any, schema_editor: Any) -> None:
    """The texts of pages in quarantine, and whatever was held back for a page and not let pass."""
    Revision = apps.get_model("bank", "Revision")
    QuarantineItem = apps.get_model("core", "QuarantineItem")
    waiting = Revision.objects.filter(page__quarantined=True, sha256=F("page__sha256"))
    Revision.objects.filter(pk__in=list(waiting.values_list("pk", flat=True))).update(
        quarantined=True
    )
    items = QuarantineItem.objects.filter(collection="pages").exclude(state="approved")
    for document, text in items.values_list("document", "text").iterator():
        kind, _, name = document.partition("/")
        sha = hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()
        same = Revision.objects.filter(page__kind=kind, page__name=name, sha256=sha)
        served = same.filter(
            page__sha256=sha, page__quarantined=False, page__archived_at=None
        )
        same.exclude(pk__in=list(served.values_list("pk", flat=True))).update(quarantined=True)


def note_used_names(apps: Any, schema_editor: Any) -> None:
    """The names that archived pages had, and those that renamed ones had before."""
    Page = apps.get_model("bank", "Page")
    UsedName = apps.get_model("bank", "UsedName")
    used: dict[tuple[str, str], tuple[int, int]] = {}
    pages = Page.objects.defer("content").annotate(last=Max("revisions__number")).order_by("pk")
    for page in pages.iterator():
        keys = [page.key] if page.archived_at else []
        keys += [names.key(name) for name in page.former_names]
        for key in keys:
            number = max(page.last or 1, used.get((page.kind, key), (0, 0))[0])
            used[page.kind, key] = (number, page.pk)
    UsedName.objects.bulk_create(
        UsedName(kind=kind, key=key, number=number, page_id=page)
        for (kind, key), (number, page) in used.items()
    )


class Migration(migrations.Migration):
    dependencies = [
        ("bank", "0004_files_not_taken_in"),
        ("core", "0004_verbose_names"),
    ]

    operations = [
        migrations.AddField(
            model_name="revision",
            name="quarantined",
            field=models.BooleanField(default=False),
        ),
        migrations.AlterField(
            model_name="fileoperation",
            name="op",
            field=models.CharField(
                choices=[("write", "Write"), ("delete", "Delete"), ("erase", "Erase")],
                max_length=10,
            ),
        ),
        migrations.CreateModel(
            name="UsedName",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("entity", "Page"),
                            ("note", "Daily note"),
                            ("memory", "Long-term memory"),
                        ],
                        max_length=10,
                    ),
                ),
                ("key", models.CharField(max_length=800)),
                ("number", models.PositiveIntegerField()),
                (
                    "page",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="used_names",
                        to="bank.page",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("kind", "key"), name="one_used_name_a_key")
                ],
            },
        ),
        migrations.RunPython(mark_held_revisions, migrations.RunPython.noop),
        migrations.RunPython(note_used_names, migrations.RunPython.noop),
    ]
