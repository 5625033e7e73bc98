"""How far signals usually stray beyond their bands: the tails of their noise, learned one by one.

Excursions beyond a band come so often, and reach so far, with sizes that fall off exponentially
(on logarithms: a power law of rates). From both follows how far one goes once in a long time. All
sizes are in standard deviations; an excursion teaches no more than a few usual ones, so that an
incident does not pass for noise, while a signal that has them every day soon does.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from pfscope.watch.trend_config import TrendSettings
from pfscope.watch.trend_filter import Floats

Ints = NDArray[np.int64]
_DAY_S: Final = 86_400.0


class Tails:
    """Excursions of every scale and signal; the first index is the direction: down, up."""

    def __init__(self, scales: int, count: int, settings: TrendSettings) -> None:
        self._settings = settings
        first = np.ones((2, scales, count))
        self.number: Floats = first * settings.tail_number
        self.size: Floats = first * settings.tail_size
        self.days: Floats = np.full(count, settings.tail_number / settings.tail_daily)

    def rare(self) -> Floats:
        """Return how far beyond its band a signal goes once in the settings' long time."""
        daily = self.number / np.maximum(self.days, 1e-9)
        often = np.maximum(daily * self._settings.rare_days, 1.0)
        rare: Floats = self.size * np.log(often)
        return rare

    def learn(self, seconds: Floats, over: Ints, depth: Floats, pace: Floats) -> None:
        """Let time pass, and take the excursions that are `over` (-1, 1), by how far they went.

        `pace` is what each counts for: less than one where it was a change that is told.
        """
        days = seconds / _DAY_S
        kept = np.exp(-days / self._settings.tail_memory_days)
        self.days = self.days * kept + days
        weight = np.where(np.stack((over < 0, over > 0)) & (depth > 0), pace, 0.0)
        self.number = self.number * kept + weight
        part = np.divide(weight, self.number, out=np.zeros_like(weight), where=self.number > 0)
        most = np.minimum(depth, self._settings.tail_clip * self.size)
        self.size += part * (most - self.size)
