"""Whether a wiki's index says what the record says. Nothing is changed here, only told.

An index that is not there, or was made by or for something else, is no fault: it is built anew
before it is asked. One that is behind is compared but for the pages that changed since.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from memoryweb.core import clock
from memoryweb.core.errors import Unavailable
from search.wiki import feeding, index, matching
from search.wiki.index import Entry
from search.wiki.opening import IndexFile, NeedsRebuild, opened, trusting
from search.wiki.snippet import snippet

_ROWS = """
SELECT m.page_id, m.title, m.type, m.rel_path, m.snippet, f.title_tok, f.content_tok
FROM page_meta AS m LEFT JOIN wiki_fts AS f ON f.rowid = m.rowid
"""
Row = tuple[str | None, ...]


def faults(wiki: str) -> Iterator[str]:
    """One sentence for each thing that is not as it should be. Raises NotFound."""
    file = feeding.index_file(wiki)
    try:
        held = index.check(file).seq
        changed = _changed_since(wiki, held)
        if changed is not None:
            yield from _differences(file, changed)
    except NeedsRebuild as found:
        if found.reason == "damaged":
            yield str(found)
    except Unavailable as away:
        yield away.detail


def _changed_since(wiki: str, seq: int) -> set[str] | None:
    """The pages that an index of this change has not seen; None when that cannot be told."""
    changed = set(feeding.changed_pages(wiki, seq, clock.current_seq()))
    return None if seq < clock.pruned_seq() else changed


def _differences(file: IndexFile, changed: set[str]) -> Iterator[str]:
    with trusting(), opened(file.path) as connection:
        held: dict[str, Row] = {row[0]: row[1:] for row in connection.execute(_ROWS)}
        links = set(connection.execute("SELECT source_id, target_id FROM graph_edge"))
    for entry in feeding.wiki_entries(file.wiki):
        row = held.pop(entry.page_id, None)
        if entry.page_id not in changed and row != _expected(entry):
            yield f"{entry.page_id}: it is {'not in the index' if row is None else 'stale there'}"
    for page in sorted(held.keys() - changed):
        yield f"{page}: it is in the index, and there is no such page"
    if not changed:  # Where a link leads may depend on any page.
        yield from _of_links(links, feeding.wiki_edges(file.wiki))


def _expected(entry: Entry) -> Row:
    shown = (entry.title, entry.type, entry.rel_path, snippet(entry.text, entry.description))
    found = (matching.stored(entry.title), matching.stored(entry.text))
    return *(text.encode(errors="replace").decode() for text in shown), *found


def _of_links(held: set[Any], wanted: Mapping[str, Iterable[str]]) -> Iterator[str]:
    there = {(page, other) for page, others in wanted.items() for other in others if page != other}
    for page, other in sorted(there - held):
        yield f"{page}: its link to {other} is not in the index"
    for page, other in sorted(held - there):
        yield f"{page}: the index has a link to {other} that it does not have"
