"""The watch over the past: every change of a period, and the incidents behind them."""

from collections.abc import Callable, Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pfscope.query.data import Data
from pfscope.watch.incidents import incidents
from pfscope.watch.model import Change, Incident, Signal
from pfscope.watch.signals import Observations, read
from pfscope.watch.trend import Trends

PIECE_US: Final = 6 * 3600 * 10**6
"""So much is read at a time, that memory stays bounded whatever the period."""
Step = tuple[int, int, NDArray[np.float64], NDArray[np.bool_]]
"""End, begin, values and what was observed."""


def watch(
    data: Data,
    start_us: int,
    end_us: int,
    learn_us: int = 0,
    progress: Callable[[float], None] = lambda _part: None,
) -> list[Incident]:
    """Return the incidents that went on in a period; `learn_us` before it tell what is usual.

    `progress` hears which part of the time is done.
    """
    found: dict[tuple[object, int], Change] = {}
    trends: Trends | None = None
    for seen in pieces(data, start_us - learn_us, end_us):
        trends = trends.widened(seen.signals) if trends else Trends(seen.signals)
        for step in steps(trends, seen):
            for change in trends.update(*step):
                found[change.signal, change.start_us] = change
        done_us = int(seen.times_us[-1]) - start_us + learn_us
        progress(done_us / (end_us - start_us + learn_us))
    within = [c for c in found.values() if c.end_us is None or c.end_us > start_us]
    return incidents(data, within, end_us)


def pieces(data: Data, start_us: int, end_us: int) -> Iterator[Observations]:
    """Yield what was observed in a period, piece by piece; steps are as long in all of them."""
    begin, step_us = start_us, None
    known: tuple[Signal, ...] = ()
    while begin < end_us:
        end = min(begin + PIECE_US, end_us)
        seen = read(data, begin, end, step_us=step_us, known=known)
        if len(seen.times_us):
            step_us = int(seen.times_us[0] - seen.begins_us[0])
            known = seen.signals
            yield seen
        begin = int(seen.times_us[-1]) if len(seen.times_us) and end < end_us else end


def steps(trends: Trends, seen: Observations) -> Iterator[Step]:
    """Yield each step as the trends take it, with the signals in their order."""
    column = {signal: n for n, signal in enumerate(seen.signals)}
    order = [column[signal] for signal in trends.signals]
    for n, time_us in enumerate(seen.times_us.tolist()):
        begin_us = int(seen.begins_us[n])
        yield time_us, begin_us, seen.values[n, order], seen.observed[n, order]
