"""The hour-of-week baseline: how much a signal differs from its long average at that hour.

Only what was so in both of the last two weeks counts, and only as far as both agree: one incident
is no habit, a backup every Sunday is. Before two weeks have passed there is no baseline.
"""

import numpy as np
from numpy.typing import NDArray

from pfscope.watch.trend_filter import Floats

_HOUR_US = 3_600_000_000


class Rhythm:
    """One profile for each signal, of so many hours as come again and again."""

    def __init__(self, hours: int, count: int) -> None:
        self._hours = hours
        self.visits: Floats = np.full((3, hours, count), np.nan)
        """Mean differences in the latest visit of each hour, and in the two visits before."""
        self.seconds: Floats = np.zeros((hours, count))
        """How long the latest visit was observed."""
        self.latest: NDArray[np.int64] = np.full((hours, count), -1)
        """Which hour since 1970 it was."""

    def at(self, time_us: int) -> Floats:
        """Return the baseline of each signal, from the visits before this one."""
        number = time_us // _HOUR_US
        hour = number % self._hours
        visits, present = self.visits[:, hour], self.latest[hour] == number
        last, older = np.where(present, visits[1:], visits[:2])
        agree = np.sign(last) == np.sign(older)
        smaller = np.minimum(np.abs(last), np.abs(older))
        return np.where(agree, np.sign(last) * smaller, 0.0)

    def learn(self, time_us: int, length_s: Floats, difference: Floats) -> None:
        """Take what signals differ from their long averages by; no length teaches nothing."""
        number = time_us // _HOUR_US
        hour = number % self._hours
        visits, new = self.visits[:, hour], (length_s > 0) & (self.latest[hour] != number)
        visits[1:] = np.where(new, visits[:2], visits[1:])
        visits[0] = np.where(new, 0.0, visits[0])
        seconds = np.where(new, 0.0, self.seconds[hour]) + length_s
        part = np.divide(length_s, seconds, out=np.zeros_like(seconds), where=seconds > 0)
        visits[0] += part * (difference - visits[0])
        self.seconds[hour] = seconds
        self.latest[hour] = np.where(new, number, self.latest[hour])
