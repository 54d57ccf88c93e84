"""The guard: time on prose and on hostile text, and the share of disguised attacks it finds."""

import statistics
import time
from collections.abc import Callable, Iterable, Iterator

from memoryweb.benches import Table, percentile
from memoryweb.benches.disguising import DISGUISES
from memoryweb.core.guard import scan
from memoryweb.core.guard.rulebook import RULEBOOKS, Matcher
from memoryweb.core.guard.rules import RULES

SIZES = (100, 2_048, 20_480, 102_400)  # characters of prose
HOSTILE_SIZE = 100_000
REPEATS = 30

_ENGLISH = (
    "The importer reads every line of the file and reports the bad ones by their number. "
    "Retrying a task keeps its result, so memory grew without bound; now `result_keep` decides. "
    "See docs/settings.rst for the previous behaviour and the instructions for an upgrade.\n"
    "- users without permission no longer see the button (#1234)\n"
)
_CHINESE = (
    "修复了导入时的编码问题，并补充了之前缺少的测试。部署前请先阅读升级说明，"
    "忽略本地生成的文件。所有用户都能在设置页面看到新的选项。\n"
)
PROSE = {"English": _ENGLISH, "Chinese": _CHINESE}
# What begins many patterns of the views and of the rules without completing them.
_HOSTILE = (
    "a", " ", "\n ", "1a", "![", "![a](https://", '<img src="https://a?', "<a ", "](a", "<!--", "*",
    "_a", "`", "<|a", "[inst", "&#1;", "%41", "\\u0041", "=41", ".- ", "41 ", "deadbeef", "01",
    "101 ", "QUJD", "é", "ﷺ", "\u200b", "\U000e0041", "忽略之前", "system: ", "curl ", "a@a", "11@",
)  # fmt: skip


def measure(docs: int | None = None) -> Iterator[Table]:
    """Time prose of every size `docs` times, each rule and scan on hostile text; then disguises."""
    yield _prose(docs or REPEATS)
    yield _rules()
    yield _hostile_scans()
    yield _disguises()


def _prose(repeats: int) -> Table:
    rows = []
    for language, sentences in PROSE.items():
        for size in SIZES:
            text = _filled(sentences, size)
            times = [_milliseconds(scan, text) for _ in range(repeats)]
            rows.append((language, size, statistics.median(times), percentile(times, 0.95)))
    return Table("a scan of prose", ("prose", "characters", "median ms", "p95 ms"), tuple(rows))


def _rules() -> Table:
    """The slowest pattern of each rule on the text that is worst for it, the slowest rule first."""
    slowest: dict[str, tuple[float, str]] = {}
    for matcher in RULEBOOKS["injected"].matchers():
        one = max(
            (_milliseconds(matcher.pattern.findall, text), unit)
            for unit, text in _hostile_to(matcher)
        )
        slowest[matcher.rule.id] = max(slowest.get(matcher.rule.id, (0.0, "")), one)
    rows = sorted(((rule, *worst) for rule, worst in slowest.items()), key=lambda row: -row[1])
    columns = ("rule", "slowest pattern ms", "text of")
    return Table(f"patterns on {HOSTILE_SIZE:,} hostile characters", columns, tuple(rows))


def _hostile_scans() -> Table:
    rows = [(ascii(unit), _milliseconds(scan, _filled(unit, HOSTILE_SIZE))) for unit in _HOSTILE]
    rows.sort(key=lambda row: -row[1])
    return Table(f"scans of {HOSTILE_SIZE:,} hostile characters", ("text of", "ms"), tuple(rows))


def _disguises() -> Table:
    """Of the rules' own examples in plain English, how many are found in each disguise."""
    attacks = [
        text for rule in RULES for text in rule.examples if text.isascii() and "<" not in text
    ]
    counts = {
        name: sum(bool(scan(disguise(text))) for text in attacks)
        for name, disguise in DISGUISES.items()
    }
    tried = len(attacks)
    rows = [
        (name, tried, found, found / tried)
        for name, found in sorted(counts.items(), key=lambda item: item[1])
    ]
    of_all, found = tried * len(DISGUISES), sum(counts.values())
    rows.append(("all", of_all, found, found / of_all))
    return Table("disguised attacks", ("disguise", "attacks", "found", "share"), tuple(rows))


def _hostile_to(matcher: Matcher) -> Iterable[tuple[str, str]]:
    """Text full of beginnings of what the matcher looks for, by what it repeats."""
    words = [min(need) for need in matcher.needs]
    beginnings = [words[: count + 1] for count in range(len(words))]
    units = [*map(" ".join, beginnings), " ".join(reversed(words)), *words, "".join(words)]
    units = [f"{unit} " for unit in units] + (list(_HOSTILE) if matcher.rule.patterns else [])
    for unit in dict.fromkeys(units):
        yield ascii(unit), _filled(unit, HOSTILE_SIZE)


def _filled(unit: str, size: int) -> str:
    return (unit * (size // len(unit) + 1))[:size]


def _milliseconds(call: Callable[[str], object], text: str) -> float:
    start = time.process_time()
    call(text)
    return (time.process_time() - start) * 1_000
