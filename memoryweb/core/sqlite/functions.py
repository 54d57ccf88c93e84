"""SQL functions of ours, on every connection: NULL for a row they cannot answer, never an error.

`cosine_similarity(a, b)`: the cosine, from -1 to 1, of two vectors that are little-endian
float32 blobs of one length. `vector(json)`: the blob of a JSON array of numbers, for typing one.
"""

import json
from typing import Any

from memoryweb.core.vectors import CosineTo, VectorRefused, checked_vector, encode_blob


def register(connection: Any) -> None:
    """Give a DB-API connection to SQLite the functions."""
    # One for each connection: it remembers the argument that stays the same from row to row.
    connection.create_function("cosine_similarity", 2, CosineTo(), deterministic=True)
    connection.create_function("vector", 1, vector, deterministic=True)


def vector(text: object) -> bytes | None:
    """The blob of a vector in JSON, None where that is no vector."""
    try:
        values = json.loads(text) if isinstance(text, str) else None
        return encode_blob(checked_vector(values))
    except (ValueError, RecursionError, VectorRefused):
        return None
