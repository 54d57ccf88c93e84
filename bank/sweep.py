"""Every page's file against the record by its hash, a few at a time.

The stamp of a file is a hint. An edit that keeps size, time and inode, or a file that can no
longer be read, shows no other way.
"""

import time
from collections.abc import Callable

from bank import places, problems, publishing
from bank.models import Page
from bank.paths import PathRefused

EVERY = 3600.0  # Seconds from one sweep's begin to the next one's.
SLICE = 0.25  # Seconds of work at a time.
_ROWS = 200


class Sweep:
    """One pass over all files after another, the first at once.

    What looks right and is not loses its stamp, and the next scan takes it in. Nothing else is
    kept of a sweep: after a kill it begins again.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._due = now()
        self._after: int | None = None  # The last page looked at in a pass under way.

    def step(self, seconds: float = SLICE) -> int:
        """Look at files for so long, if it is time for that; how many looked right and are not."""
        until, wrong = self._now() + seconds, 0
        if self._after is None:
            if self._now() < self._due:
                return 0
            self._due, self._after = self._now() + EVERY, 0
            problems.forget_stamps()
        while self._after is not None and self._now() < until:
            rows = Page.objects.filter(archived_at=None, pk__gt=self._after).order_by("pk")
            some = list(rows.values_list("pk", "path", "sha256", "file_stamp")[:_ROWS])
            self._after = some[-1][0] if some else None
            wrong += sum(_is_wrong(*row) for row in some)
        return wrong


def _is_wrong(pk: int, path: str, sha: str, stamp: str) -> bool:
    """Whether the file looks as it should and does not hold what it should; then it is marked."""
    if not stamp:
        return False
    try:
        found = places.read(path)
    except FileNotFoundError:
        return False
    except (OSError, PathRefused):
        pass
    else:
        if found.sha256 == sha or publishing.written(found.stamp) != stamp:
            return False
    return bool(Page.objects.filter(pk=pk, file_stamp=stamp).update(file_stamp=""))
