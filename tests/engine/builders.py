"""Plain builders: documents, indexes and answers in few words."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from memoryweb.core.analysis import Analyzer, analyzer
from search.engine import Answer, Document, Index, Query, search
from tests.engine.textbook import Paper

NOW = 1_700_000_000.0
DAY = 86_400.0


def document(
    name: str,
    text: str = "",
    vector: Sequence[float] | None = None,
    created: float = NOW,
    **attributes: str,
) -> Document:
    return Document(name, text, created, attributes, vector)


def index_of(*documents: Document, analysis: str = "cjk", **options: Any) -> Index:
    index = Index(analyzer(analysis), **options)
    assert index.put(documents) == []
    return index


def ask(where: Index | Mapping[str, Index], text: str = "", **options: Any) -> Answer:
    indexes = {"episodes": where} if isinstance(where, Index) else where
    return search(indexes, Query(text=text, **{"now": NOW, **options}))


def names(answer: Answer) -> list[str]:
    return [hit.id for hit in answer.hits]


def scores(answer: Answer) -> dict[str, float]:
    return {hit.id: hit.score for hit in answer.hits}


def papers(documents: Iterable[Document], chosen: Analyzer) -> list[Paper]:
    """The same documents for the textbook."""
    made = []
    for one in documents:
        tokens, stopped = chosen.analyse(one.text)
        made.append(Paper(one.id, tokens, stopped, one.created_at, one.vector, one.attributes))
    return made
