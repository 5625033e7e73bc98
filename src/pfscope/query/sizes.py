"""How large requests are: what was read and written, in how many of them, and of which sizes.

Sizes cannot be cut in time as sums can: a row of usage counts where it ends. Lustre tells the
extremes of an entry's whole life, so what is not the interval's own is unknown; an answer has the
smallest and the largest that are known. Bins of a histogram are named by their upper bound.
"""

from collections.abc import Mapping

import ibis
import ibis.expr.types as ir
import pyarrow as pa

from pfscope.errors import UsageError
from pfscope.query.asked import Asked
from pfscope.query.metrics import TRANSFERS, Metric, Term, term_of
from pfscope.query.selection import Selection
from pfscope.query.tables import moment, table
from pfscope.query.usage import rows, series_of
from pfscope.query.window import Steps

_ASKED = {"bytes": tuple(TRANSFERS), **{name: (name,) for name in TRANSFERS}}
_ASKED |= {line: (name,) for name, line in TRANSFERS.items()}


def sizes(asked: Asked) -> pa.Table:
    """Return requests, bytes and sizes by the keys and `operation`; or a histogram of sizes."""
    if "operation" in asked.by:
        raise UsageError("sizes are told by operation anyway: leave it out of --by")
    if "server" in {*asked.by, *dict(asked.request.where)}:
        raise UsageError("sizes are told by target, not by server")
    asked.notes["unit"] = "bytes"
    term = _lines(asked)
    keys = [*asked.by, "operation"]

    def build(steps: Steps, _horizon_us: int | None) -> ir.Table:
        # Rows that end later than the window are not of it.
        selection = asked.selection(steps.window, steps.window.end_us)
        bins = _bins(selection, term, keys)
        if asked.option("histogram"):
            return bins.order_by(*keys, "bound")
        return _described(_summed(selection, term, keys), _quantiles(bins, keys), keys)

    return asked.rows(build)


def _lines(asked: Asked) -> Term:
    """Return the numbered operations that tell bytes, named `read` or `write`."""
    wanted = asked.request.operation or "bytes"
    if wanted not in _ASKED:
        raise UsageError(f"only reads and writes have sizes: --operation {' or '.join(TRANSFERS)}")
    lines = {TRANSFERS[name]: name for name in _ASKED[wanted]}
    found = term_of(Metric("sizes", dict.fromkeys(lines, 1.0)), asked.catalog.operations)
    names = {number: lines[line] for number, line in found.names.items()} or {-1: ""}
    return Term("total", found.weights or {-1: 1.0}, names)


def _summed(selection: Selection, term: Term, keys: list[str]) -> ir.Table:
    found = rows(selection, term, keys[:-1])
    found = found.mutate(operation=_named(found.number, term.names))
    return found.group_by(keys).agg(
        requests=found.samples.sum(),
        bytes=found.total.sum(),
        minimum=found.minimum.min(),
        maximum=found.maximum.max(),
        p50=ibis.null("int64"),
        p90=ibis.null("int64"),
    )


def _bins(selection: Selection, term: Term, keys: list[str]) -> ir.Table:
    """Return requests by the keys and the upper bound of their size."""
    seen, window = table("histograms"), selection.window
    seen = seen.filter(
        seen.time > moment(window.start_us),
        seen.time <= moment(window.end_us),
        seen.operation.isin(list(term.weights)),
    )
    seen = seen.select("series", "bound", "count", operation=_named(seen.operation, term.names))
    found = seen.inner_join(series_of(selection, keys[:-1]), "series")
    counted = found.group_by([*keys, "bound"])
    return counted.agg(count=found["count"].sum())


def _named(number: ir.IntegerColumn, names: Mapping[int, str]) -> ir.StringColumn:
    return number.cases(*names.items())


def _quantiles(bins: ir.Table, keys: list[str]) -> ir.Table:
    """Return the bounds below which half, and nine in ten, of the requests lie."""
    upto = ibis.window(group_by=keys, order_by=bins.bound, preceding=None, following=0)
    counts = bins["count"]
    below = counts.sum().over(upto).cast("float64")
    share = below / counts.sum().over(group_by=keys).cast("float64")
    found = bins.mutate(below=share)
    nothing = ibis.null("int64")
    return found.group_by(keys).agg(
        requests=nothing,
        bytes=nothing,
        minimum=nothing,
        maximum=nothing,
        p50=found.bound.min(where=found.below >= 0.5),
        p90=found.bound.min(where=found.below >= 0.9),
    )


def _described(summed: ir.Table, quantiles: ir.Table, keys: list[str]) -> ir.Table:
    """Put both beside each other; keys may be null, so that this is no join."""
    told = ("requests", "bytes", "minimum", "maximum", "p50", "p90")
    rows = ibis.union(summed.select(*keys, *told), quantiles.select(*keys, *told))
    found = rows.group_by(keys).agg(**{name: rows[name].max() for name in told})
    found = found.filter(found.requests > 0)
    mean = found.bytes.cast("float64") / found.requests.cast("float64")
    found = found.mutate(mean_size=mean, p50_size=found.p50, p90_size=found.p90)
    columns = ("requests", "bytes", "mean_size", "p50_size", "p90_size", "minimum", "maximum")
    return found.select(*keys, *columns).order_by(found.bytes.desc(), *keys)
