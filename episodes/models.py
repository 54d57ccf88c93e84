"""Episodes and session memories, their vectors, and what pages deleted a moment ago."""

from typing import ClassVar

from django.db import models
from django.urls import reverse

from episodes.etags import etag


class Episode(models.Model):
    """What an agent did once. Its summary is the text that is indexed and embedded.

    `quarantined` episodes are kept, and listed with that flag, but in no search, recall or context
    until a curator decides. `extra` keeps every field of the sender that is none of ours.
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
        return etag(self)


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


class Context(models.Model):
    """One session of work that agents come back to, under an id that they chose."""

    class Status(models.TextChoices):
        ACTIVE = "active"
        ARCHIVED = "archived"

    id = models.CharField(primary_key=True, max_length=200)
    name = models.CharField(max_length=500)
    intent = models.TextField(blank=True)
    status = models.CharField(max_length=10, choices=Status, default=Status.ACTIVE)
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()  # of the context itself, and of what was saved into it

    # The annotation of `memories.counted`.
    memory_count: int

    class Meta:
        indexes: ClassVar = [
            models.Index(fields=["-created_at", "id"], name="context_created"),
            models.Index(fields=["-updated_at", "id"], name="context_updated"),
            models.Index(fields=["status", "-created_at", "id"], name="context_status"),
            models.Index(fields=["status", "-updated_at", "id"], name="context_status_updated"),
        ]

    def __str__(self) -> str:
        return self.id

    def get_absolute_url(self) -> str:
        return reverse("session", args=[self.id])


class Memory(models.Model):
    """One thing to remember of a session. Its content is the text that is indexed and embedded.

    Archived memories are kept and listed on request, but neither searched nor recalled.
    `quarantined` ones are served to nobody until a curator decides.
    The view `agent_memories` reads this table: see `episodes.agent_memories` before altering it.
    """

    class Type(models.TextChoices):
        DECISION = "decision"
        CONSTRAINT = "constraint"
        NOTE = "note"
        DISCOVERY = "discovery"
        ERROR = "error"
        ACTION = "action"

    id = models.CharField(primary_key=True, max_length=200)
    context = models.ForeignKey(
        Context, on_delete=models.CASCADE, related_name="memories", db_index=False
    )
    type = models.CharField(max_length=12, choices=Type, default=Type.NOTE)
    importance = models.FloatField(default=0.5)
    source = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()
    archived = models.BooleanField(default=False)
    quarantined = models.BooleanField(default=False)
    content_sha = models.CharField(max_length=64)
    content = models.TextField()

    # The annotation of `memories.described`.
    vector_state: str

    class Meta:
        verbose_name_plural = "memories"
        indexes: ClassVar = [
            models.Index(fields=["context", "-created_at", "id"], name="memory_context"),
            models.Index(fields=["-created_at", "id"], name="memory_created"),
        ]

    def __str__(self) -> str:
        return self.id

    def get_absolute_url(self) -> str:
        return reverse("memory", args=[self.id])


class MemoryVector(models.Model):
    """One embedding of one memory by one model, in the form of `EpisodeVector`.

    `context` is the memory's own, which never changes: the index over it and `indexed_at` holds
    only memories that have a vector.
    """

    memory = models.ForeignKey(
        Memory, on_delete=models.CASCADE, related_name="vectors", db_index=False
    )
    context = models.ForeignKey(
        Context, on_delete=models.CASCADE, related_name="memory_vectors", db_index=False
    )
    model = models.CharField(max_length=200)
    dimension = models.PositiveIntegerField()
    text_sha = models.CharField(max_length=64)  # of the text it was made from
    indexed_at = models.DateTimeField()
    vector = models.BinaryField()  # last, as in EpisodeVector

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["memory", "model"], name="one_memory_vector_a_model")
        ]
        indexes: ClassVar = [
            models.Index(fields=["context", "indexed_at"], name="memory_vector_indexed"),
            models.Index(
                fields=["memory", "model", "dimension", "text_sha", "indexed_at"],
                name="memory_vector_state",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.memory_id} by {self.model}"


class DeletedSession(models.Model):
    """A context or a memory that a page deleted, whole, for as long as that can be undone.

    `document` is its id in its collection. In no index.
    """

    batch = models.CharField(max_length=36, db_index=True)  # deleted together, restored together
    collection = models.CharField(max_length=20)  # contexts or memories
    document = models.CharField(max_length=200)
    record = models.JSONField()
    deleted_at = models.DateTimeField(db_index=True)
    deleted_by = models.CharField(max_length=250)

    def __str__(self) -> str:
        return f"{self.collection}/{self.document}"


class CodeVector(models.Model):
    """The embedding of one code symbol by one model. A collection is one repository."""

    collection = models.CharField(max_length=200)
    file_path = models.CharField(max_length=4096, blank=True)
    symbol_name = models.CharField(max_length=1000)
    line_start = models.PositiveIntegerField(null=True, blank=True)
    model = models.CharField(max_length=200)
    dimension = models.PositiveIntegerField()
    indexed_at = models.DateTimeField()
    vector = models.BinaryField()  # last, as in EpisodeVector

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["collection", "file_path", "symbol_name", "model"],
                name="one_code_vector_a_model",
            )
        ]
        indexes: ClassVar = [
            models.Index(fields=["collection", "model", "dimension"], name="code_vector_model")
        ]

    def __str__(self) -> str:
        return f"{self.symbol_name} in {self.collection}"
