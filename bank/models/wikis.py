"""Wikis beside the bank, and the files that were given to them."""

from typing import ClassVar

from django.db import models


class Wiki(models.Model):
    """A folder of pages beside the bank; what is in it is linked and searched by itself.

    `folder` is where its files are, "" for one of memoryweb's own in its home. A deleted wiki is
    in no list, and an administrator can bring it back until it is erased. `meta` is the client's.
    """

    id = models.CharField(max_length=40, primary_key=True)
    team_id = models.CharField(max_length=200, blank=True, db_index=True)
    name = models.CharField(max_length=200)
    description = models.TextField(blank=True)
    meta = models.JSONField(default=dict, blank=True)
    service_id = models.CharField(max_length=200, blank=True)  # x-tdai-service-id, as last seen.
    folder = models.TextField(blank=True)
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()
    deleted_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return self.id


class WikiSource(models.Model):
    """A file that was given to a wiki, and what became of it; the last of a name counts."""

    class Status(models.TextChoices):
        TAKEN = "taken"
        HELD = "held"  # in quarantine
        LEFT = "left"

    wiki = models.ForeignKey(Wiki, on_delete=models.CASCADE, related_name="sources")
    filename = models.CharField(max_length=1000)
    sha256 = models.CharField(max_length=64, blank=True)
    size = models.PositiveBigIntegerField()
    status = models.CharField(max_length=10, choices=Status)
    error = models.TextField(blank=True)
    given_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["wiki", "filename"], name="one_source_a_file")
        ]

    def __str__(self) -> str:
        return f"{self.wiki_id}: {self.filename}"
