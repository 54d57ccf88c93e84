"""The last resort while an index is building, failed or empty: a scan over documents.

The caller brings the documents, from its database; the rules are octos-memory's third level.
"""

from collections.abc import Iterable, Mapping

from memoryweb.core.analysis import Analyzer
from memoryweb.core.directories import Subtree
from search.engine.model import Answer, Document, Hit, Query


def scan(
    documents: Mapping[str, Iterable[Document]],
    query: Query,
    analyzer: Analyzer,
    reasons: tuple[str, ...] = (),
) -> Answer:
    """Documents that hold query terms: the preferred directory first, then the more terms the
    better, then newest first, then by id.

    The score is the number of different query terms in the text; those with none are dropped.
    Filters hold as in `search`; weights, floor and recency mean nothing here.
    """
    terms = dict.fromkeys(analyzer.query_tokens(query.text))
    found = []
    for collection, candidates in documents.items():
        for document in candidates:
            if query.filters.accept(document) and (present := _present(document, terms, analyzer)):
                found.append((_rank(document, present, query), collection, document, present))
    found.sort(key=lambda entry: entry[:2])
    return Answer(
        mode="scan",
        reasons=reasons,
        hits=tuple(
            Hit(collection, document.id, document.created_at, float(present))
            for _, collection, document, present in found[: query.limit]
        ),
        total_candidates=len(found),
        weights=query.weights.shares(),
        terms=tuple(terms),
    )


def _present(document: Document, terms: Mapping[str, None], analyzer: Analyzer) -> int:
    analysis = analyzer.analyse(document.text)
    return len(terms.keys() & {*analysis.tokens, *analysis.stopped})


def _rank(document: Document, present: int, query: Query) -> tuple[bool, int, float, str]:
    preferred, directory = query.prefer_working_dir, document.attributes.get("working_dir", "")
    lifted = preferred != "" and Subtree.of(preferred).holds(directory)
    return not lifted, -present, -document.created_at, document.id
