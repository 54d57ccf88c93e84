"""How much of a labelled set of texts the guard finds, and what it finds where nothing is."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from memoryweb.core.guard.rule import Posture
from memoryweb.core.guard.scan import scan


@dataclass
class Tally:
    """How many texts there were and how many of them were flagged."""

    rows: int = 0
    flagged: int = 0

    @property
    def rate(self) -> float:
        """The share that was flagged: recall for attacks, false alarms for harmless texts."""
        return self.flagged / self.rows if self.rows else 0.0

    def count(self, flagged: bool) -> None:
        self.rows += 1
        self.flagged += flagged

    def as_json(self) -> dict[str, float]:
        return {"rows": self.rows, "flagged": self.flagged, "rate": round(self.rate, 4)}


@dataclass
class Tallies:
    """One label's texts, in all and by the source and the kind that the rows name."""

    overall: Tally = field(default_factory=Tally)
    by_source: defaultdict[str, Tally] = field(default_factory=lambda: defaultdict(Tally))
    by_kind: defaultdict[str, Tally] = field(default_factory=lambda: defaultdict(Tally))

    def count(self, row: Mapping[str, str], flagged: bool) -> None:
        self.overall.count(flagged)
        self.by_source[row.get("source", "")].count(flagged)
        self.by_kind[row.get("kind", "")].count(flagged)

    def as_json(self) -> dict[str, object]:
        return {
            "overall": self.overall.as_json(),
            "by_source": {name: tally.as_json() for name, tally in sorted(self.by_source.items())},
            "by_kind": {name: tally.as_json() for name, tally in sorted(self.by_kind.items())},
        }


@dataclass
class Evaluation:
    """The tallies of attacks and of harmless texts, and how often each rule spoke."""

    malicious: Tallies = field(default_factory=Tallies)
    benign: Tallies = field(default_factory=Tallies)
    rules: dict[str, dict[str, int]] = field(default_factory=dict)

    def as_json(self) -> dict[str, object]:
        return {
            "recall": self.malicious.as_json(),
            "false_alarms": self.benign.as_json(),
            "rules": dict(sorted(self.rules.items())),
        }


def evaluate(rows: Iterable[Mapping[str, str]], *, posture: Posture = "injected") -> Evaluation:
    """Scan the `text` of every row; `label` is "malicious" or "benign", else ValueError."""
    result = Evaluation()
    labels = {"malicious": result.malicious, "benign": result.benign}
    for row in rows:
        label = row["label"]
        if label not in labels:
            raise ValueError(f"The label is neither malicious nor benign: {label!r}")
        spoke = {finding.rule for finding in scan(row["text"], posture=posture)}
        labels[label].count(row, bool(spoke))
        for rule in spoke:
            counts = result.rules.setdefault(rule, {"malicious": 0, "benign": 0})
            counts[label] += 1
    return result
