"""Entries by the form of their ids, on MDTs and on OSTs (the thesis' figures 3 and 4)."""

from collections.abc import Iterator, Sequence
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from pfscope.report import draw, numbers, palette
from pfscope.report.asking import Asking
from pfscope.report.drawing import Drawing
from pfscope.report.lines import Line, Steps, lines_of

FIRST: Final = 3
ORDER: Final = ("sound", "missing-job", "qualified-host", "truncated", "malformed", "foreign")
_WHOSE: Final = {False: "users", True: "system users"}


def entries(asking: Asking) -> Iterator[Drawing]:
    """Yield both figures, as far as there are such targets."""
    for number, kind in enumerate(("mdt", "ost"), FIRST):
        result = asking.of_targets("quality", kind=kind)
        if result is None or not len(result):
            continue
        steps = asking.steps(result)
        yield _drawing(number, kind, result.table, steps)


def _drawing(number: int, kind: str, table: pa.Table, steps: Steps) -> Drawing:
    classes = in_order(table["class"].unique().to_pylist())
    targets = len(table["target"].unique())
    panels = [_panel(name, table) for name in classes]
    figure = draw.time_figure(panels, steps, panel_px=150, legend=False)
    for colour, whose in enumerate(_WHOSE.values()):
        line = {"color": palette.line(colour), "width": 3}
        figure.add_scatter(x=[None], y=[None], name=whose, mode="lines", line=line, showlegend=True)
    draw.with_legend(figure, len(_WHOSE))
    of = f"{kind.upper()}s"
    return Drawing(
        f"{number:02}-{kind}-entries-by-class", f"{of}: entries by class",
        f"Entries in each read of each of {targets} {of}, a plot for each class of ids and a line "
        f"for each target: blue of users, orange of system users. {_told(table)}",
        _told(table), figure, ("class", "whose", "mean", "highest"), _rows(classes, table),
    )  # fmt: skip


def in_order(classes: Sequence[str]) -> list[str]:
    """Return classes from sound to worst, those that are unknown here at the end."""
    return sorted(classes, key=lambda c: (ORDER.index(c) if c in ORDER else len(ORDER), c))


def _panel(name: str, table: pa.Table) -> draw.Panel:
    mine = table.filter(pc.equal(table["class"], name))
    lines = lines_of(mine, ["target", "system"], "entries")
    shown = tuple(
        Line((line.name[0], _WHOSE[bool(line.name[1])]), line.ends, line.rates) for line in lines
    )
    colours = tuple(palette.line(int(bool(line.name[1]))) for line in lines)
    return draw.Panel(name, "entries in a read", shown, colours=colours)


def parts(table: pa.Table) -> list[tuple[str, bool, float]]:
    """Return the part that each class has of all entries, for users and for system users."""
    summed = table.group_by(["class", "system"]).aggregate([("entries", "sum")]).to_pylist()
    whole = sum(row["entries_sum"] for row in summed) or 1
    return [(row["class"], row["system"], row["entries_sum"] / whole) for row in summed]


def _told(table: pa.Table) -> str:
    found = parts(table)
    system = sum(part for _, is_system, part in found if is_system)
    named = {name: sum(p for c, is_system, p in found if c == name and not is_system)
             for name in in_order([c for c, _, _ in found])}  # fmt: skip
    of_users = sum(named.values()) or 1
    words = [f"{numbers.share(part / of_users)} {name}" for name, part in named.items() if part]
    return (
        f"System users have {numbers.share(system)} of all entries; those of the others are "
        f"{numbers.listed(words) or 'none'}."
    )


def _rows(classes: Sequence[str], table: pa.Table) -> list[list[str]]:
    reads = max(len(pc.unique(table["time"])), 1)
    per_read = table.group_by(["class", "system", "time"]).aggregate([("entries", "sum")])
    summed = per_read.group_by(["class", "system"]).aggregate(
        [("entries_sum", "sum"), ("entries_sum", "max")]
    )
    rows = sorted(summed.to_pylist(), key=lambda r: (classes.index(r["class"]), r["system"]))
    return [
        [
            row["class"], _WHOSE[row["system"]], numbers.si(row["entries_sum_sum"] / reads),
            numbers.si(row["entries_sum_max"]),
        ]
        for row in rows
    ]  # fmt: skip
