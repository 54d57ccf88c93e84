"""What of an episode is read as text: by the guard, by a model, and by who compares two of them."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

_NAMES = ("working_dir", "agent_id", "task_id", "id")


def recalled_text(content: Mapping[str, Any]) -> str:
    """Every text of an episode that agents are served, its names too: an attack fits in an id.

    `extra` is left out: it is scanned when it is rendered.
    """
    lines = [content["summary"], *content["key_decisions"], *content["files_modified"]]
    return "\n".join([*lines, *(content[name] for name in _NAMES)])


def text_sha(summary: str) -> str:
    """The SHA-256 of the text that is embedded: the summary as it is."""
    return hashlib.sha256(summary.encode()).hexdigest()


def same(stored: Any, sent: Any) -> bool:
    """Equal as JSON, where true is not 1."""
    if isinstance(sent, dict | list):
        return json.dumps(stored, sort_keys=True) == json.dumps(sent, sort_keys=True)
    return bool(stored == sent)
