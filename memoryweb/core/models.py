"""What every app stands on: people, tokens, the change clock, the audit and quarantine."""

from datetime import datetime
from typing import Any

from django.contrib.auth.models import AbstractUser
from django.db import models

from memoryweb.core.actor import SCOPES, Actor, Role, Via
from memoryweb.core.guard import RULES_VERSION


class User(AbstractUser):
    """A person with one of three roles. Django's own flags follow the role."""

    class RoleName(models.TextChoices):
        VIEWER = "viewer", "Viewer: reads everything"
        CURATOR = "curator", "Curator: writes, and decides in Review"
        ADMINISTRATOR = "administrator", "Administrator: everything, people and settings included"

    role = models.CharField(max_length=20, choices=RoleName, default=RoleName.VIEWER)

    def save(self, *args: Any, **kwargs: Any) -> None:
        self.is_staff = self.is_superuser = self.role == self.RoleName.ADMINISTRATOR
        super().save(*args, **kwargs)

    def actor(self, via: Via = "page") -> Actor:
        role = Role[self.role.upper()]
        return Actor("person", self.get_username(), via, role, user_id=self.pk)


class SetupLink(models.Model):
    """A link that makes one administrator, once. Only the hash of its secret is kept."""

    secret_hash = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"made {self.created_at:%Y-%m-%d %H:%M}"


class ApiToken(models.Model):
    """`mw_<key>_<secret>`: the key finds the row, only the secret's hash is kept."""

    class Scope(models.TextChoices):
        READ = "read"
        WRITE = "write"
        ADMIN = "admin"

    key = models.CharField(max_length=16, unique=True)
    secret_hash = models.CharField(max_length=64)
    name = models.CharField(max_length=100)
    scope = models.CharField(max_length=10, choices=Scope)
    agent_id = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.CharField(max_length=200)
    expires_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name = "API token"

    def __str__(self) -> str:
        return f"{self.name} (mw_{self.key}_…)"

    def actor(self, via: Via = "api") -> Actor:
        return Actor(
            "token", self.name, via, SCOPES[self.scope], token_id=self.pk, agent_id=self.agent_id
        )


class Clock(models.Model):
    """The one row that orders all writes; `database` tells a restored one from its origin."""

    seq = models.PositiveBigIntegerField(default=0)
    database = models.UUIDField()
    # The hash of the newest audit entry: one that was cut off the end is missed.
    audit_head = models.CharField(max_length=64, blank=True)
    # Change rows up to this number are not kept any more.
    pruned = models.PositiveBigIntegerField(default=0)

    def __str__(self) -> str:
        return f"seq {self.seq}"


class Change(models.Model):
    """One document that one transaction changed. Readers catch up by these, in order of seq."""

    seq = models.PositiveBigIntegerField(primary_key=True)
    collection = models.CharField(max_length=30)
    document = models.CharField(max_length=400)
    op = models.CharField(max_length=10)  # put or delete

    def __str__(self) -> str:
        return f"{self.seq} {self.op} {self.collection}/{self.document}"


class AuditEntry(models.Model):
    """Who did what: hashes and counts, never content; each entry's hash covers the one before."""

    at = models.DateTimeField()
    actor = models.CharField(max_length=250)
    via = models.CharField(max_length=10)
    action = models.CharField(max_length=60)
    target = models.CharField(max_length=500)
    facts = models.JSONField(default=dict)
    seq = models.PositiveBigIntegerField()
    previous_hash = models.CharField(max_length=64, blank=True)
    hash = models.CharField(max_length=64)

    class Meta:
        verbose_name_plural = "audit entries"
        indexes = [
            models.Index(fields=["actor", "-id"]),
            models.Index(fields=["action", "-id"]),
            models.Index(fields=["target", "-id"]),
        ]

    def __str__(self) -> str:
        return f"{self.action} {self.target}"


class ActiveModel(models.Model):
    """The embedding model, and its width, whose vectors are compared; one row at most."""

    model = models.CharField(max_length=200)
    dimension = models.PositiveIntegerField()
    chosen_at = models.DateTimeField()
    chosen_by = models.CharField(max_length=250)

    def __str__(self) -> str:
        return f"{self.model} ({self.dimension})"


class QuarantineItem(models.Model):
    """A text the guard held back, until a curator decides.

    An approval lets the text with that hash pass these rules, and no others that may come.
    `cleared_by` names a later set of rules that objects to the text no longer.
    """

    class State(models.TextChoices):
        WAITING = "waiting"
        APPROVED = "approved"
        REJECTED = "rejected"

    collection = models.CharField(max_length=30)
    document = models.CharField(max_length=400)
    text = models.TextField()
    findings = models.JSONField(default=list)
    rules_version = models.CharField(max_length=64)
    actor = models.CharField(max_length=250)
    via = models.CharField(max_length=10)
    token = models.ForeignKey(ApiToken, null=True, blank=True, on_delete=models.SET_NULL)
    created_at = models.DateTimeField(auto_now_add=True)
    state = models.CharField(max_length=10, choices=State, default=State.WAITING)
    decided_at = models.DateTimeField(null=True, blank=True)
    decided_by = models.CharField(max_length=250, blank=True)
    decision_reason = models.TextField(blank=True)
    approved_sha256 = models.CharField(max_length=64, blank=True)
    approved_rules = models.JSONField(default=list, blank=True)
    cleared_by = models.CharField(max_length=64, blank=True)

    class Meta:
        indexes = [
            models.Index(fields=["state", "-id"]),
            models.Index(fields=["collection", "document"]),
        ]

    def __str__(self) -> str:
        return f"{self.collection}/{self.document}"


class Rereading(models.Model):
    """The one row that says how far the stored texts were read by the guard's present rules.

    `collection` and `position` are where the next slice goes on; `finished_at` is set at the end.
    """

    rules_version = models.CharField(max_length=64)
    collection = models.CharField(max_length=30, blank=True)
    position = models.CharField(max_length=400, blank=True)
    read = models.PositiveIntegerField(default=0)
    total = models.PositiveIntegerField(default=0)
    held = models.PositiveIntegerField(default=0)
    started_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"{self.read} of {self.total} by {self.rules_version}"

    @classmethod
    def judged_by_present_rules(cls, at: datetime) -> bool:
        """Whether all that was stored at that time had been read by the present rules by then."""
        return cls.objects.filter(rules_version=RULES_VERSION, finished_at__lte=at).exists()

    @property
    def done(self) -> int:
        """How many of the total: what was written meanwhile is read too, and counted in neither."""
        return min(self.read, self.total)


class IdempotentAnswer(models.Model):
    """What a POST with an Idempotency-Key was answered, for whoever sends it again."""

    owner = models.CharField(max_length=40)  # the token or person that the key belongs to
    key = models.CharField(max_length=200)
    request_sha = models.CharField(max_length=64)
    status = models.PositiveSmallIntegerField(null=True)  # none while the request runs
    headers = models.JSONField(default=dict)
    body = models.BinaryField(default=b"")
    # What it tells of was deleted since, and its text with it.
    forgotten = models.BooleanField(default=False)
    created_at = models.DateTimeField(db_index=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["owner", "key"], name="one_answer_for_each_key")
        ]

    def __str__(self) -> str:
        return f"{self.owner} {self.key}"


class AnsweredDocument(models.Model):
    """A document that such an answer may hold the text of."""

    answer = models.ForeignKey(IdempotentAnswer, on_delete=models.CASCADE)
    collection = models.CharField(max_length=30)
    document = models.CharField(max_length=400)

    class Meta:
        indexes = [models.Index(fields=["collection", "document"])]

    def __str__(self) -> str:
        return f"{self.collection}/{self.document}"
