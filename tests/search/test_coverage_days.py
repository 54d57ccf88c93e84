"""Coverage day by day, the graph measured against the exact answer, and one line at the start."""

from datetime import date, timedelta

from django.db import connection
from django.test.utils import CaptureQueriesContext

from episodes import vectors
from memoryweb.core import active_model
from memoryweb.core.actor import system
from search import coverage, coverage_days, defaults
from search.models import CoverageDay

TODAY = date(2026, 3, 2)


def test_a_day_is_noted_once_and_holds_what_was_last_true(remember):
    remember("Current", "c", [1, 0])
    remember("Bare", "m")
    coverage_days.keep(TODAY - timedelta(days=1))
    vectors.set_vector(system(), vectors.Sent("m", [0, 1], None, "toy"))
    coverage_days.keep(TODAY)
    remember("Bare again", "n")
    coverage_days.keep(TODAY)
    rows = CoverageDay.objects.filter(collection="episodes").order_by("day")
    assert [(row.model, row.counts["current"], row.counts["missing"]) for row in rows] == [
        ("toy", 1, 1), ("toy", 2, 1),
    ]  # fmt: skip
    assert CoverageDay.objects.count() == 2 * 3


def test_nothing_is_written_while_nothing_changes(remember):
    remember("Current", "c", [1, 0])
    coverage_days.keep(TODAY)
    with CaptureQueriesContext(connection) as asked:
        coverage_days.keep(TODAY)
    assert [one for one in asked if not one["sql"].startswith("SELECT")] == []


def test_a_bar_is_as_high_as_the_share_and_a_day_without_a_worker_has_none(remember):
    remember("Current", "c", [1, 0])
    remember("Bare", "m")
    coverage_days.keep(TODAY - timedelta(days=89))
    coverage_days.keep(TODAY - timedelta(days=90))  # Before the chart begins.
    coverage_days.keep(TODAY)
    chart = coverage_days.chart("episodes", TODAY)
    assert [(day.x, day.y, day.height) for day in chart.days] == [(0, 24, 24), (356, 24, 24)]
    assert chart.words == "50 % covered on 3 December 2025, 50 % on 2 March 2026"


def test_the_page_has_the_chart_and_the_same_as_a_table(remember, signed_in, viewer):
    remember("Current", "c", [1, 0])
    page = signed_in(viewer).get("/coverage/").content.decode()
    assert "The worker notes these numbers once a day" in page
    coverage_days.keep()
    page = signed_in(viewer).get("/coverage/").content.decode()
    assert "Episodes, last 90 days: 100 % covered on" in page
    assert "The days as a table" in page


def test_below_the_threshold_there_is_no_graph_and_the_page_says_so(remember, signed_in, viewer):
    remember("Current", "c", [1, 0])
    coverage_days.keep()
    coverage_days.measure()
    assert CoverageDay.objects.exclude(recall=None).count() == 0
    page = signed_in(viewer).get("/coverage/").content.decode()
    assert "exact comparison, no graph: nothing is approximated" in page


def test_a_graph_is_measured_once_a_day_and_model_and_shown_with_its_sample(
    remember, signed_in, viewer, api
):
    defaults.save(system(), {"exact_threshold": 5})
    for n in range(12):
        remember(f"Episode {n}", f"e{n}", [1.0, n / 12, (n * n) % 5])
    coverage_days.keep()
    coverage_days.measure()
    row = coverage.measured("episodes", active_model.active())
    assert row is not None
    assert (row.recall, row.sample, row.graph) == (1.0, 12, 12)
    coverage_days.measure()
    assert CoverageDay.objects.get(pk=row.pk).measured_at == row.measured_at
    page = signed_in(viewer).get("/coverage/").content.decode()
    assert "1.000 against exact, 12 of 12 vectors tried" in page
    figures = api("read").get("/search/coverage").json()["collections"]["episodes"]
    assert (figures["mode"], figures["recall_at_10"], figures["recall_sample"]) == ("hnsw", 1.0, 12)


def test_a_measurement_of_another_model_is_not_shown_for_this_one(remember):
    remember("Current", "c", [1, 0])
    coverage_days.keep()
    CoverageDay.objects.update(recall=0.5, sample=3, graph=3, measured_model="earlier")
    assert coverage.measured("episodes", active_model.active()) is None


def test_what_is_left_out_is_told_in_one_line_when_the_worker_starts(remember, caplog):
    remember("Current", "current", [1.0, 0.0])
    for n in range(3):
        remember(f"Of another width {n}", f"wide{n}", [1.0, 0.0, 0.0])
    remember("Text before", "stale", [0.0, 1.0])
    remember("Text after", "stale")
    remember("No vector", "none")
    with caplog.at_level("INFO", "search.coverage_days"):
        coverage_days.tell()
    share, line = [record.getMessage() for record in caplog.records]
    assert share == "1 of 6 documents have a current vector"
    assert line.startswith("4 stored vectors are left out of searches (1 stale, 3 wrong width)")
    for words in ("found by words alone", "cannot be converted", "`manage.py reindex`"):
        assert words in line


def test_a_repaired_vector_leaves_the_count_and_the_next_log(remember, caplog):
    remember("Of the right width", "a", [1.0, 0.0])
    remember("Of another width", "b", [1.0, 0.0, 0.0])
    vectors.set_vector(system(), vectors.Sent("b", [0.0, 1.0], None, "toy"))
    with caplog.at_level("WARNING", "search.coverage_days"):
        coverage_days.tell()
    assert caplog.records == []
