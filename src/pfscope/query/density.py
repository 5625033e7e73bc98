"""How many series have a rate of which magnitude: equations C9 and C10."""

import ibis
import ibis.expr.types as ir

from pfscope.errors import UsageError


def density(rates: ir.Table, base: int) -> ir.Table:
    """Return `time`, `bucket_low`, `bucket_high` and `count`: series with low <= rate < high."""
    counted = buckets(rates, base).group_by("time", "bucket_low", "bucket_high")
    found = counted.agg(count=ibis._.count())
    return found.order_by("time", "bucket_low")


def buckets(rates: ir.Table, base: int) -> ir.Table:
    """Return rates with the bucket that each lies in."""
    if base < 2:
        raise UsageError("--base must be 2 or more")
    power = ibis.literal(float(base))
    # A logarithm can be off by a hair at a power of the base: the neighbour is right then.
    guess = (rates.rate.ln() / power.ln()).floor().cast("float64")
    low, high = power**guess, power ** (guess + 1.0)
    exponent = guess + ibis.cases((rates.rate >= high, 1.0), (rates.rate < low, -1.0), else_=0.0)
    return rates.mutate(bucket_low=power**exponent, bucket_high=power ** (exponent + 1.0))
