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

_MOST: Final = 2**63 - 1
"""What a store's integer holds; Lustre's own counters could be larger only by damage."""

Counts = tuple[int, int, int]
"""samples, total, sumsq."""


@dataclass(frozen=True, slots=True)
class TotalIncrement:
    """What a target counted of one operation in an interval."""

    target: str
    operation: tuple[str, str]
    begin_us: int
    samples: int
    total: int
    sumsq: float


class Totals:
    """The last totals of every target on each of its servers."""

    def __init__(self) -> None:
        self.targets: dict[tuple[str, str], tuple[int, dict[tuple[str, str], Counts]]] = {}

    def take(
        self, key: tuple[str, str], time_us: int, stats: Stats
    ) -> tuple[list[TotalIncrement], bool]:
        """Return what was counted since the last totals, and whether the target restarted since.

        `key` is server and target. The first totals are a baseline; late ones say nothing.
        """
        before_us, before = self.targets.get(key, (0, None))
        if before is not None and time_us <= before_us:
            return [], False
        now = _counts(stats)
        self.targets[key] = time_us, now
        if before is None:
            return [], False
        restarted = any(now.get(op, (0,))[0] < counts[0] for op, counts in before.items())
        held = {} if restarted else before
        increments = [_increment(key[1], op, before_us, now[op], held) for op in now]
        return [increment for increment in increments if increment.samples], restarted


def _counts(stats: Stats) -> dict[tuple[str, str], Counts]:
    """Return the counts by operation; a name that stands twice is added up."""
    counts: dict[tuple[str, str], Counts] = {}
    rows = zip(
        stats.names, stats.units, stats.samples.tolist(), stats.total.tolist(),
        stats.sumsq.tolist(), strict=True,
    )  # fmt: skip
    for name, unit, *values in rows:
        held = counts.get((name, unit), (0, 0, 0))
        samples, total, sumsq = (a + b for a, b in zip(held, values, strict=True))
        counts[name, unit] = samples, total, sumsq
    return counts


def _increment(
    target: str,
    operation: tuple[str, str],
    begin_us: int,
    now: Counts,
    before: dict[tuple[str, str], Counts],
) -> TotalIncrement:
    held = before.get(operation, (0, 0, 0))
    samples, total, sumsq = (a - b for a, b in zip(now, held, strict=True))
    return TotalIncrement(target, operation, begin_us, samples, max(total, 0), float(sumsq % 2**64))


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
