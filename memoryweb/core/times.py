"""Times as everything outside writes them: RFC 3339 with an offset, never naive."""

import re
from datetime import UTC, datetime, timedelta
from typing import Annotated

from pydantic import BeforeValidator, PlainSerializer, WithJsonSchema
from pydantic_core import PydanticCustomError

_RFC3339 = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,12})?"
    r"([Zz]|[+-][0-9]{2}:[0-9]{2})"
)


# At the ends of the calendar a moment has no local time, and no page could show it.
FIRST_YEAR, LAST_YEAR = 1900, 9000


def parse(value: object) -> datetime:
    """The moment in UTC, to the microsecond. Raises ValueError for naive times and all else."""
    if isinstance(value, datetime) and value.tzinfo is not None:
        value = value.isoformat()
    if not isinstance(value, str) or not _RFC3339.fullmatch(value):
        raise PydanticCustomError("time", "must be an RFC 3339 time with an offset")
    try:
        moment = datetime.fromisoformat(value.upper()).astimezone(UTC)
    except (ValueError, OverflowError):
        raise PydanticCustomError("time", "is no moment of the calendar") from None
    # The first day of a zone east of UTC begins on the day before.
    if moment.year > LAST_YEAR or (moment + timedelta(days=1)).year < FIRST_YEAR:
        raise PydanticCustomError("time", "must lie in the years 1900 to 9000")
    return moment


def render(moment: datetime) -> str:
    """`2026-03-01T08:30:00.25Z`'s form: UTC, all six digits when there is a fraction."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


Time = Annotated[
    datetime,
    BeforeValidator(parse),
    PlainSerializer(render, return_type=str),
    WithJsonSchema({"type": "string", "format": "date-time"}),
]
