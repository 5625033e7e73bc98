"""Arithmetic of causal averages of step functions, over arrays; no state of its own.

A rate is constant over its interval, so an average with the weight exp(-age / tau) can be carried
from step to step without error, whatever the lengths of the intervals are. `mass` is the part of
the window that was observed: dividing by it makes a young average a plain cumulative mean, and lets
what was seen before a gap count less and less.
"""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

_TINY = 1e-12


def masses(mass: Floats, gap_s: Floats, length_s: Floats, tau_s: Floats) -> tuple[Floats, Floats]:
    """Return the mass at the begin and at the end of an interval that follows a gap."""
    begun = mass * np.exp(-gap_s / tau_s)
    kept = np.exp(-length_s / tau_s)
    return begun, begun * kept + (1.0 - kept)


def gains(mass: Floats, length_s: Floats, tau_s: Floats) -> Floats:
    """Return how much of an interval's value goes into the average; `mass` is that at its end."""
    gain: Floats = -np.expm1(-length_s / tau_s) / np.maximum(mass, _TINY)
    return np.minimum(gain, 1.0)


def crossing_s(old: Floats, value: Floats, line: Floats, mass: Floats, tau_s: Floats) -> Floats:
    """Return how long after an interval's begin the average on its way from `old` meets `line`.

    `mass` is that at the begin. The answer is exact where `line` lies between the two averages.
    """
    ahead = value - line
    whole = ahead + mass * (line - old)
    left = np.divide(ahead, whole, out=np.ones_like(whole), where=np.abs(whole) > _TINY)
    seconds: Floats = -tau_s * np.log(np.clip(left, _TINY, 1.0))
    return seconds
