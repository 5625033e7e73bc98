"""The watch over the past: every change of a period, and the incidents behind them."""

from collections.abc import Callable, Iterator
from typing import Final

from pfscope.query.data import Data
from pfscope.watch.incidents import incidents
from pfscope.watch.model import Change, Incident, Signal
from pfscope.watch.signals import Observations, read
from pfscope.watch.trend import Trends

PIECE_US: Final = 6 * 3600 * 10**6
"""So much is read at a time, that memory stays bounded whatever the period."""


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
    for seen in _pieces(data, start_us - learn_us, end_us):
        trends = trends.widened(seen.signals) if trends else Trends(seen.signals)
        for change in _changes(trends, seen):
            found[change.signal, change.start_us] = change
        done_us = int(seen.times_us[-1]) - start_us + learn_us
        progress(done_us / (end_us - start_us + learn_us))
    within = [c for c in found.values() if c.end_us is None or c.end_us > start_us]
    return incidents(data, within, end_us)


def _pieces(data: Data, start_us: int, end_us: int) -> Iterator[Observations]:
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


def _changes(trends: Trends, seen: Observations) -> Iterator[Change]:
    """Yield what is found, step by step; the columns of signals are put in the trends' order."""
    column = {signal: n for n, signal in enumerate(seen.signals)}
    order = [column[signal] for signal in trends.signals]
    for n, time_us in enumerate(seen.times_us.tolist()):
        row = seen.values[n, order], seen.observed[n, order]
        yield from trends.update(time_us, seen.begins_us[n], *row)
