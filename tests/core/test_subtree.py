"""What lies in and below a directory."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memoryweb.core.directories import Subtree, normal


@pytest.mark.parametrize(
    ("path", "directory", "inside"),
    [
        ("/a/b", "/a/b", True),
        ("/a/b/c", "/a/b", True),
        ("/a/bc", "/a/b", False),
        ("/A/b", "/a/b", False),
        ("/a", "/a/b", False),
        ("/a/b/", "/a/b", True),
        ("/a/b", "/a/b/", True),
        ("/a/b/c", "/a/b//", True),
        ("/a//b", "/a", True),
        ("/a", "/", True),
        ("/", "/", True),
        ("/", "//", True),
        ("//", "/", True),
        ("", "/", False),
        ("a", "/", False),
        ("a/b", "a", True),
        ("ab", "a", False),
        ("a", "a/", True),
        (r"C:\w\app", r"C:\w", True),
        (r"C:\w\app", "C:\\w\\", True),
        (r"C:\work", r"C:\w", False),
        (r"C:\w", "C:", True),
        (r"C:\w", "C:\\", True),
        ("C:/w", "C:", True),
        ("C:/w", "C:/", True),
        (r"C:\w", "/", False),
        (r"\\server\share", "/", False),
        (r"\\server\share", "\\", True),
        (r"C:\w/x", r"C:\w", True),
        (r"/a\b", "/a", False),
        (r"/a\b/c", r"/a\b", True),
        ("/项目/前端", "/项目", True),
        ("/项目二", "/项目", False),
        ("/a%b", "/a%", False),
        ("/a%/b", "/a%", True),
    ],
)
def test_a_path_is_in_a_directory_by_whole_names(path: str, directory: str, inside: bool):
    assert Subtree.of(directory).holds(path) is inside


paths = st.lists(st.sampled_from(["/", "\\", "a", "ab", "C:"]), min_size=1, max_size=7).map("".join)


@given(paths)
@example("\\\\/")
def test_every_path_is_in_itself_however_it_ends(path: str):
    assert Subtree.of(path).holds(path)
    assert Subtree.of(normal(path)).holds(path)
    assert Subtree.of(path).holds(normal(path))


@given(st.sampled_from(["/", "\\"]), paths, paths, paths)
def test_what_is_in_a_directory_is_in_whatever_holds_that(
    separator: str, path: str, inner: str, outer: str
):
    path, inner, outer = (re.sub(r"[/\\]", lambda _: separator, p) for p in (path, inner, outer))
    if Subtree.of(inner).holds(path) and Subtree.of(outer).holds(inner):
        assert Subtree.of(outer).holds(path)
