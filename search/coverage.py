"""How much of the memory vectors cover, counted in the database; each number has its list."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.db.models import Count

from episodes import queries
from episodes.models import Episode
from memoryweb.core import active_model, clock
from search.engine import Index
from search.live import View, live

STATES = ("current", "missing", "stale", "wrong_width", "other_model", "zero")


@dataclass(frozen=True)
class Coverage:
    """One group of documents by the state of their vectors. `blank` ones have nothing to embed."""

    counts: dict[str, int]
    blank: int = 0

    @property
    def total(self) -> int:
        return sum(self.counts.values())

    @property
    def vectorized(self) -> int:
        return self.counts["current"]

    @property
    def ratio(self) -> float:
        """The share with a current vector; 1.0 when there is nothing to embed."""
        embeddable = self.total - self.blank
        return self.vectorized / embeddable if embeddable else 1.0


def episodes() -> Coverage:
    return _coverage({})


def episodes_by_directory(most: int = 50) -> dict[str, Coverage]:
    """The coverage of each working directory, the largest first."""
    sizes = sorted(queries.directories().items(), key=lambda item: (-item[1], item[0]))
    counted = {name: dict.fromkeys(STATES, 0) for name, _ in sizes[:most]}
    rows = _states(queries.with_vector_state(Episode.objects.all()), "working_dir")
    for directory, state, count in rows:
        if directory in counted:
            counted[directory][state] = count
    return {name: Coverage(states) for name, states in counted.items()}


def episodes_by_model() -> list[dict[str, Any]]:
    """The stored vectors by model and width, the active model first."""
    active = active_model.active()
    rows = queries.vectors_by_model()
    for row in rows:
        row["active"] = active is not None and row["model"] == active.model
    return sorted(rows, key=lambda row: (not row["active"], -row["count"]))


def list_address(state: str, **filters: str) -> str:
    """The page that lists what a number counts."""
    return "/episodes/?" + urlencode({"vector": state, **filters})


def report() -> dict[str, Any]:
    """The whole coverage as the API answers it. It asks the index only for what it knows best."""
    view = live.view()
    active = active_model.active()
    found = {"episodes": _figures(episodes(), view, "episodes")}
    for name in ("memories", "pages"):
        found[name] = _figures(_without_vectors(view, name), view, name)
    for figures in found.values():
        figures["dimension"] = active.dimension if active else None
        figures["model"] = active.model if active else None
    return {"collections": found, "index": index_state(view)}


def index_state(view: View) -> dict[str, Any]:
    """How this process's index stands beside the clock."""
    indexes = (view.indexes or {}).values()
    return {
        "state": "ready" if view.indexes is not None else view.reasons[0],
        "seq": view.seq if view.indexes is not None else 0,
        "clock": clock.current_seq(),
        "lag": view.lag,
        "deletions": sum(index.statistics.deletions for index in indexes),
        "snapshot_age_s": None,
    }


def _coverage(filters: dict[str, str]) -> Coverage:
    rows = Episode.objects.filter(**filters)
    counts = dict.fromkeys(STATES, 0)
    for state, count in _states(queries.with_vector_state(rows)):
        counts[state] = count
    return Coverage(counts, blank=rows.filter(summary__regex=r"^\s*$").count())


def _states(rows: Any, *by: str) -> list[tuple[Any, ...]]:
    counted = rows.order_by().values_list(*by, "vector_state").annotate(count=Count("pk"))
    return list(counted)


def _without_vectors(view: View, name: str) -> Coverage:
    """A collection whose documents are searched by text alone."""
    index = (view.indexes or {}).get(name)
    counts = dict.fromkeys(STATES, 0)
    counts["missing"] = len(index) if index is not None else 0
    return Coverage(counts)


def _figures(coverage: Coverage, view: View, name: str) -> dict[str, Any]:
    index = (view.indexes or {}).get(name)
    return {
        "total": coverage.total,
        "vectorized": coverage.vectorized,
        "bm25_only": coverage.total - coverage.vectorized,
        "missing": coverage.counts["missing"],
        "dimension_mismatches": coverage.counts["wrong_width"],
        "wrong_width": coverage.counts["wrong_width"],
        "zero": coverage.counts["zero"],
        "stale": coverage.counts["stale"],
        "other_model": coverage.counts["other_model"],
        "blank": coverage.blank,
        "ratio": coverage.ratio,
        "has_dimension_mismatch": coverage.counts["wrong_width"] > 0,
        **_index_figures(index),
    }


def _index_figures(index: Index | None) -> dict[str, Any]:
    if index is None:
        return {"capacity": None, "capacity_used": None, "recall_at_10": None, "mode": None}
    statistics = index.statistics
    return {
        "capacity": statistics.capacity,
        "capacity_used": statistics.vectorized,
        "recall_at_10": index.recall_at_10(),
        "mode": statistics.mode,
    }
