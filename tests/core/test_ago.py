"""Times in words: one unit, so that they fit a cell."""

from datetime import timedelta

import pytest
from django.utils import timezone

from memoryweb.core.templatetags.ago import ago

SPACE = "\N{NO-BREAK SPACE}"


@pytest.mark.parametrize(
    ("past", "words"),
    [
        (timedelta(seconds=0), "now"),
        (timedelta(minutes=3, seconds=20), "3 minutes ago"),
        (timedelta(hours=23, minutes=59), "23 hours ago"),
        (timedelta(days=1, hours=5), "1 day ago"),
        (timedelta(days=20), "2 weeks ago"),
        (timedelta(days=17 * 365 + 310), "17 years ago"),
        (timedelta(days=-9, hours=-1), "1 week from now"),
    ],
    ids=str,
)
def test_a_time_is_told_in_its_largest_unit_alone(past: timedelta, words: str):
    assert ago(timezone.now() - past).replace(SPACE, " ") == words
