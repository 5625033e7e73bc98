"""The time line of a run's files: when each was in use, and the critical path in colour."""

from typing import Final

import numpy as np
import plotly.graph_objects as go

from pfscope.mine.explain_facts import Facts
from pfscope.mine.factors import summed
from pfscope.mine.sweep import Indices, Seconds, union
from pfscope.report import draw, palette

_ROWS: Final = 24
_BESIDE: Final = 4
"""Files that are shown although the path does not go through them."""
_FEWEST: Final = 10
_PIECES: Final = 1500
"""Parts of the path that are drawn at most; gaps that nobody could see are closed."""
_LONGEST: Final = 44
WHOLE: Final = "critical path"
PATH_COLOUR: Final = palette.LINES[1]


def path_figure(facts: Facts) -> go.Figure:
    """Return a row for the path as a whole and one for each of the files that it goes through."""
    worked = facts.worked
    rows = _chosen(facts)
    place = np.full(worked.files.num_rows, -1)
    place[rows] = np.arange(1, len(rows) + 1)
    figure = go.Figure(layout={
        **draw.base_layout(), "height": 70 + 24 * (len(rows) + 1), "barmode": "overlay",
        "bargap": 0.3, "showlegend": False, "margin": {"l": 10, "r": 14, "t": 8, "b": 44},
    })  # fmt: skip
    spans, path = worked.spans, worked.path
    of_rows = place[spans.row] > 0
    figure.add_trace(
        _bars(place[spans.row[of_rows]], spans.start[of_rows], spans.end[of_rows], "in use")
    )
    start, end = _seen(path.start, path.end)
    told = place[path.row] > 0
    at = np.concatenate([np.zeros(len(start), np.int64), place[path.row[told]]])
    figure.add_trace(
        _bars(
            at, np.concatenate([start, path.start[told]]), np.concatenate([end, path.end[told]]),
            "on the critical path",
        )
    )  # fmt: skip
    names = worked.files["name"]
    titles = [WHOLE, *(_short(names[int(row)].as_py()) for row in rows)]
    figure.update_yaxes(
        **draw.quiet_axis()
        | {"tickvals": list(range(len(titles))), "ticktext": titles, "autorange": "reversed"}
        | {"showgrid": False}
    )
    return figure.update_xaxes(
        **draw.quiet_axis(), title={
            "text": "seconds since the run began", "standoff": 8,
            "font": {"size": 12, "color": palette.MUTED},
        },
        rangemode="tozero",
    )  # fmt: skip


def _chosen(facts: Facts) -> Indices:
    """Return the files that most of the path goes through, in its order, and others behind."""
    worked = facts.worked
    in_use = summed(worked.spans.row, worked.spans.end - worked.spans.start, worked.files.num_rows)
    order = np.lexsort((-in_use, -worked.exclusive))
    critical = int((worked.exclusive > 0).sum())
    chosen = order[: min(max(critical + _BESIDE, _FEWEST), _ROWS)]
    begin = np.full(worked.files.num_rows, np.inf)
    np.minimum.at(begin, worked.path.row, worked.path.start)
    in_order: Indices = chosen[np.argsort(begin[chosen], kind="stable")]
    return in_order


def _bars(at: Indices, start: Seconds, end: Seconds, what: str) -> go.Bar:
    drawn = what.startswith("on")
    return go.Bar(
        x=end - start, base=start, y=at, orientation="h", width=0.62 if drawn else 0.34,
        marker={"color": PATH_COLOUR if drawn else palette.REST, "line": {"width": 0}},
        customdata=np.stack([start, end], axis=-1),
        hovertemplate=what + ": %{customdata[0]:.4g} s to %{customdata[1]:.4g} s<extra></extra>",
    )  # fmt: skip


def _seen(start: Seconds, end: Seconds) -> tuple[Seconds, Seconds]:
    """Put together parts of the path that touch, or lie nearer than anyone can see."""
    if not len(start):
        return start, end
    close = (end.max() - start.min()) / _PIECES
    merged = union(start, end + close, np.zeros(len(start), np.int64))
    return merged.start, merged.end - close


def _short(name: str | None) -> str:
    told = draw.plain(name)
    return draw.label(told if len(told) <= _LONGEST else f"…{told[1 - _LONGEST :]}")
