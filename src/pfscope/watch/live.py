"""The watch beside a server: goes on from its last look, and says what is known after each change.

Each target has its own place in time, so one that is not read for a while holds up no other, and
what comes late is taken when it comes. All that is known between two looks is in `state`: a watch
that was restored there finds the same as one that never stopped, in the same order.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pfscope.query.data import Data, Source
from pfscope.watch.batch import PIECE_US
from pfscope.watch.grouping import group
from pfscope.watch.incidents import incidents
from pfscope.watch.model import Change, Direction, Incident, Signal, State
from pfscope.watch.remembered import Remembered
from pfscope.watch.signals import LONGEST_GAP_US, Observations, read
from pfscope.watch.source import LEARN_US
from pfscope.watch.trend import Trends

_MINUTE_US: Final = 60 * 10**6
_HOUR_US: Final = 60 * _MINUTE_US
_KEPT_US: Final = _HOUR_US
"""A change that is over for longer is of no account to what goes on, unless a chain leads there."""
_LONGEST_CHAIN_US: Final = 48 * _HOUR_US
_SELDOM_US: Final = 10 * _MINUTE_US
"""Who is behind what goes on is looked at again after a minute, later and later, up to this."""
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Sight:
    """What is known at a time."""

    at_us: int
    incidents: tuple[Incident, ...]
    """All that go on, and those that ended not long ago."""
    since_us: int
    """All are here that did not end before."""


@dataclass(slots=True)
class _Known:
    """What a watch knows, apart from its trends."""

    begin_us: int
    """Nothing before it was looked at."""
    step_us: int | None = None
    at_us: int = 0
    """The newest step that was looked at."""
    done_us: dict[str, int] = field(default_factory=dict)
    """Up to where each target, and each file system, was looked at."""
    read_us: dict[str, int] = field(default_factory=dict)
    """When each target was read last."""


class Live:
    """Watches one store for as long as it lives. One thread."""

    def __init__(
        self, source: Source, first_us: int, state: Mapping[str, NDArray[Any]] | None = None
    ) -> None:
        self._data = Data(Remembered(source))
        self._straight = Data(source)
        self._known = _Known(first_us)
        self._trends = Trends(())
        self._changes: dict[tuple[Signal, int], Change] = {}
        self._last: Sight | None = None
        if state is not None:
            self._restore(state)

    @property
    def at_us(self) -> int:
        """Return the newest step that was looked at; 0: none."""
        return self._known.at_us

    def look(self, newest_us: int, since_us: int = 0) -> Iterator[Sight]:
        """Go on to the newest observation, and yield what is known after each change.

        What was known before `since_us` is not told. The first look tells in any case.
        """
        since_us = max(since_us, 1)
        begin_us, before_us = self._begin_us(newest_us), newest_us
        while begin_us < before_us:
            for seen in self._pieces(begin_us, newest_us):
                for news in self._follow(seen):
                    if news and self.at_us >= since_us:
                        yield self._sight()
            # Once more, from further back, where somebody who was silent is heard of again.
            begin_us, before_us = self._begin_us(newest_us), begin_us
        if self.at_us >= since_us and (self._last is None or self._is_time()):
            yield self._sight()

    def silence(self) -> Sight | None:
        """Return what is known when nobody is heard of any more; None: that is no news."""
        last = self._last
        if last is None or all(each.state is not State.ONGOING for each in last.incidents):
            return None
        self._last = replace(last, incidents=tuple(map(_unknown, last.incidents)))
        return self._last

    def state(self) -> dict[str, NDArray[Any]]:
        """Return all there is to know, as arrays that NumPy saves without pickling."""
        changes = [{**asdict(each), "direction": each.direction} for each in self._changes.values()]
        told = json.dumps({"known": asdict(self._known), "changes": changes})
        return {**self._trends.state(), "live": np.array(told)}

    def _restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        told = json.loads(str(state["live"]))
        self._known = _Known(**told["known"])
        self._trends = Trends.restore({k: v for k, v in state.items() if k != "live"})
        for plain in told["changes"]:
            signal, way = Signal(**plain.pop("signal")), Direction(plain.pop("direction"))
            self._note([Change(signal, way, **plain)])

    def _pieces(self, at: int, newest_us: int) -> Iterator[Observations]:
        """Yield what was observed from a time on, by parts that memory has room for."""
        known = self._known
        while at < newest_us:
            end = min(at + PIECE_US, newest_us)
            # How often servers are read is certain after a while only.
            young = known.at_us - known.begin_us < _HOUR_US
            seen = read(
                self._straight, at, end, step_us=None if young else known.step_us,
                known=self._trends.signals,
            )  # fmt: skip
            if len(seen.times_us):
                known.step_us = int(seen.times_us[0] - seen.begins_us[0])
                yield seen
            after = int(seen.times_us[-1]) if len(seen.times_us) else at
            at = after if end < newest_us and after > at else end

    def _begin_us(self, newest_us: int) -> int:
        """Return from where on there is something to look at."""
        known = self._known
        earliest_us = max(known.begin_us, newest_us - LEARN_US)
        alive = [
            known.done_us.get(name, known.begin_us)
            for name, read_us in known.read_us.items()
            if read_us > newest_us - LONGEST_GAP_US
        ]
        # The last step once more, if need be: it tells who is heard of.
        begin_us = min(*alive, newest_us - 2 * (known.step_us or 1)) if alive else known.at_us
        return max(begin_us, earliest_us)

    def _follow(self, seen: Observations) -> Iterator[bool]:
        """Take a piece, step by step; yield after each whether anything changed."""
        self._trends = self._trends.widened(seen.signals)
        self._known.read_us |= seen.read_us
        for name in (*seen.read_us, *(signal.filesystem for signal in seen.signals)):
            self._known.done_us.setdefault(name, int(seen.begins_us[0]))
        column = {signal: n for n, signal in enumerate(seen.signals)}
        order = [column[signal] for signal in self._trends.signals]
        done, whole = self._places(seen)
        for n, time_us in enumerate(seen.times_us.tolist()):
            fresh = (done < time_us) & (time_us <= whole)
            if fresh.any():
                self._known.at_us = max(self.at_us, time_us)
                observed = seen.observed[n, order] & fresh
                row = seen.values[n, order], observed
                yield self._note(self._trends.update(time_us, seen.begins_us[n], *row))
        self._done(seen, whole)

    def _places(self, seen: Observations) -> tuple[Ints, Ints]:
        """Return, for each signal, up to where it was looked at, and up to where it is whole."""
        whole = _whole(seen, self._trends.signals)
        names = [_place(signal) for signal in self._trends.signals]
        return (
            np.array([self._known.done_us[name] for name in names], np.int64),
            np.array([whole.get(name, 0) for name in names], np.int64),
        )

    def _done(self, seen: Observations, whole: Ints) -> None:
        """Note up to where each place was looked at."""
        done, times = self._known.done_us, seen.times_us
        for signal, until in zip(self._trends.signals, whole.tolist(), strict=True):
            at = int(np.searchsorted(times, until, side="right"))
            if at:
                name = _place(signal)
                done[name] = max(done.get(name, 0), int(times[at - 1]))

    def _note(self, changes: Iterable[Change]) -> bool:
        """Keep changes in mind, and tell whether there are any."""
        found = {(change.signal, change.start_us): change for change in changes}
        self._changes |= found
        return bool(found)

    def _is_time(self) -> bool:
        """Tell whether what goes on should be looked at again."""
        assert self._last is not None
        going = [each for each in self._last.incidents if each.end_us is None]
        if not going:
            return False
        if any((each.state is State.UNKNOWN) != self._is_lost(each) for each in going):
            return True
        found = [change.found_us for change in self._changes.values() if change.end_us is None]
        age_us = self._last.at_us - max(found, default=0)
        return self.at_us - self._last.at_us >= min(max(age_us, _MINUTE_US), _SELDOM_US)

    def _sight(self) -> Sight:
        """Work out what is known now."""
        self._note(self._trends.ongoing())
        since_us = self._forget()
        found = incidents(self._data, self._changes.values(), self.at_us)
        told = tuple(_unknown(each) if self._is_lost(each) else each for each in found)
        self._last = Sight(self.at_us, told, since_us)
        return self._last

    def _forget(self) -> int:
        """Forget what is over and joined to nothing that goes on; return since when all is kept."""
        since_us = self.at_us - _KEPT_US
        groups = group(self._changes.values())
        for each in sorted(groups, key=lambda g: g.end_us or self.at_us, reverse=True):
            if (each.end_us or self.at_us) >= since_us:
                since_us = min(since_us, each.start_us)
        since_us = max(since_us, self.at_us - _LONGEST_CHAIN_US)
        gone = [g for g in groups if g.end_us is not None and g.end_us < since_us]
        lost = {(c.signal, c.start_us) for g in gone for c in g.changes} if self._last else set()
        self._changes = {
            key: change for key, change in self._changes.items()
            if key not in lost and (change.direction is Direction.UP or change.end_us is None)
        }  # fmt: skip
        return since_us if self._last else 0

    def _is_lost(self, incident: Incident) -> bool:
        """Tell whether nothing was heard for long of where an incident goes on."""
        if incident.end_us is not None:
            return False
        read = self._known.read_us
        where = [read[name] for name in incident.targets if name in read]
        return bool(where) and max(where) <= self.at_us - LONGEST_GAP_US


def _whole(seen: Observations, signals: Iterable[Signal]) -> dict[str, int]:
    """Return up to when each target is whole, and each file system with those that are alive."""
    of = {s.name: s.filesystem for s in signals if s.scope == "target" and s.name in seen.read_us}
    times: dict[str, list[int]] = {}
    for target, file_system in of.items():
        times.setdefault(file_system, []).append(seen.read_us[target])
    alive = {name: [t for t in each if t > max(each) - LONGEST_GAP_US]
             for name, each in times.items()}  # fmt: skip
    return {**seen.read_us, **{name: min(each) for name, each in alive.items()}}


def _place(signal: Signal) -> str:
    return signal.name if signal.scope == "target" else signal.filesystem


def _unknown(incident: Incident) -> Incident:
    if incident.state is not State.ONGOING:
        return incident
    return replace(incident, state=State.UNKNOWN)
