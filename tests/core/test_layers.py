"""Imports point only to the left, those inside functions included."""

import ast
from functools import cache
from pathlib import Path

import pytest

from search import engine

ROOT = Path(__file__).parents[2]
LAYERS = ["memoryweb.core", "episodes", "bank", "search", "memoryweb"]
# What values are made of may not know the web framework.
PURE = [
    "memoryweb/core/analysis.py",
    "memoryweb/core/directories.py",
    "memoryweb/core/guard",
    "memoryweb/core/strict_json.py",
    "memoryweb/core/times.py",
    "memoryweb/core/vectors.py",
    "episodes/directories.py",
    *(f"bank/{name}.py" for name in ("align", "diff", "findings", "gate", "layout", "links")),
    *(f"bank/{name}.py" for name in ("markdown", "memory_tool", "merge", "names", "rendering")),
    "bank/showing.py",
    *(f"search/{name}.py" for name in ("budget", "explaining", "marking", "pieces")),
    "search/engine",
    *(f"search/wiki/{name}.py" for name in ("matching", "expansion", "snippet", "searching")),
]


def layer(module: str) -> int | None:
    """The layer a dotted module name lies in, None for other people's modules."""
    if module == "memoryweb.core" or module.startswith("memoryweb.core."):
        return 0
    top = module.partition(".")[0]
    return LAYERS.index(top) if top in LAYERS else None


@cache
def imported(path: Path) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively"
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def sources() -> list[Path]:
    return [
        path
        for top in ("memoryweb", "episodes", "bank", "search")
        for path in sorted((ROOT / top).rglob("*.py"))
    ]


@pytest.mark.parametrize("path", sources(), ids=lambda path: str(path.relative_to(ROOT)))
def test_a_module_imports_only_from_its_own_layer_and_those_left_of_it(path: Path):
    module = str(path.relative_to(ROOT).with_suffix("")).replace("/", ".")
    own = layer(module)
    assert own is not None
    beyond = {name for name in imported(path) if (layer(name) or 0) > own}
    assert not beyond


def module_file(name: str) -> Path | None:
    """The file that `name` is, or is a part of; None for other people's modules."""
    while layer(name) is not None:
        path = ROOT / name.replace(".", "/")
        for file in (path.with_suffix(".py"), path / "__init__.py"):
            if file.exists():
                return file
        name = name.rpartition(".")[0]
    return None


def reached(files: list[Path]) -> set[Path]:
    """These files and all of ours that they import, directly or not."""
    found: set[Path] = set()
    left = [*files]
    while left:
        if (path := left.pop()) not in found:
            found.add(path)
            left += [file for name in imported(path) if (file := module_file(name)) is not None]
    return found


@pytest.mark.parametrize("place", PURE)
def test_pure_modules_import_no_django_not_even_through_others(place: str):
    path = ROOT / place
    files = sorted(path.rglob("*.py")) if path.is_dir() else [path]
    assert files
    assert all(file.exists() for file in files)
    web = {
        f"{file.relative_to(ROOT)} imports {name}"
        for file in reached(files)
        for name in imported(file)
        if name.partition(".")[0] in ("django", "ninja", "django_htmx")
    }
    assert not web


def outside_of_the_engine() -> list[Path]:
    return [path for path in sources() if ROOT / "search/engine" not in path.parents]


@pytest.mark.parametrize("path", outside_of_the_engine(), ids=lambda p: str(p.relative_to(ROOT)))
def test_the_search_engine_is_used_by_the_names_of_its_facade_alone(path: Path):
    names = {name for name in imported(path) if name.startswith("search.engine.")}
    assert {name.removeprefix("search.engine.") for name in names} <= set(engine.__all__)
