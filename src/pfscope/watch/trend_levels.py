"""How far each signal is from its usual level, on every scale, and since when.

All arrays are scale × signal, or one value for each signal. A signal without an observation has an
interval of no length, in which nothing changes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pfscope.watch.trend_config import TrendSettings, Unit
from pfscope.watch.trend_filter import Bools, Floats, crossing_s, gains, masses
from pfscope.watch.trend_rhythm import Rhythm
from pfscope.watch.trend_tails import Tails

Ints = NDArray[np.int64]
_SECOND: Final = 1e6
BY_SCALE: Final = (
    "short",
    "short_mass",
    "long",
    "mass",
    "spread",
    "noise",
    "known",
    "extreme",
    "depth",
)
WHOLE_BY_SCALE: Final = ("side", "since_us")


@dataclass(frozen=True, slots=True)
class Step:
    """What one interval was, for each signal."""

    time_us: int
    begin_us: Ints
    value: Floats
    """As observed; 0 where it was not."""
    seen: Bools
    gap_s: Floats
    length_s: Floats


@dataclass(frozen=True, slots=True)
class View:
    """Where the signals stand after a step, against what was usual before it."""

    away: Floats
    """The short averages less the long ones."""
    ahead: Floats
    """The newest values less the long averages."""
    band: Floats
    """How far away is still usual."""
    limit: Floats
    """How far away is too far."""
    warm: Bools
    usual: Floats
    """The long averages, in the signals' units."""
    now: Floats
    """The short averages, in the signals' units."""


class Levels:
    """Averages, scales, and on which side of its band each signal is."""

    def __init__(self, units: Sequence[Unit], settings: TrendSettings) -> None:
        self._settings, count = settings, len(units)
        self._floor = np.array([u.floor for u in units], float)
        self._log = np.array([u.log for u in units], bool)
        scales = settings.scales
        self._short_s = np.array([[s.short_s] for s in scales])
        self._long_s = np.array([[s.long_s] for s in scales])
        self._spread_s = np.maximum(self._long_s, settings.spread_s)
        shape = (len(scales), count)
        self.arrays: dict[str, NDArray[Any]] = {name: np.zeros(shape) for name in BY_SCALE}
        self.arrays |= {name: np.zeros(shape, np.int64) for name in WHOLE_BY_SCALE}
        self.rhythm = Rhythm(settings.rhythm_hours, count)
        self.tails = Tails(len(scales), count, settings)

    def follow(self, step: Step, held: Bools) -> View:
        """Take a step; where `held`, what is usual stays."""
        own, middle_us = self.arrays, step.time_us - int(step.length_s.max(initial=0) * 5e5)
        rhythm = self.rhythm.at(middle_us)
        x = np.where(step.seen, self._level(step.value) - rhythm, own["long"])
        begun, mass = masses(own["short_mass"], step.gap_s, step.length_s, self._short_s)
        short = own["short"] + gains(mass, step.length_s, self._short_s) * (x - own["short"])
        usual = np.where(own["mass"] > 0, own["long"], x)
        sigma, rare = self._sigma("spread"), self.tails.rare()
        band = np.maximum(self._settings.band_sigmas * sigma, self._least() / 3.0)
        tail = self._settings.tail_sigmas * sigma
        far = tail + np.where(short < usual, rare[0], rare[1]) * sigma
        limit = np.maximum(far, np.maximum(self._settings.sigmas * sigma, self._least()))
        before, since_us = own["side"], own["since_us"]
        self._cross(step, x, usual, band, begun, short)
        pace = np.where(held, self._settings.learning, 1.0)
        brief = step.time_us - since_us < self._settings.brief_s * _SECOND
        beyond = (np.abs(short - usual) - tail) / sigma
        self._stray(step, before, beyond, np.where(brief, 1.0, pace))
        warm = own["known"] * self._spread_s >= self._warm_s()
        rates = self._rates(usual + rhythm, short + rhythm)
        own["short"], own["short_mass"] = short, mass
        self._learn(step, held, pace, x, usual)
        self.rhythm.learn(middle_us, step.length_s, x[-1] - usual[-1] + rhythm)
        return View(short - usual, x - usual, band, limit, warm, *rates)

    def settle(self, which: Bools) -> None:
        """Take the level that signals have now as their usual one."""
        own = self.arrays
        own["long"] = np.where(which, own["short"][-1], own["long"])
        for name in WHOLE_BY_SCALE:
            own[name] = np.where(which, 0, own[name])

    def state(self) -> dict[str, NDArray[Any]]:
        """Return all arrays."""
        rhythm, tails = self.rhythm, self.tails
        learned = {"visits": rhythm.visits, "seconds": rhythm.seconds, "latest": rhythm.latest}
        learned |= {"strays": tails.number, "stray": tails.size, "days": tails.days}
        return {**self.arrays, **learned}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Take arrays as they were; ValueError: they are of another shape."""
        if any(state[name].shape != array.shape for name, array in self.state().items()):
            raise ValueError("the state of the trends is of other scales or signals")
        self.arrays = {name: state[name].copy() for name in self.arrays}
        rhythm, tails = self.rhythm, self.tails
        rhythm.visits, rhythm.seconds = state["visits"].copy(), state["seconds"].copy()
        rhythm.latest, tails.days = state["latest"].copy(), state["days"].copy()
        tails.number, tails.size = state["strays"].copy(), state["stray"].copy()

    def _level(self, value: Floats) -> Floats:
        rate = np.maximum(value, 0.0) / np.where(self._log, self._floor, 1.0)
        return np.where(self._log, np.log1p(rate), value)

    def _rates(self, *levels: Floats) -> tuple[Floats, ...]:
        scale = np.where(self._log, self._floor, 1.0)
        return tuple(np.where(self._log, scale * np.expm1(np.where(self._log, level, 0.0)), level)
                     for level in levels)  # fmt: skip

    def _cross(
        self, step: Step, x: Floats, usual: Floats, band: Floats, begun: Floats, short: Floats
    ) -> None:
        """Note when short averages left the bands around the long ones, or came back."""
        own, before, away = self.arrays, self.arrays["side"], short - usual
        side = np.where(np.abs(away) > band, np.sign(away), 0).astype(np.int64)
        side = np.where(step.seen, side, before)
        moved = side != before
        line = usual + band * np.where(side != 0, side, before)
        after_s = crossing_s(own["short"], x, line, begun, self._short_s)
        crossed = step.begin_us + (np.minimum(after_s, step.length_s) * _SECOND).astype(np.int64)
        own["since_us"] = np.where(moved, crossed, own["since_us"])
        lower, higher = (f(own["extreme"], step.value) for f in (np.minimum, np.maximum))
        further = np.where(side < 0, lower, higher)
        own["extreme"] = np.where(moved, step.value, np.where(step.seen, further, own["extreme"]))
        own["side"] = side

    def _stray(self, step: Step, before: Ints, beyond: Floats, pace: Floats) -> None:
        """Note how far into its tail each excursion goes; those that are over teach the tails."""
        own, side = self.arrays, self.arrays["side"]
        self.tails.learn(step.length_s, np.where(side != before, before, 0), own["depth"], pace)
        deeper = np.where(side == before, np.maximum(own["depth"], beyond), beyond)
        own["depth"] = np.where(step.seen, np.where(side != 0, deeper, 0.0), own["depth"])

    def _learn(self, step: Step, held: Bools, pace: Floats, x: Floats, usual: Floats) -> None:
        """Move what is usual, by no more than a clipped deviation."""
        own = self.arrays
        _, mass = masses(own["mass"], step.gap_s, step.length_s, self._long_s)
        _, known = masses(own["known"], step.gap_s, step.length_s, self._spread_s)
        error = np.clip(x - usual, *self._clip("noise"))
        apart = np.clip(own["short"] - usual, *self._clip("spread"))
        gain = np.where(held, 0.0, gains(mass, step.length_s, self._long_s))
        own["long"] = usual + gain * error
        part = pace * gains(known, step.length_s, self._spread_s)
        own["noise"] += part * (error**2 - own["noise"])
        astray = np.where(own["side"] != 0, self._settings.straying, 1.0)
        own["spread"] += np.minimum(astray, pace) / pace * part * (apart**2 - own["spread"])
        own["mass"], own["known"] = mass, known

    def _first_mass(self) -> Floats:
        first: Floats = self._settings.sigma_windows * self._short_s / self._spread_s
        return first

    def _sigma(self, name: str) -> Floats:
        """Return a scale, between what was found and what is assumed of a signal at first."""
        found, mass, first = self.arrays[name], self.arrays["known"], self._first_mass()
        assumed = np.where(self._log, self._settings.sigma_first**2, found)
        squared = (mass * found + first * assumed) / (mass + first)
        least = np.where(self._log, self._settings.sigma_least, self._floor)
        sigma: Floats = np.maximum(np.sqrt(squared), least)
        return sigma

    def _clip(self, name: str) -> Floats:
        """Return the lowest and the highest deviation that teaches all of itself."""
        unknown = ~self._log & (self.arrays["known"] < self._first_mass())
        most = np.where(unknown, np.inf, self._settings.clip * self._sigma(name))
        return np.stack((-most, most))

    def _least(self) -> Floats:
        """Return the least deviation that can count."""
        least: Floats = np.where(self._log, np.log(self._settings.ratio), 0.0)
        return least

    def _warm_s(self) -> Floats:
        return np.maximum(self._settings.warm_up_s, 10.0 * self._short_s)
