"""Reads what is watched: rates of file systems and targets on common steps, and what was observed.

A step of a target was observed where its servers' reads cover it without a long gap; nothing done
in an observed step is a rate of zero, and in another one it is missing. Pure: the same question
gives the same answer, and what comes late is seen by asking again.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from pfscope.query.data import Data
from pfscope.query.metrics import PARTS_OF_RENAME, is_bytes
from pfscope.watch.model import Signal

METRICS: Final = ("iops", "bytes", "metadata")
LONGEST_GAP_US: Final = 600_000_000
"""Servers forget idle entries after so long: what was done in a longer gap is known in part."""
MALFORMED: Final = "malformed"
"""The measure of the share of malformed ids, and their class."""


@dataclass(frozen=True, slots=True)
class Observations:
    """Values of signals in steps: `values` and `observed` are steps × signals."""

    times_us: NDArray[np.int64]
    """The ends of the steps."""
    begins_us: NDArray[np.int64]
    signals: tuple[Signal, ...]
    values: NDArray[np.float64]
    """0 where nothing was done, and where nothing was observed."""
    observed: NDArray[np.bool_]
    complete_us: int
    """Up to here every target that is still being read was observed; later steps may yet fill."""
    read_us: Mapping[str, int]
    """When each target was read last: what it did until then is whole."""


def read(
    data: Data, start_us: int, end_us: int, *, step_us: int | None = None,
    known: Iterable[Signal] = (),
) -> Observations:  # fmt: skip
    """Return all signals of a period, and the `known` ones also where nothing was done.

    Steps are the multiples of `step_us` that lie wholly in the period; without it they are as long
    as the time between two reads usually is.
    """
    seen = _Seen(data.quality(**_period(start_us - LONGEST_GAP_US, end_us)).table)
    step = step_us or seen.usual_step_us()
    first, last = -(-start_us // step), end_us // step
    edges = np.arange(first, max(last, first) + 1, dtype=np.int64) * step
    columns = _Columns(edges, seen)
    if len(edges) > 1 and seen.times:
        asked = {**_period(int(edges[0]), int(edges[-1])), "step": timedelta(microseconds=step)}
        place = ("filesystem", "target")
        columns.take(data.totals(by=(*place, "operation"), **asked).table, None)
        for metric in METRICS:
            columns.take(data.totals(by=place, operation=metric, **asked).table, metric)
        columns.take_quality()
    return columns.observations(known)


def _period(start_us: int, end_us: int) -> dict[str, Any]:
    return {"start": _moment(start_us), "end": _moment(end_us)}


def _moment(time_us: int) -> datetime:
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=time_us)


def _micros(column: pa.ChunkedArray) -> NDArray[np.int64]:
    times: NDArray[np.int64] = pc.cast(column, pa.timestamp("us", "UTC")).cast("int64").to_numpy()
    return times


class _Seen:
    """When each target was read, and how many of its entries had malformed ids."""

    def __init__(self, quality: pa.Table) -> None:
        times, targets = _micros(quality["time"]), quality["target"].to_pylist()
        entries = quality["entries"].to_numpy().astype(float)
        bad = np.array([c == MALFORMED for c in quality["class"].to_pylist()], bool)
        names, index = np.unique(np.array(targets, str), return_inverse=True)
        self.times: dict[str, NDArray[np.int64]] = {}
        self.malformed: dict[str, NDArray[np.float64]] = {}
        for number, name in enumerate(names.tolist()):
            rows = index == number
            own, at = np.unique(times[rows], return_inverse=True)
            of_all = np.bincount(at, entries[rows])
            of_bad = np.bincount(at, entries[rows] * bad[rows])
            self.times[name] = own
            self.malformed[name] = of_bad / np.maximum(of_all, 1.0)

    def usual_step_us(self) -> int:
        """Return the usual time between two reads of a target, to the second."""
        gaps = [np.diff(times) for times in self.times.values() if len(times) > 1]
        usual = float(np.median(np.concatenate(gaps))) if gaps else 60e6
        return max(round(usual / 1e6), 1) * 1_000_000

    def covered(self, target: str, edges: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Tell which steps lie between reads that are not far apart."""
        whole = np.zeros(len(edges) - 1, bool)
        for begin, end in self._runs(self.times[target].tolist()):
            whole |= (edges[:-1] >= begin) & (edges[1:] <= end)
        return whole

    def complete_us(self, edges: NDArray[np.int64]) -> int:
        """Return the end of the last step that no target which is still read can change."""
        newest = [int(times[-1]) for times in self.times.values()]
        alive = [time for time in newest if time > max(newest) - LONGEST_GAP_US]
        done = edges[edges <= min(alive)] if alive else edges[:1]
        return int(done[-1] if len(done) else edges[0])

    @staticmethod
    def _runs(times: Sequence[int]) -> Iterable[tuple[int, int]]:
        begin = times[0]
        for before, time in pairwise(times):
            if time - before > LONGEST_GAP_US:
                yield begin, before
                begin = time
        yield begin, times[-1]


class _Columns:
    """One column of values for each signal, as far as something was done."""

    def __init__(self, edges: NDArray[np.int64], seen: _Seen) -> None:
        self._edges, self._seen = edges, seen
        self._values: dict[Signal, NDArray[np.float64]] = {}
        self._covered = {name: seen.covered(name, edges) for name in seen.times}
        self._file_systems: dict[str, str] = {}

    def take(self, rows: pa.Table, metric: str | None) -> None:
        """Take rates of targets, and add them up by file system."""
        steps = np.searchsorted(self._edges[1:], _micros(rows["time"]))
        rates, count = rows["rate"].to_numpy(), len(rows)
        measures = [metric] * count if metric else rows["operation"].to_pylist()
        places = zip(rows["filesystem"].to_pylist(), rows["target"].to_pylist(), strict=True)
        of: dict[tuple[str, str, str], list[int]] = {}
        for row, ((file_system, target), measure) in enumerate(zip(places, measures, strict=True)):
            of.setdefault((file_system, target, measure), []).append(row)
        for (file_system, target, measure), found in of.items():
            if measure not in PARTS_OF_RENAME:
                self._file_systems[target] = file_system
                unit = "bytes" if measure == "bytes" or is_bytes(measure) else "requests"
                for scope, name in (("target", target), ("filesystem", file_system)):
                    column = self._column(Signal(file_system, scope, name, measure, unit))
                    column[steps[found]] += rates[found]

    def take_quality(self) -> None:
        """Take the share of malformed ids as it was at the last read of each step."""
        for target, times in self._seen.times.items():
            signal = Signal(self._of(target), "target", target, MALFORMED, "share")
            at = np.searchsorted(times, self._edges[1:], side="right") - 1
            share = np.where(at >= 0, self._seen.malformed[target][np.maximum(at, 0)], 0.0)
            self._column(signal)[:] = share

    def observations(self, known: Iterable[Signal]) -> Observations:
        """Return all columns beside each other."""
        signals = tuple(sorted({*self._values, *known}))
        shape = (len(self._edges) - 1, len(signals))
        values, observed = np.zeros(shape), np.zeros(shape, bool)
        for number, signal in enumerate(signals):
            values[:, number] = self._values.get(signal, 0.0)
            observed[:, number] = self._observed(signal)
        return Observations(
            self._edges[1:], self._edges[:-1], signals, np.where(observed, values, 0.0), observed,
            self._seen.complete_us(self._edges),
            {name: int(times[-1]) for name, times in self._seen.times.items()},
        )  # fmt: skip

    def _observed(self, signal: Signal) -> NDArray[np.bool_]:
        """Tell when a signal was observed: of a file system, when all of its targets were."""
        names = [signal.name]
        if signal.scope == "filesystem":
            names = [t for t in self._covered if self._of(t) == signal.name]
        each = [self._covered[name] for name in names if name in self._covered]
        whole = np.logical_and.reduce(each) if each else np.zeros(len(self._edges) - 1, bool)
        return np.asarray(whole, bool)

    def _of(self, target: str) -> str:
        """Return the file system of a target; one that did nothing is known by its name."""
        return self._file_systems.get(target) or target.rpartition("-")[0]

    def _column(self, signal: Signal) -> NDArray[np.float64]:
        return self._values.setdefault(signal, np.zeros(len(self._edges) - 1))
