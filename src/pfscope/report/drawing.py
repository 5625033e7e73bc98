"""A figure with all that is said beside it: the name of its file, title, caption and numbers."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import plotly.graph_objects as go

from pfscope.report.lines import Line
from pfscope.report.markup import Child


@dataclass(frozen=True)
class Drawing:
    """One output of `report figures`."""

    name: str
    """Of its file, without what it ends with."""
    title: str
    caption: str
    """What is to be seen, in words."""
    gist: str
    """The same in one short sentence."""
    figure: go.Figure
    head: Sequence[str] = ()
    rows: Sequence[Sequence[Child]] = field(default=())
    """The numbers, for those who do not see the figure."""


def named(lines: Sequence[Line], index: int = 0) -> list[Line]:
    """Return lines in the order of one part of their names, as targets stand."""
    return sorted(lines, key=lambda line: str(line.name[index]))
