"""What others did on a run's OSTs while it was at work there, from the servers' own counts (LMT).

Steps of LMT are weighed with the part of them that lies in the run's time, for a run's clock is
often true to the second alone, and steps are of some seconds.
"""

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from pfscope.mine.factors import summed
from pfscope.mine.factors_osts import OstUse
from pfscope.mine.sweep import Indices, Seconds
from pfscope.mine.sweep_files import numbers


class Others(NamedTuple):
    """The traffic on a run's OSTs in its time; an OST for which there is no count is left out."""

    ost: Indices
    own_bytes: Seconds
    all_bytes: Seconds
    covered: float
    """Which part of the run's time and OSTs the servers' counts cover."""

    @property
    def others_bytes(self) -> Seconds:
        """What others moved on each OST."""
        return np.maximum(self.all_bytes - self.own_bytes, 0)

    @property
    def share(self) -> float | None:
        """Which part of all bytes there others moved; None: there were none."""
        whole = float(np.maximum(self.all_bytes, self.own_bytes).sum())
        return float(self.others_bytes.sum()) / whole if whole else None


def others_on(use: OstUse, steps: pa.Table, start_s: float, end_s: float) -> Others | None:
    """Return what others did; `steps` are rows of `ost`, `end_s`, `step_s` and `bytes`.

    Times are seconds since the run began. None: the servers' counts say nothing of that time.
    """
    if not steps.num_rows or end_s <= start_s:
        return None
    ost = steps["ost"].to_numpy().astype(np.int64)
    until, step = numbers(steps["end_s"]), numbers(steps["step_s"])
    inside = np.minimum(until, end_s) - np.maximum(until - step, start_s)
    known = np.isfinite(numbers(steps["bytes"])) & (inside > 0) & np.isin(ost, use.ost)
    ost, inside, step = ost[known], inside[known], step[known]
    moved = numbers(steps["bytes"])[known] * inside / step
    width = int(use.ost.max(initial=0)) + 1
    totals, seen = (summed(ost, values, width)[use.ost] for values in (moved, inside))
    told = seen > 0
    if not told.any():
        return None
    covered = float(seen.sum() / ((end_s - start_s) * len(use.ost)))
    own = use.bytes * np.minimum(seen / (end_s - start_s), 1)
    return Others(use.ost[told], own[told], totals[told], min(covered, 1.0))
