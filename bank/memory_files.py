"""The memory tool's files: pages of the built-in wiki `memories`, with its guard and history."""

from collections.abc import Mapping
from contextlib import AbstractContextManager

from django.db.models import BinaryField
from django.db.models.functions import Cast, Length

from bank import publishing, queries, renaming, services, wikis, withholding
from bank.models import Kind
from memoryweb.core.actor import Actor
from memoryweb.core.errors import NotFound


class MemoryFiles:
    """`bank.memory_tool.Files` as an actor may read and write them."""

    def __init__(self, actor: Actor) -> None:
        self._actor = actor

    def sizes(self) -> Mapping[str, int]:
        size = Length(Cast("content", BinaryField()))  # In bytes, not in characters.
        rows = queries.pages_of(wikis.MEMORIES).annotate(size=size).values_list("name", "size")
        return {name.removeprefix(_name("")): size for name, size in rows}

    def read(self, path: str) -> str | None:
        """Raises Conflict for a text that is kept from the actor."""
        try:
            page = queries.find(Kind.WIKI, _name(path))
        except NotFound:  # Also what has another name by now.
            return None
        withholding.require_free(self._actor, page)
        return page.content

    def write(self, path: str, text: str) -> None:
        wikis.make_memories()
        services.save(self._actor, Kind.WIKI, _name(path), text)

    def remove(self, path: str) -> None:
        services.archive(self._actor, Kind.WIKI, _name(path))

    def rename(self, path: str, to: str) -> None:
        renaming.rename(self._actor, _name(path), _name(to), kind=Kind.WIKI, update_links=False)

    def held(self, *paths: str) -> AbstractContextManager[None]:
        return publishing.hold(Kind.WIKI, *(_name(path) for path in paths))


def _name(path: str) -> str:
    return f"{wikis.MEMORIES}/{path}"
