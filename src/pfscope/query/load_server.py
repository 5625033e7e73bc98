"""What servers were under and what they did, as increments: measured load, and sums of requests.

Linux damps a load average: what was there a minute ago still counts 1/e. Between two values that is
undone, so that load stands where it was. It is exact for a load that is even between them.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import ibis
import ibis.expr.types as ir

from pfscope.query.keys import matches
from pfscope.query.metrics import (
    SHIPPED,
    TRANSFERS,
    Metric,
    Term,
    term_of,
    timed_operations,
)
from pfscope.query.selection import Selection
from pfscope.query.tables import instant, micros, moment, table
from pfscope.query.unattributed import OWN
from pfscope.query.usage import rows

MINUTE_US: Final = 60 * 10**6
LINE: Final = ["server", "kind", "number", "begin", "time"]
"""What tells one line of a server's targets in one interval from others."""
_SPEAKS_US: Final = 10 * MINUTE_US
"""For no longer time before it a value of the load stands."""


@dataclass(frozen=True)
class Lines:
    """What the numbered operations of a store hold, each with the name that it goes by."""

    requests: Mapping[int, str]
    """Lines that count each request once."""
    bytes: Mapping[int, str]
    timed: Mapping[int, str]
    """Lines that tell the time that requests took."""
    kinds: tuple[str, ...] = ("mdt", "ost")
    """On which targets."""

    @staticmethod
    def of(operations: Sequence[tuple[str, str]]) -> "Lines":
        """Sort the operations of a store; what no id could be told for is left out."""
        own = {number for number, (name, _) in enumerate(operations) if name in OWN}
        requests, transferred, timed = (
            {n: name for n, name in found.items() if n not in own}
            for found in (
                term_of(SHIPPED["iops"], operations).names,
                term_of(SHIPPED["bytes"], operations).names,
                timed_operations(operations),
            )
        )
        return Lines(requests, transferred, timed)

    def only(self, metric: Metric | None) -> "Lines":
        """Return the lines of what a metric is made of."""
        if metric is None or "*" in metric.weights:
            return self
        wanted = set(metric.weights)
        for transfer in TRANSFERS.items():
            wanted |= {*transfer} if wanted & {*transfer} else set()
        requests, transferred, timed = (
            {n: name for n, name in found.items() if name in wanted}
            for found in (self.requests, self.bytes, self.timed)
        )
        return Lines(requests, transferred, timed, metric.kinds)

    @property
    def term(self) -> Term:
        """All lines."""
        names = {**self.bytes, **self.timed, **self.requests} or {-1: ""}
        return Term("samples", dict.fromkeys(names, 1.0), names, self.kinds)


@dataclass(frozen=True, slots=True)
class Price:
    """What a line's requests and bytes cost a server."""

    server: str
    kind: str
    number: int
    request: float
    byte: float


def measured(selection: Selection) -> ir.Table:
    """Return `server`, `begin`, `time` and the mean `load` in between."""
    start, end = selection.window.start_us, selection.window.end_us
    seen = table("server_load")
    near = seen.time > moment(start) - _ago(), seen.time <= moment(end) + _ago()
    seen = seen.filter(seen.load_1.notnull(), *near, *_there(seen, selection))
    seen = seen.select("server", "load_1", now=micros(seen.time))
    # More often than once a minute a damped value tells hardly more than its own rounding.
    seen = seen.mutate(minute=seen.now // MINUTE_US)
    after = seen.minute.lead().over(group_by=seen.server, order_by=seen.now)
    seen = seen.mutate(after=after)
    seen = seen.filter((seen.after != seen.minute).fill_null(True))
    order = ibis.window(group_by=seen.server, order_by=seen.now)
    seen = seen.mutate(old=seen.load_1.lag().over(order), was=seen.now.lag().over(order))
    seen = seen.filter(seen.was.notnull())
    kept = ((seen.was - seen.now).cast("float64") / MINUTE_US).exp()
    load = ibis.greatest((seen.load_1 - kept * seen.old) / (1.0 - kept), 0.0)
    begin = ibis.greatest(seen.was, seen.now - _SPEAKS_US)
    form = table("server_load").time.type()
    begin, time = (instant(edge, start).cast(form) for edge in (begin, seen.now))
    return seen.select("server", begin=begin, time=time, load=load)


def own_rows(selection: Selection) -> ir.Table:
    """Return what targets counted themselves, in the columns of `used_rows`."""
    seen = table("target_totals")
    start, end = moment(selection.window.start_us), moment(selection.window.end_us)
    during = [seen.time > start, seen.begin < end]
    if selection.horizon_us is not None:
        during.append(seen.time <= moment(selection.horizon_us))
    seen = seen.filter(*during, *_there(seen, selection))
    kind = ibis.ifelse(seen.target.contains("-OST"), "ost", "mdt")
    columns = ("server", "begin", "time", "samples", "total")
    return seen.select(*columns, kind=kind, number=seen.operation)


def used_rows(selection: Selection, lines: Lines, keys: Sequence[str] = ()) -> ir.Table:
    """Return rows of usage with the keys, their `server`, their line's `kind` and `number`."""
    wanted = list(dict.fromkeys((*keys, "server", "kind")))
    found = rows(selection, lines.term, wanted)
    return found.filter(found.server.notnull())


def by_line(found: ir.Table, lines: Lines, prices: Iterable[Price]) -> ir.Table:
    """Add up rows by server, line and interval; say what each line's samples and total are worth.

    Columns: those of LINE, `samples`, `total`; `is_request` and `is_timed`, one or zero; what a
    sample and a unit of the total cost, `request_cost` and `byte_cost`.
    """
    summed = found.group_by(LINE).agg(
        samples=found.samples.sum().cast("float64"), total=found.total.sum().cast("float64")
    )
    counted, timed = (summed.number.isin(list(n) or [-1]) for n in (lines.requests, lines.timed))
    request_cost, byte_cost = _priced(summed, prices)
    return summed.mutate(
        is_request=ibis.ifelse(counted, 1.0, 0.0),
        is_timed=ibis.ifelse(timed, 1.0, 0.0),
        request_cost=request_cost,
        byte_cost=byte_cost,
    )


def _priced(found: ir.Table, prices: Iterable[Price]) -> tuple[ir.FloatingValue, ir.FloatingValue]:
    """Return what a sample and a byte of each row's line cost; nothing, where it is not known."""
    of: dict[tuple[str, str], list[Price]] = {}
    for price in prices:
        of.setdefault((price.server, price.kind), []).append(price)
    if not of:
        return ibis.literal(0.0), ibis.literal(0.0)
    requests, transferred = [], []
    for (server, kind), listed in of.items():
        here = (found.server == server) & (found.kind == kind)
        requests.append((here, _each(found.number, {p.number: p.request for p in listed})))
        transferred.append((here, _each(found.number, {p.number: p.byte for p in listed})))
    return ibis.cases(*requests, else_=0.0), ibis.cases(*transferred, else_=0.0)


def _each(number: ir.IntegerColumn, prices: Mapping[int, float]) -> ir.FloatingValue:
    """Return the price of each number; those of one price are told together."""
    alike: dict[float, list[int]] = {}
    for line, price in prices.items():
        if price:
            alike.setdefault(price, []).append(line)
    if not alike:
        return ibis.literal(0.0)
    return ibis.cases(*((number.isin(n), price) for price, n in alike.items()), else_=0.0)


def _there(seen: ir.Table, selection: Selection) -> list[ir.BooleanValue]:
    patterns = selection.where.get("server", ())
    known = [seen.server.notnull()]
    return [*known, matches(seen.server, patterns)] if patterns else known


def _ago() -> Any:
    return ibis.interval(minutes=_SPEAKS_US // MINUTE_US)
