"""The tree of working directories."""

from episodes.directories import Directory, pruned, tree


def drawn(directories: list[Directory], depth: int = 0) -> list[str]:
    lines = []
    for directory in directories:
        lines.append(f"{'  ' * depth}{directory.label} {directory.count}")
        lines += drawn(directory.children, depth + 1)
    return lines


def test_no_directories_are_no_tree():
    assert tree({}) == []


def test_counts_include_what_lies_below():
    counts = {"/srv/shop": 2, "/srv/shop/web": 3, "/srv/shopping": 4, "/home/mei": 1}
    assert drawn(tree(counts)) == [
        "/ 10",
        "  home/mei 1",
        "  srv 9",
        "    shop 5",
        "      web 3",
        "    shopping 4",
    ]


def test_a_chain_with_nothing_of_its_own_is_one_step():
    [only] = tree({"/home/mei/src/harbor": 2, "/home/mei/src/ledger": 1})
    assert (only.label, only.path, only.count) == ("/home/mei/src", "/home/mei/src", 3)
    assert [(c.label, c.path) for c in only.children] == [
        ("harbor", "/home/mei/src/harbor"),
        ("ledger", "/home/mei/src/ledger"),
    ]


def test_the_root_relative_windows_and_odd_paths_have_their_places():
    counts = {
        "/": 1,
        "/srv/": 2,
        "notes": 1,
        "C:\\src\\app": 3,
        "C:\\src": 1,
        "a//b": 1,
        "项目/前端": 1,
    }
    assert drawn(tree(counts)) == [
        "/ 3",
        "  srv 2",
        "C:\\src 4",
        "  app 3",
        "a/b 1",
        "notes 1",
        "项目/前端 1",
    ]


def test_the_query_of_a_directory_asks_for_all_below_it():
    [only] = tree({"/srv/a b&c": 1})
    assert only.query == "working_dir_prefix=%2Fsrv%2Fa+b%26c"


def test_a_pruned_tree_keeps_the_fullest_and_every_count():
    counts = {"/a": 1, "/a/b": 5, "/a/b/c": 2, "/a/d": 1, "/e": 3, "/f/g/h": 1}
    kept, left_out = pruned(tree(counts), 4)
    assert drawn(kept) == ["/ 13", "  a 9", "    b 7", "  e 3"]
    assert left_out == 3
    whole, none = pruned(tree(counts), 7)
    assert (drawn(whole), none) == (drawn(tree(counts)), 0)


def test_a_directory_as_full_as_its_parent_is_never_kept_without_it():
    deep = {"/a": 1, "/a/b": 1, "/a/b/c": 5, "x": 1, "y": 9}
    kept, left_out = pruned(tree(deep), 2)
    assert drawn(kept) == ["y 9", "/a 7"] or drawn(kept) == ["/a 7", "y 9"]
    assert left_out == 3


def test_a_path_of_a_thousand_steps_ends_where_the_tree_does():
    paths = ["/" + "/".join("a" * n) for n in range(1, 1000)]
    found = tree(dict.fromkeys(paths, 1))
    lines = drawn(found)
    assert len(lines) == 31
    assert lines[0] == "/a 999"
    assert lines[-1].strip() == "a 969"
