"""How a server's load is shared out, as expressions: by equal requests, by learned costs, by time.

At every step each request (or its learned cost) gets the same part of the load that stood at that
step. An interval of usage may span several steps: what a request of some line and interval gets is
worked out once, so that the many rows of usage are read and multiplied, never cut.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import ibis
import ibis.expr.types as ir

from pfscope.query.load_server import LINE, Lines, Price, by_line, measured, own_rows, used_rows
from pfscope.query.selection import Selection
from pfscope.query.steps import rates
from pfscope.query.tables import micros
from pfscope.query.window import Steps

ESTIMATES = ("equal", "service", "learned")
_SPAN = ["server", "span_begin", "span_end"]
_WORTH = ("of_requests", "of_timed", "equal_each", "service_each", "learned_each", "learned_byte")


@dataclass(frozen=True)
class Sharing:
    """What load is shared out by: the steps, and what requests cost."""

    everything: Selection
    """All usage of the servers that are meant."""
    steps: Steps
    lines: Lines
    prices: tuple[Price, ...] = ()
    bases: tuple[tuple[str, float], ...] = ()
    """The cost per second that no request explains, of each server that has prices."""

    def members(self, selection: Selection, lines: Lines, keys: Sequence[str]) -> ir.Table:
        """Return load times seconds, three ways, of each server and member.

        And of each server and all that anybody did on it: these rows have `whole` set.
        """
        worth, by = self._worth, list(dict.fromkeys(("server", *keys)))
        used = used_rows(selection, lines, keys).inner_join(worth.select(*LINE, *_WORTH), LINE)
        members = _summed(used, by).mutate(whole=ibis.literal(False))
        nobody = {key: ibis.null(members[key].type()) for key in by if key != "server"}
        sums = _summed(worth, ["server"]).mutate(whole=ibis.literal(True), **nobody)
        return ibis.union(members, sums.select(members.columns))

    @cached_property
    def _used(self) -> ir.Table:
        return by_line(used_rows(self.everything, self.lines), self.lines, self.prices)

    @cached_property
    def _worth(self) -> ir.Table:
        """Return what a sample and a unit of the total of each line and interval are worth."""
        used = self._used.mutate(
            span_begin=micros(self._used.begin), span_end=micros(self._used.time)
        )
        found = used.inner_join(self._spans(used), _SPAN)
        return found.mutate(
            of_requests=found.is_request * found.inside,
            of_timed=found.is_timed * found.inside,
            equal_each=found.is_request * found.by_request,
            service_each=found.is_timed * found.inside / 1e6,
            learned_each=found.request_cost * found.by_cost,
            learned_byte=found.byte_cost * found.by_cost,
        )

    def _spans(self, used: ir.Table) -> ir.Table:
        """Return what one request, and one second of cost, of each interval gets of the load.

        `inside` is which part of the interval lies in the window.
        """
        spans = used.select(*_SPAN, "begin", "time", value=ibis.literal(1.0)).distinct()
        parts = rates(spans, _SPAN, self.steps)
        steps = self._per_step().select("by_request", "by_cost", at="server", step="time")
        found = parts.left_join(steps, [parts.server == steps.at, parts.time == steps.step])
        return found.group_by(_SPAN).agg(
            inside=found.increment.sum(),
            by_request=(found.increment * found.by_request).sum().fill_null(0.0),
            by_cost=(found.increment * found.by_cost).sum().fill_null(0.0),
        )

    def _per_step(self) -> ir.Table:
        """Return what of each server's load one request, and one second of cost, gets at a step."""
        found = rates(self._measures(), ["server", "measure"], self.steps)
        names = ("load_s", "base", "own", "used", "own_cost", "used_cost")
        sums = {
            name: found.increment.sum(where=found.measure == name).fill_null(0.0) for name in names
        }
        steps = found.group_by("server", "time").agg(**sums)
        # Targets count what no id is told for, too; a target may not show its own counts at all.
        requests = ibis.greatest(steps.own, steps.used)
        cost = steps.base + ibis.greatest(steps.own_cost, steps.used_cost)
        return steps.mutate(
            by_request=steps.load_s / requests.nullif(0.0), by_cost=steps.load_s / cost.nullif(0.0)
        )

    def _measures(self) -> ir.Table:
        """Return increments of everything that is needed of a server at each step."""
        load = measured(self.everything)
        own = by_line(own_rows(self.everything), self.lines, self.prices)
        found = [_measure(load, "load_s", load.load * _seconds(load))]
        for name, counted in (("own", own), ("used", self._used)):
            found.append(_measure(counted, name, counted.samples * counted.is_request))
            if self.prices:
                cost = counted.samples * counted.request_cost + counted.total * counted.byte_cost
                found.append(_measure(counted, f"{name}_cost", cost))
        if self.prices:
            base = load.server.cases(*self.bases, else_=0.0)
            found.append(_measure(load, "base", base * _seconds(load)))
        summed = ibis.union(*found).group_by("server", "measure", "begin", "time")
        return summed.agg(value=ibis._.value.sum())


def loads(selection: Selection, steps: Steps) -> ir.Table:
    """Return each server's load times seconds in the window, and for how long it is known."""
    load = measured(selection)
    found = rates(
        ibis.union(
            _measure(load, "load_s", load.load * _seconds(load)),
            _measure(load, "covered_s", _seconds(load)),
        ),
        ["server", "measure"],
        steps,
    )
    return found.group_by("server").agg(
        load_s=found.increment.sum(where=found.measure == "load_s").fill_null(0.0),
        covered_s=found.increment.sum(where=found.measure == "covered_s").fill_null(0.0),
    )


def _summed(found: ir.Table, keys: list[str]) -> ir.Table:
    learned = found.samples * found.learned_each + found.total * found.learned_byte
    return found.group_by(keys).agg(
        requests=(found.samples * found.of_requests).sum(),
        timed=(found.samples * found.of_timed).sum(),
        equal=(found.samples * found.equal_each).sum(),
        service=(found.total * found.service_each).sum(),
        learned=learned.sum(),
    )


def _measure(rows: ir.Table, name: str, value: ir.Column) -> ir.Table:
    return rows.select("server", "begin", "time", measure=ibis.literal(name), value=value)


def _seconds(load: ir.Table) -> ir.FloatingValue:
    return (micros(load.time) - micros(load.begin)).cast("float64") / 1e6
