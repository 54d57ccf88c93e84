from datetime import date

from django.urls import URLPattern, URLResolver, include, path, register_converter

from bank import editor, erasing_views, history, untaken, upkeep_views, views
from bank.models import Kind

# The bank's own addresses; pages of these names are reached under /bank/-/, and no page is "-".
TAKEN = ("new", "notes", "archived", "lint", "untaken")


class PageName:
    """A page's slug, unless it is one of the bank's own addresses."""

    regex = "[^/]+"

    def to_python(self, value: str) -> str:
        if value in TAKEN:
            raise ValueError(value)
        return value

    def to_url(self, value: str) -> str:
        return self.to_python(value)


class WikiPageName:
    """A wiki's id and a page's ref in it, as the name of the page has them."""

    regex = "[a-z0-9][a-z0-9_-]*/pages/.+"

    def to_python(self, value: str) -> str:
        return value.replace("/pages/", "/", 1)

    def to_url(self, value: str) -> str:
        return value.replace("/", "/pages/", 1)


class TakenName:
    regex = "|".join(TAKEN)

    def to_python(self, value: str) -> str:
        return value

    def to_url(self, value: str) -> str:
        return value


class Day:
    """A day as a note's name has it."""

    regex = r"\d{4}-\d{2}-\d{2}"

    def to_python(self, value: str) -> str:
        return date.fromisoformat(value).isoformat()

    def to_url(self, value: str) -> str:
        return value


register_converter(PageName, "page_name")
register_converter(WikiPageName, "wiki_page")
register_converter(TakenName, "taken_name")
register_converter(Day, "day")


def _of_a_page(name: str) -> list[URLPattern]:
    """What can be done with a page, whatever its kind; `name` is the route of the page itself."""
    return [
        path("", views.page, name=name),
        path("edit/", editor.edit, name="edit_page"),
        path("archive/", views.archive, name="archive_page"),
        path("erase/", erasing_views.erase, name="erase_page"),
        path("settle/", history.settle, name="settle_page"),
        path("history/", history.history, name="page_history"),
        path("history/<int:number>/", history.revision, name="page_revision"),
        path("history/<int:number>/restore/", history.restore, name="restore_revision"),
    ]


# What is done with a page of a wiki stands before its name, which may end in anything.
_OF_A_WIKI_PAGE: list[URLPattern] = [
    path("<wiki_page:name>/", views.page, name="wiki_page"),
    path("-/edit/<wiki_page:name>/", editor.edit, name="edit_page"),
    path("-/archive/<wiki_page:name>/", views.archive, name="archive_page"),
    path("-/erase/<wiki_page:name>/", erasing_views.erase, name="erase_page"),
    path("-/settle/<wiki_page:name>/", history.settle, name="settle_page"),
    path("-/history/<wiki_page:name>/", history.history, name="page_history"),
    path("-/history/<int:number>/<wiki_page:name>/", history.revision, name="page_revision"),
    path("-/restore/<int:number>/<wiki_page:name>/", history.restore, name="restore_revision"),
]

urlpatterns: list[URLPattern | URLResolver] = [
    path("bank/", views.entity_list, name="bank"),
    path("bank/new/", editor.new, name="new_page"),
    path("bank/lint/", upkeep_views.lint_list, name="bank_lint"),
    path("bank/untaken/", untaken.listed, name="untaken"),
    path("bank/untaken/write-again/", untaken.write_again, name="write_again"),
    path("bank/notes/", views.notes, name="notes"),
    path("bank/archived/", views.archived, name="archived_pages"),
    path("bank/archived/<int:pk>/restore/", views.restore, name="restore_page"),
    path("bank/archived/<int:pk>/erase/", erasing_views.erase_archived, name="erase_archived"),
    path("bank/notes/<day:name>/", include(_of_a_page("note")), {"kind": Kind.NOTE}),
    path(
        "bank/memory/",
        include(_of_a_page("long_term")),
        {"kind": Kind.MEMORY, "name": "MEMORY"},
    ),
    path("wikis/", include(_OF_A_WIKI_PAGE), {"kind": Kind.WIKI}),
    path("bank/-/<taken_name:name>/rename/", upkeep_views.rename, name="rename_page"),
    path("bank/<page_name:name>/rename/", upkeep_views.rename, name="rename_page"),
    path("bank/-/<taken_name:name>/", include(_of_a_page("entity")), {"kind": Kind.ENTITY}),
    path("bank/<page_name:name>/", include(_of_a_page("entity")), {"kind": Kind.ENTITY}),
]
