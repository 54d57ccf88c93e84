"""Which state of a row somebody read: the ETag that an answer gives and If-Match takes."""

from datetime import datetime
from typing import Protocol

from memoryweb.core.errors import Conflict


class Versioned(Protocol):
    updated_at: datetime


def etag(row: Versioned) -> str:
    """Changes with every edit; an edit that names another one is stale."""
    return f'"{row.updated_at.timestamp() * 1_000_000:.0f}"'


def refuse_stale(row: Versioned, if_match: str, *, what: str = "this", undone: str) -> None:
    """Raise Conflict unless `if_match` names the state that the row is in, or none at all."""
    if if_match.removeprefix("W/") not in ("", "*", etag(row)):
        said = f"{what} was changed since you read it; nothing was {undone}"
        raise Conflict(said, etag=etag(row))
