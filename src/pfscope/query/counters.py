"""The raw counters that Lustre printed, out of the increments that are stored.

A counter is the sum of its operation's rows since the latest mark of its series, on a row of any
operation: `baseline`, it was first seen with this value, or `restarted`, it was zero when the row
began. Counters of a group are added up as changes: growth where a row ends, a drop to zero where a
restart began. There the answer has the time twice, before and after the drop, so that a line
through the rows is the saw-tooth.
"""

from typing import Final

import ibis
import ibis.expr.types as ir
import pyarrow as pa

from pfscope.errors import UsageError
from pfscope.query.asked import Asked
from pfscope.query.metrics import Term
from pfscope.query.selection import Selection
from pfscope.query.tables import micros, moment, table
from pfscope.query.usage import series_of

_USAGE: Final = {"mdt": "usage_mdt", "ost": "usage_ost"}
_SEEN, _DROPPED = 0, 1
"""What comes first at one time: what was read, then that it began anew."""


def counters(asked: Asked) -> pa.Table:
    """Return `time`, the keys and `counter`: requests, or bytes, since the entries began."""
    words = asked.request
    if "operation" in asked.by or words.operation is None:
        raise UsageError("counters are those of one operation: name it with --operation")
    if "server" in {*asked.by, *dict(words.where)}:
        raise UsageError("counters are told by target, not by server")
    if words.step is not None:
        raise UsageError("counters stand at the times when they were read: leave out --step")
    selection = asked.selection(asked.window, asked.horizon_us)
    read = _read(asked, selection, asked.terms[0])
    return asked.engine.run(_drawn(_changes(read, asked.by), asked))


def _read(asked: Asked, selection: Selection, term: Term) -> ir.Table:
    """Return `series`, `time`, `begin`, the keys, growth, and the marks of each read that counts.

    All rows since the series began are needed: each counter goes on from what it was. So is one
    that ends later: a restart is known from the row that began with it.
    """
    series = series_of(selection, asked.by)
    kinds = [kind for kind in _USAGE if kind in term.kinds]
    used = ibis.union(*[table(_USAGE[kind]) for kind in kinds])
    marked = used.restarted | used.baseline
    used = used.filter(
        used.begin <= moment(selection.window.end_us),
        used.operation.isin(list(term.weights)) | marked,
    )
    if selection.horizon_us is not None:
        used = used.filter(used.time <= moment(selection.horizon_us))
    found = used.inner_join(series, "series")
    weight = found.operation.cases(*term.weights.items(), else_=0.0)
    counts = found.operation.isin(list(term.weights)).cast("int64").max().over(group_by="series")
    found = found.mutate(value=found[term.column].cast("float64") * weight, counts=counts)
    found = found.filter(found.counts == 1)
    return found.group_by(["series", *asked.by, "time"]).agg(
        begin=found.begin.min(),
        value=found.value.sum(),
        first_seen=found.baseline.cast("int64").max(),
        restarted=found.restarted.cast("int64").max(),
    )


def _changes(read: ir.Table, by: tuple[str, ...]) -> ir.Table:
    """Return by how much counters change: the keys, `time`, `phase`, `change`."""
    so_far = ibis.window(group_by=read.series, order_by=read.time, preceding=None, following=0)
    marked = ibis.greatest(read.first_seen, read.restarted)
    lives = read.mutate(life=marked.sum().over(so_far))
    of_life = ibis.window(
        group_by=[lives.series, lives.life], order_by=lives.time, preceding=None, following=0
    )
    lives = lives.mutate(counter=lives.value.sum().over(of_life))
    order = ibis.window(group_by=lives.series, order_by=lives.time)
    lives = lives.mutate(
        held=lives.counter.lag().over(order).fill_null(0.0), before=lives.time.lag().over(order)
    )
    resumed = ibis.ifelse(lives.first_seen == 1, lives.held, 0.0)
    grown = lives.select(
        *by, time=lives.time, phase=ibis.literal(_SEEN), change=lives.value - resumed
    )
    anew = lives.filter(lives.restarted == 1, lives.first_seen == 0)
    since = ibis.coalesce(ibis.greatest(anew.begin, anew.before), anew.begin)
    anew = anew.mutate(since=since)
    held = anew.filter(anew.held > 0)
    still = held.select(*by, time=held.since, phase=ibis.literal(_SEEN), change=ibis.literal(0.0))
    dropped = anew.select(*by, time=anew.since, phase=ibis.literal(_DROPPED), change=-anew.held)
    return ibis.union(grown, still, dropped)


def _drawn(changes: ir.Table, asked: Asked) -> ir.Table:
    """Add changes up over each group, and return the times that are asked for."""
    by, window = list(asked.by), asked.window
    found = changes.group_by([*by, "time", "phase"]).agg(change=changes.change.sum())
    order = [found.time, found.phase]
    so_far = ibis.window(group_by=by, order_by=order, preceding=None, following=0)
    before = found.time.lag().over(ibis.window(group_by=by, order_by=order))
    found = found.mutate(counter=found.change.sum().over(so_far), before=before)
    again = (found.phase == _DROPPED) & (found.change == 0) & (found.before == found.time)
    during = (micros(found.time) >= window.start_us) & (micros(found.time) <= window.end_us)
    found = found.filter(during, ~again.fill_null(False))
    return found.order_by("time", *by, "phase").select("time", *by, "counter")
