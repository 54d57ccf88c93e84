"""LangGraph's long-term store on memoryweb: what graphs remember is searched, shown and corrected
like all else.

    store = MemorywebStore(Client(url, token))
    graph = builder.compile(store=store)

An item is an episode: its namespace is a directory below `root`, its text what is searched, and
its value lies in `extra`. It comes with the extra `langgraph`, and needs Django as little as the
client does.
"""

import asyncio
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import islice
from typing import Any
from urllib.parse import quote

from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
)

from memoryweb.client import Client, Episode, NotFound

Namespace = tuple[str, ...]
MOST_RANKED = 200  # results that one search gives


class MemorywebStore(BaseStore):
    """BaseStore over a memoryweb server. `agent_id` is who the items are written as.

    Search ranks by the words of the query, and by vectors where the server makes them; `index`
    of a put says which fields are searched. What the guard holds back is not given to graphs.
    There is no time to live.
    """

    __slots__ = ("_agent_id", "_client", "_root")

    def __init__(
        self, client: Client, *, root: str = "/langgraph", agent_id: str = "langgraph"
    ) -> None:
        self._client, self._root, self._agent_id = client, root.rstrip("/"), agent_id

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """The results in the order of the operations, which are done in that order."""
        return [self._do(op) for op in ops]

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        return await asyncio.to_thread(self.batch, list(ops))

    def _do(self, op: Op) -> Result:
        match op:
            case GetOp():
                return self._get(op.namespace, op.key)
            case PutOp():
                self._delete(op) if op.value is None else self._put(op, op.value)
                return None
            case SearchOp():
                return self._ranked(op, op.query) if op.query else self._newest(op)
            case ListNamespacesOp():
                return self._namespaces(op)
        raise ValueError(f"unknown operation {op!r}")

    # One item

    def _get(self, namespace: Namespace, key: str) -> Item | None:
        episode = self._found(self._id(namespace, key))
        return Item(**_fields(episode)) if episode else None

    def _put(self, op: PutOp, value: Mapping[str, Any]) -> None:
        """An item that is there keeps the moment it was made."""
        fields: dict[str, Any] = {
            "summary": _text(op.key, value, op.index),
            "extra": {"namespace": list(op.namespace), "key": op.key, "value": dict(value)},
        }
        episode_id = self._id(op.namespace, op.key)
        try:
            self._client.edit_episode(episode_id, **fields)
        except NotFound:
            self._client.save_episode(
                id=episode_id,
                agent_id=self._agent_id,
                working_dir=self._directory(op.namespace),
                source="conversation",
                replace=True,  # Somebody else may have put it in this moment.
                **fields,
            )

    def _delete(self, op: PutOp) -> None:
        try:
            self._client.delete_episode(self._id(op.namespace, op.key))
        except NotFound:
            pass  # It is gone, as was asked for.

    def _id(self, namespace: Namespace, key: str) -> str:
        """Of any length and letters a key may be; an id is short."""
        place = json.dumps([self._root, *namespace, key])
        return f"langgraph-{hashlib.sha256(place.encode()).hexdigest()}"

    def _directory(self, namespace: Namespace) -> str:
        return "/".join([self._root, *(quote(label, safe=" ") for label in namespace)]) or "/"

    # Many

    def _newest(self, op: SearchOp) -> list[SearchItem]:
        found = self._below(op.namespace_prefix)
        matching = (one for one in found if _matches(one["extra"]["value"], op.filter))
        chosen = islice(matching, op.offset, op.offset + op.limit)
        return [SearchItem(**_fields(one)) for one in chosen]

    def _ranked(self, op: SearchOp, query: str) -> list[SearchItem]:
        # A filter is on values, which only the items hold: more are looked at than are wanted.
        limit = MOST_RANKED if op.filter else min(op.offset + op.limit, MOST_RANKED)
        found = self._client.search(
            query,
            limit=max(1, limit),
            collections=["episodes"],
            filters={"working_dir_prefix": self._directory(op.namespace_prefix)},
        )
        scored = ((self._found(one["id"]), one["score"]) for one in found["results"])
        matching = (
            SearchItem(**_fields(one), score=score)
            for one, score in scored
            if one is not None and _matches(one["extra"]["value"], op.filter)
        )
        return list(islice(matching, op.offset, op.offset + op.limit))

    def _found(self, episode_id: str) -> Episode | None:
        try:
            episode = self._client.episode(episode_id)
        except NotFound:  # Deleted since it was found.
            return None
        return episode if _is_item(episode) else None

    def _namespaces(self, op: ListNamespacesOp) -> list[Namespace]:
        conditions = op.match_conditions or ()
        found = {tuple(one["extra"]["namespace"]) for one in self._below(())}
        fitting = (one for one in found if all(_fits(one, each) for each in conditions))
        cut = {one[: op.max_depth] if op.max_depth else one for one in fitting}
        return sorted(cut)[op.offset : op.offset + op.limit]

    def _below(self, prefix: Namespace) -> Iterator[Episode]:
        """The items of a namespace and all below it, those changed last first."""
        directory = self._directory(prefix)
        rows = self._client.episodes(working_dir_prefix=directory, order="-updated_at")
        return (one for one in rows if _is_item(one))


def _is_item(episode: Episode) -> bool:
    """Whether it was put here, and may be given to a graph."""
    extra = episode["extra"]  # Any program may have written it.
    namespace, key, value = (extra.get(name) for name in ("namespace", "key", "value"))
    labels = isinstance(namespace, list) and all(isinstance(one, str) for one in namespace)
    shaped = labels and isinstance(key, str) and isinstance(value, dict)
    return shaped and not episode["quarantined"]


def _fields(episode: Episode) -> dict[str, Any]:
    extra = episode["extra"]
    return {
        "namespace": tuple(extra["namespace"]),
        "key": extra["key"],
        "value": extra["value"],
        "created_at": datetime.fromisoformat(episode["created_at"]),
        "updated_at": datetime.fromisoformat(episode["updated_at"]),
    }


# Text


def _text(key: str, value: Mapping[str, Any], index: Any) -> str:
    """What is searched: the strings of the whole value, or of the fields named by `index`; an
    item that is not to be searched is found by its key alone."""
    if index is False:
        return key
    chosen: Sequence[Any] = [value] if index is None else [_at(value, path) for path in index]
    return "\n".join(line for one in chosen for line in _strings(one)) or key


def _at(value: Any, path: str) -> Any:
    """`a.b`, `a[0]`, `a[*].b` and `$`, as LangGraph writes paths of fields."""
    if path == "$":
        return value
    for step in path.replace("[", ".[").split("."):
        value = _step(value, step)
    return value


def _step(value: Any, step: str) -> Any:
    if step in ("", "[*]", "*"):
        return value
    if isinstance(value, list):
        if step[1:-1].lstrip("-").isdigit():
            at = int(step[1:-1])
            return value[at] if -len(value) <= at < len(value) else None
        return [_step(one, step) for one in value]
    return value.get(step) if isinstance(value, Mapping) else None


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list | tuple):
        for one in value:
            yield from _strings(one)
    elif value is not None and value != "":
        yield str(value)


# Filters


def _matches(value: Any, wanted: Any) -> bool:
    """Whether a value is what a filter wants: the same, or within the bounds of its operators."""
    if wanted is None:
        return True
    return all(_same(value.get(name), one) for name, one in wanted.items())


def _same(value: Any, wanted: Any) -> bool:
    if not isinstance(wanted, Mapping):
        return bool(value == wanted)
    if any(name.startswith("$") for name in wanted):
        return all(_compared(value, name, bound) for name, bound in wanted.items())
    return isinstance(value, Mapping) and _matches(value, wanted)


def _compared(value: Any, operator: str, bound: Any) -> bool:
    if operator == "$eq":
        return bool(value == bound)
    if operator == "$ne":
        return bool(value != bound)
    if operator not in _ORDERED:
        raise ValueError(f"unknown operator {operator!r}")
    try:
        number, limit = float(value), float(bound)
    except (TypeError, ValueError):
        return False
    return _ORDERED[operator](number, limit)


_ORDERED = {
    "$gt": float.__gt__,
    "$gte": float.__ge__,
    "$lt": float.__lt__,
    "$lte": float.__le__,
}


def _fits(namespace: Namespace, condition: MatchCondition) -> bool:
    path = tuple(condition.path)
    if len(namespace) < len(path):
        return False
    start = 0 if condition.match_type == "prefix" else len(namespace) - len(path)
    labels = namespace[start : start + len(path)]
    return all(wanted in ("*", label) for label, wanted in zip(labels, path, strict=True))
