"""What still has to happen to the files of pages, and the files that could not be taken in."""

from typing import ClassVar

from django.db import models
from django.db.models import Q

from bank.models.pages import Page
from bank.reasons import Why


class FileOperation(models.Model):
    """What has to happen to a page's file since a revision was stored; done once `done_at` is set.

    `expected_sha` is of the text that the file should hold before, None where no file should be.
    An erased page has no text any more; it goes itself once nothing of it is left on the disk.
    """

    class Op(models.TextChoices):
        WRITE = "write"
        DELETE = "delete"
        ERASE = "erase"

    page = models.ForeignKey(Page, on_delete=models.CASCADE, related_name="file_operations")
    op = models.CharField(max_length=10, choices=Op)
    path = models.CharField(max_length=400)
    revision = models.PositiveIntegerField()
    new_sha = models.CharField(max_length=64, blank=True)
    expected_sha = models.CharField(max_length=64, null=True, blank=True)  # noqa: DJ001 - None: no file
    created_at = models.DateTimeField()
    done_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes: ClassVar = [
            models.Index(fields=["id"], condition=Q(done_at=None), name="file_operation_pending")
        ]

    def __str__(self) -> str:
        return f"{self.op} {self.path}"


class FileProblem(models.Model):
    """A file, or a folder, of the memory folder that could not be taken in, and is as it was.

    `why` is a bank.reasons.Why, `since` when that was seen first. While `stamp` is still the
    file's there is no use in another look. `found_by` says which look found it: that look also
    finds that it is mended. `confirmed`: a person said that files missing all at once are lost.
    """

    class FoundBy(models.TextChoices):
        SCAN = "scan"
        RECOVER = "recover"

    path = models.TextField()
    found_by = models.CharField(max_length=10, choices=FoundBy)
    why = models.CharField(max_length=20)
    reason = models.TextField()
    stamp = models.CharField(max_length=100, blank=True)
    since = models.DateTimeField()
    confirmed = models.BooleanField(default=False)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["path", "found_by"], name="one_problem_a_path")
        ]

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}"

    @property
    def advice(self) -> str:
        return Why(self.why).advice

    @property
    def may_be_confirmed(self) -> bool:
        return self.why == Why.MISSING and not self.confirmed
