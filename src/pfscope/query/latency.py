"""How long requests took: mean and deviation of the service time, by key and operation.

Lustre 2.14 and later add up the time and its square, from when a request is taken up until it is
answered. Sums of squares are kept in 64 bits and wrap: those that cannot be are not believed. The
extremes are those of the window only where each series has told a new one in it.
"""

from collections.abc import Sequence

import ibis
import ibis.expr.types as ir
import pyarrow as pa

from pfscope.query.asked import Asked
from pfscope.query.metrics import Term, timed_operations
from pfscope.query.selection import Selection
from pfscope.query.tables import micros
from pfscope.query.usage import rows
from pfscope.query.window import Steps

_NO_TIMES = "no server tells how long requests took: Lustre 2.14 and later do"
_TOLERANCE = 1e-9
"""Sums of squares are stored as floating-point numbers."""
_TOLD = ("requests", "mean_us", "deviation_us", "minimum_us", "maximum_us")


def latency(asked: Asked) -> pa.Table:
    """Return the keys, `operation`, `requests`, and their times in microseconds."""
    keys = list(dict.fromkeys((*asked.by, "operation")))
    term = _timed(asked)
    asked.notes["unit"] = "us"
    if not term.weights:
        asked.notes["why"] = _NO_TIMES
        term = Term("samples", {-1: 1.0}, {-1: ""})

    def build(steps: Steps, horizon_us: int | None) -> ir.Table:
        selection = asked.selection(steps.window, horizon_us)
        found = _summed(_parts(rows(selection, term, keys), selection), keys)
        order = [(found.requests * found.mean_us).desc(), *keys]
        return found.order_by(order).select(*keys, *_TOLD).limit(asked.option("limit"))

    return asked.rows(build)


def _timed(asked: Asked) -> Term:
    """Return the lines that tell times, of the operations that are meant."""
    found = timed_operations(asked.catalog.operations)
    if asked.request.operation is not None and asked.metric is not None:
        wanted = asked.metric.weights
        found = {n: name for n, name in found.items() if "*" in wanted or name in wanted}
    return Term("samples", dict.fromkeys(found, 1.0), found)


def _parts(found: ir.Table, selection: Selection) -> ir.Table:
    """Return rows with the part of each that lies in the window."""
    start, end = selection.window.start_us, selection.window.end_us
    begin, time = micros(found.begin), micros(found.time)
    begin = ibis.least(begin, time - 1)
    inside = ibis.least(time, end) - ibis.greatest(begin, start)
    return found.mutate(part=inside.cast("float64") / (time - begin).cast("float64"))


def _summed(found: ir.Table, keys: Sequence[str]) -> ir.Table:
    samples, total = found.samples.cast("float64"), found.total.cast("float64")
    wrapped = found.sumsq * samples < total * total * (1.0 - _TOLERANCE)
    found = found.filter(found.samples > 0).mutate(
        done=samples * found.part,
        time_us=total * found.part,
        squares=found.sumsq * found.part,
        wrapped=wrapped.cast("int64"),
    )
    each = found.group_by([*keys, "series", "number"]).agg(
        **{name: found[name].sum() for name in ("done", "time_us", "squares", "wrapped")},
        least=found.minimum.min(),
        most=found.maximum.max(),
    )
    summed = each.group_by(list(keys)).agg(
        **{name: each[name].sum() for name in ("done", "time_us", "squares", "wrapped")},
        least=_if_all(each.least, each.least.min()),
        most=_if_all(each.most, each.most.max()),
    )
    mean = summed.time_us / summed.done
    variance = summed.squares / summed.done - mean * mean
    sound = (summed.wrapped == 0) & (variance >= -_TOLERANCE * mean * mean)
    return summed.mutate(
        requests=summed.done,
        mean_us=mean,
        deviation_us=ibis.ifelse(sound, ibis.greatest(variance, 0.0).sqrt(), ibis.null("float64")),
        minimum_us=summed.least,
        maximum_us=summed.most,
    )


def _if_all(values: ir.Column, extreme: ir.Value) -> ir.Value:
    """Return the extreme if every series has told one."""
    return ibis.ifelse(values.isnull().sum() == 0, extreme, ibis.null("int64"))
