"""Counters and rates of three jobs' writes to each OST (the thesis' figures 5 to 7).

The jobs are those that are named, or else the ones with most write requests: nothing else chooses.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
import pyarrow.compute as pc

from pfscope.query.results import Result
from pfscope.report import draw, numbers, palette
from pfscope.report.asking import Asking
from pfscope.report.drawing import Drawing, named
from pfscope.report.figure_rates import mean
from pfscope.report.lines import Line, Steps, lines_of

FIRST: Final = 5
COUNT: Final = 3
OPERATION: Final = "write"
_KEYS: Final = ["target", "node", "job"]
_ACTIVE: Final = 0.01
"""Of the largest total: a line below it is near zero."""


def jobs(asking: Asking, wanted: Sequence[str] = ()) -> Iterator[Drawing]:
    """Yield a figure for each job."""
    if OPERATION not in asking.operations.get("ost", ()):
        return
    for place, job in enumerate(wanted or _busiest(asking)):
        drawing = _drawing(FIRST + place, job, asking)
        if drawing:
            yield drawing


def _busiest(asking: Asking) -> list[str]:
    """Return the jobs with most writes; what has no job is not one."""
    found = asking.ask("top", by="job", operation=OPERATION, kind="ost", job="*", limit=COUNT)
    return [job for job in found.table["job"].to_pylist() if job is not None]


def _drawing(number: int, job: str, asking: Asking) -> Drawing | None:
    words = {"operation": OPERATION, "kind": "ost", "job": pattern(job), "by": _KEYS}
    result = asking.ask("series", **words)
    rates = _of_job(result, job, "rate")
    if not rates:
        return None
    steps = asking.steps(result)
    nodes = sorted({str(line.name[1]) for line in rates})
    counters = asking.maybe("counters", **words)
    shown, colours = _shown(rates, nodes)
    panels = [draw.Panel(f"{OPERATION} of job {job}", "per second", shown, colours=colours)]
    if counters is not None:
        shown, colours = _shown(_of_job(counters, job, "counter"), nodes)
        title = f"counters of job {job}"
        panels.insert(0, draw.Panel(title, "requests", shown, colours=colours, straight=True))
    whole = sum(mean(line, steps) for line in rates)
    return Drawing(
        f"{number:02}-job-{number - FIRST + 1}-{OPERATION}", f"Job {job}: {OPERATION}",
        _caption(job, rates, nodes, steps, with_counters=counters is not None),
        f"To {numbers.how_many(len({line.name[0] for line in rates}), 'target')} from "
        f"{numbers.how_many(len(nodes), 'node')}, {numbers.rate(whole, 'requests')} on average.",
        draw.time_figure(panels, steps), ("target", "node", "mean", "highest", "at"),
        [_row(line, steps) for line in rates[:48]],
    )  # fmt: skip


def _of_job(result: Result, job: str, value: str) -> list[Line]:
    """Return a job's lines by target and node, without those that only fit its pattern."""
    rows = result.table.filter(pc.equal(result.table["job"], job))
    return named(lines_of(rows, ["target", "node"], value))


def pattern(job: str) -> str:
    """Return a pattern that a job fits, whatever characters it has.

    >>> pattern("113[1]"), pattern("!a*"), pattern("1..5"), pattern("11317854")
    ('113?1?', '?a?', '1??5', '11317854')
    """
    return re.sub(r"[*?\[\]!.]", "?", job)


def _shown(lines: Sequence[Line], nodes: Sequence[str]) -> tuple[tuple[Line, ...], tuple[str, ...]]:
    """Return lines named by target, or by target and node where there are several, and colours."""
    one = len(nodes) == 1
    targets = sorted({str(line.name[0]) for line in lines})
    shown = tuple(
        Line(line.name[:1] if one else line.name, line.ends, line.rates) for line in lines
    )
    colours = tuple(palette.ramp(targets.index(str(line.name[0])), len(targets)) for line in lines)
    return shown, colours


def _caption(
    job: str, rates: Sequence[Line], nodes: Sequence[str], steps: Steps, *, with_counters: bool
) -> str:
    totals = sorted((mean(line, steps) for line in rates), reverse=True)
    active = [t for t in totals if t >= _ACTIVE * totals[0]]
    highest = max(line.peak for line in rates)
    written = np.unique(np.concatenate([line.ends for line in rates]))
    seen = len(written) * steps.length_us() / (steps.end_us - steps.start_us)
    what = "Counters and rates" if with_counters else "Rates"
    return (
        f"{what} of {OPERATION} requests of job {job} from "
        f"{nodes[0] if len(nodes) == 1 else numbers.how_many(len(nodes), 'node')}: a line for each "
        f"target{'' if len(nodes) == 1 else ' and node'}. "
        f"{numbers.how_many(len(active), 'line').capitalize()} of {len(totals)} carry more than a "
        f"hundredth of what the busiest does, which has {numbers.share(totals[0] / sum(totals))} "
        f"of all, and at most {numbers.rate(highest, 'requests')}. The job wrote in "
        f" {numbers.share(seen)} of the period's steps."
    )


def _row(line: Line, steps: Steps) -> list[str]:
    return [
        draw.plain(line.name[:1]), draw.plain(line.name[1:]),
        numbers.rate(mean(line, steps), "requests"), numbers.rate(line.peak, "requests"),
        steps.at(line.peak_us),
    ]  # fmt: skip
