"""A request brought together with the store that is to answer it: times, operations, steps."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import pyarrow as pa

from pfscope.errors import InputError
from pfscope.query.catalog import Catalog, horizon, observed_steps, usual_steps
from pfscope.query.engine import Engine
from pfscope.query.metrics import Metric, Term, every_operation, find_metric, term_of
from pfscope.query.prepared import Build
from pfscope.query.request import OBSERVED, Request
from pfscope.query.selection import Selection
from pfscope.query.window import EvenSteps, GivenSteps, Steps, Window
from pfscope.times import duration_us, time_us

DEFAULT_METRIC = "iops"
_SIDE_BY_SIDE = ("totals", "series")
"""Rates of several units may stand beside each other; ranks and shares need one unit."""
DEFAULT_LENGTH_US = 24 * 3600 * 10**6


@dataclass
class Site:
    """What a site says about questions, from its configuration."""

    metrics: Mapping[str, Metric]
    login_nodes: tuple[str, ...] = ()


@dataclass
class Asked:
    """A request to one store."""

    name: str
    request: Request
    engine: Engine
    catalog: Catalog
    site: Site
    notes: dict[str, Any] = field(default_factory=dict)
    """What to tell beside the rows."""

    def option(self, name: str) -> Any:
        """Return what this kind of question was told."""
        return self.request.option(name)

    @property
    def by(self) -> tuple[str, ...]:
        """The keys to group by."""
        return self.request.by

    @cached_property
    def window(self) -> Window:
        """The period, as far as there is data; its last day where nothing else is said.

        Times such as `-2h` count from the newest observation.
        """
        first, last = self.catalog.first_us, self.catalog.last_us
        if first is None or last is None:
            raise InputError("there is nothing in this store yet: nothing was observed")
        words = self.request
        end = last if words.end is None else time_us(words.end, now_us=last, end=True)
        start = end - DEFAULT_LENGTH_US
        if words.start is not None:
            start = time_us(words.start, now_us=last)
        seen = Window(max(start, first), min(end, last)) if start < last and end > first else None
        return seen or Window(start, end)

    @cached_property
    def metric(self) -> Metric | None:
        """What is counted; None: every operation by itself, in its own unit."""
        each = self.request.operation is None and "operation" in self.by
        if each and self.name in _SIDE_BY_SIDE:
            return None
        name = self.request.operation or DEFAULT_METRIC
        return find_metric(name, self.catalog.operations, self.site.metrics)

    @cached_property
    def terms(self) -> list[Term]:
        """The numbered operations that are counted."""
        operations = self.catalog.operations
        if self.metric is None:
            found = every_operation(operations)
        else:
            found = [term_of(self.metric, operations)]
        return [term for term in found if term.weights] or [_NOTHING]

    @cached_property
    def steps(self) -> Steps:
        """The steps that were asked for."""
        if self.request.step is None:
            return usual_steps(self.engine, self.window)
        if self.request.step == OBSERVED:
            return observed_steps(self.engine, self.window)
        return EvenSteps.over(self.window, duration_us(self.request.step))

    @cached_property
    def horizon_us(self) -> int | None:
        """No row that reaches into the window ends later."""
        return horizon(self.engine, self.window, self.catalog)

    def selection(self, window: Window, horizon_us: int | None) -> Selection:
        """Return which usage is meant, in some window."""
        words, nodes = self.request, self.site.login_nodes
        where = dict(words.where)
        return Selection(window, where, words.system, words.login, nodes, horizon_us)

    def rows(self, build: Build) -> pa.Table:
        """Answer with an expression; what is compiled is kept for other periods."""
        if isinstance(self.steps, GivenSteps):
            return self.engine.run(build(self.steps, self.horizon_us))
        key = self.name, self.request_key, self.catalog.operations
        return self.engine.run_prepared(key, build, self.steps, self.horizon_us)

    @property
    def request_key(self) -> tuple[Any, ...]:
        """The request without its times."""
        r = self.request
        return r.operation, r.by, r.where, r.system, r.login, r.options


_NOTHING = Term("samples", {-1: 1.0}, {-1: ""})
"""What a store without the operation has of it."""


def told(asked: Asked) -> dict[str, Any]:
    """Return what to tell about an answer."""
    return {
        "from_us": asked.window.start_us,
        "to_us": asked.window.end_us,
        "unit": asked.metric.unit if asked.metric else None,
        "by": asked.by,
        **asked.notes,
    }
