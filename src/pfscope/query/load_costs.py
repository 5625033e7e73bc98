"""What requests cost each server, learned from the hours before the end of the window."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import ibis
import ibis.expr.types as ir
import numpy as np
import pyarrow as pa

from pfscope.query.asked import Asked
from pfscope.query.catalog import horizon, usual_steps
from pfscope.query.load_fit import Learned, learn
from pfscope.query.load_server import Lines, Price, measured, own_rows, used_rows
from pfscope.query.metrics import is_bytes
from pfscope.query.selection import Selection
from pfscope.query.steps import rates
from pfscope.query.tables import micros
from pfscope.query.window import EvenSteps, Steps, Window
from pfscope.times import duration_us

_LEAST_STEP_US: Final = 120 * 10**6
"""In shorter ones the load, an average over a minute, says too little about this one."""
_KEYS: Final = ["server", "measure"]
_LOAD, _COVERED = "load", "covered"
Feature = tuple[str, str]
"""Kind of target, operation."""


@dataclass(frozen=True)
class Costs:
    """What was learned of each server, or why nothing was."""

    fits: Mapping[str, tuple[tuple[Feature, ...], Learned]]
    refused: Mapping[str, str]
    lines: Lines

    @property
    def bases(self) -> tuple[tuple[str, float], ...]:
        """Load that no request explains, by server."""
        return tuple((server, fit.base) for server, (_, fit) in self.fits.items())

    @property
    def prices(self) -> tuple[Price, ...]:
        """The costs by lines of the store."""
        return tuple(
            price
            for server, (features, fit) in self.fits.items()
            for price in _prices(
                server, dict(zip(features, fit.weights.tolist(), strict=True)), self.lines
            )
        )

    def told(self) -> dict[str, dict[str, float]]:
        """Return costs in microseconds for each request and MiB, and the base, by server."""
        found = {}
        for server, (features, fit) in self.fits.items():
            costs = zip(features, fit.weights.tolist(), strict=True)
            listed = {" ".join(feature): _microseconds(feature, cost) for feature, cost in costs}
            found[server] = {"base": round(fit.base, 6), **listed}
        return found


def _microseconds(feature: Feature, cost: float) -> float:
    return round(cost * 1e6 * (2**20 if is_bytes(feature[1]) else 1), 1)


def _prices(server: str, weight: Mapping[Feature, float], lines: Lines) -> list[Price]:
    kinds = sorted({kind for kind, _ in weight})
    found = [
        Price(
            server, kind, number,
            weight.get((kind, lines.requests.get(number, "")), 0.0),
            weight.get((kind, lines.bytes.get(number, "")), 0.0),
        )
        for kind in kinds
        for number in {**lines.requests, **lines.bytes}
    ]  # fmt: skip
    return [price for price in found if price.request or price.byte]


def learned_costs(asked: Asked, lines: Lines) -> Costs:
    """Learn from the hours that --fit-window says, or from the whole window if it is longer."""
    fits: dict[str, tuple[tuple[Feature, ...], Learned]] = {}
    refused = {}
    for server, matrix in _history(asked, lines).items():
        if not len(matrix.load):
            continue
        learned = matrix.learn()
        if isinstance(learned, str):
            refused[server] = learned
        else:
            fits[server] = matrix.features, learned
    return Costs(fits, refused, lines)


def _history(asked: Asked, lines: Lines) -> "dict[str, _Matrix]":
    """Return what each server was under and did, from what its targets count if they tell it."""
    steps = _steps(asked)
    horizon_us = horizon(asked.engine, steps.window, asked.catalog)
    where = {key: p for key, p in dict(asked.request.where).items() if key == "server"}

    def past(steps: Steps, horizon_us: int | None, *, of_targets: bool) -> ir.Table:
        selection = Selection(steps.window, where, horizon_us=horizon_us)
        counted = own_rows(selection) if of_targets else used_rows(selection, lines)
        return _past(selection, steps, lines, counted)

    def read(*, of_targets: bool) -> dict[str, _Matrix]:
        key = asked.name, "past", of_targets, asked.request_key, asked.catalog.operations
        build = partial(past, of_targets=of_targets)
        return _matrices(asked.engine.run_prepared(key, build, steps, horizon_us))

    found = read(of_targets=True)
    silent = {server for server, m in found.items() if len(m.load) and not m.features}
    if silent:
        by_ids = read(of_targets=False)
        found |= {server: by_ids[server] for server in silent}
    return found


def _steps(asked: Asked) -> EvenSteps:
    """Return the steps to learn from."""
    end = asked.window.end_us
    start = max(end - duration_us(asked.option("fit_window")), asked.catalog.first_us or 0)
    window = Window(min(start, asked.window.start_us), end)
    usual = usual_steps(asked.engine, window)
    return EvenSteps.over(window, max(usual.step_us, _LEAST_STEP_US), usual.origin_us)


def _past(selection: Selection, steps: Steps, lines: Lines, counted: ir.Table) -> ir.Table:
    """Return each server's load, and rates of its operations, at each step."""
    load = measured(selection)
    seconds = (micros(load.time) - micros(load.begin)).cast("float64") / 1e6
    found = [
        _measure(load, ibis.literal(_LOAD), load.load * seconds),
        _measure(load, ibis.literal(_COVERED), seconds),
    ]
    for names, column in ((lines.requests, "samples"), (lines.bytes, "total")):
        if names:
            named = counted.filter(counted.number.isin(list(names)))
            feature = named.kind + " " + named.number.cases(*names.items())
            found.append(_measure(named, feature, named[column]))
    summed = ibis.union(*found).group_by([*_KEYS, "begin", "time"]).agg(value=ibis._.value.sum())
    past = rates(summed, _KEYS, steps)
    return past.select(*_KEYS, "increment", "rate", time=micros(past.time))


def _measure(rows: ir.Table, name: ir.Value, value: ir.Value) -> ir.Table:
    return rows.select("server", "begin", "time", measure=name, value=value.cast("float64"))


@dataclass(frozen=True)
class _Matrix:
    """One server's load, and its rates, at the steps in which the load is known."""

    features: tuple[Feature, ...]
    rates: np.ndarray[Any, np.dtype[np.float64]]
    load: np.ndarray[Any, np.dtype[np.float64]]

    def learn(self) -> Learned | str:
        in_bytes = np.array([is_bytes(operation) for _, operation in self.features], bool)
        return learn(self.rates, in_bytes, self.load)


def _matrices(rows: pa.Table) -> dict[str, _Matrix]:
    """Return each server's steps as a matrix."""
    columns = {name: _values(rows, name) for name in ("server", "measure", "time")}
    columns |= {name: _values(rows, name) for name in ("increment", "rate")}
    found = {}
    for server in np.unique(columns["server"]).tolist():
        mine = columns["server"] == server
        found[server] = _matrix({name: values[mine] for name, values in columns.items()})
    return found


def _matrix(own: Mapping[str, Any]) -> _Matrix:
    """Return the matrix of one server's rows."""
    times = np.unique(own["time"][own["measure"] == _COVERED])
    own = {name: values[np.isin(own["time"], times)] for name, values in own.items()}
    place = np.searchsorted(times, own["time"])
    names, column = np.unique(own["measure"].astype(str), return_inverse=True)
    sums, rates = np.zeros((2, len(times), len(names)))
    sums[place, column], rates[place, column] = own["increment"], own["rate"]
    load, covered = (sums[:, names == name].sum(axis=1) for name in (_LOAD, _COVERED))
    of_targets = np.char.find(names, " ") > 0
    features = tuple(_feature(name) for name in names[of_targets].tolist())
    return _Matrix(features, rates[:, of_targets], load / np.maximum(covered, 1e-9))


def _feature(name: str) -> Feature:
    kind, _, operation = name.partition(" ")
    return kind, operation


def _values(rows: pa.Table, name: str) -> Any:
    return rows.column(name).to_numpy(zero_copy_only=False)
