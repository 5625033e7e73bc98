"""What nobody is told for: the targets' own counts less the sum over their entries.

Both sides are cut to the time in which a target's own counts are known, so that neither has what
the other cannot have.
"""

from collections.abc import Sequence
from typing import Any, Final

import ibis
import ibis.expr.types as ir
import pyarrow as pa

from pfscope.query.asked import Asked
from pfscope.query.metrics import Term, every_operation
from pfscope.query.places import PLACES, picked, placed, refuse_all_but, refuse_people
from pfscope.query.selection import Selection
from pfscope.query.steps import rates
from pfscope.query.tables import micros, moment, table
from pfscope.query.usage import increments, placements
from pfscope.query.window import Steps

OWN: Final = (
    "ping", "connect", "reconnect", "disconnect", "llog_init", "preprw", "commitrw", "get_page",
    "get_page failures", "cache_access", "cache_hit", "cache_miss",
)  # fmt: skip
"""What releases count for targets alone: no request of theirs could be told by an id."""


def unattributed(asked: Asked) -> pa.Table:
    """Return the keys, `total`, `attributed`, `unattributed` and `share`; `time` if wanted."""
    refuse_all_but(asked, (*PLACES, "operation"), PLACES)
    refuse_people(asked)
    keys = ["time", *asked.by] if asked.option("over_time") else list(asked.by)

    def build(steps: Steps, horizon_us: int | None) -> ir.Table:
        found = rates(_sides(asked, asked.selection(steps.window, horizon_us)), _by(asked), steps)
        known, told = (found.side == side for side in ("total", "attributed"))
        summed = found.group_by(keys).agg(
            total=found.increment.sum(where=known).fill_null(0.0),
            attributed=found.increment.sum(where=told).fill_null(0.0),
        )
        left = summed.total - summed.attributed
        # Both are sums of parts: what differs by less than a rounding is equal.
        left = ibis.ifelse(left.abs() > 1e-9 * summed.total, left, 0.0)
        shared = summed.mutate(unattributed=left, share=left / summed.total.nullif(0.0))
        return shared.order_by(keys)

    return asked.rows(build)


def _by(asked: Asked) -> list[str]:
    return [*asked.by, "side"]


def _sides(asked: Asked, selection: Selection) -> ir.Table:
    """Return increments of both sides, in one table."""
    totals = _totals(selection)
    keys = list(dict.fromkeys((*asked.by, "target")))
    terms = _terms(asked)
    used = _within(increments(selection, terms, keys), _known(totals))
    used = used.mutate(side=ibis.literal("attributed"))
    counted = ibis.union(*[_counted(totals, term, asked.by) for term in terms])
    counted = counted.mutate(side=ibis.literal("total"))
    columns = [*_by(asked), "begin", "time", "value"]
    return ibis.union(used.select(columns), counted.select(columns))


def _terms(asked: Asked) -> list[Term]:
    """Return what is counted; operations of all units where they are told apart."""
    operations, each = asked.catalog.operations, asked.request.operation is None
    terms = asked.terms
    if each and "operation" in asked.by:
        terms = every_operation(operations) or terms
        asked.notes["unit"] = None
    return [_comparable(term, operations) for term in terms]


def _comparable(term: Term, operations: Sequence[tuple[str, str]]) -> Term:
    """Leave out what could not be told by an id."""
    own = {n for n, (name, _) in enumerate(operations) if name in OWN}
    weights = {n: w for n, w in term.weights.items() if n not in own}
    return Term(term.column, weights or {-1: 1.0}, term.names, term.kinds)


def _totals(selection: Selection) -> ir.Table:
    """Return the targets' own counts that reach into the window.

    A server to which a target comes back tells what it counted since, over the whole time that the
    target was away: that is compared with nothing.
    """
    rows, window = table("target_totals"), selection.window
    conditions = [rows.time > moment(window.start_us), rows.begin < moment(window.end_us)]
    if selection.horizon_us is not None:
        conditions.append(rows.time <= moment(selection.horizon_us))
    rows = picked(placed(rows.filter(*conditions)), selection.where)
    stays = placements(window, selection.horizon_us).rename(of="target", on="server", came="since")
    here = [rows.target == stays.of, rows.server == stays.on]
    here += [rows.time > stays.came, rows.time <= stays.until]
    found = rows.left_join(stays, here)
    return found.filter(found.came.isnull() | (found.begin >= found.came))


def _counted(totals: ir.Table, term: Term, keys: Sequence[str]) -> ir.Table:
    rows = totals.filter(totals.operation.isin(list(term.weights)), totals.kind.isin(term.kinds))
    weight = rows.operation.cases(*term.weights.items())
    value = rows[term.column].cast("float64") * weight
    named = {"operation": rows.operation.cases(*term.names.items())} if "operation" in keys else {}
    return rows.mutate(value=value, **named).select(*keys, "begin", "time", "value")


def _known(totals: ir.Table) -> ir.Table:
    """Return since when and until when each target's own counts are known: no two overlap."""
    each: dict[str, Any] = {"group_by": "target", "order_by": ["begin", "time"]}
    so_far = ibis.window(**each, preceding=None, following=0)
    seen = totals.select("target", "begin", "time").distinct()
    seen = seen.mutate(reach=seen.time.max().over(so_far))
    seen = seen.mutate(before=seen.reach.lag().over(ibis.window(**each)))
    # Two that touch are one run.
    seen = seen.mutate(fresh=(seen.before < seen.begin).fill_null(True).cast("int64"))
    seen = seen.mutate(run=seen.fresh.sum().over(so_far))
    runs = seen.group_by("target", "run").agg(since=seen.begin.min(), until=seen.time.max())
    return runs.select("since", "until", of=runs.target)


def _within(used: ir.Table, known: ir.Table) -> ir.Table:
    """Return the parts of increments that lie in the known time."""
    overlap = [used.target == known.of, used.begin < known.until, used.time > known.since]
    found = used.inner_join(known, overlap)
    since, upto = ibis.greatest(found.begin, found.since), ibis.least(found.time, found.until)
    part = (micros(upto) - micros(since)).cast("float64")
    whole = (micros(found.time) - micros(found.begin)).cast("float64")
    share = ibis.ifelse(whole > 0, part / whole, 1.0)
    return found.mutate(value=found.value * share, begin=since, time=upto)
