"""The database, the search index and the tree agree on what lies in and below a directory."""

import pytest

from episodes import queries
from episodes.directories import Directory, tree
from episodes.models import Episode
from memoryweb.core.analysis import analyzer
from memoryweb.core.directories import Subtree
from search.engine import Document, Filters, Index, Query, search

PATHS = [
    "/", "//", "/a", "/a/", "/a/b", "/a/b/", "/a//b", "/a/bc", "/A/b", "/ab", "/a%",
    "/a%/b", "/a_b", "a", "a/", "a/b", "ab", "C:", "C:\\", "C:\\w", "C:\\w\\",
    "C:\\w\\app", "C:\\work", "C:\\W\\app", "C:/w", "C:\\w/x", "\\\\server\\share", "\\",
    "/a\\b", "/a\\b/c", "/项目", "/项目/前端", "/项目二",
]  # fmt: skip


@pytest.fixture
def stored(remember) -> None:
    for number, path in enumerate(PATHS):
        remember(f"e{number}", working_dir=path)


def test_the_database_the_index_and_the_scan_have_the_same_in_every_directory(stored):
    index = Index(analyzer())
    documents = [Document(path, "text", 0.0, {"working_dir": path}) for path in PATHS]
    index.put(documents)
    for directory in [*PATHS, "/a/b//", "\\\\server\\", "C", "nowhere"]:
        expected = {path for path in PATHS if Subtree.of(directory).holds(path)}
        rows = Episode.objects.filter(queries.below(directory))
        assert set(rows.values_list("working_dir", flat=True)) == expected, directory
        filters = Filters(working_dir_prefix=directory)
        answer = search({"e": index}, Query(text="text", now=0.0, limit=100, filters=filters))
        assert {hit.id for hit in answer.hits} == expected, directory
        assert {one.id for one in documents if filters.accept(one)} == expected, directory


def test_each_number_of_the_tree_is_the_length_of_the_list_it_leads_to(stored):
    def walked(directories: list[Directory]) -> list[Directory]:
        return [each for one in directories for each in (one, *walked(one.children))]

    directories = walked(tree(queries.directories()))
    assert len(directories) > 15
    for directory in directories:
        listed = Episode.objects.filter(queries.below(directory.path)).count()
        assert listed == directory.count, directory.path
