"""What providers answer, checked value by value: a vector is assigned to its text or to none."""

import base64
import binascii
import json
from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from memoryweb.core.vectors import Vector, VectorRefused, checked_vector, decode_blob
from search.embedding.problems import BadAnswer, BadVector, OtherModel

Vectors = npt.NDArray[np.float32]  # (texts, width)


def read_json(body: bytes) -> Any:
    """Raises BadAnswer for HTML, for JSON that was cut off, and for NaN, which is none."""
    try:
        return json.loads(body, parse_constant=_no_number)
    except (ValueError, RecursionError):
        begins = body.lstrip()[:1]
        kind = "a web page" if begins == b"<" else "text" if begins not in b"{[" else "broken JSON"
        raise BadAnswer(f"the provider answered {kind} where JSON was expected") from None


def _no_number(name: str) -> NoReturn:
    raise BadVector(f"the provider's answer holds {name}, which is no number")


def openai_vectors(answer: Any, count: int) -> Vectors:
    """The vectors of an answer of `/v1/embeddings`, each in its text's place.

    Every item names the text it belongs to by `index`; where none does, they are in order.
    """
    items = _list(answer, "data")
    if not all(isinstance(item, dict) for item in items):
        raise BadAnswer("the provider's answer has items that are no embeddings")
    _counted(items, count)
    indexes = [item.get("index") for item in items]
    if all(index is None for index in indexes):
        indexes = list(range(count))
    if any(type(index) is not int for index in indexes) or sorted(indexes) != list(range(count)):
        raise BadAnswer("the provider's answer does not say which vector is of which text")
    in_order = sorted(zip(indexes, items, strict=True), key=lambda pair: pair[0])
    return stacked([item.get("embedding") for _, item in in_order])


def ollama_vectors(answer: Any, count: int) -> Vectors:
    """The vectors of an answer of Ollama's `/api/embed`, which are in the order of the texts."""
    rows = _list(answer, "embeddings")
    _counted(rows, count)
    return stacked(rows)


def require_model(answer: Any, asked: str) -> None:
    """Raise OtherModel unless the answer names the model that was asked for."""
    named = answer.get("model") if isinstance(answer, dict) else None
    if not isinstance(named, str) or _plain(named) != _plain(asked):
        raise OtherModel(f"the provider does not say that its vectors are of the model {asked}")


def _plain(model: str) -> str:
    return model.removesuffix(":latest")


def _list(answer: Any, name: str) -> list[Any]:
    rows = answer.get(name) if isinstance(answer, dict) else None
    if not isinstance(rows, list):
        raise BadAnswer(f"the provider's answer has no list {name!r}")
    return rows


def _counted(rows: Sequence[Any], count: int) -> None:
    if len(rows) != count:
        raise BadAnswer(f"the provider gave {len(rows)} vectors for {count} texts")


def stacked(rows: Sequence[Any]) -> Vectors:
    """Vectors of one width, each of which can be compared. Raises BadVector, BadAnswer."""
    vectors = [_vector(row) for row in rows]
    if len({vector.size for vector in vectors}) > 1:
        raise BadAnswer("the provider gave vectors of different widths in one answer")
    return np.stack(vectors)


def _vector(row: Any) -> Vector:
    """A list of numbers, or base64 of little-endian float32."""
    try:
        if isinstance(row, str):
            return decode_blob(base64.b64decode(row, validate=True))
        return checked_vector([] if row is None else row)
    except VectorRefused as refused:
        raise BadVector(f"the provider gave a vector that cannot be used. {refused}") from refused
    except (binascii.Error, ValueError):
        raise BadVector("the provider gave a vector that is neither numbers nor base64") from None
