"""Times as they come in and go out."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from memoryweb.core import times


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-03-01T08:30:00Z", datetime(2026, 3, 1, 8, 30, tzinfo=UTC)),
        ("2026-03-01t08:30:00z", datetime(2026, 3, 1, 8, 30, tzinfo=UTC)),
        ("2026-03-01 08:30:00+08:00", datetime(2026, 3, 1, 0, 30, tzinfo=UTC)),
        ("2026-03-01T08:30:00.25-05:30", datetime(2026, 3, 1, 14, 0, 0, 250_000, tzinfo=UTC)),
        ("2026-03-01T08:30:00.123456789Z", datetime(2026, 3, 1, 8, 30, 0, 123_456, tzinfo=UTC)),
        (
            datetime(2026, 3, 1, 8, tzinfo=timezone(timedelta(hours=8))),
            datetime(2026, 3, 1, tzinfo=UTC),
        ),
    ],
)
def test_a_time_with_an_offset_is_read_to_the_microsecond(text: object, moment: datetime):
    assert times.parse(text) == moment
    assert times.parse(text).tzinfo is UTC


@pytest.mark.parametrize(
    "text",
    [
        "2026-03-01T08:30:00",
        "2026-03-01",
        "2026-02-30T08:30:00Z",
        "2026-03-01T24:30:00Z",
        "0001-01-01T00:00:00+14:00",
        "9999-12-31T23:59:59-14:00",
        "２０２６-03-01T08:30:00Z",
        "1700000000",
        1700000000,
        None,
        "",
        datetime(2026, 3, 1),
    ],
)
def test_naive_and_impossible_times_are_refused(text: object):
    with pytest.raises(ValueError, match=r"must be an RFC 3339 time|is no moment"):
        times.parse(text)


def test_what_is_rendered_reads_back_as_the_same_moment():
    moment = datetime(2026, 3, 1, 8, 30, 0, 1, tzinfo=UTC)
    assert times.render(moment) == "2026-03-01T08:30:00.000001Z"
    assert times.parse(times.render(moment)) == moment
