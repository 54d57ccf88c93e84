"""How far a long command is, on its terminal."""

import time

from django.core.management.base import OutputWrapper

PLAIN_EVERY = 10_000  # between two lines where there is no terminal to draw a bar on
BAR = 30


def legible(text: str) -> str:
    """The text on one line, with nothing in it that a terminal would obey."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


class Progress:
    """A bar on a terminal, and otherwise a plain line now and then."""

    def __init__(self, out: OutputWrapper, total: int, noun: str) -> None:
        self._out = out
        self._noun = noun
        self._total = max(total, 1)
        self._before = 0
        self._started = self._drawn = time.monotonic()

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._started

    def show(self, position: int, count: int) -> None:
        """Say that `count` are done, which is up to `position` of the total."""
        if not self._out.isatty():
            if count and count % PLAIN_EVERY == 0:
                self._out.write(f"{self._done(count)}, {self._rate(count)}")
            return
        if time.monotonic() - self._drawn > 0.1:
            self._drawn = time.monotonic()
            self._draw(min((self._before + position) / self._total, 1.0), count)

    def file_done(self, size: int) -> None:
        """Positions are in the next file from here on."""
        self._before += size

    def clear(self) -> None:
        if self._out.isatty():
            self._out.write("\r\x1b[K", ending="")

    def _draw(self, share: float, count: int) -> None:
        bar = "█" * round(share * BAR)
        left = self.seconds / share - self.seconds if share else 0
        self._out.write(
            f"\r{bar:░<{BAR}} {share:4.0%}  {self._done(count)}  "
            f"{self._rate(count)}  {left:.0f} s left\x1b[K",
            ending="",
        )
        self._out.flush()

    def _done(self, count: int) -> str:
        return f"{count:,} {self._noun}"

    def _rate(self, count: int) -> str:
        return f"{count / self.seconds:,.0f} {self._noun}/s"
