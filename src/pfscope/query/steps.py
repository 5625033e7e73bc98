"""Rates on common timestamps: equations C4 to C8 for step functions with steps anywhere.

An increment is spread evenly over its interval, so each step gets the part that lies in it: what
was counted is the same before and after (C7), and sums need not agree on their timestamps (C8).
"""

from collections.abc import Sequence
from itertools import pairwise

import ibis
import ibis.expr.types as ir

from pfscope.query.tables import instant, micros
from pfscope.query.window import EvenSteps, GivenSteps, Steps, Window

_SECOND = 1e6


def rates(increments: ir.Table, keys: Sequence[str], steps: Steps) -> ir.Table:
    """Return `time` (the end of a step), the keys, `rate` per second and `increment`.

    Steps in which nothing happened have no row.
    """
    intervals = _relative(increments, keys, steps.window)
    pieces = _evenly(intervals, steps) if isinstance(steps, EvenSteps) else _given(intervals, steps)
    share = (pieces.upto - pieces.since).cast("float64") / pieces.length.cast("float64")
    parts = pieces.mutate(part=pieces.value * share)
    summed = parts.group_by([*keys, "low", "high"]).agg(increment=parts.part.sum())
    summed = summed.filter(summed.increment > 0)
    seconds = (summed.high - summed.low).cast("float64") / _SECOND
    time = instant(summed.high, steps.window.start_us)
    timed = summed.mutate(time=time, rate=summed.increment / seconds)
    return timed.select("time", *keys, "rate", "increment")


def _relative(increments: ir.Table, keys: Sequence[str], window: Window) -> ir.Table:
    """Return intervals cut to the window, in microseconds since 1970."""
    begin, end = micros(increments.begin), micros(increments.time)
    begin = ibis.least(begin, end - 1)  # an interval without length is an instant
    cut = increments.select(
        *keys,
        value=increments.value,
        length=end - begin,
        since=ibis.greatest(begin, window.start_us),
        upto=ibis.least(end, window.end_us),
    )
    return cut.filter(cut.since < cut.upto)


def _evenly(intervals: ir.Table, steps: EvenSteps) -> ir.Table:
    """Cut intervals at the multiples of the step."""
    step, window, origin = steps.step_us, steps.window, steps.origin_us
    first = ((intervals.since - origin) // step).cast("int64")
    behind = ((intervals.upto - origin + (step - 1)) // step).cast("int64")
    cut = intervals.mutate(step=ibis.range(first, behind).unnest())
    low = ibis.greatest(cut.step * step + origin, window.start_us)
    high = ibis.least((cut.step + 1) * step + origin, window.end_us)
    return _within(cut.mutate(low=low, high=high))


def _given(intervals: ir.Table, steps: GivenSteps) -> ir.Table:
    """Cut intervals at the given edges."""
    between = [{"low": low, "high": high} for low, high in pairwise(steps.edges_us)]
    edges = ibis.literal(between, "array<struct<low: int64, high: int64>>").unnest()
    edges = edges.name("edge").as_table().unpack("edge")
    overlap = [intervals.since < edges.high, intervals.upto > edges.low]
    return _within(intervals.inner_join(edges, overlap))


def _within(cut: ir.Table) -> ir.Table:
    """Cut each piece to its step."""
    return cut.mutate(since=ibis.greatest(cut.since, cut.low), upto=ibis.least(cut.upto, cut.high))
