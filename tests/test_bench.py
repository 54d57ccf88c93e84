"""`manage.py bench`: what it can measure, and how it prints that."""

import json
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from memoryweb.benches import Table, benches, percentile
from memoryweb.benches import guard as guard_bench
from memoryweb.benches.disguising import DISGUISES
from memoryweb.core.guard.rules import RULES


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard_bench, "HOSTILE_SIZE", 400)
    monkeypatch.setattr(guard_bench, "SIZES", (100,))


def printed(*arguments: str) -> str:
    out = StringIO()
    call_command("bench", *arguments, stdout=out)
    return out.getvalue()


def test_a_module_with_a_measure_is_a_bench_and_no_other():
    assert "guard" in benches()
    assert "disguising" not in benches()
    assert all(module.__doc__ for module in benches().values())


@pytest.mark.usefixtures("small")
def test_the_guard_is_timed_on_prose_rules_and_hostile_text_and_tried_on_disguises():
    answer = json.loads(printed("guard", "--docs", "2", "--json"))
    tables = {table["name"]: table["rows"] for table in answer["tables"]}
    prose, patterns, scans, disguised = tables.values()
    assert [(row["prose"], row["characters"]) for row in prose] == [
        ("English", 100),
        ("Chinese", 100),
    ]
    assert {row["rule"] for row in patterns} == {rule.id for rule in RULES}
    assert all(row["ms"] >= 0 for row in scans)
    assert {row["disguise"] for row in disguised} == {*DISGUISES, "all"}
    assert disguised[-1]["share"] >= 0.95


@pytest.mark.usefixtures("small")
def test_the_figures_are_printed_as_tables():
    lines = printed("guard", "--docs", "1").splitlines()
    assert lines[0] == "a scan of prose"
    assert lines[1].split() == ["prose", "characters", "median", "ms", "p95", "ms"]


def test_a_table_is_as_wide_as_its_cells_and_numbers_stand_right():
    table = Table("t", ("name", "rows", "share"), (("a", 1_200, 0.5), ("longer", 3, 1.0)))
    assert list(table.lines()) == [
        "t",
        "  name     rows  share",
        "  a       1,200  0.500",
        "  longer      3  1.000",
    ]


@pytest.mark.parametrize(("share", "value"), [(0.5, 10), (0.95, 19), (1.0, 20), (0.01, 1)])
def test_a_percentile_is_a_value_that_was_measured(share: float, value: int):
    assert percentile(range(1, 21), share) == value


@pytest.mark.parametrize("arguments", [(), ("nothing",), ("guard", "--docs", "x")])
def test_a_bench_that_is_not_there_is_refused(arguments: Any):
    with pytest.raises(CommandError):
        printed(*arguments)
