"""Imports point only to the left, those inside functions included."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LAYERS = ["memoryweb.core", "episodes", "bank", "search", "memoryweb"]
# What values are made of may not know the web framework.
PURE = [
    "memoryweb/core/analysis.py",
    "memoryweb/core/directories.py",
    "memoryweb/core/vectors.py",
    "memoryweb/core/guard",
    "search/engine",
]


def layer(module: str) -> int | None:
    """The layer a dotted module name lies in, None for other people's modules."""
    if module == "memoryweb.core" or module.startswith("memoryweb.core."):
        return 0
    top = module.partition(".")[0]
    return LAYERS.index(top) if top in LAYERS else None


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


@pytest.mark.parametrize("place", PURE)
def test_pure_modules_import_no_django(place: str):
    path = ROOT / place
    files = sorted(path.rglob("*.py")) if path.is_dir() else [path]
    assert files
    assert all(file.exists() for file in files)
    tops = {name.partition(".")[0] for file in files for name in imported(file)}
    assert not tops & {"django", "ninja", "django_htmx"}
