"""The bank's tables: wikis, pages and their revisions, links, files and vectors."""

from bank.models.files import FileOperation, FileProblem
from bank.models.links import Label, Link, Rewriting
from bank.models.pages import (
    DailyNote,
    Entity,
    Kind,
    LongTermMemory,
    Page,
    Revision,
    UsedName,
    without_mark,
)
from bank.models.vectors import PageVector
from bank.models.wikis import Wiki, WikiSource

__all__ = [
    "DailyNote",
    "Entity",
    "FileOperation",
    "FileProblem",
    "Kind",
    "Label",
    "Link",
    "LongTermMemory",
    "Page",
    "PageVector",
    "Revision",
    "Rewriting",
    "UsedName",
    "Wiki",
    "WikiSource",
    "without_mark",
]
