"""Finds when signals leave their usual level: short averages against long ones, step by step.

A step costs the same whatever the history is, and depends on what came before through the arrays of
`state` alone: a run that was restored goes on as if it had never stopped. A signal without an
observation stands still: nothing of it is found, ended or learned until it is observed again.
"""

from collections.abc import Mapping, Sequence
from dataclasses import astuple
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pfscope.watch.model import Change, Direction, Signal
from pfscope.watch.trend_config import TrendSettings
from pfscope.watch.trend_filter import Bools
from pfscope.watch.trend_levels import Levels, Step, View

_SECOND: Final = 1e6
_BY_SIGNAL: Final = ("peak", "baseline")
_WHOLE_BY_SIGNAL: Final = (
    "last_us", "active", "owner", "start_us", "found_us", "back_us", "inside_us",
)  # fmt: skip


class Trends:
    """All watched signals and the changes that they are in.

    >>> trends = Trends(signals)  # doctest: +SKIP
    >>> for time_us, begin_us, values, observed in steps:  # doctest: +SKIP
    ...     changes = trends.update(time_us, begin_us, values, observed)
    """

    def __init__(self, signals: Sequence[Signal], settings: TrendSettings | None = None) -> None:
        self.settings = settings or TrendSettings()
        self.signals: tuple[Signal, ...] = tuple(signals)
        units = [self.settings.unit(s.unit) for s in self.signals]
        self._rise = np.array([u.rise for u in units], float)
        self._log = np.array([u.log for u in units], bool)
        self._fall = np.array([u.fall for u in units], float)
        self._levels = Levels(units, self.settings)
        count = len(self.signals)
        self._own: dict[str, NDArray[Any]] = {name: np.zeros(count) for name in _BY_SIGNAL}
        self._own |= {name: np.zeros(count, np.int64) for name in _WHOLE_BY_SIGNAL}
        self._time_us = 0

    def update(
        self, time_us: int, begin_us: ArrayLike, values: ArrayLike, observed: ArrayLike
    ) -> list[Change]:
        """Take values of the interval (begin, time]; return changes found, ended or settled.

        NaN is as good as not observed, and so is an interval that was taken before. A signal begins
        with its first value above zero: what nobody ever did has no usual level.
        """
        time_us = int(time_us)
        step = self._step(time_us, begin_us, values, observed)
        changing = self._own["active"] != 0
        view = self._levels.follow(step, changing)
        ended = self._ended(step, view)
        settled = changing & ~ended & step.seen & self._overdue(time_us)
        found = self._found(step, view, ~changing)
        self._follow_peaks(step)
        changes = self._told(found) + self._closed(ended, settled, time_us)
        self._levels.settle(settled)
        self._own["active"][ended | settled] = 0
        self._own["last_us"] = np.where(step.seen, time_us, self._own["last_us"])
        self._time_us = max(self._time_us, time_us)
        return changes

    def ongoing(self) -> list[Change]:
        """Return the changes that were found and neither ended nor settled, as they stand."""
        return self._told(self._own["active"] != 0)

    def unknown(self) -> Bools:
        """Tell which signals were not observed in the latest step."""
        missing: Bools = self._own["last_us"] < self._time_us
        return missing

    def widened(self, signals: Sequence[Signal]) -> "Trends":
        """Return the same with more signals, as new ones; those that are watched stay in place."""
        watched = set(self.signals)
        new = [s for s in dict.fromkeys(signals) if s not in watched]
        if not new:
            return self
        blank, state = Trends(new, self.settings).state(), self.state()
        for name, array in state.items():
            if array.ndim:
                axis = 0 if name == "signals" else -1
                state[name] = np.concatenate([array, blank[name]], axis=axis)
        return Trends.restore(state, self.settings)

    def state(self) -> dict[str, NDArray[Any]]:
        """Return all there is to know, as arrays that NumPy saves without pickling."""
        names = np.array([astuple(s) for s in self.signals], str).reshape(-1, 5)
        every = {**self._levels.state(), **self._own}
        every |= {"signals": names, "time_us": np.array(self._time_us)}
        return {name: array.copy() for name, array in every.items()}

    @staticmethod
    def restore(
        state: Mapping[str, NDArray[Any]], settings: TrendSettings | None = None
    ) -> "Trends":
        """Go on from a state; ValueError: it was made with other scales."""
        trends = Trends([Signal(*map(str, row)) for row in state["signals"]], settings)
        trends._levels.restore(state)
        for name in (*_BY_SIGNAL, *_WHOLE_BY_SIGNAL):
            trends._own[name] = state[name].copy()
        trends._time_us = int(state["time_us"])
        return trends

    def _step(
        self, time_us: int, begin_us: ArrayLike, values: ArrayLike, observed: ArrayLike
    ) -> Step:
        last_us, shape = self._own["last_us"], (len(self.signals),)
        begin = np.broadcast_to(np.asarray(begin_us, np.int64), shape)
        begin = np.maximum(begin, last_us)
        value = np.broadcast_to(np.asarray(values, float), shape)
        seen = np.broadcast_to(np.asarray(observed, bool), shape) & np.isfinite(value)
        seen &= (begin < time_us) & ((value != 0) | (last_us > 0))
        gap_s = np.where(seen & (last_us > 0), (begin - last_us) / _SECOND, 0.0)
        length_s = np.where(seen, (time_us - begin) / _SECOND, 0.0)
        return Step(time_us, begin, np.where(seen, value, 0.0), seen, gap_s, length_s)

    def _found(self, step: Step, view: View, free: Bools) -> Bools:
        """Begin a change where a signal is far away, still is so now, and was so for long."""
        side, since_us = self._levels.arrays["side"], self._levels.arrays["since_us"]
        more = view.now - view.usual
        large = self._log & (more >= self.settings.large * self._rise)
        certain = np.where(large, np.log(self.settings.certain), np.inf)
        limit = np.minimum(view.limit, certain)
        far = (np.abs(view.away) > limit) & (view.ahead * side > limit / 2)
        lasted = step.time_us - since_us >= self.settings.lasts_s * _SECOND
        much = np.where(side < 0, -more >= self._fall, more >= self._rise)
        each = far & lasted & much & view.warm & step.seen & free
        each &= (side > 0) | _below_slower(view)
        found: Bools = np.any(each, axis=0)
        owner, column = each.argmax(axis=0), np.arange(len(self.signals))
        values = {
            "owner": owner, "active": side[owner, column], "start_us": since_us[owner, column],
            "found_us": step.time_us, "back_us": 0, "inside_us": 0,
            "baseline": view.usual[owner, column],
            "peak": self._levels.arrays["extreme"][owner, column],
        }  # fmt: skip
        for name, value in values.items():
            self._own[name] = np.where(found, value, self._own[name])
        return found

    def _ended(self, step: Step, view: View) -> Bools:
        """Tell which changes are over: for a while, the signal is at its usual level again.

        The end is when its values came back; the short average comes a little later, and decides.
        """
        own, at = self._own, (self._own["owner"], np.arange(len(self.signals)))
        away = view.ahead[at] * own["active"] > view.band[at]
        since = np.where(own["back_us"] > 0, own["back_us"], step.begin_us)
        own["back_us"] = np.where(step.seen, np.where(away, 0, since), own["back_us"])
        outside = self._levels.arrays["side"][at] == own["active"]
        since = np.where(own["inside_us"] > 0, own["inside_us"], step.time_us)
        own["inside_us"] = np.where(step.seen, np.where(outside, 0, since), own["inside_us"])
        rested = step.time_us - own["inside_us"] >= self.settings.rest_s * _SECOND
        over: Bools = step.seen & (own["active"] != 0) & ~outside & rested
        return over

    def _overdue(self, time_us: int) -> Bools:
        late = time_us - self._own["start_us"] >= self.settings.settle_s * _SECOND
        overdue: Bools = late & (self._own["inside_us"] == 0)
        return overdue

    def _follow_peaks(self, step: Step) -> None:
        own = self._own
        higher = np.maximum(own["peak"], step.value)
        further = np.where(own["active"] < 0, np.minimum(own["peak"], step.value), higher)
        going = step.seen & (own["active"] != 0)
        own["peak"] = np.where(going, further, own["peak"])

    def _told(self, which: Bools) -> list[Change]:
        return [self._change(i, None) for i in np.flatnonzero(which).tolist()]

    def _closed(self, ended: Bools, settled: Bools, time_us: int) -> list[Change]:
        ends = [(i, self._end_us(i), False) for i in np.flatnonzero(ended).tolist()]
        ends += [(i, time_us, True) for i in np.flatnonzero(settled).tolist()]
        return [self._change(*end) for end in ends]

    def _end_us(self, index: int) -> int:
        back_us, inside_us = (int(self._own[name][index]) for name in ("back_us", "inside_us"))
        return max(min(back_us or inside_us, inside_us), int(self._own["start_us"][index]) + 1)

    def _change(self, index: int, end_us: int | None, settled: bool = False) -> Change:
        own = {name: array[index].item() for name, array in self._own.items()}
        direction = Direction.UP if own["active"] > 0 else Direction.DOWN
        return Change(
            self.signals[index], direction, own["start_us"], own["found_us"], end_us,
            own["baseline"], own["peak"], settled,
        )  # fmt: skip


def _below_slower(view: View) -> Bools:
    """Tell where values are low on all slower scales, too: a rise that is over is no fall."""
    low = view.ahead < -view.band / 2.0
    slower = np.vstack([low[1:], np.ones_like(low[:1])])
    below: Bools = np.logical_and.accumulate(slower[::-1])[::-1]
    return below
