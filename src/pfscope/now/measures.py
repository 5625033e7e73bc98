"""What is told of everyone who did something: metrics and operations, as sums of rates."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pfscope.query.metrics import Metric, Term, every_operation, is_bytes, term_of
from pfscope.query.unattributed import OWN

Floats = NDArray[np.float64]
KINDS: Final = ("mdt", "ost")


@dataclass(frozen=True)
class Measure:
    """One column: a weight for every numbered operation, of their samples or their totals."""

    name: str
    unit: str
    weights: Floats
    of_totals: bool
    kinds: tuple[str, ...] = KINDS
    is_metric: bool = False

    def of(self, samples: Floats, totals: Floats, kinds: NDArray[np.str_]) -> Floats:
        """Return the value of each row of rates."""
        values = (totals if self.of_totals else samples) @ self.weights
        return values if self.kinds == KINDS else np.where(np.isin(kinds, self.kinds), values, 0.0)


def measures(operations: Sequence[tuple[str, str]], metrics: Mapping[str, Metric]) -> list[Measure]:
    """Return all metrics, then all operations that some id can be told for."""
    named = [
        _measure(metric.name, metric.unit, term_of(metric, operations), len(operations), True)
        for metric in metrics.values()
    ]
    return named + list(_each(operations))


def _each(operations: Sequence[tuple[str, str]]) -> Iterable[Measure]:
    for term in every_operation(operations):
        for name in dict.fromkeys(term.names[n] for n in sorted(term.weights)):
            if name in OWN:
                continue
            weights = {n: w for n, w in term.weights.items() if term.names[n] == name}
            unit = "bytes" if is_bytes(name) else "requests"
            yield _measure(name, unit, Term(term.column, weights, term.names), len(operations))


def _measure(name: str, unit: str, term: Term, count: int, is_metric: bool = False) -> Measure:
    weights = np.zeros(max(count, 1))
    for number, weight in term.weights.items():
        weights[number] = weight
    return Measure(name, unit, weights, term.column == "total", term.kinds, is_metric)


def without_own(measure: Measure, operations: Sequence[tuple[str, str]]) -> Measure:
    """Return a measure without what targets count and no id could be told for."""
    weights = measure.weights.copy()
    for number, (name, _) in enumerate(operations):
        if name in OWN:
            weights[number] = 0.0
    return Measure(measure.name, measure.unit, weights, measure.of_totals, measure.kinds, True)
