"""Pages of the bank and of other wikis, their revisions and links, and what still has to happen
to their files.

Entities, daily notes, the long-term memory and the pages of wikis are one table: they differ in
their names and their files, not in what can be done with them.
"""

import re
from typing import Any, ClassVar

from django.db import models
from django.db.models import Q
from django.urls import reverse

from bank import refs
from bank.reasons import Why

_MARK = re.compile(r"~[0-9a-f]{8}(?=/)")


def without_mark(origin: str) -> str:
    """Where a page came from, without what tells folders of one name apart."""
    return _MARK.sub("", origin, count=1)


class Kind(models.TextChoices):
    ENTITY = "entity", "Page"
    NOTE = "note", "Daily note"
    MEMORY = "memory", "Long-term memory"
    WIKI = "wiki", "Wiki page"


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


class PageVector(models.Model):
    """One embedding of one page of the bank by one model: little-endian float32 without a header.

    `text_sha` is that of the page's whole text when the vector was made.
    """

    page = models.ForeignKey(Page, on_delete=models.CASCADE, related_name="vectors", db_index=False)
    model = models.CharField(max_length=200)
    dimension = models.PositiveIntegerField()
    text_sha = models.CharField(max_length=64)
    indexed_at = models.DateTimeField()
    vector = models.BinaryField()  # last: a row's head is read without its pages

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["page", "model"], name="one_page_vector_a_model")
        ]
        # All that a vector's state depends on, so no count of states reads a vector.
        indexes: ClassVar = [
            models.Index(
                fields=["page", "model", "dimension", "text_sha"], name="page_vector_state"
            )
        ]

    def __str__(self) -> str:
        return f"{self.page_id} by {self.model}"
