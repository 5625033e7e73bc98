"""How evenly the targets of a file system share what is done.

All targets that were observed take part, those with nothing to do included: load on one of
twenty-four is as uneven as it can be. MDTs are not compared with OSTs.
"""

from dataclasses import replace

import ibis
import ibis.expr.types as ir
import pyarrow as pa

from pfscope.errors import UsageError
from pfscope.query.asked import Asked
from pfscope.query.places import PLACES, picked, placed
from pfscope.query.selection import Selection
from pfscope.query.steps import rates
from pfscope.query.tables import moment, table
from pfscope.query.usage import increments
from pfscope.query.window import Steps

POOL = ("filesystem", "kind")
"""Files are spread over targets that have these in common."""
_TOLD = ("targets", "mean", "max", "busiest", "ratio", "effective")


def balance(asked: Asked) -> pa.Table:
    """Return the keys, `targets`, `mean`, `max`, `busiest`, `ratio` and `effective`.

    Rates are those of the whole window; `ratio` is the busiest one's to the mean; `effective` is
    how many targets with equal shares would be as uneven.
    """
    if {"target", "server"} & set(asked.by):
        raise UsageError("balance is among targets: group by file system or by who uses them")
    keys = list(dict.fromkeys((*POOL, *asked.by)))
    asked.request = replace(asked.request, by=tuple(keys))

    def build(steps: Steps, horizon_us: int | None) -> ir.Table:
        selection = asked.selection(steps.window, horizon_us)
        used = [key for key in keys if key not in POOL] + ["target"]
        found = rates(increments(selection, asked.terms, used), used, steps)
        shares = placed(found).group_by([*keys, "target"]).agg(value=ibis._.increment.sum())
        return _shared(shares, _targets(selection), keys, selection)

    return asked.rows(build)


def _targets(selection: Selection) -> ir.Table:
    """Return how many targets of each pool were observed."""
    since, until = moment(selection.window.start_us), moment(selection.window.end_us)
    where = {key: p for key, p in selection.where.items() if key in PLACES}
    found = []
    for name in ("quality", "target_totals"):
        rows = table(name)
        seen = placed(rows.filter(rows.time > since, rows.time <= until))
        found.append(picked(seen, where).select(*POOL, "target"))
    return ibis.union(*found).group_by(list(POOL)).agg(targets=ibis._.target.nunique())


def _shared(shares: ir.Table, targets: ir.Table, keys: list[str], selection: Selection) -> ir.Table:
    by_size = ibis.window(group_by=keys, order_by=[shares.value.desc(), shares.target])
    ranked = shares.mutate(place=ibis.row_number().over(by_size))
    summed = ranked.group_by(keys).agg(
        total=ranked.value.sum(),
        highest=ranked.value.max(),
        squares=(ranked.value * ranked.value).sum(),
        busiest=ranked.target.max(where=ranked.place == 0),
    )
    found = summed.inner_join(targets, list(POOL))
    window = selection.window
    seconds = (ibis.literal(window.end_us) - ibis.literal(window.start_us)).cast("float64") / 1e6
    mean = found.total / found.targets.cast("float64")
    found = found.mutate(
        mean=mean / seconds,
        max=found.highest / seconds,
        ratio=found.highest / mean,
        effective=found.total * found.total / found.squares,
    )
    return found.select(*keys, *_TOLD).order_by(keys)
