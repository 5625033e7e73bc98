"""A small static picture of a figure for an index: a few strokes of SVG, without script or text."""

from typing import Any, Final

import numpy as np
import plotly.graph_objects as go

from pfscope.report import palette
from pfscope.report.lines import Floats
from pfscope.report.markup import Markup, element

WIDTH: Final = 320
HEIGHT: Final = 170
_MARGIN: Final = 12
_POINTS: Final = 120
_LINES: Final = 12


def thumbnail(figure: go.Figure) -> Markup:
    """Return a picture of the lines and heat maps of a figure."""
    rows = max((_row(trace) for trace in figure.data), default=0) + 1
    parts = [_panel([t for t in figure.data if _row(t) == row], row, rows) for row in range(rows)]
    return element(
        "svg", parts, viewBox=f"0 0 {WIDTH} {HEIGHT}", aria_hidden="true", focusable="false",
        preserveAspectRatio="none",
    )  # fmt: skip


def _row(trace: Any) -> int:
    return int((trace.yaxis or "y")[1:] or 1) - 1


def _panel(traces: list[Any], row: int, rows: int) -> list[Markup]:
    each = (HEIGHT - 2 * _MARGIN) / rows
    top, height = _MARGIN + row * each + 3, each - 6
    maps = [_cells(t, top, height) for t in traces if t.type == "heatmap"]
    lines = [t for t in traces if t.type == "scatter" and t.x is not None and len(t.x)]
    return maps + _lines(lines[:_LINES], top, height)


def _lines(traces: list[Any], top: float, height: float) -> list[Markup]:
    points = [(np.asarray(t.x, float), np.asarray(t.y, float)) for t in traces]
    points = [(x, y) for x, y in points if np.isfinite(y).any()]
    if not points:
        return []
    edges = np.linspace(min(x[0] for x, _ in points), max(x[-1] for x, _ in points), _POINTS + 1)
    values = [_highest(x, y, edges) for x, y in points]
    log = any(np.isnan(y).any() for _, y in points)
    values = [np.log10(y) for y in values] if log else values
    seen = np.concatenate([y[np.isfinite(y)] for y in values])
    low, high = (float(seen.min()) if log else 0.0), float(seen.max())
    across = np.linspace(0, 1, _POINTS)
    return [
        element(
            "path", d=_path(across, (y - low) / (high - low or 1), top, height), fill="none",
            cls="stroke", style=_colours(trace.line.color), stroke_width="1.1", opacity="0.9",
        )
        for y, trace in zip(values, traces, strict=False)
    ]  # fmt: skip


def _highest(x: Floats, y: Floats, edges: Floats) -> Floats:
    """Return the highest of a step function between each two edges; a short burst is still seen."""
    first = np.searchsorted(x, edges[:-1], side="right")
    last = np.minimum(np.searchsorted(x, edges[1:], side="left"), len(x) - 1)
    found = np.full(len(first), np.nan)
    for place, (a, b) in enumerate(zip(first, last, strict=True)):
        piece = y[a : b + 1]
        if np.isfinite(piece).any():
            found[place] = np.nanmax(piece)
    return found


def _path(x: Floats, y: Floats, top: float, height: float) -> str:
    across = _MARGIN + x * (WIDTH - 2 * _MARGIN)
    down = top + height - y * height
    pieces, pen = [], "M"
    for a, d in zip(across, down, strict=True):
        if not np.isfinite(d):
            pen = "M"
            continue
        pieces.append(f"{pen}{a:.0f} {d:.0f}")
        pen = "L"
    return "".join(pieces)


def _cells(trace: Any, top: float, height: float) -> Markup:
    """Return a heat map as one path of cells for each of a few shades."""
    z = np.asarray(trace.z, float)
    wide = -(-z.shape[1] // 80)
    z = np.concatenate([z, np.full((len(z), -z.shape[1] % wide), np.nan)], axis=1)
    z = np.where(np.isnan(z), -np.inf, z).reshape(len(z), -1, wide).max(axis=2)
    levels = np.linspace(trace.zmin, trace.zmax, len(trace.colorscale) + 1)[1:-1]
    shade = np.where(np.isfinite(z), np.digitize(z, levels), -1)
    w, h = (WIDTH - 2 * _MARGIN) / z.shape[1], height / len(z)
    paths = []
    for index, (_, colour) in enumerate(trace.colorscale):
        cells = np.argwhere(shade == index)
        drawn = "".join(
            f"M{_MARGIN + c * w:.1f} {top + height - (r + 1) * h:.1f}h{w:.1f}v{h:.1f}h-{w:.1f}z"
            for r, c in cells
        )
        paths.append(element("path", d=drawn, cls="fill", style=_colours(colour)))
    return element("g", paths)


def _colours(light: str) -> str:
    """Return a colour in both schemes, for the style sheet to choose."""
    return f"--light:{light};--dark:{palette.dark()[light]}"
