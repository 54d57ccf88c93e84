"""Whether a wiki's index says what the record says. Nothing is changed here, only told.

An index that is not there, or was made by or for something else, is no fault: it is built anew
before it is asked. One that is behind is compared but for the pages that changed since.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from memoryweb.core import clock
from memoryweb.core.errors import Unavailable
from search.wiki import feeding, index, matching
from search.wiki.index import Entry
from search.wiki.opening import IndexFile, NeedsRebuild, opened, read_stamp, trusting
from search.wiki.snippet import snippet

_ROWS = """
SELECT m.page_id, m.title, m.type, m.rel_path, m.snippet, f.title_tok, f.content_tok
FROM page_meta AS m LEFT JOIN wiki_fts AS f ON f.rowid = m.rowid
"""
Row = tuple[str | None, ...]


@dataclass(frozen=True)
class _Held:
    """What the index held at one moment: its change, its rows by page, its links."""

    seq: int
    rows: dict[str, Row]
    links: set[tuple[str, str]]


def faults(wiki: str) -> Iterator[str]:
    """One sentence for each thing that is not as it should be. Raises NotFound."""
    file = feeding.index_file(wiki)
    try:
        index.check(file)
        yield from _differences(wiki, _held(file))
    except NeedsRebuild as found:
        if found.reason == "damaged":
            yield str(found)
    except Unavailable as away:
        yield away.detail


def _held(file: IndexFile) -> _Held:
    with trusting(), opened(file.path) as connection:
        connection.execute("BEGIN")  # Another process may write to it between these reads.
        return _Held(
            read_stamp(connection).seq,
            {row[0]: row[1:] for row in connection.execute(_ROWS)},
            set(connection.execute("SELECT source_id, target_id FROM graph_edge")),
        )


def _differences(wiki: str, held: _Held) -> Iterator[str]:
    pages = list(_of_pages(held.rows, feeding.wiki_entries(wiki)))
    links = list(_of_links(held.links, feeding.wiki_edges(wiki)))
    # Asked last: a page that changed while the record was read is not to be blamed either.
    changed = _changed_since(wiki, held.seq)
    if changed is None:
        return
    yield from (fault for page, fault in pages if page not in changed)
    if not changed:  # Where a link leads may depend on any page.
        yield from links


def _changed_since(wiki: str, seq: int) -> set[str] | None:
    """The pages that an index of this change has not seen; None when that cannot be told."""
    changed = set(feeding.changed_pages(wiki, seq, clock.current_seq()))
    return None if seq < clock.pruned_seq() else changed


def _of_pages(held: Mapping[str, Row], wanted: Iterable[Entry]) -> Iterator[tuple[str, str]]:
    there = set()
    for entry in wanted:
        there.add(entry.page_id)
        row = held.get(entry.page_id)
        if row != _expected(entry):
            how = "not in the index" if row is None else "stale there"
            yield entry.page_id, f"{entry.page_id}: it is {how}"
    for page in sorted(held.keys() - there):
        yield page, f"{page}: it is in the index, and there is no such page"


def _expected(entry: Entry) -> Row:
    shown = (entry.title, entry.type, entry.rel_path, snippet(entry.text, entry.description))
    found = (matching.stored(entry.title), matching.stored(entry.text))
    return *(text.encode(errors="replace").decode() for text in shown), *found


def _of_links(held: set[tuple[str, str]], wanted: Mapping[str, Iterable[str]]) -> Iterator[str]:
    there = {(page, other) for page, others in wanted.items() for other in others if page != other}
    for page, other in sorted(there - held):
        yield f"{page}: its link to {other} is not in the index"
    for page, other in sorted(held - there):
        yield f"{page}: the index has a link to {other} that it does not have"
