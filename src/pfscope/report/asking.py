"""Questions of one report: the same data, period and selection for all; none is put twice."""

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from pfscope.errors import InputError, UsageError
from pfscope.query.data import Data
from pfscope.query.results import Result
from pfscope.report.lines import Steps
from pfscope.times import iso

MANY = 1000
_AS_READ = ("counters", "quality")
"""What is told as it was read, whatever the step of the rest."""


@dataclass
class Asking:
    """Asks for a period of some data; without one, for the newest day of it."""

    data: Data
    start: str | None = None
    end: str | None = None
    words: dict[str, Any] = field(default_factory=dict)
    """Which usage: `filesystem`, `system`, `login`, …"""
    step: str | None = None
    """Of answers over time; None: so long that a figure shows them all."""
    answers: dict[str, Result] = field(default_factory=dict, repr=False)
    """What was answered already, for all periods."""

    def ask(self, name: str, **words: Any) -> Result:
        """Put a question."""
        told = {"start": self.start, "end": self.end, **self._step(name), **self.words, **words}
        key = repr((name, sorted(told.items())))
        if key not in self.answers:
            self.answers[key] = self.data.ask(name, **told)
        return self.answers[key]

    def _step(self, name: str) -> dict[str, str]:
        return {"step": self.step} if self.step and name not in _AS_READ else {}

    def maybe(self, name: str, **words: Any) -> Result | None:
        """Put a question that this data may not be able to answer, as with an older server."""
        try:
            return self.ask(name, **words)
        except UsageError:
            return None

    def of_targets(self, name: str, **words: Any) -> Result | None:
        """Put a question about targets, which have no users: words about those are left out."""
        told = {key: None for key in self.words if key not in ("filesystem", "target", "server")}
        return self.maybe(name, **{**told, **words})

    def during(self, start_us: int, end_us: int) -> "Asking":
        """Return the same for another period."""
        return replace(self, start=iso(start_us), end=iso(end_us))

    def totals(self, metric: str) -> Result:
        """Return what was done on each file system of one metric."""
        return self.ask("top", **totals_words(metric))

    @property
    def start_us(self) -> int:
        """Where the data of the period begins."""
        return int(self.totals("iops").about["from_us"])

    @property
    def end_us(self) -> int:
        """Where it ends."""
        return int(self.totals("iops").about["to_us"])

    @property
    def observed(self) -> bool:
        """Whether anything was done."""
        return len(self.totals("iops")) > 0

    def steps(self, *results: Result) -> Steps:
        """Return the steps of answers over time."""
        return Steps.of(self.start_us, self.end_us, *(result.table for result in results))

    def require_usage(self) -> None:
        """Refuse a period in which nothing was done: there is nothing to draw."""
        if not self.observed:
            raise InputError(f"nothing was done from {iso(self.start_us)} to {iso(self.end_us)}")

    def rates(self) -> Result:
        """Return the total rates of every operation to every target."""
        return self.ask("totals", by=["kind", "operation", "target"])

    @cached_property
    def operations(self) -> dict[str, list[str]]:
        """The operations that were done, by kind of target."""
        pairs = self.rates().table.select(["kind", "operation"])
        distinct = pairs.group_by(["kind", "operation"]).aggregate([]).to_pylist()
        found: dict[str, list[str]] = {}
        for row in distinct:
            found.setdefault(row["kind"], []).append(row["operation"])
        return found


def totals_words(metric: str) -> dict[str, Any]:
    """Return the words of the question for what was done on each file system."""
    return {"by": "filesystem", "operation": metric, "limit": MANY}
