"""Runs of one application compared: which factor separates its slow runs from its fast ones.

The slow are the third of runs with the least bandwidth, the fast the third with the most. A factor
separates them if a rank test says so (Mann-Whitney, corrected by Holm for as many factors as were
tried), the difference is large (it tells a slow run from a fast one in most of all pairs) and of
the kind that can slow a run down: a slow run has a low share of metadata because it is slow. Where
none does, none is named.
"""

from math import erfc, sqrt
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa

from pfscope.mine.sweep import Seconds
from pfscope.mine.sweep_files import numbers

BANDWIDTH: Final = "bandwidth_critical_mib_s"
HARM: Final = {
    "small_pct": 1, "nonconsec_pct": 1, "coll_pct": 0, "ost_count": 0, "proc_per_ost": 1,
    "misaligned_pct": 1, "imbalance_pct": 1, "metadata_pct": 1, "files_at_once": -1,
    "top_file_pct": 1,
}  # fmt: skip
"""Factors, and whether more of it (1), less (-1) or either (0) can slow a run down."""
FACTORS: Final = tuple(HARM)
SCALE: Final = ("bytes", "nprocs", "files")
"""How much was done: no fault, but it may be why runs differ."""
FEWEST: Final = 6
"""Runs on each side, without which nothing is said."""
_SURE: Final = 0.05
_LARGE: Final = 0.474
"""Cliff's delta from which on an effect is called large."""


class Separation(NamedTuple):
    """How a factor differs between slow runs and fast ones."""

    factor: str
    slow: float
    """Median of the slow runs."""
    fast: float
    effect: float
    """Cliff's delta: 1, all slow runs have more than all fast ones; -1, less; 0, no difference."""
    p: float
    """How likely so large a difference is by chance, corrected for the number of factors."""
    separates: bool


class Cohort(NamedTuple):
    """The runs of an application, and what separates the slow from the fast."""

    runs: int
    """How many have a bandwidth."""
    separations: tuple[Separation, ...]
    """Of all factors that differ at all, the strongest first; empty: too few runs to say."""

    @property
    def separating(self) -> tuple[Separation, ...]:
        """Those that do separate; none is an answer too."""
        return tuple(found for found in self.separations if found.separates)


def compare(runs: pa.Table) -> Cohort:
    """Return what separates slow runs from fast ones, given the factors of each."""
    bandwidth = numbers(runs[BANDWIDTH])
    known = np.flatnonzero(np.isfinite(bandwidth))
    side = len(known) // 3
    if side < FEWEST:
        return Cohort(len(known), ())
    order = known[np.argsort(bandwidth[known], kind="stable")]
    slow, fast = order[:side], order[-side:]
    tried = []
    for name in (*FACTORS, *SCALE):
        values = numbers(runs[name])
        low, high = (part[np.isfinite(part)] for part in (values[slow], values[fast]))
        known_of_all = min(len(low), len(high)) >= FEWEST
        if known_of_all and len(np.unique(np.concatenate([low, high]))) > 1:
            tried.append((name, low, high))
    return Cohort(len(known), _separations(tried))


def standing(runs: pa.Table, name: str, value: float) -> float | None:
    """Return which share of runs has less than a value, those that have as much by half."""
    values = numbers(runs[name])
    values = values[np.isfinite(values)]
    if not len(values) or not np.isfinite(value):
        return None
    return float(((values < value).sum() + (values == value).sum() / 2) / len(values))


def mann_whitney(first: Seconds, second: Seconds) -> tuple[float, float]:
    """Return Cliff's delta and the chance of so large a one, with corrections for ties.

    >>> delta, p = mann_whitney(np.arange(10.0) + 20, np.arange(10.0))
    >>> round(delta, 3), round(p, 6)
    (1.0, 0.000183)
    """
    n, m = len(first), len(second)
    both = np.concatenate([first, second])
    _, places, counts = np.unique(both, return_inverse=True, return_counts=True)
    middle = np.cumsum(counts) - (counts - 1) / 2
    above = middle[places[:n]].sum() - n * (n + 1) / 2
    ties = float((counts**3 - counts).sum())
    variance = n * m / 12 * (n + m + 1 - ties / ((n + m) * (n + m - 1)))
    distance = max(abs(above - n * m / 2) - 0.5, 0)
    p = erfc(distance / sqrt(2 * variance)) if variance else 1.0
    return float(2 * above / (n * m) - 1), p


def _separations(tried: list[tuple[str, Seconds, Seconds]]) -> tuple[Separation, ...]:
    tested = [(name, slow, fast, *mann_whitney(slow, fast)) for name, slow, fast in tried]
    corrected = _holm([p for *_, p in tested])
    found = [
        Separation(
            name, float(np.median(slow)), float(np.median(fast)), effect, p,
            p < _SURE and abs(effect) >= _LARGE and effect * HARM.get(name, 0) >= 0,
        )
        for (name, slow, fast, effect, _), p in zip(tested, corrected, strict=True)
    ]  # fmt: skip
    return tuple(sorted(found, key=lambda one: (not one.separates, -abs(one.effect), one.factor)))


def _holm(chances: list[float]) -> list[float]:
    """Correct chances for how many there are."""
    order = sorted(range(len(chances)), key=chances.__getitem__)
    corrected, least = [0.0] * len(chances), 0.0
    for rank, i in enumerate(order):
        least = max(least, min(1.0, chances[i] * (len(chances) - rank)))
        corrected[i] = least
    return corrected
