"""Episodes, their vectors, the vectors they were refused, and what pages deleted a moment ago."""

from typing import ClassVar

from django.db import models
from django.urls import reverse


class Episode(models.Model):
    """What an agent did once. Its summary is the text that is indexed and embedded.

    `quarantined` episodes are kept and listed, but no search and no agent is served them until
    a curator decides. `extra` keeps every field of the sender that is none of ours.
    """

    class Outcome(models.TextChoices):
        SUCCESS = "success"
        FAILURE = "failure"
        BLOCKED = "blocked"
        CANCELLED = "cancelled"

    class Source(models.TextChoices):
        TASK = "task"
        CONVERSATION = "conversation"

    id = models.CharField(primary_key=True, max_length=200)
    schema_version = models.PositiveIntegerField(default=1)
    task_id = models.CharField(max_length=200)
    agent_id = models.CharField(max_length=200)
    working_dir = models.CharField(max_length=4096)
    outcome = models.CharField(max_length=10, choices=Outcome)
    source = models.CharField(max_length=12, choices=Source, default=Source.TASK)
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()
    quarantined = models.BooleanField(default=False)
    summary_sha = models.CharField(max_length=64)
    summary = models.TextField(blank=True)
    key_decisions = models.JSONField(default=list, blank=True)
    files_modified = models.JSONField(default=list, blank=True)
    extra = models.JSONField(default=dict, blank=True)

    # The annotation of `queries.with_vector_state`.
    vector_state: str

    class Meta:
        # Every list is ordered by time and then id, whichever filter stands before.
        indexes: ClassVar = [
            models.Index(fields=["-created_at", "id"], name="episode_created"),
            models.Index(fields=["-updated_at", "id"], name="episode_updated"),
            models.Index(fields=["working_dir", "-created_at", "id"], name="episode_dir"),
            models.Index(fields=["agent_id", "-created_at", "id"], name="episode_agent"),
            models.Index(fields=["task_id", "-created_at", "id"], name="episode_task"),
            models.Index(fields=["outcome", "-created_at", "id"], name="episode_outcome"),
            models.Index(fields=["source", "-created_at", "id"], name="episode_source"),
            models.Index(
                fields=["-created_at", "id"],
                name="episode_quarantined",
                condition=models.Q(quarantined=True),
            ),
        ]

    def __str__(self) -> str:
        return self.id

    def get_absolute_url(self) -> str:
        return reverse("episode", args=[self.id])

    @property
    def etag(self) -> str:
        """Changes with every edit; an edit that names another one is stale."""
        return f'"{self.updated_at.timestamp() * 1_000_000:.0f}"'


class EpisodeVector(models.Model):
    """One embedding of one episode by one model: little-endian float32 without a header."""

    episode = models.ForeignKey(
        Episode, on_delete=models.CASCADE, related_name="vectors", db_index=False
    )
    model = models.CharField(max_length=200)
    dimension = models.PositiveIntegerField()
    text_sha = models.CharField(max_length=64)  # of the text it was made from
    indexed_at = models.DateTimeField()
    # Last: a row's head is read without the pages its vector lies in.
    vector = models.BinaryField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["episode", "model"], name="one_vector_a_model")
        ]
        # All that a vector's state depends on, so no count of states reads a vector.
        indexes: ClassVar = [
            models.Index(
                fields=["episode", "model", "dimension", "text_sha"], name="episode_vector_state"
            )
        ]

    def __str__(self) -> str:
        return f"{self.episode_id} by {self.model}"


class RefusedVector(models.Model):
    """A vector that could not be taken: why, how wide it was and how often it came.

    It is gone once a good vector of that model arrives, or the text changes.
    """

    episode = models.ForeignKey(
        Episode, on_delete=models.CASCADE, related_name="refused_vectors", db_index=False
    )
    model = models.CharField(max_length=200)
    reason = models.CharField(max_length=20)
    dimension = models.PositiveIntegerField()
    count = models.PositiveIntegerField(default=1)
    refused_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["episode", "model"], name="one_refusal_a_model")
        ]

    def __str__(self) -> str:
        return f"{self.episode_id}: {self.reason}"


class DeletedEpisode(models.Model):
    """An episode that a page deleted, whole, for as long as that can be undone. In no index."""

    batch = models.CharField(max_length=36, db_index=True)  # deleted together, restored together
    episode_id = models.CharField(max_length=200)
    record = models.JSONField()
    deleted_at = models.DateTimeField(db_index=True)
    deleted_by = models.CharField(max_length=250)

    def __str__(self) -> str:
        return self.episode_id
