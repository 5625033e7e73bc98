"""How trends are watched: time scales, and what counts as a change. Plain frozen settings.

The defaults hold for rates of a whole file system, server or target, observed every few seconds to
minutes; docs/explanation/trends.md says what they were measured with.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final


@dataclass(frozen=True, slots=True)
class Scale:
    """A short window that is compared with a long one; both are time constants."""

    short_s: float
    long_s: float


@dataclass(frozen=True, slots=True)
class Unit:
    """What is small in a unit: noise there is of no interest, however large it is relatively."""

    floor: float
    """Values well below it are alike; if there are no logarithms, the least standard deviation."""
    rise: float
    """An increase by less does not count."""
    fall: float
    """Nor a decrease by less; smaller, as only what was steady for long can fall."""
    log: bool = True
    """Compare logarithms of values; otherwise the values themselves, which can be negative."""


_MIB: Final = float(2**20)
UNITS: Final[Mapping[str, Unit]] = MappingProxyType(
    {
        "requests": Unit(0.2, 20.0, 1.0),
        "bytes": Unit(_MIB, 20 * _MIB, 5 * _MIB),
        "share": Unit(0.01, 0.05, 0.05),
        "entries": Unit(10.0, 50.0, 50.0),
        "load": Unit(0.5, 4.0, 2.0),
        "seconds": Unit(1e-3, 5e-3, 5e-3),
        "usecs": Unit(1e3, 5e3, 5e3),
    }
)


@dataclass(frozen=True, slots=True)
class TrendSettings:
    """When a signal has changed: far from usual, by much, and for long enough."""

    scales: tuple[Scale, ...] = (
        Scale(120.0, 1_800.0),
        Scale(600.0, 86_400.0),
        Scale(3_600.0, 7 * 86_400.0),
    )
    """From the fastest to the slowest."""
    units: Mapping[str, Unit] = field(default_factory=lambda: UNITS)
    sigmas: float = 5.5
    """How far from usual, in robust standard deviations of the short average from the long one."""
    ratio: float = 2.0
    """And how many times more, or less, at least."""
    rare_days: float = 50.0
    """And farther than such a signal, by itself, goes once in so long a time."""
    certain: float = 4.0
    """A rise to so many times the usual is told however noisy the signal is, …"""
    large: float = 10.0
    """… if it is so many times as much as it must be to count at all."""
    band_sigmas: float = 2.0
    """Within it a signal is at its usual level; beyond it is an excursion."""
    lasts_s: float = 180.0
    """For how long the signal must have been outside the band."""
    rest_s: float = 600.0
    """And inside it again, until a change has ended."""
    settle_s: float = 86_400.0
    """After so long the new level is the usual one."""
    warm_up_s: float = 3_600.0
    """Nothing counts before that, nor before ten short windows of a scale."""
    clip: float = 3.0
    """Deviations teach the long average and the scale no more than these many sigmas."""
    learning: float = 0.05
    """How much a change that is told teaches what is usual, compared with any other time.

    It teaches the long average nothing, until the new level has settled.
    """
    straying: float = 0.4
    """How much a signal beyond its band teaches the scale: how far it strays is learned apart."""
    brief_s: float = 1_200.0
    """An excursion that is over sooner teaches fully: a signal that has many is like that."""
    spread_s: float = 86_400.0
    """The scale is learned over so long a window, or over the long one if that is longer."""
    sigma_first: float = 0.4
    """Of a signal of which nothing is known yet, as a difference of logarithms."""
    sigma_least: float = 0.12
    """No signal is taken to be steadier."""
    sigma_windows: float = 30.0
    """So many short windows of data weigh as much as `sigma_first`."""
    tail_sigmas: float = 3.0
    """The tail of the noise begins so far away."""
    tail_number: float = 5.0
    """A new signal is taken to have been in its tail so many times, …"""
    tail_daily: float = 2.0
    """… so many times each day, …"""
    tail_size: float = 0.4
    """… and by so many sigmas in the mean."""
    tail_clip: float = 2.5
    """An excursion counts for no more than so many usual ones."""
    tail_memory_days: float = 14.0
    """For so long excursions are remembered."""
    rhythm_hours: int = 168
    """What is usual depends on the hour of the week, once there were two weeks."""

    def unit(self, name: str) -> Unit:
        """Return what is small in a unit; one that is not known is taken as a bare number."""
        return self.units.get(name, Unit(1.0, 1.0, 1.0))
