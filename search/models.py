"""What search keeps of its own: every version of its settings, and queries to suggest."""

from typing import ClassVar

from django.db import models


class SettingsVersion(models.Model):
    """One saved version of the search settings; the newest counts, a revert is a new version."""

    values = models.JSONField()
    author = models.CharField(max_length=250)
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"version {self.pk}"


class SuggestedQuery(models.Model):
    """A query worth trying, with its vector by one model: hybrid search without a provider."""

    text = models.CharField(max_length=500)
    model = models.CharField(max_length=200)
    dimension = models.PositiveIntegerField()
    vector = models.BinaryField()

    class Meta:
        verbose_name_plural = "suggested queries"
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["text", "model"], name="one_suggestion_a_model")
        ]

    def __str__(self) -> str:
        return self.text
