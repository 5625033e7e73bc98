"""Parallel coordinates as SVG: an axis for each quantity, a line for each thing, coloured by group.

A script chooses parts of axes by sliders or by dragging; without one all lines are there to see.
"""

from collections.abc import Sequence
from math import ceil, floor, log10
from typing import Final, NamedTuple

from pfscope.report import numbers, palette
from pfscope.report.markup import Markup, element

SCRIPT: Final = "parallel.js"
STYLE: Final = "parallel.css"
_WIDTH: Final = 1000
_TOP: Final = 40
_HEIGHT: Final = 300
_SIDE: Final = 60
_UNKNOWN: Final = _TOP + _HEIGHT + 24
"""Where a line passes an axis of which nothing is known."""
OTHERS: Final = "all others"


class Quantity(NamedTuple):
    """An axis: its name and the value of each thing."""

    name: str
    values: Sequence[float | None]
    log: bool = False
    whole: tuple[float, float] | None = None
    """Its ends, where they do not follow from the values."""


class _Axis(NamedTuple):
    low: float
    high: float
    log: bool

    def place(self, value: float | None) -> float | None:
        """Return where a value is, from 0 to 1."""
        if value is None or value != value or (self.log and value <= 0):
            return None
        at = log10(value) if self.log else value
        return min(max((at - self.low) / (self.high - self.low), 0.0), 1.0)


def parallel(
    quantities: Sequence[Quantity], groups: Sequence[str], table: str, what: str
) -> Markup:
    """Return the plot; `table` is the id of the table with a row for each thing."""
    names = list(dict.fromkeys(sorted(groups, key=lambda g: (-groups.count(g), g))))
    own = names[: len(palette.LINES) - 1]
    shown = [group if group in own else OTHERS for group in groups]
    listed = own + [OTHERS] * (len(names) > len(own))
    axes = [_axis(quantity) for quantity in quantities]
    places = [
        [axis.place(value) for value in quantity.values]
        for axis, quantity in zip(axes, quantities, strict=True)
    ]
    lines = [
        _line([column[i] for column in places], listed.index(group))
        for i, group in enumerate(shown)
    ]
    drawable = zip(axes, quantities, strict=True)
    drawn = element(
        "svg", lines, [_drawn(i, *pair, len(axes)) for i, pair in enumerate(drawable)],
        viewBox=f"0 0 {_WIDTH} {_UNKNOWN + 16}", role="img", aria_label=what,
    )  # fmt: skip
    return element(
        "div", _colours(), drawn, _controls(quantities), _applications(listed, shown),
        cls="parallel", data_table=table, data_top=_TOP, data_height=_HEIGHT,
    )  # fmt: skip


def _axis(quantity: Quantity) -> _Axis:
    known = [v for v in quantity.values if v is not None and v == v and (v > 0 or not quantity.log)]
    low, high = quantity.whole or (min(known, default=0), max(known, default=1))
    if quantity.log:
        low, high = (floor(log10(low)), ceil(log10(high))) if known else (0, 1)
    return _Axis(low, high if high > low else low + 1, quantity.log)


def _x(index: int, count: int) -> float:
    return _SIDE + index * (_WIDTH - 2 * _SIDE) / max(count - 1, 1)


def _line(places: Sequence[float | None], group: int) -> Markup:
    points = " ".join(
        f"{_x(i, len(places)):.0f},{_UNKNOWN if p is None else _TOP + (1 - p) * _HEIGHT:.1f}"
        for i, p in enumerate(places)
    )
    values = ",".join("" if p is None else f"{p:.4f}" for p in places)
    return element(
        "polyline", points=points, cls=f"colour-{group}", data_values=values, data_application=group
    )


def _drawn(index: int, axis: _Axis, quantity: Quantity, count: int) -> Markup:
    x = _x(index, count)
    ends = [(10.0**v if axis.log else v) for v in (axis.low, axis.high)]
    texts = [
        (_TOP + _HEIGHT + 14, numbers.si(ends[0]), None), (_TOP - 6, numbers.si(ends[1]), None),
        (_TOP - 22, quantity.name, "name"),
    ]  # fmt: skip
    return element(
        "g", element("line", x1=f"{x:.0f}", x2=f"{x:.0f}", y1=_TOP, y2=_TOP + _HEIGHT),
        element("rect", cls="chosen", x=f"{x - 7:.0f}", width=14, y=_TOP, height=0),
        element("rect", cls="grip", x=f"{x - 14:.0f}", width=28, y=_TOP, height=_HEIGHT),
        [element("text", text, x=f"{x:.0f}", y=y, text_anchor="middle", cls=kind)
         for y, text, kind in texts],
        cls="axis", data_low=axis.low, data_high=axis.high, data_log=int(axis.log),
    )  # fmt: skip


def _controls(quantities: Sequence[Quantity]) -> Markup:
    made = []
    for index, quantity in enumerate(quantities):
        sliders = [
            element("input", type="range", min=0, max=1000, value=value, data_axis=index,
                    aria_label=f"{quantity.name}, {end}")
            for value, end in ((0, "at least"), (1000, "at most"))
        ]  # fmt: skip
        told = element("output", "all", data_axis=index)
        made.append(element("fieldset", element("legend", quantity.name, ": ", told), sliders))
    return element("div", made, cls="controls")


def _applications(names: Sequence[str], shown: Sequence[str]) -> Markup:
    boxes = [
        element(
            "label", element("input", type="checkbox", checked="", data_application=index),
            element("span", cls=f"swatch colour-{index}"), f"{name} ({shown.count(name)})",
        )
        for index, name in enumerate(names)
    ]  # fmt: skip
    count = element("output", f"{len(shown)} of {len(shown)} runs", cls="count", aria_live="polite")
    return element(
        "p", boxes, " ", count, " ", element("button", "All again", type="button"),
        cls="applications",
    )  # fmt: skip


def _colours() -> Markup:
    """Return the groups' colours, in light and in dark; the last is that of all others."""
    dark = palette.dark()
    lines = [*palette.LINES[:-1], palette.REST]
    light = "".join(f".colour-{i}{{--line-colour:{c}}}" for i, c in enumerate(lines))
    night = "".join(f".colour-{i}{{--line-colour:{dark[c]}}}" for i, c in enumerate(lines))
    return Markup(f"<style>{light}@media(prefers-color-scheme:dark){{{night}}}</style>")
