"""Small wikis in a few words: pages by id and text, links by id, and questions about them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from search.wiki.index import Entry, rebuild
from search.wiki.opening import IndexFile
from search.wiki.reading import Reader
from search.wiki.searching import Answer, Query, search


def entry(page: str, text: str = "", title: str = "", kind: str = "other", **more: str) -> Entry:
    return Entry(page, title or page, kind, f"{page}.md", text, **more)


class Wiki:
    """An index in a folder of its own; each question opens it anew."""

    def __init__(self, folder: Path) -> None:
        self.file = IndexFile(folder / "index.db", "garden", "11111111")

    def build(
        self,
        pages: Mapping[str, str | Entry],
        edges: Mapping[str, Sequence[str]] | None = None,
        seq: int = 1,
    ) -> "Wiki":
        made = [
            page if isinstance(page, Entry) else entry(name, page) for name, page in pages.items()
        ]
        rebuild(self.file, made, edges or {}, seq)
        return self

    def ask(self, text: str, text_of: Any = None, **options: Any) -> Answer:
        reader = Reader(self.file)
        try:
            return search(reader, Query(text, **options), text_of)
        finally:
            reader.close()

    def found(self, text: str, **options: Any) -> list[str]:
        return [result.page_id for result in self.ask(text, **options).results]


@pytest.fixture
def wiki(tmp_path: Path) -> Wiki:
    return Wiki(tmp_path)


@pytest.fixture
def new_entry() -> Callable[..., Entry]:
    return entry


@pytest.fixture
def reader(wiki: Wiki) -> Iterator[Callable[[], Reader]]:
    """Opens a reader of the wiki; closed at the end."""
    opened: list[Reader] = []

    def make() -> Reader:
        opened.append(Reader(wiki.file))
        return opened[-1]

    yield make
    for one in opened:
        one.close()
