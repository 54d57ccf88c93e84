"""The database as Django's admin shows it: everything readable, changes only by the writers.

Nothing is edited here; the pages do that, with the guard and the history. What the admin can do
(delete, reindex, revoke) calls the same functions as the pages and the API.
"""

from typing import Any

from django.contrib import admin, messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.auth.models import Group
from django.core.exceptions import ValidationError
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse

from bank import services
from bank.models import (
    DailyNote,
    Entity,
    FileOperation,
    Kind,
    Label,
    Link,
    LongTermMemory,
    Page,
    Revision,
)
from episodes import deletion, session_deletion, store
from episodes.models import (
    CodeVector,
    Context,
    DeletedEpisode,
    DeletedSession,
    Episode,
    EpisodeVector,
    Memory,
    MemoryVector,
    RefusedVector,
)
from memoryweb.core import tokens
from memoryweb.core.actor import Actor
from memoryweb.core.errors import DomainError
from memoryweb.core.models import (
    ActiveModel,
    ApiToken,
    AuditEntry,
    Change,
    Clock,
    QuarantineItem,
    Rereading,
    User,
)
from search.models import (
    CoverageDay,
    EmbeddingFailure,
    Judgement,
    ProviderChoice,
    Run,
    RunError,
    RunHold,
    SettingsVersion,
    SuggestedQuery,
)

admin.site.site_header = admin.site.site_title = "memoryweb database"
admin.site.index_title = "Everything that is stored"
admin.site.enable_nav_sidebar = False
admin.site.unregister(Group)  # Roles take the place of groups.


def actor_of(request: HttpRequest) -> Actor:
    user = request.user
    assert isinstance(user, User)  # noqa: S101 - the admin site has seen to the login
    return user.actor("admin")


class Readable(admin.ModelAdmin):  # type: ignore[type-arg]
    """Lists and shows rows, and changes none."""

    show_full_result_count = False

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Of what was ticked, the ids that a row can have: Django asks the database for any."""
        ticked = request.POST.copy()
        ids = list(filter(self._may_be_id, ticked.getlist(ACTION_CHECKBOX_NAME)))
        if len(ids) < len(request.POST.getlist(ACTION_CHECKBOX_NAME)):
            ticked.setlist(ACTION_CHECKBOX_NAME, ids)
            request.POST = ticked  # type: ignore[assignment]
        return super().changelist_view(request, extra_context)

    def _may_be_id(self, text: str) -> bool:
        try:
            self.model._meta.pk.clean(text, None)
        except ValidationError:
            return False
        return True


class Deletable(Readable):
    """Deletes as well, by the writer: `delete_many` says which."""

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return True

    def delete_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Without the transaction that Django puts around it: the writer has one of its own, and
        the index, which is looked at afterwards, must not learn what may yet be undone."""
        return self._delete_view(request, object_id, extra_context)  # type: ignore[attr-defined,no-any-return]

    def delete_model(self, request: HttpRequest, obj: Model) -> None:
        self.delete_many(actor_of(request), [obj.pk])

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        self.delete_many(actor_of(request), list(queryset.values_list("pk", flat=True)))

    def delete_many(self, actor: Actor, ids: list[str]) -> None:
        raise NotImplementedError

    def get_deleted_objects(
        self, objs: Any, request: HttpRequest
    ) -> tuple[list[Any], dict[Any, Any], set[Any], list[Any]]:
        """What goes with a row is the writer's business, not one of permissions here."""
        listed, counts, _, protected = super().get_deleted_objects(objs, request)
        return listed, dict(counts), set(), protected


@admin.register(Episode)
class EpisodeAdmin(Deletable):
    list_display = ("id", "working_dir", "agent_id", "outcome", "quarantined", "created_at")
    list_filter = ("outcome", "source", "quarantined")
    search_fields = ("id", "summary")
    actions = ("reindex",)

    def delete_many(self, actor: Actor, ids: list[str]) -> None:
        deletion.delete_many(actor, ids=ids)

    @admin.action(description="Reindex selected episodes")
    def reindex(self, request: HttpRequest, queryset: QuerySet[Episode]) -> None:
        count = store.reindex(actor_of(request), queryset.values_list("pk", flat=True))
        self.message_user(
            request,
            f"{count} episodes are read into the index again, by every process at its next search.",
            messages.SUCCESS,
        )


@admin.register(Context)
class ContextAdmin(Deletable):
    list_display = ("id", "name", "status", "created_at", "updated_at")
    list_filter = ("status",)
    search_fields = ("id", "name", "intent")

    def delete_many(self, actor: Actor, ids: list[str]) -> None:
        session_deletion.delete_contexts(actor, ids)


@admin.register(Memory)
class MemoryAdmin(Deletable):
    list_display = ("id", "context", "type", "importance", "archived", "quarantined", "created_at")
    list_filter = ("type", "archived", "quarantined")
    list_select_related = ("context",)
    search_fields = ("id", "content")

    def delete_many(self, actor: Actor, ids: list[str]) -> None:
        session_deletion.delete_memories(actor, ids)


@admin.register(Entity, DailyNote, LongTermMemory)
class PageAdmin(Readable):
    list_display = ("name", "title", "revision", "quarantined", "updated_at", "archived_at")
    list_filter = ("quarantined", "archived_at")
    search_fields = ("name", "title")
    actions = ("archive",)

    @admin.action(description="Archive selected pages")
    def archive(self, request: HttpRequest, queryset: QuerySet[Page]) -> None:
        """A page that fails says why; the others are archived all the same."""
        for page in queryset.filter(archived_at=None).defer("content"):
            try:
                kind, base = Kind(page.kind), page.revision
                services.archive(actor_of(request), kind, page.name, base=base)
            except DomainError as error:
                self.message_user(request, f"{page.name}: {error.detail}", messages.ERROR)


@admin.register(Revision)
class RevisionAdmin(Readable):
    list_display = ("page", "number", "author", "via", "message", "created_at")
    list_filter = ("via",)
    list_select_related = ("page",)


@admin.register(FileOperation)
class FileOperationAdmin(Readable):
    list_display = ("path", "op", "revision", "created_at", "done_at")
    list_filter = ("op",)


@admin.register(ApiToken)
class ApiTokenAdmin(Readable):
    list_display = ("name", "key", "scope", "agent_id", "created_at", "last_used_at", "revoked_at")
    exclude = ("secret_hash",)
    actions = ("revoke",)

    @admin.action(description="Revoke selected tokens")
    def revoke(self, request: HttpRequest, queryset: QuerySet[ApiToken]) -> None:
        live = queryset.filter(revoked_at=None)
        for token in live:
            tokens.revoke(actor_of(request), token.key)


@admin.register(User)
class UserAdmin(Readable):
    list_display = ("username", "role", "is_active", "last_login")
    exclude = ("password",)


@admin.register(AuditEntry)
class AuditEntryAdmin(Readable):
    list_display = ("at", "actor", "via", "action", "target", "seq")
    list_filter = ("action", "via")


@admin.register(QuarantineItem)
class QuarantineItemAdmin(Readable):
    list_display = ("document", "collection", "state", "actor", "created_at")
    list_filter = ("state", "collection")


@admin.register(Judgement)
class JudgementAdmin(Readable):
    list_display = ("query", "collection", "document", "grade", "judged_by", "judged_at")
    list_filter = ("collection", "grade")
    search_fields = ("query", "document")


@admin.register(CoverageDay)
class CoverageDayAdmin(Readable):
    list_display = ("day", "collection", "model", "counts", "blank", "recall", "measured_model")
    list_filter = ("collection", "model")


@admin.register(EmbeddingFailure)
class EmbeddingFailureAdmin(Readable):
    list_display = ("__str__", "model", "attempts", "of_provider", "failed_at", "again_at", "run")
    list_filter = ("model", "of_provider")
    list_select_related = ("run",)
    search_fields = ("reason",)


@admin.register(Run)
class RunAdmin(Readable):
    list_display = ("id", "kind", "state", "model", "done", "failed", "total", "created_at")
    list_filter = ("kind", "state")


def _show(*models: type[Model]) -> None:
    for model in models:
        admin.site.register(model, Readable)


_show(
    ActiveModel,
    Change,
    Clock,
    CodeVector,
    DeletedEpisode,
    DeletedSession,
    EpisodeVector,
    Label,
    Link,
    MemoryVector,
    ProviderChoice,
    RefusedVector,
    Rereading,
    RunError,
    RunHold,
    SettingsVersion,
    SuggestedQuery,
)
