"""All figures of `pfscope report figures`, in the order of their numbers."""

from collections.abc import Iterator, Sequence

from pfscope.report.asking import Asking
from pfscope.report.drawing import Drawing
from pfscope.report.figure_changes import changes
from pfscope.report.figure_entries import entries
from pfscope.report.figure_jobs import jobs
from pfscope.report.figure_rates import rates


def figures(asking: Asking, wanted_jobs: Sequence[str] = ()) -> Iterator[Drawing]:
    """Yield the figures of a period; what there is nothing of has none."""
    asking.require_usage()
    yield from entries(asking)
    yield from jobs(asking, wanted_jobs)
    yield from sorted([*rates(asking), *changes(asking)], key=lambda drawing: drawing.name)
