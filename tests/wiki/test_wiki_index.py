"""index.db: written page by page as if built anew, swapped under readers, never trusted damaged."""

import os
import shutil
import threading

import pysqlite3 as sqlite3
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from search.wiki.index import (
    BuildFailed,
    Entry,
    Source,
    apply,
    check,
    rebuild,
)
from search.wiki.matching import CJK
from search.wiki.opening import SCHEMA, IndexFile, NeedsRebuild
from search.wiki.reading import Reader


def rows(file, sql):
    connection = sqlite3.connect(str(file.path))
    try:
        return connection.execute(sql).fetchall()
    finally:
        connection.close()


def whole(file):
    """All that an index says, whatever its rowids are."""
    return {
        "terms": rows(
            file,
            "SELECT m.page_id, f.page_id, f.title_tok, f.content_tok FROM page_meta m"
            " JOIN wiki_fts f ON f.rowid = m.rowid ORDER BY 1",
        ),
        "fts": rows(file, "SELECT count(*) FROM wiki_fts"),
        "pages": rows(file, "SELECT * FROM page_meta ORDER BY 1"),
        "edges": rows(file, "SELECT * FROM graph_edge ORDER BY 1, 2"),
        "stamp": rows(file, "SELECT * FROM stamp"),
    }


def test_the_file_has_the_tables_and_columns_that_are_promised(wiki):
    wiki.build({})
    columns = {
        table: [row[1] for row in rows(wiki.file, f"PRAGMA table_info({table})")]
        for table in ("wiki_fts", "page_meta", "graph_edge", "source", "stamp")
    }
    assert columns == {
        "wiki_fts": ["page_id", "title_tok", "content_tok"],
        "page_meta": ["page_id", "title", "type", "rel_path", "snippet"],
        "graph_edge": ["source_id", "target_id"],
        "source": [
            *("filename", "sha256", "size", "status"),
            *("modified_at", "indexed_at", "error"),
        ],
        "stamp": ["schema", "analyzer", "wiki", "database", "seq", "checksum"],
    }
    ((created,),) = rows(wiki.file, "SELECT sql FROM sqlite_master WHERE name = 'wiki_fts'")
    assert "unicode61 remove_diacritics 0 categories 'L* M* N* P* S* Co'" in created
    assert rows(wiki.file, "PRAGMA journal_mode") == [("wal",)]


def test_the_stamp_says_what_the_index_was_made_by_and_for(wiki):
    wiki.build({"a": "x"}, seq=7)
    assert rows(wiki.file, "SELECT schema, analyzer, wiki, database, seq FROM stamp") == [
        (SCHEMA, CJK.stamp, "garden", "11111111", 7)
    ]


def test_terms_and_snippet_are_stored_and_the_body_is_not(wiki, new_entry):
    wiki.build({"a": new_entry("a", "# Heading\n知识图谱 of Alice", title="重构parser模块")})
    assert rows(wiki.file, "SELECT title_tok FROM wiki_fts") == [
        ("重构 parser 模块 \ue001块 \ue001构",)
    ]
    assert rows(wiki.file, "SELECT snippet FROM page_meta") == [("知识图谱 of Alice",)]


# One page's change


def test_an_edit_touches_the_rows_of_its_page_alone(wiki, new_entry):
    wiki.build({f"p{number}": f"text {number}" for number in range(50)}, {"p1": ["p2", "p3"]})
    before = whole(wiki.file)
    assert apply(wiki.file, {"p1": new_entry("p1", "other words")}, {"p1": ["p2", "p4"]}, 2) == 4
    after = whole(wiki.file)
    assert [row for row in before["terms"] if row not in after["terms"]] == [
        ("p1", "p1", "p1", "text 1")
    ]
    assert after["edges"] == [("p1", "p2"), ("p1", "p4")]
    assert wiki.found("other") == ["p1"]
    assert check(wiki.file).seq == 2


def test_a_removed_page_is_gone_with_its_links_and_found_no_more(wiki):
    wiki.build({"a": "apple", "b": "pear"}, {"a": ["b"], "b": ["a"]})
    assert apply(wiki.file, {"a": None}, {}, 2) == 3
    assert wiki.found("apple") == []
    assert whole(wiki.file)["edges"] == [("b", "a")]
    assert wiki.ask("pear", hop=1).results[0].related == ()


def test_a_page_that_comes_back_is_linked_again(wiki, new_entry):
    wiki.build({"a": "apple", "b": "pear"}, {"b": ["a"]})
    apply(wiki.file, {"a": None}, {}, 2)
    apply(wiki.file, {"a": new_entry("a", "apple")}, {}, 3)
    assert wiki.found("pear", hop=1) == ["b", "a"]


def test_removing_what_is_not_there_touches_nothing(wiki):
    wiki.build({"a": "apple"})
    assert apply(wiki.file, {"b": None}, {}, 2) == 0


def test_a_page_links_to_itself_for_nobody(wiki):
    wiki.build({"a": "apple"}, {"a": ["a"]})
    assert whole(wiki.file)["edges"] == []


def test_an_older_change_than_the_index_holds_changes_nothing(wiki, new_entry):
    wiki.build({"a": "new"}, seq=5)
    assert apply(wiki.file, {"a": new_entry("a", "old")}, {}, 5) == 0
    assert wiki.found("new") == ["a"]


def test_a_change_for_another_state_of_the_index_changes_nothing(wiki, new_entry):
    wiki.build({"a": "new"}, seq=5)
    assert apply(wiki.file, {"a": new_entry("a", "other")}, {}, 9, since=4) == 0
    assert check(wiki.file).seq == 5
    assert apply(wiki.file, {"a": new_entry("a", "other")}, {}, 9, since=5) == 2


def test_a_failed_change_leaves_all_as_it_was(wiki, new_entry):
    before = whole(wiki.build({"a": "apple"}).file)
    with pytest.raises(RuntimeError):
        apply(wiki.file, {"b": new_entry("b", "pear"), "a": Failing()}, {}, 2)
    assert whole(wiki.file) == before


class Failing:
    """An entry that cannot be read."""

    def __getattr__(self, name):
        raise RuntimeError("the page cannot be read")


def test_a_reader_in_the_middle_of_an_answer_stops_no_write(wiki, new_entry, reader):
    """The log cannot be emptied then; it is at the next write."""
    wiki.build({"a": "apple"})
    reading = reader()
    with reading.one_state():
        assert apply(wiki.file, {"a": new_entry("a", "pear")}, {}, 2) == 2
        assert list(reading.matches('"apple"*', 5)) == ["a"]
    assert list(reading.matches('"pear"*', 5)) == ["a"]
    apply(wiki.file, {"a": new_entry("a", "plum")}, {}, 3)
    assert (wiki.file.path.with_name("index.db-wal")).stat().st_size == 0


def test_sources_are_noted_replaced_and_removed(wiki):
    wiki.build({})
    source = Source("a.md", "00", 3, "indexed", 1.0, 2.0)
    changed = Source("a.md", "11", 4, "failed", 1.5, None, "not UTF-8")
    apply(wiki.file, {}, {}, 2, sources={"a.md": source})
    apply(wiki.file, {}, {}, 3, sources={"a.md": changed})
    assert rows(wiki.file, "SELECT * FROM source") == [
        ("a.md", "11", 4, "failed", 1.5, None, "not UTF-8")
    ]
    apply(wiki.file, {}, {}, 4, sources={"a.md": None})
    assert rows(wiki.file, "SELECT * FROM source") == []


NAMES = st.sampled_from("abcdef")
TEXTS = st.sampled_from(["apple pie", "知识图谱", "the", "pear 图谱", "", "Café 小猫", "apple"])
CHANGES = st.lists(
    st.tuples(NAMES, st.none() | TEXTS, st.lists(NAMES, max_size=4)), min_size=1, max_size=12
)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(CHANGES)
def test_page_by_page_gives_the_index_that_a_rebuild_gives(tmp_path, changes):
    written = IndexFile(tmp_path / "written" / "index.db", "w", "d")
    anew = IndexFile(tmp_path / "anew" / "index.db", "w", "d")
    rebuild(written, [], {}, 0)
    texts, edges = {}, {}
    for seq, (page, text, targets) in enumerate(changes, 1):
        texts[page], edges[page] = text, targets if text is not None else []
        made = None if text is None else Entry(page, page, "other", page, text)
        apply(written, {page: made}, {page: edges[page]}, seq)
    pages = [Entry(p, p, "other", p, text) for p, text in texts.items() if text is not None]
    rebuild(anew, pages, edges, len(changes))
    assert whole(written) == whole(anew)
    check(written)
    with_scores = [scores(file) for file in (written, anew)]
    assert with_scores[0] == pytest.approx(with_scores[1])


def scores(file):
    reader = Reader(file)
    try:
        return reader.matches('"apple"* OR "图谱"*', 10)
    finally:
        reader.close()


# Built anew


def test_readers_answer_from_the_old_file_while_a_new_one_is_built(wiki, new_entry, reader):
    wiki.build({"a": "apple"})
    reading = reader()

    def entries():
        yield new_entry("b", "pear")
        assert wiki.found("apple") == ["a"]

    rebuild(wiki.file, entries(), {}, 2)
    assert list(reading.matches('"apple"*', 5)) == ["a"]
    assert not reading.is_current()
    assert wiki.found("apple") == []
    assert wiki.found("pear") == ["b"]


def test_what_the_old_file_still_had_in_its_log_is_not_read_into_the_new_one(
    wiki, new_entry, reader
):
    wiki.build({"a": "apple"})
    reading = reader()
    with reading.one_state():
        apply(wiki.file, {"a": new_entry("a", "pear")}, {}, 2)
        assert wiki.file.path.with_name("index.db-wal").stat().st_size > 0
        wiki.build({"b": "plum"}, seq=3)
        assert wiki.found("plum") == ["b"]
        assert list(reading.matches('"apple"*', 5)) == ["a"]
    reading.close()  # Must not take the log of the new one with it.
    late = reader()
    with late.one_state():
        apply(wiki.file, {"b": new_entry("b", "fig")}, {}, 4)
    assert wiki.found("fig") == ["b"]
    assert check(wiki.file).seq == 4


def test_a_build_that_fails_leaves_the_old_index_and_names_its_cause(wiki, new_entry):
    wiki.build({"a": "apple"})

    def entries():
        yield new_entry("b", "pear")
        raise OSError(28, "No space left on device")

    with pytest.raises(BuildFailed, match="No space left on device") as failed:
        rebuild(wiki.file, entries(), {}, 2)
    assert isinstance(failed.value.__cause__, OSError)
    assert wiki.found("apple") == ["a"]
    assert [path.name for path in wiki.file.path.parent.iterdir()] == ["index.db"]


def test_a_page_that_comes_twice_is_there_once(wiki, new_entry):
    rebuild(wiki.file, [new_entry("a", "apple"), new_entry("a", "pear")], {}, 1)
    assert wiki.found("apple pear") == ["a"]
    assert wiki.found("apple") == []


def test_drafts_of_killed_builders_are_removed_when_they_are_old(wiki):
    old, fresh = (wiki.file.path.with_name(f".index.db.{name}") for name in ("old", "fresh"))
    old.touch()
    fresh.touch()
    os.utime(old, (0, 0))
    wiki.build({"a": "apple"})
    assert not old.exists()
    assert fresh.exists()


def test_writers_and_builders_at_once_lose_nothing_that_is_not_caught_up(wiki, new_entry):
    """The last of them counts, and its stamp says how far it goes."""
    wiki.build({"a": "start"})
    threads = [
        threading.Thread(target=apply, args=(wiki.file, {"a": new_entry("a", "w")}, {}, seq))
        for seq in range(2, 8)
    ]
    threads += [threading.Thread(target=wiki.build, args=({"a": "b"}, {}, 3)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert check(wiki.file).seq in range(3, 8)
    assert len(wiki.found("w b")) == 1


def test_only_its_owner_may_read_the_index(wiki):
    wiki.build({"a": "apple"})
    assert wiki.file.path.stat().st_mode & 0o777 == 0o600


# Not to be trusted


@pytest.mark.parametrize(
    ("reason", "other"),
    [("wiki", {"wiki": "other"}), ("database", {"database": "2222"})],
)
def test_an_index_of_another_wiki_or_database_needs_a_rebuild(wiki, new_entry, reason, other):
    wiki.build({"a": "apple"})
    of = {"wiki": "garden", "database": "11111111", **other}
    for use in (Reader, check, lambda file: apply(file, {"a": None}, {}, 2)):
        with pytest.raises(NeedsRebuild) as refused:
            use(IndexFile(wiki.file.path, **of))
        assert refused.value.reason == reason
    assert wiki.found("apple") == ["a"]


@pytest.mark.parametrize(("column", "value"), [("schema", 0), ("analyzer", "cjk/0")])
def test_an_index_of_another_making_needs_a_rebuild(wiki, column, value):
    wiki.build({"a": "apple"})
    connection = sqlite3.connect(str(wiki.file.path))
    connection.execute(f"UPDATE stamp SET {column} = ?", (value,))
    connection.commit()
    connection.close()
    with pytest.raises(NeedsRebuild) as refused:
        Reader(wiki.file)
    assert refused.value.reason == column


@pytest.mark.parametrize(
    "harm",
    [
        "DELETE FROM stamp",
        "INSERT INTO stamp SELECT * FROM stamp",
        "UPDATE stamp SET seq = 'many'",
        "UPDATE stamp SET checksum = 'none'",
        "ALTER TABLE stamp ADD COLUMN more",
        "DROP TABLE stamp",
    ],
)
def test_an_index_whose_stamp_cannot_be_read_needs_a_rebuild(wiki, new_entry, harm):
    wiki.build({"a": "apple"})
    connection = sqlite3.connect(str(wiki.file.path))
    connection.execute(harm)
    connection.commit()
    connection.close()
    for use in (Reader, check, lambda file: apply(file, {"a": None}, {}, 2)):
        with pytest.raises(NeedsRebuild, match="damaged"):
            use(wiki.file)


def test_a_missing_index_needs_a_rebuild_and_is_not_made_by_looking(wiki):
    for file in (wiki.file, IndexFile(wiki.file.path / "no" / "folder", "garden", "11111111")):
        for use in (Reader, check, lambda one: apply(one, {}, {}, 2)):
            with pytest.raises(NeedsRebuild, match="missing"):
                use(file)
        assert not file.path.exists()


@pytest.mark.parametrize("content", [b"", b"SQLite format 3\0", b"nonsense" * 1000, b"\0" * 8192])
def test_what_is_no_index_needs_a_rebuild(wiki, content):
    wiki.file.path.write_bytes(content)
    with pytest.raises(NeedsRebuild) as refused:
        check(wiki.file)
    assert refused.value.reason == "damaged"
    assert wiki.build({"a": "apple"}).found("apple") == ["a"]


def test_no_damage_to_the_words_of_an_index_goes_unnoticed(wiki, tmp_path):
    """Each page of the file in turn is overwritten, and cut off."""
    wiki.build({f"p{n}": f"word{n} 知识图谱 text" * 40 for n in range(60)}, {"p1": ["p2"]})
    original, size = wiki.file.path.read_bytes(), 4096
    whole_answer = wiki.ask("text 知识", limit=200)
    unnoticed = []
    for start in range(0, len(original), size):
        damaged = original[:start] + b"\xa5" * size + original[start + size :]
        for content in (damaged, original[:start]):
            wiki.file.path.write_bytes(content)
            for end in ("-wal", "-shm"):
                wiki.file.path.with_name(f"index.db{end}").unlink(missing_ok=True)
            try:
                check(wiki.file)
                if wiki.ask("text 知识", limit=200) != whole_answer:
                    unnoticed.append(start)
            except NeedsRebuild:
                pass
    assert unnoticed == []


@pytest.mark.parametrize("word", ["titled", "described", "neighbour"])
def test_one_altered_word_is_noticed_wherever_it_stands(wiki, new_entry, word):
    page = new_entry("a", "body", title="titled", description="described")
    wiki.build({"a": page}, {"a": ["neighbour"]})
    content = wiki.file.path.read_bytes()
    places = [at for at in range(len(content)) if content.startswith(word.encode(), at)]
    assert places
    for at in places:
        wiki.file.path.write_bytes(content[:at] + b"X" * len(word) + content[at + len(word) :])
        with pytest.raises(NeedsRebuild, match="damaged"):
            check(wiki.file)


def test_an_index_moved_elsewhere_with_its_wiki_is_still_good(wiki, tmp_path):
    wiki.build({"a": "apple"})
    moved = tmp_path / "moved #1 %20"
    moved.mkdir()
    shutil.move(wiki.file.path, moved / "index.db")
    check(IndexFile(moved / "index.db", "garden", "11111111"))
