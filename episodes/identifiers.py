"""Ids: made where one is missing, and written into addresses so that every one works."""

import base64
import json
import os
import re
import time
import uuid
from collections.abc import Collection, Mapping
from typing import Any

from django.urls import register_converter

# Ids of rows that came without one are made from their content in this namespace: never change it.
CONTENT_NAMESPACE = uuid.UUID("c5d0b6fe-4f5b-5a27-9d5a-4a0b6d7b0c11")


def new_id() -> str:
    """A UUIDv7 (RFC 9562, 5.7): 48 bits of Unix milliseconds, then random bits."""
    value = (time.time_ns() // 1_000_000) << 80 | int.from_bytes(os.urandom(10))
    value = value & ~(0xF << 76) | 0x7 << 76
    value = value & ~(0x3 << 62) | 0x2 << 62
    return str(uuid.UUID(int=value))


def content_id(row: Mapping[str, Any]) -> str:
    """A UUIDv5 of the row's canonical JSON: the same row gets the same id at every import."""
    canonical = json.dumps(row, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return str(uuid.uuid5(CONTENT_NAMESPACE, canonical))


# What a plain percent-encoded path cannot carry: words our own routes use, what clients and
# proxies rewrite (dot segments, empty segments, backslashes), and characters no path has.
_TAKEN = {"batch", "embeddings", "delete", "undo"}
_ENDINGS = ("embedding", "similar", "edit", "delete")
_REWRITTEN = re.compile(r"[\x00-\x1f\x7f\\]|(^|/)\.{0,2}(/|$)")


def address(
    an_id: str, taken: Collection[str] = _TAKEN, endings: Collection[str] = _ENDINGS
) -> str:
    """The id as it stands in a path before percent-encoding: itself, or `~` and its base64url.

    `taken` are words that our own routes begin with, `endings` those that they end in.
    """
    first, last = an_id.split("/")[0], an_id.split("/")[-1]
    is_taken = first in taken or first.startswith("~") or last in endings
    if not is_taken and not _REWRITTEN.search(an_id):
        return an_id
    return "~" + base64.urlsafe_b64encode(an_id.encode()).decode().rstrip("=")


def from_address(text: str) -> str:
    """The id that `address` wrote. Raises ValueError for a `~` that is followed by nonsense."""
    if not text.startswith("~"):
        return text
    return base64.urlsafe_b64decode(text[1:] + "=" * (-len(text[1:]) % 4)).decode()


class EpisodeIdConverter:
    """`<episode:id>` in a route: any id, slashes included, but for the ends other routes use."""

    regex = ".+" + "".join(f"(?<!/{ending})" for ending in _ENDINGS)

    def to_python(self, value: str) -> str:
        return from_address(value)

    def to_url(self, value: str) -> str:
        return address(value)


_SESSION_TAKEN = {"memories", "embeddings"}
_SESSION_ENDINGS = ("memories", "embedding", "embeddings", "recall", "environment", "search")


def session_address(an_id: str) -> str:
    """As `address`, for contexts, their memories and collections of code vectors."""
    return address(an_id, _SESSION_TAKEN, _SESSION_ENDINGS)


class SessionIdConverter(EpisodeIdConverter):
    """`<session:id>` in a route: the id of a context, a memory or a collection of code vectors."""

    regex = ".+" + "".join(f"(?<!/{ending})" for ending in _SESSION_ENDINGS)

    def to_url(self, value: str) -> str:
        return session_address(value)


_PAGE_TAKEN = {"memories", "vectors", "change", "undo", "new"}
_PAGE_ENDINGS = ("edit", "add", "change", "delete", "recall", "environment", "similar")


class SessionPageConverter(EpisodeIdConverter):
    """`<session_page:id>` in the route of a page: as `session`, with the pages' own words."""

    regex = ".+" + "".join(f"(?<!/{ending})" for ending in _PAGE_ENDINGS)

    def to_url(self, value: str) -> str:
        return address(value, _PAGE_TAKEN, _PAGE_ENDINGS)


register_converter(EpisodeIdConverter, "episode")
register_converter(SessionIdConverter, "session")
register_converter(SessionPageConverter, "session_page")
