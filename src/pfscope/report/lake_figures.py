"""Figures of a lake's statistics: shares by bars, distributions by steps, classes by stacks."""

from collections.abc import Mapping, Sequence
from itertools import accumulate

import plotly.graph_objects as go

from pfscope.report import draw, palette

_HEIGHT = 320


def cumulative(percents: Sequence[int], counts: Mapping[str, Sequence[int]]) -> go.Figure:
    """Return which part of all is at or below each percent."""
    figure = _figure("percent of accesses", "percent of runs")
    for index, (name, runs) in enumerate(counts.items()):
        whole = sum(runs) or 1
        figure.add_trace(go.Scatter(
            x=list(percents), y=[100 * n / whole for n in accumulate(runs)], name=draw.label(name),
            mode="lines", line={"shape": "hv", "color": palette.line(index), "width": 2},
            hovertemplate="%{y:.1f} % of runs up to %{x} %",
        ))  # fmt: skip
    figure.update_yaxes(range=[0, 101])
    return draw.with_legend(figure, len(counts))


def histogram(names: Sequence[str | int], counts: Sequence[int], what: str) -> go.Figure:
    """Return a bar for each bin."""
    figure = _figure(what, "runs")
    figure.add_trace(go.Bar(
        x=list(names), y=list(counts), marker={"color": palette.line(0)},
        hovertemplate="%{y} runs at %{x}<extra></extra>",
    ))  # fmt: skip
    return figure.update_layout(bargap=0.1, showlegend=False)


def stacked(names: Sequence[str], shares: Mapping[str, Sequence[float]]) -> go.Figure:
    """Return bars made of parts, in percent; a logarithm would hide nothing but show no sums."""
    figure = _figure("", "percent of runs")
    for index, (name, parts) in enumerate(shares.items()):
        figure.add_trace(go.Bar(
            x=list(names), y=list(parts), name=draw.label(name),
            marker={"color": palette.line(index)},
            hovertemplate="%{y:.1f} % of %{x}",
        ))  # fmt: skip
    figure.update_layout(barmode="stack", bargap=0.35)
    return draw.with_legend(figure, len(shares))


def _figure(x: str, y: str) -> go.Figure:
    figure = go.Figure(layout={
        **draw.base_layout(), "height": _HEIGHT, "margin": {"l": 60, "r": 14, "t": 10, "b": 50},
    })  # fmt: skip
    title = {"font": {"size": 12, "color": palette.MUTED}}
    figure.update_xaxes(**draw.quiet_axis(), title={**title, "text": x})
    return figure.update_yaxes(**draw.quiet_axis(), rangemode="tozero", title={**title, "text": y})
