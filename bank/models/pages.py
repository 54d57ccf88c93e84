"""Pages of the bank and of other wikis, and the texts they had.

Entities, daily notes, the long-term memory and the pages of wikis are one table: they differ in
their names and their files, not in what can be done with them.
"""

import re
from typing import Any, ClassVar

from django.db import models
from django.db.models import Q
from django.urls import reverse

from bank import refs
from bank.models.wikis import Wiki

_MARK = re.compile(r"~[0-9a-f]{8}(?=/)")


def without_mark(origin: str) -> str:
    """Where a page came from, without what tells folders of one name apart."""
    return _MARK.sub("", origin, count=1)


class Kind(models.TextChoices):
    ENTITY = "entity", "Page"
    NOTE = "note", "Daily note"
    MEMORY = "memory", "Long-term memory"
    WIKI = "wiki", "Wiki page"


class Page(models.Model):
    """A text that agents read and write, as its current revision says it; the file is a copy.

    `name` is an entity's slug, a note's day (2026-03-01), MEMORY, or a wiki's id and the page's
    ref in it (see bank.refs); pages whose names have the same `key` are one page. A
    `quarantined` page is kept and listed, but no search and no agent is served it until a
    curator decides. An archived page has no file, and its name is free. A locked page takes no
    writes until it is unlocked.

    `flags` are those of bank.markdown.PageText, and `conflict`, `quarantined` and
    `too_many_links`. `conflict` is the number of a revision that is not the current one though
    nobody decided so: somebody changed the file while a save was under way.
    """

    kind = models.CharField(max_length=10, choices=Kind)
    name = models.CharField(max_length=400)
    key = models.CharField(max_length=800)
    wiki = models.ForeignKey(  # None for the bank's own
        Wiki,
        on_delete=models.CASCADE,
        related_name="pages",
        null=True,
        blank=True,
        db_index=False,
    )
    path = models.CharField(max_length=400)  # of its file; see bank.places
    # The file that it was imported from: the folder's name, `~` and eight digits of its path's
    # hash, then the path in it, without .md.
    origin = models.TextField(blank=True)
    former_names = models.JSONField(default=list, blank=True)  # Before each rename.
    title = models.CharField(max_length=200)
    abstract = models.CharField(max_length=120, blank=True)
    revision = models.PositiveIntegerField()
    sha256 = models.CharField(max_length=64)
    tags = models.JSONField(default=list, blank=True)
    aliases = models.JSONField(default=list, blank=True)
    front_matter = models.JSONField(default=dict, blank=True)
    flags = models.JSONField(default=list, blank=True)
    conflict = models.PositiveIntegerField(null=True, blank=True)
    quarantined = models.BooleanField(default=False)
    author = models.CharField(max_length=200, blank=True)  # "" when it was edited outside
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()
    archived_at = models.DateTimeField(null=True, blank=True)
    locked_at = models.DateTimeField(null=True, blank=True)
    locked_by = models.CharField(max_length=200, blank=True)
    # What the file looked like when it last was known to hold the current text.
    file_stamp = models.CharField(max_length=100, blank=True)
    content = models.TextField(blank=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["kind", "key"], condition=Q(archived_at=None), name="one_page_a_name"
            )
        ]
        indexes: ClassVar = [
            models.Index(
                fields=["kind", "name"], condition=Q(archived_at=None), name="page_by_name"
            ),
            models.Index(fields=["kind", "-updated_at"], name="page_by_time"),
            models.Index(fields=["wiki", "name"], name="page_of_wiki"),
            models.Index(
                fields=["-updated_at"], condition=Q(conflict__isnull=False), name="page_in_conflict"
            ),
        ]

    def __str__(self) -> str:
        return self.document

    def get_absolute_url(self) -> str:
        if self.kind == Kind.MEMORY:
            return reverse("long_term")
        if self.kind == Kind.WIKI:
            return reverse("wiki_page", args=[self.name])
        return reverse(self.kind, args=[self.name])

    @property
    def document(self) -> str:
        """Its id in search, in change rows and in quarantine: `entity/alice-chen`."""
        return f"{self.kind}/{self.name}"

    @property
    def imported_from(self) -> str:
        """The folder and the file in it that the page came from, "" if it was made here."""
        return without_mark(self.origin)

    @property
    def collection(self) -> str:
        """Whose changes are those of this page."""
        return "wikis" if self.kind == Kind.WIKI else "pages"

    @property
    def ref(self) -> str:
        """What a page of a wiki is called in it."""
        return refs.split(self.name)[1]

    @property
    def next_number(self) -> int:
        """Of its next revision. Not the current one's successor: texts that were set aside have
        numbers too, and so have pages that had the name before."""
        last = self.revisions.aggregate(last=models.Max("number"))["last"] or 0
        used = UsedName.objects.filter(kind=self.kind, key=self.key)
        return max(last, used.values_list("number", flat=True).first() or 0) + 1

    @property
    def etag(self) -> str:
        """The revision; an edit that names another one is stale."""
        return f'"{self.revision}"'


class Revision(models.Model):
    """One text that a page had, or that was found in its file; it never becomes another.

    Revisions are counted from 1, and where the name was used before from where that ended.
    `quarantined`: the guard objected to the text, and nobody let it pass.
    """

    class Via(models.TextChoices):
        PAGE = "page", "on a page"
        API = "api", "by API"
        MCP = "mcp", "by MCP"
        FILE = "file", "in the file"
        IMPORT = "import", "by import"
        RESTORE = "restore", "restored"

    page = models.ForeignKey(
        Page, on_delete=models.CASCADE, related_name="revisions", db_index=False
    )
    number = models.PositiveIntegerField()
    sha256 = models.CharField(max_length=64)
    author = models.CharField(max_length=200, blank=True)
    via = models.CharField(max_length=10, choices=Via)
    message = models.CharField(max_length=500, blank=True)
    created_at = models.DateTimeField()
    quarantined = models.BooleanField(default=False)
    content = models.TextField(blank=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["page", "number"], name="one_revision_a_number")
        ]
        indexes: ClassVar = [models.Index(fields=["page", "sha256"], name="revision_by_text")]

    def __str__(self) -> str:
        return f"{self.page_id} revision {self.number}"


class UsedName(models.Model):
    """The highest revision number that pages of a name had which do not have that name any more.

    A revision that a caller has seen is then never one of another page. `page` had the name
    last, None when it was erased.
    """

    kind = models.CharField(max_length=10, choices=Kind)
    key = models.CharField(max_length=800)
    number = models.PositiveIntegerField()
    page = models.ForeignKey(Page, on_delete=models.SET_NULL, null=True, related_name="used_names")

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["kind", "key"], name="one_used_name_a_key")
        ]

    def __str__(self) -> str:
        return f"{self.kind}/{self.key} up to {self.number}"


class OfKind(models.Manager[Any]):
    def __init__(self, kind: Kind) -> None:
        super().__init__()
        self._kind = kind

    def get_queryset(self) -> models.QuerySet[Any]:
        return super().get_queryset().filter(kind=self._kind)


class Entity(Page):
    objects: ClassVar[models.Manager[Any]] = OfKind(Kind.ENTITY)

    class Meta:
        proxy = True
        verbose_name_plural = "entities"


class DailyNote(Page):
    objects: ClassVar[models.Manager[Any]] = OfKind(Kind.NOTE)

    class Meta:
        proxy = True


class LongTermMemory(Page):
    objects: ClassVar[models.Manager[Any]] = OfKind(Kind.MEMORY)

    class Meta:
        proxy = True
        verbose_name_plural = "long-term memory"
