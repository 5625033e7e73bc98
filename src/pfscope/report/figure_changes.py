"""The largest changes, as total, per user, and density (the thesis' figures 20 to 22).

A change is around the busiest ten minutes of a rate, as long as it is nearer to that than to its
median; it is large by what was done above the median, in terms of it. Small rates do not count:
below 1 % of the highest of their unit. No operation and no target is drawn twice.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import floor, log10
from typing import Final

import numpy as np

from pfscope.query.metrics import PARTS_OF_RENAME, is_bytes
from pfscope.report import draw, numbers
from pfscope.report.asking import Asking
from pfscope.report.drawing import Drawing
from pfscope.report.figure_rates import mean
from pfscope.report.lines import Line, Steps, filled, lines_of, summed
from pfscope.report.plot import add_density
from pfscope.untrusted import file_name

FIRST: Final = 20
COUNT: Final = 3
_BUSIEST_US: Final = 600 * 10**6
_SMALL: Final = 0.01
_TIMES: Final = 3
"""So many changes of one operation on one target are looked at."""
_NAMED: Final = 8
_FAINT: Final = 80


@dataclass(frozen=True)
class Change:
    """A rate that went up for a while."""

    target: str
    operation: str
    busiest: float
    """The mean rate of the busiest ten minutes."""
    usual: float
    """The median of the period, or a tenth of its mean where that is more."""
    start_us: int
    """Since when, and until when, it was nearer to this than to the usual."""
    end_us: int

    extra_s: float
    """So many seconds of the usual rate were done above it: what makes a change large."""
    also: int = 0
    """On so many other targets the same operation rose at the same time, half as much at least."""

    @property
    def factor(self) -> float:
        """How many times the usual it was."""
        return self.busiest / self.usual

    @property
    def unit(self) -> str:
        """What is counted."""
        return "bytes" if is_bytes(self.operation) else "requests"


def largest_changes(
    lines: Sequence[Line], steps: Steps, count: int = COUNT, *, again: bool = False
) -> list[Change]:
    """Return the largest changes of lines named (target, operation).

    With `again`, an operation or a target may change again at another time.
    """
    found = [
        change
        for line in lines
        if len(line.ends) and line.name[1] not in PARTS_OF_RENAME
        for change in _changes(line, steps, _TIMES if again else 1)
    ]
    highest = {unit: max((c.busiest for c in found if c.unit == unit), default=0.0)
               for unit in ("bytes", "requests")}  # fmt: skip
    found = [c for c in found if c.busiest >= _SMALL * highest[c.unit] and c.factor > 1]
    chosen: list[Change] = []
    for change in sorted(found, key=lambda c: -c.extra_s):
        told = any(_repeats(change, other) and (not again or _meets(change, other))
                   for other in chosen)  # fmt: skip
        if len(chosen) < count and not told:
            others = {c.target for c in found if _goes_with(c, change)}
            chosen.append(replace(change, also=len(others)))
    return chosen


def _repeats(change: Change, other: Change) -> bool:
    return change.target == other.target or change.operation == other.operation


def _meets(change: Change, other: Change) -> bool:
    return other.start_us < change.end_us and change.start_us < other.end_us


def _goes_with(other: Change, change: Change) -> bool:
    same = other.operation == change.operation and other.target != change.target
    return same and _meets(other, change) and other.factor >= change.factor / 2


def _changes(line: Line, steps: Steps, times: int) -> Iterator[Change]:
    """Yield the largest changes of a line, each at a time of its own."""
    rates = filled(line, steps)
    wide = max(1, min(len(rates), round(_BUSIEST_US / max(steps.length_us(), 1))))
    usual = max(float(np.median(rates)), mean(line, steps) / 10)
    target, operation = (str(part) for part in line.name)
    for _ in range(times):
        means = np.convolve(rates, np.full(wide, 1 / wide), mode="valid")
        at = int(means.argmax())
        low = np.flatnonzero(rates < (usual + means[at]) / 2)
        first = min(low[low <= at].max(initial=-1) + 1, at)
        last = max(low[low >= at + wide - 1].min(initial=len(rates)) - 1, at + wide - 1)
        start, end = int(steps.begins[first]), int(steps.ends[last])
        more = (rates - usual)[first : last + 1] @ (steps.ends - steps.begins)[first : last + 1]
        extra_s = float(more) / usual / 1e6
        yield Change(target, operation, float(means[at]), usual, start, end, extra_s)
        rates[first : last + 1] = usual


def changes(asking: Asking) -> Iterator[Drawing]:
    """Yield the three figures."""
    result = asking.rates()
    lines = lines_of(result.table, ["target", "operation"])
    found = largest_changes(lines, asking.steps(result))
    for number, change in enumerate(found, FIRST):
        yield _drawing(number, change, asking)


def _drawing(number: int, change: Change, asking: Asking) -> Drawing:
    words = {"by": "user", "operation": change.operation, "target": change.target}
    result, density = asking.ask("series", **words), asking.ask("density", **words)
    steps = asking.steps(result)
    users = lines_of(result.table, ["user"])
    users = sorted(users, key=lambda line: -line.peak)
    unit = draw.units(change.unit)
    title = f"{change.operation} on {change.target}"
    panels = [
        draw.Panel(f"{title}, in total", unit, (summed(users, ("in total",)),)),
        draw.Panel("of each user", unit, tuple(users[:_NAMED]), log=True,
                   faint=tuple(users[_NAMED : _NAMED + _FAINT])),
        draw.Panel("number of users by magnitude", unit),
    ]  # fmt: skip
    figure = draw.time_figure(panels, steps)
    bar = {"len": draw.inner(3)}
    add_density(figure, density.table, steps, 2, bar)
    return Drawing(
        file_name(f"{number:02}-change-{change.operation}"), f"Change: {title}",
        _caption(change, users, steps.at), magnitudes(users, change.unit, steps.at), figure,
        ("user", "mean", "highest", "at"), [_row(line, steps, change.unit) for line in users[:20]],
    )  # fmt: skip


def _caption(change: Change, users: Sequence[Line], at: Callable[[int], str]) -> str:
    unit = change.unit
    hidden = len(users) - _NAMED - _FAINT
    more = (
        f" {numbers.how_many(hidden, 'user')} with less are left out of the middle."
        if hidden > 0
        else ""
    )
    return (
        f"Rates of {change.operation} to {change.target}: in total, of each user, and how many "
        f"users have a rate of which magnitude. From {at(change.start_us)} to "
        f"{at(change.end_us)} it was up to {numbers.rate(change.busiest, unit)}, "
        f"{numbers.factor(change.busiest, change.usual)} the usual "
        f"{numbers.rate(change.usual, unit)}. {magnitudes(users, unit, at)}{more}"
    )


def magnitudes(users: Sequence[Line], unit: str, at: Callable[[int], str] = numbers.clock) -> str:
    """Say how many users ever reach which magnitude.

    >>> line = lambda name, rate: Line((name,), np.array([1]), np.array([rate]))
    >>> magnitudes([line("a", 2.0), line("b", 0.15), line("c", 0.01)], "requests")
    'One user goes above 1/s (a, at 00:00), one between 0.1/s and 1/s, and one stays below 0.1/s.'
    """
    known = [line for line in users if line.name != (None,)]
    if not known:
        return "No id tells who did it."
    peaks = np.array([line.peak for line in known])
    top = 10.0 ** floor(log10(peaks.max()))
    above, between = int((peaks >= top).sum()), int(((peaks >= top / 10) & (peaks < top)).sum())
    below = len(peaks) - above - between
    first = max(known, key=lambda line: line.peak)
    who = f"{draw.plain(first.name)}, at {at(first.peak_us)}"
    said = numbers.how_many(above, "user")
    return (
        f"{said[0].upper()}{said[1:]} {'goes' if above == 1 else 'go'} above "
        f"{numbers.rate(top, unit)} ({who if above == 1 else 'most: ' + who}), "
        f"{numbers.count(between)} between {numbers.rate(top / 10, unit)} and "
        f"{numbers.rate(top, unit)}, and {numbers.count(below)} "
        f"{'stays' if below == 1 else 'stay'} below {numbers.rate(top / 10, unit)}."
        f"{' Ids that tell no user are not counted.' if len(known) < len(users) else ''}"
    )


def _row(line: Line, steps: Steps, unit: str) -> list[str]:
    return [
        draw.plain(line.name), numbers.rate(mean(line, steps), unit),
        numbers.rate(line.peak, unit), steps.at(line.peak_us),
    ]  # fmt: skip
