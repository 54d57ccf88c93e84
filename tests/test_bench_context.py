"""manage.py bench context"""

from pathlib import Path

import pytest
from django.db import connection

from bank.models import Page
from memoryweb.benches import context as bench

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def shorter(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "TIMES", 2)


def test_no_context_has_more_tokens_than_its_budget_and_a_larger_one_gives_no_less():
    by_budget, *_ = bench.measure(30)
    assert [row[0] for row in by_budget.rows] == list(bench.BUDGETS)
    assert all(0 < row[1] <= row[0] for row in by_budget.rows)
    pages = [int(row[5].split("(")[1].split("/")[0]) for row in by_budget.rows]
    assert pages == sorted(pages)
    assert pages[-1] == 30
    assert by_budget.rows[-1][5].endswith("(30/0)")


def test_each_budget_and_each_length_of_a_summary_is_timed():
    _, contexts, summaries = bench.measure(30)
    assert [row[0] for row in contexts.rows] == list(bench.BUDGETS)
    assert [row[0] for row in summaries.rows] == ["at most 100", "at most 1,000", "30"]
    assert all(first > 0 and p95 >= median > 0 for _, first, median, p95 in contexts.rows)


def test_made_up_pages_are_measured_in_a_database_of_their_own():
    before = connection.settings_dict["NAME"]
    list(bench.measure(5))
    assert connection.settings_dict["NAME"] == before
    assert not Page.objects.exists()


def test_what_there_is_is_measured_where_no_number_is_given():
    by_budget, *_ = bench.measure()
    assert {row[1] for row in by_budget.rows} == {0}
