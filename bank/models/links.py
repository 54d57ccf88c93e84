"""What pages link to and are found by; made from their current texts, and made again with them."""

from typing import ClassVar

from django.db import models
from django.db.models import Q

from bank.models.pages import Page


class Link(models.Model):
    """A [[wikilink]] in a page's current text, once however often it stands there.

    `to` is the page it leads to, None while there is none; `candidates` is how many pages the
    target fits equally well, so that above 1 it is ambiguous. `name_key` and `words_key` are
    what the target is looked up by: as a name, and as a title or alias.
    """

    source = models.ForeignKey(Page, on_delete=models.CASCADE, related_name="links")
    target = models.CharField(max_length=500)
    name_key = models.CharField(max_length=400, db_index=True)
    words_key = models.CharField(max_length=400, db_index=True)
    to = models.ForeignKey(
        Page,
        on_delete=models.SET_NULL,
        related_name="backlinks",
        null=True,
        blank=True,
        db_index=False,
    )
    candidates = models.PositiveIntegerField(default=0)

    class Meta:
        indexes: ClassVar = [
            models.Index(fields=["to", "source"], name="link_inward"),
            models.Index(fields=["to", "target", "id"], name="link_by_target"),
            models.Index(
                fields=["target", "id"], condition=Q(candidates__gt=1), name="link_ambiguous"
            ),
        ]

    def __str__(self) -> str:
        return f"[[{self.target}]]"

    @property
    def broken(self) -> bool:
        return self.to_id is None


class Rewriting(models.Model):
    """The links of other pages are to follow a page that was renamed; done once there is no row.

    `total` pages said its `old` name then. The next turn begins `after` a page's id, at `due_at`;
    `again` says that some before it could not be saved just then. `actor` renamed the page.
    """

    page = models.ForeignKey(Page, on_delete=models.CASCADE, related_name="rewritings")
    old = models.CharField(max_length=400)
    actor = models.JSONField()
    total = models.PositiveIntegerField()
    after = models.PositiveBigIntegerField(default=0)
    again = models.BooleanField(default=False)
    due_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.total} links to {self.page_id} that said {self.old}"


class Label(models.Model):
    """What a page that is not archived is found by: its name, title, aliases, tags and so on.

    FILE: the path of the file it was imported from, and each end of that path. FORMER: a name
    it had before. LINT: what its text lacks (see bank.lint).
    """

    class Role(models.TextChoices):
        NAME = "name"
        FILE = "file"
        FORMER = "former"
        TITLE = "title"
        ALIAS = "alias"
        TAG = "tag"
        LINT = "lint"

    page = models.ForeignKey(Page, on_delete=models.CASCADE, related_name="labels")
    role = models.CharField(max_length=10, choices=Role)
    key = models.CharField(max_length=400)
    text = models.CharField(max_length=200)

    class Meta:
        indexes: ClassVar = [
            models.Index(fields=["key", "role", "page"], name="label_key"),
            models.Index(fields=["key", "id"], condition=Q(role="title"), name="label_title"),
            models.Index(fields=["key", "text", "id"], condition=Q(role="lint"), name="label_lint"),
        ]

    def __str__(self) -> str:
        return f"{self.role} {self.text}"
