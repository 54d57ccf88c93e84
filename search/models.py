"""What search keeps of its own: versions of its settings, suggestions, the provider, and runs."""

from typing import ClassVar

from django.db import models
from django.urls import reverse

from bank.models import Page
from episodes.models import Episode, Memory


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


class ProviderChoice(models.Model):
    """The embedding provider that an administrator named on a page; one row at most.

    It holds while the environment names none. The key is not here.
    """

    address = models.CharField(max_length=500)
    model = models.CharField(max_length=200)
    chosen_at = models.DateTimeField()
    chosen_by = models.CharField(max_length=250)

    def __str__(self) -> str:
        return f"{self.model} at {self.address}"


class Run(models.Model):
    """One piece of long work, done by whichever process has its lease; see `search.runs`.

    `collection` and `position` say where it goes on. `states` are the only vector states it
    looks after, all that are not current where there is none; `documents` the only ones it does,
    where some are named.
    """

    class Kind(models.TextChoices):
        REINDEX = "reindex", "Embed again"
        REBUILD = "rebuild", "Rebuild the index"

    class State(models.TextChoices):
        QUEUED = "queued"
        RUNNING = "running"
        DONE = "done"
        FAILED = "failed"
        CANCELLED = "cancelled"

    kind = models.CharField(max_length=10, choices=Kind)
    state = models.CharField(max_length=10, choices=State, default=State.QUEUED)
    collections = models.JSONField(default=list)
    states = models.JSONField(default=list, blank=True)
    documents = models.JSONField(default=list, blank=True)
    model = models.CharField(max_length=200, blank=True)
    dimension = models.PositiveIntegerField(null=True, blank=True)
    actor = models.CharField(max_length=250)
    collection = models.CharField(max_length=30, blank=True)
    position = models.CharField(max_length=400, blank=True)
    total = models.PositiveIntegerField(default=0)
    done = models.PositiveIntegerField(default=0)
    failed = models.PositiveIntegerField(default=0)
    rate = models.FloatField(default=0.0)  # documents a second
    message = models.TextField(blank=True)  # what stopped it, or what it waits for
    coverage_before = models.JSONField(null=True, blank=True)
    coverage_after = models.JSONField(null=True, blank=True)
    owner = models.CharField(max_length=100, blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)
    heartbeat_at = models.DateTimeField(null=True, blank=True)
    # Only the documents that this earlier run failed at, where there is one.
    retry_of = models.ForeignKey("self", on_delete=models.SET_NULL, null=True, blank=True)
    created_at = models.DateTimeField()
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes: ClassVar = [models.Index(fields=["state", "id"], name="run_state")]

    def __str__(self) -> str:
        return f"{self.kind} {self.pk}: {self.state}"

    def get_absolute_url(self) -> str:
        return reverse("run", args=[self.pk])

    @property
    def active(self) -> bool:
        return self.state in (self.State.QUEUED, self.State.RUNNING)

    @property
    def left(self) -> int:
        return max(0, self.total - self.done - self.failed)

    @property
    def eta_s(self) -> float | None:
        """Seconds that it still takes at its present rate; None when nobody can tell."""
        if not self.active or not self.rate:
            return None
        return round(self.left / self.rate, 1)


class RunHold(models.Model):
    """A collection that an unfinished run works on: no second one of its kind can begin."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="holds")
    kind = models.CharField(max_length=10)
    collection = models.CharField(max_length=30)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["kind", "collection"], name="one_run_a_collection")
        ]

    def __str__(self) -> str:
        return f"{self.kind} of {self.collection}"


class RunError(models.Model):
    """A document that a run could not look after, and why."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="errors")
    collection = models.CharField(max_length=30)
    document = models.CharField(max_length=400)
    reason = models.TextField()
    at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["run", "collection", "document"], name="one_error_a_document"
            )
        ]

    def __str__(self) -> str:
        return f"{self.collection}/{self.document}: {self.reason}"


class EmbeddingFailure(models.Model):
    """A document of which no vector could be made: why, how often in a row, and when it is tried
    again by itself.

    It counts while the document's text has `text_sha`, and goes with the document: exactly one of
    the three is set. `of_provider` says that the provider failed, and not at this text alone;
    `run` is the run that failed at it last, None where the worker did by itself.
    """

    episode = models.ForeignKey(
        Episode, models.CASCADE, related_name="+", null=True, blank=True, db_index=False
    )
    memory = models.ForeignKey(
        Memory, models.CASCADE, related_name="+", null=True, blank=True, db_index=False
    )
    page = models.ForeignKey(
        Page, models.CASCADE, related_name="+", null=True, blank=True, db_index=False
    )
    model = models.CharField(max_length=200)
    text_sha = models.CharField(max_length=64)
    reason = models.CharField(max_length=500)
    of_provider = models.BooleanField(default=False)
    attempts = models.PositiveIntegerField(default=1)
    failed_at = models.DateTimeField()
    again_at = models.DateTimeField()
    run = models.ForeignKey(Run, models.SET_NULL, related_name="+", null=True, blank=True)

    class Meta:
        constraints: ClassVar = [
            *(
                models.UniqueConstraint(fields=[key, "model"], name=f"one_failure_of_{key}_a_model")
                for key in ("episode", "memory", "page")
            ),
            models.CheckConstraint(
                condition=models.Q(episode__isnull=False, memory=None, page=None)
                | models.Q(episode=None, memory__isnull=False, page=None)
                | models.Q(episode=None, memory=None, page__isnull=False),
                name="failure_of_one_document",
            ),
        ]
        indexes: ClassVar = [models.Index(fields=["model", "again_at"], name="failure_again")]

    def __str__(self) -> str:
        return f"{self.episode_id or self.memory_id or self.page_id}: {self.reason}"


class CoverageDay(models.Model):
    """How much of a collection vectors covered at the end of a day; today's row still changes.

    `counts` has the number of documents in each state. `recall` is the share of the true ten
    nearest that the graph of `graph` vectors by `measured_model` found for `sample` of them, where
    it was measured.
    """

    day = models.DateField()
    collection = models.CharField(max_length=30)
    model = models.CharField(max_length=200, blank=True)
    counts = models.JSONField()
    blank = models.PositiveIntegerField()
    recall = models.FloatField(null=True, blank=True)
    sample = models.PositiveIntegerField(default=0)
    graph = models.PositiveIntegerField(default=0)
    measured_model = models.CharField(max_length=200, blank=True)
    measured_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["collection", "day"], name="one_coverage_a_day")
        ]

    def __str__(self) -> str:
        return f"{self.collection} on {self.day}"


class Judgement(models.Model):
    """How relevant a person finds a document for a query: 0 for not at all, to 3."""

    query = models.CharField(max_length=500)
    collection = models.CharField(max_length=30)
    document = models.CharField(max_length=400)
    grade = models.PositiveSmallIntegerField()
    judged_by = models.CharField(max_length=250)
    judged_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["query", "collection", "document"], name="one_judgement_a_document"
            )
        ]

    def __str__(self) -> str:
        return f"{self.query}: {self.collection}/{self.document} is {self.grade}"
