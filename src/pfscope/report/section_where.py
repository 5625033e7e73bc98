"""Where: targets over time as heat maps, how evenly they share, and the servers they are on."""

from typing import Any, Final

import numpy as np
import plotly.graph_objects as go

from pfscope.query.results import Result
from pfscope.report import draw, numbers
from pfscope.report.digest import Digest
from pfscope.report.lines import Steps, filled, lines_of
from pfscope.report.markup import Child, Markup, element, table
from pfscope.report.section_servers import servers

_POOLS: Final = (("mdt", "metadata", "Metadata on each MDT"), ("ost", "bytes", "Bytes on each OST"))
_COMPARABLE: Final = 2
"""So many targets at least share anything."""
_UNEVEN: Final = 3.0
"""So many times the mean on one target is told in the summary, of OSTs."""


def where(digest: Digest) -> Markup:
    """Return the section."""
    return element(
        "section", element("h2", "Where", id="where"),
        element("p", "Which targets and servers were busy, and when."),
        [_heat(digest, kind, metric, title) for kind, metric, title in _POOLS],
        _balance(digest), servers(digest),
    )  # fmt: skip


def _heat(digest: Digest, kind: str, metric: str, title: str) -> Markup | None:
    result = digest.asking.ask("totals", by="target", operation=metric, kind=kind)
    if not len(result):
        return None
    figure, busiest = heat_of_targets(result, digest.asking.steps(result), title)
    unit = result.about["unit"]
    line = max(busiest, key=lambda line: line.peak)
    caption = (
        f"{title}: a row for each of {len(busiest)}, stronger colour for more, on a logarithmic "
        f"scale, and none for nothing. The most was {numbers.rate(line.peak, unit)} on "
        f"{draw.plain(line.name)} at {numbers.minute(line.peak_us)}."
    )
    return digest.page.figure(figure, caption, caption)


def heat_of_targets(result: Result, steps: Steps, title: str) -> tuple[go.Figure, list[Any]]:
    """Return a heat map of rates by target and time, and its lines."""
    lines = sorted(
        lines_of(result.table, ["target"]), key=lambda line: str(line.name), reverse=True
    )
    unit = draw.units(result.about["unit"])
    height = 24 + 15 * max(len(lines), 4)
    figure = draw.time_figure([draw.Panel(title, unit)], steps, panel_px=height)
    edges = np.unique(np.concatenate([[steps.start_us], steps.begins, steps.ends]))
    columns = np.searchsorted(edges, steps.begins, side="right") - 1
    amounts = np.zeros((len(lines), len(edges) - 1))
    for row, line in enumerate(lines):
        amounts[row, columns] = filled(line, steps)
    what = "%{customdata:.3s} on %{y} at %{x|%a %H:%M}"
    names = [draw.label(line.name) for line in lines]
    grid = draw.Grid(draw.milliseconds(edges), np.arange(len(lines) + 1) - 0.5, amounts, what)
    trace = draw.heat_trace(grid, bar={"len": draw.inner(1, height)})
    figure.add_trace(trace)
    figure.layout.yaxis.update(
        tickvals=list(range(len(lines))), ticktext=names, range=[-0.5, len(lines) - 0.5],
        showgrid=False, tickformat="", rangemode="normal", tickfont_size=11,
    )  # fmt: skip
    return figure, lines


def _balance(digest: Digest) -> Child:
    rows: list[list[Child]] = []
    for kind, metric, _ in _POOLS:
        result = digest.asking.maybe("balance", by="filesystem", operation=metric, kind=kind)
        for row in result.to_pylist() if result is not None else ():
            if row["targets"] < _COMPARABLE:
                continue
            rows.append(_balance_row(row, metric))
            if kind == "ost" and (row["ratio"] or 0) >= _UNEVEN:
                digest.find(
                    f"{row['busiest']} had {row['ratio']:.2g} times the mean of the "
                    f"{row['targets']} OSTs of {row['filesystem']} in bytes."
                )
    if not rows:
        return None
    head = ("file system", "targets", "of", "mean", "busiest", "its mean", "ratio", "as even as")
    note = (
        "Ratio: the busiest target's rate to the mean of all. As even as: the number of targets "
        "that would be as uneven. MDTs hold whole directories: they are rarely even."
    )
    return [
        table("Balance", head, rows, numeric=(3, 5, 6, 7), heading=True),
        element("p", note),
    ]


def _balance_row(row: dict[str, Any], metric: str) -> list[Child]:
    unit = "bytes" if metric == "bytes" else "requests"
    return [
        str(row["filesystem"]), f"{row['targets']} {str(row['kind']).upper()}s", metric,
        numbers.rate(row["mean"], unit), row["busiest"], numbers.rate(row["max"], unit),
        f"{row['ratio']:.2f}", f"{row['effective']:.1f} of {row['targets']}",
    ]  # fmt: skip
