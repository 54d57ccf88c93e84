"""How much of the memory vectors cover, counted in the database; each number has its list."""

from collections.abc import Collection
from dataclasses import dataclass
from math import floor
from typing import Any
from urllib.parse import urlencode

from django.db.models import Count

from bank import page_vectors
from bank import queries as bank
from episodes import queries, session_queries
from episodes.models import Episode
from episodes.schemas import VECTOR_STATES, VectorState
from memoryweb.core import active_model, clock
from search.engine import Index
from search.live import View, live

MEANINGS = {
    "current": "Made from the text as it is now, by the active model. Compared in every search.",
    "missing": "No vector has arrived.",
    "stale": "The text was changed after its vector was made.",
    "wrong_width": "The vector is of another width than the active model's: not comparable.",
    "other_model": "Made by another model of the same width; its numbers mean something else.",
    "zero": "The vector was refused: it has no direction.",
}
MOST_DIRECTORIES = 50  # that the page lists


@dataclass(frozen=True)
class Coverage:
    """One group of documents by the state of their vectors. `blank` ones have nothing to embed."""

    counts: dict[VectorState, int]
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
    blank = Episode.objects.filter(summary__regex=r"^\s*$").count()
    return Coverage(queries.vector_states(), blank)


def memories() -> Coverage:
    """Session memories that a search is served."""
    return Coverage(dict.fromkeys(VECTOR_STATES, 0) | session_queries.vector_states())


def pages() -> Coverage:
    """The bank's pages, notes and long-term memory."""
    blank = page_vectors.embeddable().filter(content__regex=r"^\s*$").count()
    return Coverage(dict.fromkeys(VECTOR_STATES, 0) | _typed(page_vectors.vector_states()), blank)


# Where the documents of a collection are listed by the state of their vectors.
OTHER_LISTS = {"memories": "/sessions/memories/"}


def _listed(name: str, state: str) -> str:
    """The page that lists what a number of a collection counts; "" where there is none."""
    return f"{OTHER_LISTS[name]}?{urlencode({'vector': state})}" if name in OTHER_LISTS else ""


def _others() -> list[dict[str, Any]]:
    """The collections beside episodes, with what of them lacks a current vector."""
    counted = {"memories": ("Session memories", memories()), "pages": ("Bank", pages())}
    return [
        {
            "name": name,
            "label": label,
            "coverage": each,
            "lacking": each.total - each.blank - each.vectorized,
            "percent": percent(each.ratio),
            "url": OTHER_LISTS.get(name, ""),
            "states": [
                (VECTOR_STATES[state], count, _listed(name, state))
                for state, count in each.counts.items()
                if count
            ],
        }
        for name, (label, each) in counted.items()
    ]


def _typed(states: dict[str, int]) -> dict[VectorState, int]:
    return {state: states[state] for state in VECTOR_STATES if state in states}


def episodes_by_directory(directories: Collection[str]) -> dict[str, Coverage]:
    """The coverage of each of the working directories, in their order."""
    counted = {name: dict.fromkeys(VECTOR_STATES, 0) for name in directories}
    rows: Any = queries.with_vector_state(Episode.objects.filter(working_dir__in=directories))
    states = rows.order_by().values_list("working_dir", "vector_state")
    for directory, state, count in states.annotate(count=Count("pk")):
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


def bar(counted: Coverage, **filters: str) -> list[dict[str, Any]]:
    """The states one after another along a bar of 100, each with its number and its list."""
    parts: list[dict[str, Any]] = []
    start = 0.0
    for state in VECTOR_STATES:
        width = 100 * counted.counts[state] / counted.total if counted.total else 0.0
        parts.append(
            {
                "state": state,
                "label": VECTOR_STATES[state],
                "meaning": MEANINGS[state],
                "count": counted.counts[state],
                "url": list_address(state, **filters),
                "x": round(start, 3),
                "width": round(width, 3),
            }
        )
        start += width
    return parts


def report() -> dict[str, Any]:
    """The whole coverage as the API answers it. It asks the index only for what it knows best."""
    view = live.view()
    active = active_model.active()
    counted = {
        "episodes": episodes(),
        "memories": memories(),
        "pages": pages(),
    }
    found = {name: _figures(coverage, view, name) for name, coverage in counted.items()}
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


def overview() -> dict[str, Any]:
    """What the page shows: the states in all, by directory and by model, and the index."""
    view, active, counted = live.view(), active_model.active(), episodes()
    sizes, others = queries.directories(), _others()
    largest = sorted(sizes, key=lambda path: (-sizes[path], path))[:MOST_DIRECTORIES]
    return {
        "episodes": counted,
        "nothing": not counted.total and not any(row["coverage"].total for row in others),
        "percent": percent(counted.ratio),
        "states": bar(counted),
        "active": active,
        "models": [_with_sizes(row) for row in episodes_by_model()],
        "directories": [
            {"path": path, "coverage": each, "states": bar(each, working_dir=path)}
            for path, each in episodes_by_directory(largest).items()
        ],
        "more_directories": len(sizes) - len(largest),
        "pages": bank.entities().count(),
        "notes": bank.notes().count(),
        "others": others,
        "index": index_state(view),
        "indexes": _indexes(view),
    }


def percent(ratio: float) -> str:
    """Rounded down, so that only what is complete is called 100 %."""
    return f"{floor(1000 * ratio) / 10:g} %"


def _with_sizes(row: dict[str, Any]) -> dict[str, Any]:
    """A vector is stored as float32: four bytes a number."""
    size = 4 * row["dimension"]
    return {**row, "bytes": size, "bytes_in_all": size * row["count"]}


def _indexes(view: View) -> list[dict[str, Any]]:
    """Each collection's index; recall is measured only where it can be less than all."""
    return [
        {
            "name": name,
            "has_vectors": name == "episodes",
            "statistics": (statistics := index.statistics),
            "recall": index.recall_at_10(20) if statistics.mode == "hnsw" else None,
        }
        for name, index in (view.indexes or {}).items()
    ]
