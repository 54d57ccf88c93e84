"""How long the guard takes, on prose and on text made to be slow. For `manage.py bench guard`."""

import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from memoryweb.core.guard.rulebook import RULEBOOKS, Matcher
from memoryweb.core.guard.scan import scan

HOSTILE_SIZE = 100_000
_REPEATS = 30

_SENTENCES = (
    "The importer reads every line of the file and reports the bad ones by their number. ",
    "Retrying a task keeps its result, so memory grew without bound; now `result_keep` decides. ",
    "See docs/settings.rst for the previous behaviour and the instructions for an upgrade.\n",
    "- users without permission no longer see the button (#1234)\n",
    "修复了导入时的编码问题，并补充了之前缺少的测试。",
)
# What begins many patterns of the views and of the rules without completing them.
_HOSTILE = (
    "a", " ", "\n ", "1a", "![", "![a](https://", '<img src="https://a?', "<a ", "](a", "<!--", "*",
    "_a", "`", "<|a", "[inst", "&#1;", "%41", "\\u0041", "=41", ".- ", "41 ", "deadbeef", "01",
    "101 ", "QUJD", "é", "ﷺ", "\u200b", "\U000e0041", "忽略之前", "system: ", "curl ", "a@a", "11@",
)  # fmt: skip


@dataclass(frozen=True)
class Timing:
    """What was timed, on how many characters, in milliseconds."""

    name: str
    characters: int
    median: float
    worst: float
    slowest: str = ""  # the text or pattern that was worst, where several were timed


def bench() -> list[Timing]:
    """Time an episode, a page, and every pattern and a whole scan on hostile text."""
    return [_prose("episode", 300), _prose("page", 2_048), _patterns(), _hostile_scans()]


def _prose(name: str, size: int) -> Timing:
    text = _filled("".join(_SENTENCES), size)
    times = [_milliseconds(scan, text) for _ in range(_REPEATS)]
    return Timing(name, size, statistics.median(times), max(times))


def _patterns() -> Timing:
    times = {
        f"{matcher.rule.id}: {matcher.pattern.pattern}": _slowest(matcher)
        for matcher in RULEBOOKS["injected"].matchers()
    }
    return _worst_of("pattern", times)


def _hostile_scans() -> Timing:
    times = {unit: _milliseconds(scan, _filled(unit, HOSTILE_SIZE)) for unit in _HOSTILE}
    return _worst_of("scan", times)


def _worst_of(name: str, times: dict[str, float]) -> Timing:
    worst = max(times, key=times.__getitem__)
    return Timing(name, HOSTILE_SIZE, statistics.median(times.values()), times[worst], worst)


def _slowest(matcher: Matcher) -> float:
    return max(_milliseconds(matcher.pattern.findall, text) for text in _hostile_to(matcher))


def _hostile_to(matcher: Matcher) -> Iterator[str]:
    """Text full of beginnings of what the matcher looks for."""
    words = [min(need) for need in matcher.needs]
    beginnings = [words[: count + 1] for count in range(len(words))]
    for unit in (*map(" ".join, beginnings), " ".join(reversed(words)), *words, "".join(words)):
        yield _filled(f"{unit} ", HOSTILE_SIZE)
    if matcher.rule.patterns:
        yield from (_filled(unit, HOSTILE_SIZE) for unit in _HOSTILE)


def _filled(unit: str, size: int) -> str:
    return (unit * (size // len(unit) + 1))[:size]


def _milliseconds(call: Callable[[str], object], text: str) -> float:
    start = time.process_time()
    call(text)
    return (time.process_time() - start) * 1_000
