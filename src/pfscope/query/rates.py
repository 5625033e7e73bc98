"""Rates, sums and rankings: what was done per second, by whom, and by whom most."""

import ibis
import ibis.expr.types as ir
import pyarrow as pa

from pfscope.query.asked import Asked
from pfscope.query.density import buckets, density
from pfscope.query.steps import rates
from pfscope.query.usage import increments
from pfscope.query.window import Steps, Window


def rates_of(asked: Asked, steps: Steps, horizon_us: int | None) -> ir.Table:
    """Return the rates and increments that are meant: `time`, the keys, `rate`, `increment`."""
    selection = asked.selection(steps.window, horizon_us)
    return rates(increments(selection, asked.terms, asked.by), asked.by, steps)


def series(asked: Asked) -> pa.Table:
    """Return `time`, the keys and `rate` for each step in which something was done."""

    def build(steps: Steps, horizon_us: int | None) -> ir.Table:
        found = rates_of(asked, steps, horizon_us)
        return found.select("time", *asked.by, "rate").order_by("time", *asked.by)

    return asked.rows(build)


def top(asked: Asked) -> pa.Table:
    """Return who did most: `rank`, the keys, `rate_mean`, `rate_max`, `total` and `share`.

    The mean is that of the whole window, the share is of all, those beyond the limit included.
    """

    def build(steps: Steps, horizon_us: int | None) -> ir.Table:
        return _ranked(rates_of(asked, steps, horizon_us), asked, steps.window)

    return asked.rows(build)


def _ranked(found: ir.Table, asked: Asked, window: Window) -> ir.Table:
    summed = found.group_by(list(asked.by)).agg(
        rate_max=found.rate.max(), total=found.increment.sum()
    )
    order = [summed.total.desc(), *asked.by]
    seconds = ibis.literal(window.end_us) - ibis.literal(window.start_us)
    ranked = summed.mutate(
        rank=ibis.row_number().over(order_by=order) + 1,
        rate_mean=summed.total / (seconds.cast("float64") / 1e6),
        share=summed.total / summed.total.sum().over(),
    )
    ranked = ranked.select("rank", *asked.by, "rate_mean", "rate_max", "total", "share")
    return ranked.order_by("rank").limit(asked.option("limit"))


def density_over_time(asked: Asked) -> pa.Table:
    """Return `time`, `bucket_low`, `bucket_high`, `count`; or the members of one bucket."""
    bucket = asked.option("bucket")

    def build(steps: Steps, horizon_us: int | None) -> ir.Table:
        found = rates_of(asked, steps, horizon_us)
        if bucket is None:
            return density(found, asked.option("base"))
        found = buckets(found, asked.option("base"))
        inside = found.filter(found.bucket_low <= bucket, bucket < found.bucket_high)
        return inside.select("time", *asked.by, "rate").order_by("time", *asked.by)

    return asked.rows(build)
