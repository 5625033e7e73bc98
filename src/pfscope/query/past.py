"""What was usual before an interval: its past, in blocks as long as the interval itself.

A mean adds up over members and a median does not, so times are left out instead of values: of the
blocks, sorted by their total, the lowest third and the highest. What remains is the same time for
everyone, and neither a spike nor a standstill before the interval is in it.
"""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from pfscope.errors import UsageError
from pfscope.query.asked import Asked
from pfscope.query.window import EvenSteps, Window
from pfscope.times import duration_us, time_us

BLOCKS = 24
"""The past has no more of them; where it is longer, they are."""
_DAY_US = 24 * 3600 * 10**6


@dataclass(frozen=True)
class Usual:
    """The blocks that count as usual."""

    kept: NDArray[np.bool_]
    totals: NDArray[np.float64]
    """The rate of everything in each block."""
    seconds: float
    """The length of those that are kept."""


def past_of(asked: Asked) -> EvenSteps:
    """Return the blocks before the interval, as far as it was observed."""
    start, end = _wanted(asked)
    start = max(start, asked.catalog.first_us or 0)
    if start >= end:
        raise UsageError(
            "nothing was observed before the interval, so there is no past to compare it with: "
            "let it begin later with --from"
        )
    blocks = min(max((end - start) // asked.window.length_us, 1), BLOCKS)
    return EvenSteps(Window(start, end), -(-(end - start) // blocks), start)


def _wanted(asked: Asked) -> tuple[int, int]:
    """Return from when to when the past is asked for."""
    length, since, until = (asked.option(n) for n in ("baseline", "baseline_from", "baseline_to"))
    if length and since:
        raise UsageError("the past is told by --baseline or by --baseline-from, not by both")
    last = asked.catalog.last_us or 0
    end = asked.window.start_us
    if until:
        end = min(end, time_us(until, now_us=last, end=True))
    if since:
        return time_us(since, now_us=last), end
    interval = asked.window.length_us
    usual = max(interval, min(BLOCKS * interval, _DAY_US))
    return end - (duration_us(length) if length else usual), end


def blocks_of(times: pa.ChunkedArray, past: EvenSteps) -> NDArray[np.int64]:
    """Return the number of the block that ends at each time."""
    ends = pc.cast(times, pa.timestamp("us", times.type.tz)).cast(pa.int64()).to_numpy()
    numbers: NDArray[np.int64] = (ends - past.origin_us - 1) // past.step_us
    return numbers


def usual(block: NDArray[np.int64], increment: NDArray[np.float64], past: EvenSteps) -> Usual:
    """Choose the usual blocks by the totals of increments in them."""
    window = past.window
    edges = np.append(np.arange(window.start_us, window.end_us, past.step_us), window.end_us)
    seconds = np.diff(edges) / 1e6
    totals = np.bincount(block, increment, minlength=len(seconds)) / seconds
    aside = len(seconds) // 3
    kept = np.zeros(len(seconds), bool)
    kept[np.argsort(totals, kind="stable")[aside : len(seconds) - aside]] = True
    return Usual(kept, totals, float(seconds[kept].sum()))
