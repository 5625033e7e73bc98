"""`Result.plot()`: the figure that fits a kind of answer, made of the answer alone."""

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import plotly.graph_objects as go
import pyarrow as pa
import pyarrow.compute as pc

from pfscope.errors import UsageError
from pfscope.query.results import Result
from pfscope.report import draw, numbers
from pfscope.report.lines import Line, Steps, lines_of, summed, times

LINES_AT_MOST: Final = 12
_BARS: Final = 20
_MEASURES: Final = {
    "time", "rate", "rank", "rate_mean", "rate_max", "total", "share", "bucket_low", "bucket_high",
    "count", "entries", "baseline", "peak", "increase", "counter", "load", "load_equal",
    "load_service", "load_learned", "requests", "bytes", "mean_size", "p50_size", "p90_size",
    "minimum", "maximum", "mean_us", "deviation_us", "minimum_us", "maximum_us", "targets", "mean",
    "max", "busiest", "ratio", "effective", "attributed", "unattributed",
}  # fmt: skip


def plot(result: Result) -> go.Figure:
    """Return the figure of an answer; one without rows is drawn as an empty one."""
    columns = set(result.table.column_names)
    if result.name in _FIGURES:
        return _FIGURES[result.name](result)
    if {"time", "rate"} <= columns:
        return rates(result)
    measure, written = _RANKED.get(result.name, ("", numbers.si))
    if measure not in columns or "time" in columns:
        raise UsageError(f"there is no figure for {result.name}: use .to_pandas().plot()")
    return ranked(result, measure, written)


def keys_of(result: Result) -> list[str]:
    """Return the columns of an answer that say who or what."""
    return [name for name in result.table.column_names if name not in _MEASURES]


def steps_of(result: Result) -> Steps:
    """Return the steps of an answer."""
    return Steps.of(result.about["from_us"], result.about["to_us"], result.table)


def largest(lines: list[Line], limit: int = LINES_AT_MOST) -> list[Line]:
    """Return the largest lines, and the sum of the others as one."""
    if len(lines) <= limit:
        return lines
    return [*lines[:limit], summed(lines[limit:], draw.OTHERS)]


def rates(result: Result) -> go.Figure:
    """Draw step lines: the largest, and all others as one."""
    lines = largest(lines_of(result.table, keys_of(result)))
    title = " and ".join(keys_of(result)) or "total"
    unit = draw.units(result.about.get("unit"))
    panel = draw.Panel(title, unit, tuple(lines))
    return draw.time_figure([panel], steps_of(result), panel_px=300)


def top(result: Result) -> go.Figure:
    """Draw a bar for each of a ranking."""
    table, unit = result.table, result.about.get("unit")
    names = _names(table, keys_of(result))
    means = table["rate_mean"].to_pylist()
    told = [
        f"{numbers.rate(mean, unit)}, {numbers.share(share)}"
        for mean, share in zip(means, table["share"].to_pylist(), strict=True)
    ]
    return draw.bars(names, means, told)


def causes(result: Result) -> go.Figure:
    """Draw a bar for each cause of an increase."""
    table, unit = result.table, result.about.get("unit")
    increases = table["increase"].to_pylist()
    told = [
        f"+{numbers.rate(more, unit)}, {numbers.share(share)}"
        for more, share in zip(increases, table["share"].to_pylist(), strict=True)
    ]
    return draw.bars(_names(table, keys_of(result)), increases, told)


def _names(table: pa.Table, keys: list[str]) -> list[str]:
    return [draw.label(tuple(row.values())) for row in table.select(keys).to_pylist()]


def density(result: Result) -> go.Figure:
    """Draw how many have a rate of which magnitude as a heat map; or who is in one bucket."""
    if "rate" in result.table.column_names:
        return rates(result)
    steps = steps_of(result)
    panel = draw.Panel("density", f"{draw.units(result.about.get('unit'))} of each")
    figure = draw.time_figure([panel], steps, panel_px=300)
    add_density(figure, result.table, steps, 0, {"len": draw.inner(1, 300)})
    return figure


def add_density(
    figure: go.Figure, table: pa.Table, steps: Steps, row: int, bar: dict[str, Any] | None = None
) -> None:
    """Draw a density into a panel of a figure, where there is any."""
    if not len(table):
        return
    lows = np.round(np.log10(table["bucket_low"].to_numpy()), 6)
    highs = np.round(np.log10(table["bucket_high"].to_numpy()), 6)
    width = highs[0] - lows[0]
    bottom = lows.min()
    places = np.rint((lows - bottom) / width).astype(int)
    edges = np.unique(np.concatenate([[steps.start_us], steps.begins, steps.ends]))
    counts = np.zeros((places.max() + 1, len(edges) - 1))
    columns = np.searchsorted(edges, steps.begins_of(times(table)), side="right") - 1
    counts[places, columns] = table["count"].to_numpy()
    sides = bottom + width * np.arange(len(counts) + 1)
    what = "%{customdata:.0f} have a rate of this magnitude at %{x|%a %H:%M}"
    grid = draw.Grid(draw.milliseconds(edges), sides, counts, what)
    figure.add_trace(draw.heat_trace(grid, row=row, bar=bar))
    axis = figure.layout[f"yaxis{row + 1 if row else ''}"]
    shown = sides[:: max(1, len(sides) // 8)]
    axis.update(
        tickvals=list(shown), ticktext=[_power(s) for s in shown], range=[sides[0], sides[-1]],
        tickformat="", rangemode="normal",
    )  # fmt: skip


def _power(exponent: float) -> str:
    if abs(exponent - round(exponent)) < 1e-6:
        return f"10<sup>{round(exponent)}</sup>"
    return numbers.si(10**exponent)


def entries(result: Result) -> go.Figure:
    """Draw how many entries there were of each class, of system users and of others."""
    lines = lines_of(result.table, ["class", "system"], "entries")
    named = [_of_whom(line) for line in lines]
    steps = steps_of(result)
    return draw.time_figure([draw.Panel("entries", "in a read", tuple(named))], steps, panel_px=300)


def _of_whom(line: Line) -> Line:
    name, system = line.name
    whole = summed([line], (name, "system users" if system else "other users"))
    return Line(whole.name, whole.ends, whole.rates)


def counters(result: Result) -> go.Figure:
    """Draw raw counters, which grow and begin anew."""
    lines = lines_of(result.table, keys_of(result), "counter")[:LINES_AT_MOST]
    unit = result.about.get("unit") or "requests"
    panel = draw.Panel("counters", str(unit), tuple(lines), straight=True)
    return draw.time_figure([panel], steps_of(result), panel_px=300)


def load(result: Result) -> go.Figure:
    """Draw the load that each causes on its server, by the best of the ways that are there."""
    ways = [f"load_{way}" for way in ("service", "learned", "equal")]
    known = [way for way in ways if result.table[way].null_count < len(result)]
    return ranked(result, known[0] if known else ways[-1], numbers.si)


def ranked(result: Result, measure: str, written: Callable[[float], str]) -> go.Figure:
    """Draw a bar for each of the largest by some measure."""
    found = result.table.filter(pc.is_valid(result.table[measure]))
    found = found.sort_by([(measure, "descending")]).slice(0, _BARS)
    values = [float(value) for value in found[measure].to_pylist()]
    return draw.bars(_names(found, keys_of(result)), values, [written(v) for v in values])


_RANKED: Final[dict[str, tuple[str, Callable[[float], str]]]] = {
    "balance": ("ratio", lambda ratio: f"{ratio:.2f} times the mean"),
    "latency": ("mean_us", numbers.duration),
    "sizes": ("mean_size", lambda size: numbers.si(size, "B")),
    "unattributed": ("share", numbers.share),
}
_FIGURES: Final[dict[str, Callable[[Result], go.Figure]]] = {
    "totals": rates,
    "series": rates,
    "top": top,
    "density": density,
    "causes": causes,
    "quality": entries,
    "counters": counters,
    "load": load,
}
