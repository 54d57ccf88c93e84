"""manage.py context_env, read by a real shell."""

import json
import subprocess
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from search.injection import Injection

HOSTILE = [
    "$(touch pwned)", "`touch pwned`", "'; touch pwned; '", '"; touch pwned; "', "a\nb\r\nc",
    "\\'\\\\' $HOME ${IFS}", "'\"'\"'", "!! *?[a-z] ~ # & | > <", "日本語 🦦 \u202e", "\x1b[31m",
    "--", "nul \0 end", "\ud7ff", "'" * 500,
]  # fmt: skip


def in_shell(exports: str, folder: Path) -> list[dict[str, object]]:
    """What a shell that evaluates the exports hands to a program."""
    script = exports + 'printf %s "$DEVBASE_CONTEXT_MEMORIES"'
    ran = subprocess.run(
        ["sh", "-c", script], cwd=folder, capture_output=True, check=True, timeout=30
    )
    assert not list(folder.iterdir())
    return json.loads(ran.stdout)


@pytest.mark.parametrize("content", HOSTILE)
def test_no_content_is_ever_run_and_each_arrives_as_it_was(tmp_path: Path, content: str):
    given = [{"id": content, "type": "note", "content": content, "score": 1.0, "model": content}]
    injected = Injection("keyword", given, 0, 0, 0)
    assert in_shell(injected.exports, tmp_path) == given


@pytest.fixture
def shop(transactional_db, memory, home) -> None:
    memory("Sort the locks $(touch pwned)", "locks", [1.0, 0.0], type="decision")
    memory("Deploys take six minutes", "deploy", [0.0, 1.0])


def ran(capsys, *arguments: str) -> str:
    call_command("context_env", *arguments)
    return capsys.readouterr().out


def test_a_query_prints_what_it_finds_as_exports(shop, capsys, tmp_path):
    printed = ran(capsys, "shop", "--query", "locks")
    assert "export DEVBASE_CONTEXT_MEMORY_COUNT=1\n" in printed
    assert "export DEVBASE_CONTEXT_RECALL_METHOD=keyword\n" in printed
    folder = tmp_path / "shell"
    folder.mkdir()
    [found] = in_shell(printed, folder)
    assert found["content"] == "Sort the locks $(touch pwned)"


def test_a_vector_comes_from_a_file(shop, capsys, tmp_path):
    file = tmp_path / "vector.json"
    for text in ("[0, 1]", '{"embedding": [0, 1]}'):
        file.write_text(text)
        printed = ran(capsys, "shop", "--query-embedding", str(file))
        assert "export DEVBASE_CONTEXT_RECALL_METHOD=semantic\n" in printed
        assert printed.index("Deploys") < printed.index("Sort")


def test_a_vector_comes_from_standard_input(shop, capsys, monkeypatch):
    class Stdin:
        class buffer:
            @staticmethod
            def read() -> bytes:
                return b"[1, 0]"

    monkeypatch.setattr("sys.stdin", Stdin)
    printed = ran(capsys, "shop", "--query-embedding", "-")
    assert printed.index("Sort") < printed.index("Deploys")


@pytest.mark.parametrize("text", ["[]", "[0]", "no", '{"vector": [1]}', "[NaN]"])
def test_a_file_without_a_vector_is_an_error(shop, tmp_path, text: str):
    file = tmp_path / "vector.json"
    file.write_text(text)
    with pytest.raises(CommandError):
        call_command("context_env", "shop", "--query-embedding", str(file))


def test_an_unknown_context_is_an_error(shop):
    with pytest.raises(CommandError, match="no such context"):
        call_command("context_env", "none")


def test_a_query_that_is_too_long_is_an_error(shop):
    with pytest.raises(CommandError, match="--query may have at most"):
        call_command("context_env", "shop", "--query", "x" * 100_000)
