"""The figures' common hand: quiet axes, step lines in panels that share their time, heat maps.

A text from an answer gets into a figure as `label` gives it, and no other way.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, log10
from typing import Any, Final

import numpy as np
import plotly.graph_objects as go

from pfscope.report import numbers, palette
from pfscope.report.lines import Floats, Line, Name, Steps, Times, stroke
from pfscope.untrusted import plotly_text

FONT: Final = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
UNKNOWN: Final = "(not told)"
DECADES_AT_MOST: Final = 8
LEGEND_AT_MOST: Final = 14
"""More names than this are told by hovering, and by the caption."""
_PANEL_PX: Final = 210
_TITLE_PX: Final = 34
_BELOW_PX: Final = 44
_LEGEND_ROW_PX: Final = 22


def label(name: Name | str | None) -> str:
    """Return who or what something is, safe in a figure."""
    return plotly_text(plain(name))


def plain(name: Name | str | None) -> str:
    """Return who or what something is, as text."""
    parts = name if isinstance(name, tuple) else (name,)
    return " · ".join(UNKNOWN if part is None else str(part) for part in parts)


def whose(user: str | None) -> str:
    """Return a user, or those of whom no id tells who they are."""
    return "ids that tell no user" if user is None else f"user {user}"


def units(unit: str | None) -> str:
    """Return what a rate of a unit is called on an axis."""
    return "bytes per second" if unit == "bytes" else "per second"


@dataclass(frozen=True)
class Panel:
    """One plot of a figure: lines over time, or whatever else is drawn into its axes."""

    title: str
    """May hold text from answers."""
    unit: str = "per second"
    lines: tuple[Line, ...] = ()
    log: bool = False
    colours: tuple[str, ...] = ()
    """Of the lines; without, each gets the next of the palette."""
    straight: bool = False
    """Lines go straight from point to point, as those of counters; else they are step functions."""
    faint: tuple[Line, ...] = ()
    """Lines behind the others, thin and grey and without names: their shape alone matters."""


def time_figure(
    panels: Sequence[Panel], steps: Steps, *, panel_px: int = _PANEL_PX, legend: bool = True
) -> go.Figure:
    """Return panels one below the other with one time axis."""
    figure = go.Figure(layout=_layout(len(panels), panel_px))
    drawn: set[Name] = set()
    for row, panel in enumerate(panels):
        _frame(figure, row, len(panels), panel, panel_px)
        if panel.faint:
            figure.add_trace(_faint(panel, steps, row))
        for index, line in enumerate(panel.lines):
            colour = _colour(panel, index)
            named = len(panel.lines) > 1 and line.name not in drawn
            figure.add_trace(_trace(line, steps, panel, colour, row, named=named))
            drawn |= {line.name} if named else set()
    _time_axes(figure, len(panels), steps)
    show = legend and 1 < len(drawn) <= LEGEND_AT_MOST
    return with_legend(figure, len(drawn)) if show else figure.update_layout(showlegend=False)


def with_legend(figure: go.Figure, entries: int) -> go.Figure:
    """Make room for a legend below."""
    rows = ceil(entries / 4)
    below = figure.layout.margin.b + rows * _LEGEND_ROW_PX
    height = figure.layout.height + rows * _LEGEND_ROW_PX
    inner = height - below - figure.layout.margin.t
    return figure.update_layout(
        showlegend=True, height=height, margin_b=below,
        legend={"y": -(_BELOW_PX - 8) / inner, "yanchor": "top", "x": 0, "orientation": "h"},
    )  # fmt: skip


def inner(panels: int, panel_px: int = _PANEL_PX) -> float:
    """Return which part of a figure's height the plot of its lowest panel has."""
    return panel_px / (panel_px + _TITLE_PX) / panels


def milliseconds(times_us: Times) -> Floats:
    """Return times as Plotly's date axes take numbers."""
    return times_us / 1e3


def _colour(panel: Panel, index: int) -> str:
    if panel.lines[index].name == OTHERS:
        return palette.REST
    return panel.colours[index] if panel.colours else palette.line(index)


OTHERS: Final[Name] = ("all others",)


def _trace(
    line: Line, steps: Steps, panel: Panel, colour: str, row: int, *, named: bool
) -> go.Scatter:
    x, y = (line.ends, line.rates) if panel.straight else stroke(line, steps, zeros=not panel.log)
    return go.Scatter(
        x=milliseconds(x), y=y.astype(np.float32), name=label(line.name), mode="lines",
        line={
            "shape": "linear" if panel.straight else "vh", "color": colour,
            "width": 1 if len(panel.lines) > LEGEND_AT_MOST else 1.6,
        },
        opacity=0.9, xaxis=_axis("x", row), yaxis=_axis("y", row),
        hovertemplate="%{y:.3s} at %{x|%a %H:%M}", legendgroup=label(line.name), showlegend=named,
    )  # fmt: skip


def _faint(panel: Panel, steps: Steps, row: int) -> go.Scatter:
    """Draw all of a panel's faint lines as one trace, broken between them."""
    strokes = [stroke(line, steps, zeros=not panel.log) for line in panel.faint]
    x = np.concatenate([np.append(x, x[-1]) for x, _ in strokes])
    y = np.concatenate([np.append(y, np.nan) for _, y in strokes])
    return go.Scatter(
        x=milliseconds(x), y=y.astype(np.float32), mode="lines", hoverinfo="skip", opacity=0.4,
        line={"shape": "vh", "color": palette.REST, "width": 0.7}, showlegend=False,
        xaxis=_axis("x", row), yaxis=_axis("y", row),
    )  # fmt: skip


def _axis(letter: str, row: int) -> str:
    return letter if row == 0 else f"{letter}{row + 1}"


def _layout(rows: int, panel_px: int) -> dict[str, Any]:
    return {
        **base_layout(),
        "height": rows * (panel_px + _TITLE_PX) + _BELOW_PX,
        "margin": {"l": 58, "r": 14, "t": 0, "b": _BELOW_PX},
    }


def base_layout() -> dict[str, Any]:
    """Return what all figures share."""
    return {
        "template": None,
        "font": {"family": FONT, "size": 13, "color": palette.INK},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "colorway": list(palette.LINES),
        "hovermode": "closest",
        "hoverlabel": {
            "bgcolor": palette.PAPER, "bordercolor": palette.MUTED,
            "font": {"color": palette.INK, "family": FONT}, "namelength": -1,
        },
        "legend": {"font": {"size": 12, "color": palette.MUTED}, "bgcolor": "rgba(0,0,0,0)"},
        "modebar": {
            "bgcolor": "rgba(0,0,0,0)", "color": palette.REST, "activecolor": palette.MUTED,
        },
        "dragmode": "zoom",
    }  # fmt: skip


def quiet_axis() -> dict[str, Any]:
    """Return an axis that does not draw attention."""
    return {
        "gridcolor": palette.GRID, "linecolor": palette.GRID, "zeroline": False,
        "tickfont": {"color": palette.MUTED, "size": 12}, "ticks": "", "automargin": True,
    }  # fmt: skip


def _frame(figure: go.Figure, row: int, rows: int, panel: Panel, panel_px: int) -> None:
    """Give a panel its place, its title and its vertical axis."""
    one = 1 / rows
    top = 1 - row * one - one * _TITLE_PX / (panel_px + _TITLE_PX)
    axis = {**quiet_axis(), "domain": [1 - (row + 1) * one, top], "anchor": _axis("x", row)}
    axis |= (
        _log_axis([*panel.lines, *panel.faint])
        if panel.log
        else {"rangemode": "tozero", "tickformat": "~s"}
    )
    figure.layout[f"yaxis{row + 1 if row else ''}"] = axis
    figure.add_annotation(
        text=f"<b>{label(panel.title)}</b>  {plotly_text(panel.unit)}",
        x=0, xref="paper", xanchor="left", y=top, yref="paper", yanchor="bottom", yshift=4,
        showarrow=False, font={"size": 13},
    )  # fmt: skip


def _log_axis(lines: Sequence[Line]) -> dict[str, Any]:
    values = np.concatenate([np.ones(0), *[line.rates for line in lines]])
    low, high = (values.min(), values.max()) if len(values) else (1.0, 10.0)
    top = log10(high) + 0.15
    bottom = max(log10(low) - 0.15, top - DECADES_AT_MOST)
    return {
        "type": "log", "range": [bottom, top], "dtick": 1 if top - bottom > 1.6 else "D2",
        "exponentformat": "power", "tickfont": {"color": palette.MUTED, "size": 10},
    }  # fmt: skip


def _time_axes(figure: go.Figure, rows: int, steps: Steps) -> None:
    for row in range(rows):
        axis = {
            **quiet_axis(), "type": "date", "anchor": _axis("y", row), "showgrid": True,
            "range": [steps.start_us / 1e3, steps.end_us / 1e3], "matches": "x" if row else None,
            "showticklabels": row == rows - 1, "nticks": 9, "tickangle": 0,
        }  # fmt: skip
        figure.layout[f"xaxis{row + 1 if row else ''}"] = axis


@dataclass(frozen=True)
class Grid:
    """Amounts in cells; nothing is drawn where an amount is zero."""

    x: Any
    """Edges, one more than columns; times in milliseconds on a time axis."""
    y: Any
    """Edges, one more than rows, or the names of rows, which are safe already."""
    amounts: Floats
    what: str
    """The hover's text: a template with `%{customdata}`."""


def heat_trace(grid: Grid, *, row: int = 0, bar: dict[str, Any] | None = None) -> go.Heatmap:
    """Return a heat map with logarithmic colours."""
    with np.errstate(divide="ignore"):
        height = np.where(grid.amounts > 0, np.log10(grid.amounts), np.nan)
    seen = height[np.isfinite(height)]
    low, high = (floor(seen.min()), seen.max()) if len(seen) else (0, 1)
    low, high = max(low, ceil(high) - DECADES_AT_MOST), max(high, low + 1)
    marks = (1, 10) if high - low > 2 else (1, 2, 5, 10)
    ticks = sorted({m * 10.0**t for t in range(low, floor(high) + 1) for m in marks})
    return go.Heatmap(
        x=grid.x, y=grid.y, z=height.astype(np.float32), zmin=low, zmax=high,
        customdata=grid.amounts.astype(np.float32), hovertemplate=grid.what + "<extra></extra>",
        colorscale=palette.heat(), xaxis=_axis("x", row), yaxis=_axis("y", row), hoverongaps=False,
        colorbar={
            "thickness": 10, "outlinewidth": 0, "tickfont": {"color": palette.MUTED, "size": 11},
            "tickvals": [log10(t) for t in ticks], "ticktext": [numbers.si(t) for t in ticks],
            "y": 0, "yanchor": "bottom", "ypad": 0, **(bar or {}),
        },
    )  # fmt: skip


def bars(names: Sequence[str], values: Sequence[float], texts: Sequence[str]) -> go.Figure:
    """Return horizontal bars, the first on top; names are safe already."""
    figure = go.Figure(layout={
        **base_layout(), "height": 46 + 26 * len(names), "bargap": 0.35, "showlegend": False,
        "margin": {"l": 10, "r": 90, "t": 8, "b": 30},
    })  # fmt: skip
    places = list(range(len(names)))
    figure.add_trace(go.Bar(
        x=list(values), y=places, orientation="h", text=list(texts), textposition="outside",
        cliponaxis=False, marker={"color": palette.line(0)}, hovertemplate="%{text}<extra></extra>",
        textfont={"color": palette.MUTED},
    ))  # fmt: skip
    names_axis = {"tickvals": places, "ticktext": list(names), "autorange": "reversed"}
    figure.update_yaxes(**quiet_axis() | names_axis | {"showgrid": False})
    return figure.update_xaxes(**quiet_axis(), rangemode="tozero", tickformat="~s")
