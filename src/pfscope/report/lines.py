"""From rows `time, keys, rate` to lines: the step function of each, as Plotly draws it with `vh`.

A row's rate holds in (time - step, time], so a vertical stroke comes before the horizontal one.
Where rows are missing nothing was done: a line is zero there, and is broken on a log axis.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from pfscope.report import numbers

Floats = npt.NDArray[np.float64]
Times = npt.NDArray[np.int64]
Name = tuple[str | None, ...]
_DAY_US: Final = 86_400 * 10**6


@dataclass(frozen=True)
class Line:
    """The rates of one thing, at rising ends of steps; steps without a row are zero."""

    name: Name
    ends: Times
    rates: Floats

    @property
    def peak(self) -> float:
        """The largest rate."""
        return float(self.rates.max(initial=0.0))

    @property
    def peak_us(self) -> int:
        """When it was largest."""
        return int(self.ends[self.rates.argmax()])


@dataclass(frozen=True)
class Steps:
    """The steps of an answer: when each that has a row anywhere begins."""

    start_us: int
    end_us: int
    ends: Times
    begins: Times

    @staticmethod
    def of(start_us: int, end_us: int, *tables: pa.Table) -> "Steps":
        """Find the steps: as long as the usual one, or shorter where two ends are nearer."""
        ends = np.unique(np.concatenate([np.empty(0, np.int64), *map(times, tables)]))
        between = np.diff(ends, prepend=start_us)
        values, counts = np.unique(between, return_counts=True)
        usual = values[counts.argmax()] if len(values) else end_us - start_us
        return Steps(start_us, end_us, ends, ends - np.minimum(between, usual))

    def begins_of(self, ends: Times) -> Times:
        """Return when the steps with these ends begin."""
        found: Times = self.begins[np.searchsorted(self.ends, ends)]
        return found

    def at(self, time_us: int) -> str:
        """Write a time, with its day where there are several."""
        one_day = self.end_us - self.start_us <= _DAY_US
        return numbers.clock(time_us) if one_day else numbers.minute(time_us)

    def length_us(self) -> int:
        """Return how long steps are."""
        return int(np.median(self.ends - self.begins)) if len(self.ends) else 0


def times(table: pa.Table, column: str = "time") -> Times:
    """Return a column of times as microseconds."""
    found: Times = table[column].cast(pa.int64()).to_numpy()
    return found


def lines_of(table: pa.Table, keys: Sequence[str], value: str = "rate") -> list[Line]:
    """Split rows by keys, the largest sum first."""
    names, codes = _coded(table, keys)
    ends, rates = times(table), table[value].cast(pa.float64()).to_numpy()
    order = np.lexsort((ends, codes))
    edges = np.searchsorted(codes[order], np.arange(len(names) + 1))
    found = [
        Line(name, ends[order[a:b]], rates[order[a:b]])
        for name, a, b in zip(names, edges[:-1], edges[1:], strict=True)
    ]
    return sorted(found, key=lambda line: -float(line.rates.sum()))


def _coded(table: pa.Table, keys: Sequence[str]) -> tuple[list[Name], Times]:
    """Return the distinct values of some columns, and which of them each row has."""
    rows = np.zeros(len(table), np.int64)
    columns: list[list[Any]] = []
    for key in keys:
        encoded = pc.dictionary_encode(table[key].combine_chunks(), null_encoding="encode")
        columns.append(encoded.dictionary.to_pylist())
        rows = rows * len(columns[-1]) + encoded.indices.to_numpy(zero_copy_only=False)
    distinct, codes = np.unique(rows, return_inverse=True)
    places = np.unravel_index(distinct, [len(c) for c in columns]) if keys else ()
    names = [
        tuple(c[i] for c, i in zip(columns, at, strict=True)) for at in zip(*places, strict=True)
    ]
    return names if keys else [()] * len(distinct), codes.astype(np.int64)


def summed(lines: Sequence[Line], name: Name) -> Line:
    """Return the sum of some lines."""
    ends = np.concatenate([np.empty(0, np.int64), *[line.ends for line in lines]])
    rates = np.concatenate([np.empty(0), *[line.rates for line in lines]])
    distinct, places = np.unique(ends, return_inverse=True)
    whole: Floats = np.zeros(len(distinct))
    np.add.at(whole, places, rates)
    return Line(name, distinct, whole)


def filled(line: Line, steps: Steps) -> Floats:
    """Return a line's rate in each step, zeros included."""
    found = np.zeros(len(steps.ends))
    found[np.searchsorted(steps.ends, line.ends)] = line.rates
    return found


def stroke(line: Line, steps: Steps, *, zeros: bool) -> tuple[Times, Floats]:
    """Return the points that draw a step function with `vh`; without zeros, it breaks there."""
    ends, rates = line.ends, line.rates
    begins = steps.begins_of(ends)
    before = np.concatenate([[steps.start_us], ends[:-1]])
    if not zeros:
        starts = np.flatnonzero(begins > before)
        starts = np.union1d([0], starts) if len(ends) else starts
        places = np.repeat(starts, 2)
        broken = np.stack([np.full(len(starts), np.nan), rates[starts]], axis=1).ravel()
        return np.insert(ends, places, begins[places]), np.insert(rates, places, broken)
    gaps = np.flatnonzero(begins > before)
    x, y = np.insert(ends, gaps, begins[gaps]), np.insert(rates, gaps, 0.0)
    if not len(ends) or ends[-1] < steps.end_us:
        x, y = np.append(x, steps.end_us), np.append(y, 0.0)
    return np.insert(x, 0, steps.start_us), np.insert(y, 0, y[0])
