"""A request limit per token and minute, in this process."""

import threading
import time
from http import HTTPStatus

from django.conf import settings

from memoryweb.core.errors import DomainError


class TooMany(DomainError):
    """The token has used up its minute."""

    status = HTTPStatus.TOO_MANY_REQUESTS

    def __init__(self, seconds: int) -> None:
        super().__init__(f"this token may send {settings.MEMORYWEB_RATE_LIMIT} requests a minute")
        self.retry_after = seconds


class RateLimit:
    """Counts requests by key in fixed minutes; `MEMORYWEB_RATE_LIMIT` 0 switches it off."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._minute = 0
        self._spent: dict[str, int] = {}

    def spend(self, key: str) -> None:
        """Count one request. Raises TooMany when the minute's share is gone."""
        if not settings.MEMORYWEB_RATE_LIMIT:
            return
        minute = int(time.time() // 60)
        with self._lock:
            if minute != self._minute:
                self._minute, self._spent = minute, {}
            self._spent[key] = self._spent.get(key, 0) + 1
            if self._spent[key] > settings.MEMORYWEB_RATE_LIMIT:
                raise TooMany(60 - int(time.time() % 60))
