"""Increments of what targets count themselves, and of the processor time of servers.

These are few: one small array for each target and file, compared with the one before.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pfscope.lustre.host import CPU_STATES
from pfscope.lustre.stats import Stats

_BUSY_NOT: Final = [CPU_STATES.index("idle"), CPU_STATES.index("iowait")]
_GUESTS: Final = 2
"""guest and guest_nice are parts of user and nice."""

_MOST: Final = np.uint64(2**63 - 1)
"""What a store's integer holds; Lustre's own counters could be larger only by damage."""

Operation = tuple[str, str]
Counts = NDArray[np.uint64]
"""[samples, total, sumsq; one column for each operation]."""
_SAMPLES, _TOTAL, _SUMSQ = range(3)


@dataclass(frozen=True, slots=True)
class Held:
    """The totals of a target on one of its servers when they were last read."""

    time_us: int
    operations: tuple[Operation, ...]
    counts: Counts

    def of(self, operations: tuple[Operation, ...]) -> tuple[Counts, bool]:
        """Return the counts of some operations, and whether others had been counted."""
        if operations == self.operations:
            return self.counts, False
        counts = np.zeros((3, len(operations)), np.uint64)
        places = {operation: place for place, operation in enumerate(operations)}
        vanished = False
        for operation, held in zip(self.operations, self.counts.T, strict=True):
            if operation in places:
                counts[:, places[operation]] = held
            else:
                vanished |= bool(held[_SAMPLES])
        return counts, vanished


@dataclass(frozen=True, slots=True)
class TotalIncrements:
    """What a target counted in an interval, of each operation that it counted at all."""

    begin_us: int
    operations: list[Operation]
    samples: NDArray[np.int64]
    total: NDArray[np.int64]
    sumsq: NDArray[np.float64]


class Totals:
    """The last totals of every target on each of its servers."""

    def __init__(self) -> None:
        self.targets: dict[tuple[str, str], Held] = {}

    def take(
        self, key: tuple[str, str], time_us: int, stats: Stats
    ) -> tuple[TotalIncrements | None, bool]:
        """Return what was counted since the last totals, and whether the target restarted since.

        `key` is server and target. The first totals are a baseline; late ones say nothing.
        """
        before = self.targets.get(key)
        if before is not None and time_us <= before.time_us:
            return None, False
        operations, counts = _counts(stats)
        self.targets[key] = Held(time_us, operations, counts)
        if before is None:
            return None, False
        held, vanished = before.of(operations)
        restarted = vanished or bool((counts[_SAMPLES] < held[_SAMPLES]).any())
        since = np.zeros_like(held) if restarted else held
        return _increments(before.time_us, operations, counts, since), restarted


def _counts(stats: Stats) -> tuple[tuple[Operation, ...], Counts]:
    """Return the counts by operation; a name that stands twice is added up."""
    operations = tuple(zip(stats.names, stats.units, strict=True))
    counts = np.stack([stats.samples, stats.total, stats.sumsq])
    distinct = {operation: place for place, operation in enumerate(dict.fromkeys(operations))}
    if len(distinct) == len(operations):
        return operations, counts
    summed = np.zeros((3, len(distinct)), np.uint64)
    np.add.at(summed.T, [distinct[operation] for operation in operations], counts.T)
    return tuple(distinct), summed


def _increments(
    begin_us: int, operations: tuple[Operation, ...], counts: Counts, since: Counts
) -> TotalIncrements:
    counted = np.flatnonzero(counts[_SAMPLES] > since[_SAMPLES])
    counts, since = counts[:, counted], since[:, counted]
    grown = counts - since
    samples, total = np.minimum(grown[: _TOTAL + 1], _MOST).astype(np.int64)
    total[counts[_TOTAL] < since[_TOTAL]] = 0
    named = [operations[place] for place in counted.tolist()]
    return TotalIncrements(begin_us, named, samples, total, grown[_SUMSQ].astype(np.float64))


class ProcessorTime:
    """The last processor times of every server."""

    def __init__(self) -> None:
        self._last: dict[str, NDArray[np.uint64]] = {}

    def take(
        self, server: str, ticks: NDArray[np.uint64] | None
    ) -> tuple[float | None, float | None]:
        """Return the shares of all cores that were busy, and that waited for a disk."""
        if ticks is None:
            return None, None
        before = self._last.get(server)
        self._last[server] = ticks
        if before is None or (ticks < before).any():
            return None, None
        passed = (ticks - before).astype(np.float64)[: len(CPU_STATES) - _GUESTS]
        if not passed.sum():
            return None, None
        idle = passed[_BUSY_NOT].sum()
        return float(1 - idle / passed.sum()), float(passed[_BUSY_NOT[1]] / passed.sum())
