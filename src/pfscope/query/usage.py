"""The increments of a selection: sums over series, by key and interval, before any step is cut.

An increment belongs to (begin, time] evenly, as the step function of equation C5 says. Summing
those of one interval first makes all that follows small, whatever the number of series.
"""

from collections.abc import Sequence

import ibis
import ibis.expr.types as ir

from pfscope.query import keys as by
from pfscope.query.metrics import Term
from pfscope.query.selection import Selection
from pfscope.query.tables import moment, table
from pfscope.query.window import Window

_TABLES = {"mdt": "usage_mdt", "ost": "usage_ost"}
_SHORT = 3
_BITS = 62


def increments(selection: Selection, terms: Sequence[Term], keys: Sequence[str]) -> ir.Table:
    """Return columns of the keys, `begin`, `time` and `value`, a row for each that grew."""
    by.check(keys)
    return ibis.union(*[_of_term(selection, term, keys) for term in terms])


def rows(selection: Selection, term: Term, keys: Sequence[str]) -> ir.Table:
    """Return the rows of usage themselves, with the keys beside them."""
    used = ibis.union(*[_reaching(selection, kind) for kind in _kinds(selection, term)])
    used = used.filter(_counted(used.number, sorted(term.weights)))
    found = used.inner_join(series_of(selection, keys), "series")
    if "operation" in keys:
        found = found.mutate(operation=found.number.cases(*term.names.items()))
    if "server" in {*keys, *selection.where}:
        found = _with_server(selection, found)
    return found


def _of_term(selection: Selection, term: Term, keys: Sequence[str]) -> ir.Table:
    used = rows(selection, term, keys)
    value = used[term.column]
    weights = set(term.weights.values())
    if len(weights) == 1:
        total = value.sum().cast("float64") * weights.pop()
    else:
        total = (value * used.number.cases(*term.weights.items())).sum()
    return used.group_by([*keys, "begin", "time"]).agg(value=total)


def _counted(number: ir.IntegerColumn, wanted: Sequence[int]) -> ir.BooleanValue:
    """Tell which operations are meant: a long list of them is slow, bits of one number are not."""
    low, high = wanted[0], wanted[-1]
    if len(wanted) <= _SHORT or high - low >= _BITS:
        return number.isin(wanted)
    bits = sum(1 << (n - low) for n in wanted)
    bit = (ibis.literal(bits, "int64") >> (number - low).cast("int64")) & 1
    return number.between(low, high) & (bit == 1)


def _kinds(selection: Selection, term: Term) -> list[str]:
    """Return the kinds of targets that can matter."""
    targets = [p for p in selection.where.get("target", ()) if not p.startswith("!")]
    kinds = [kind for kind in _TABLES if kind in term.kinds]
    named = [k for k in kinds if any(f"-{k.upper()}" in pattern.upper() for pattern in targets)]
    told = targets and all("-MDT" in p.upper() or "-OST" in p.upper() for p in targets)
    return named if told and named else kinds


def _reaching(selection: Selection, kind: str) -> ir.Table:
    """Return the usage that reaches into the window."""
    used, window = table(_TABLES[kind]), selection.window
    conditions = [~used.baseline, used.time > moment(window.start_us)]
    if selection.horizon_us is not None:
        conditions.append(used.time <= moment(selection.horizon_us))
    conditions.append(used.begin < moment(window.end_us))
    columns = ("series", "samples", "total", "sumsq", "minimum", "maximum", "begin", "time")
    return used.filter(*conditions).select(*columns, number=used.operation)


def series_of(selection: Selection, keys: Sequence[str]) -> ir.Table:
    """Return the series that fit, with the keys."""
    filters = {k: v for k, v in selection.where.items() if k != "server"}
    helping = {"system"} if selection.system is not None else set()
    if selection.login is not None:
        helping |= {"node", "job", "executable"}
    if "server" in {*keys, *selection.where}:
        helping |= {"target"}
    found = by.who({*keys, *filters, *helping})
    conditions = [by.matches(found[key], patterns) for key, patterns in filters.items()]
    if selection.system is not None:
        conditions.append(found.system == selection.system)
    if selection.login is not None:
        conditions.append(by.on_login_nodes(found, selection.login_nodes) == selection.login)
    return found.filter(*conditions) if conditions else found


def _with_server(selection: Selection, used: ir.Table) -> ir.Table:
    """Add the server on which the target was when the row was read."""
    stays = placements(selection.window, selection.horizon_us)
    here = (used.target == stays.target) & (used.time > stays.since) & (used.time <= stays.until)
    found = used.left_join(stays.select("target", "server", "since", "until"), here)
    found = found.drop("target_right", "since", "until")
    patterns = selection.where.get("server", ())
    return found.filter(by.matches(found.server, patterns)) if patterns else found


def placements(window: Window, horizon_us: int | None = None) -> ir.Table:
    """Return on which server each target was: target, server, since, until."""
    seen = table("quality")
    conditions = [seen.time >= moment(window.start_us), seen.server.notnull()]
    if horizon_us is not None:
        conditions.append(seen.time <= moment(horizon_us))
    seen = seen.filter(*conditions).select("target", "server", "time").distinct()
    order = ibis.window(group_by=seen.target, order_by=seen.time)
    seen = seen.mutate(before=seen.server.lag().over(order), last=seen.time.lag().over(order))
    moved = (seen.before != seen.server).fill_null(False).cast("int64")
    so_far = ibis.window(group_by=seen.target, order_by=seen.time, following=0)
    seen = seen.mutate(stay=moved.sum().over(so_far))
    long_ago = moment(0)
    stays = seen.group_by("target", "server", "stay").agg(
        since=ibis._.last.min(), until=ibis._.time.max()
    )
    return stays.mutate(since=ibis.ifelse(stays.stay == 0, long_ago, stays.since))
