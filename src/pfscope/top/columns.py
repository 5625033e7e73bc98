"""The columns of the table: which there are, how wide they are, and how a value looks in them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from pfscope.figures import MOST, MUCH, UNKNOWN, abbreviated
from pfscope.query.metrics import is_bytes
from pfscope.top.history import curve
from pfscope.top.picture import LOAD, Number, Picture

SHARE: Final = "share"
TREND: Final = "trend"
USUAL: Final = (LOAD, SHARE, TREND, "iops", "metadata", "read_bytes", "write_bytes")
METRICS: Final = (LOAD, "iops", "bytes", "metadata")
"""Those that a key sorts by."""
NOT_SORTED: Final = (SHARE, TREND)
"""They follow the measure that decides."""
HEADINGS: Final = {
    "read_bytes": "READ/s", "write_bytes": "WRITE/s", "bytes": "BYTES/s", "read": "READS",
    "write": "WRITES",
}  # fmt: skip
DIM, WARM, HOT = "dim", "yellow", "bold red"
MARK: Final = "▼"
_WIDTHS: Final = {LOAD: 6, SHARE: 6, TREND: 10}
_NARROW, _BYTES_WIDTH = 7, 8
_SHORTEST_NAME: Final = 8
_PARTS: Final = ("samedir_rename", "crossdir_rename")
"""They are renames, which have a column."""


class Cell(NamedTuple):
    """A text of so many cells, and how it looks."""

    text: str
    style: str = ""


@dataclass(frozen=True)
class Column:
    """A heading over texts of one width."""

    name: str
    heading: str
    width: int
    is_key: bool = False


def chosen(picture: Picture, wanted: Sequence[str] | None, *, detail: bool, sort: str) -> list[str]:
    """Return the columns to show: those that are wanted, or the usual ones and as many operations
    as there is room for, the busiest first; in detail, operations alone."""
    sums = dict(zip(picture.measures, picture.sums, strict=True))
    busy = {name: rate for name in operations(picture) if (rate := sums.get(name))}
    busiest = sorted(busy, key=lambda name: -busy[name] * (name not in _PARTS))
    if detail:
        shown = [LOAD, "iops", *busiest]
    elif wanted is None:
        shown = [*USUAL, *(name for name in busiest if name not in USUAL)]
    else:
        shown = [name for name in wanted if name in (*picture.measures, *USUAL)]
    return shown if sort in shown else [sort, *shown]


def operations(picture: Picture) -> list[str]:
    """Return the measures that are operations, by name."""
    metrics = {"metadata", "iops", "bytes", "service", LOAD}
    return sorted(name for name in picture.measures if name not in metrics)


def laid_out(
    picture: Picture, names: Sequence[str], texts: Sequence[Sequence[str]], sort: str, width: int
) -> list[Column]:
    """Return the columns that there is room for; that by which is sorted is among them.

    `texts` are the names in the rows, by key.
    """
    numbers = [_column(picture, name, sort) for name in names]
    keys = _key_columns(picture.by, texts, width, numbers)
    room = width - sum(column.width + 1 for column in keys)
    place = next((n for n, column in enumerate(numbers) if column.name == sort), 0)
    first = 0
    while first < place and _needed(numbers[first : place + 1]) > room:
        first += 1
    last = first
    while last < len(numbers) and _needed(numbers[first : last + 1]) <= room:
        last += 1
    return [*keys, *_widened(numbers[first:last], room)]


def cells(
    picture: Picture, columns: Sequence[Column], numbers: Sequence[Number], past: Sequence[float],
    sort: str, total: Number,
) -> list[Cell]:  # fmt: skip
    """Return what stands in a row behind its names; shares are of the total."""
    told = dict(zip(picture.measures, numbers, strict=True))
    return [_cell(column, picture.units, told, past, sort, total) for column in columns]


def _cell(
    column: Column, units: Mapping[str, str], told: Mapping[str, Number], past: Sequence[float],
    sort: str, total: Number,
) -> Cell:  # fmt: skip
    width = column.width
    if column.name == TREND:
        return Cell(curve(list(past), width), "cyan")
    if column.name == SHARE:
        return _share(told.get(sort, 0.0), total, width)
    value = told.get(column.name, 0.0)
    if value is None:
        return Cell(UNKNOWN.rjust(width), DIM)
    unit = "B" if _is_bytes(units, column.name) else ""
    return Cell(_number(value, unit).rjust(width)[:width], "" if value else DIM)


def _number(value: float, unit: str) -> str:
    """Return a number that is never longer than its column."""
    if unit or not 0 < value < 0.1:
        return abbreviated(value, unit)
    return f"{value:.3f}" if value >= 0.001 else "<0.001"


def _is_bytes(units: Mapping[str, str], name: str) -> bool:
    """Tell whether a column is of bytes; of one that nobody has, its name tells."""
    return units.get(name) == "bytes" or is_bytes(name)


def _share(value: Number, total: Number, width: int) -> Cell:
    if value is None or not total:
        return Cell(UNKNOWN.rjust(width), DIM)
    part = value / total
    style = HOT if part >= MOST else WARM if part >= MUCH else "" if part >= 0.001 else DIM
    return Cell(f"{part:.1%}".rjust(width), style)


def _column(picture: Picture, name: str, sort: str) -> Column:
    heading = HEADINGS.get(name, name.upper()) + (MARK if name == sort else "")
    usual = _BYTES_WIDTH if _is_bytes(picture.units, name) else _NARROW
    return Column(name, heading, max(_WIDTHS.get(name, usual), len(heading)))


def _key_columns(
    by: Sequence[str], texts: Sequence[Sequence[str]], width: int, numbers: Sequence[Column]
) -> list[Column]:
    """Return the columns of names: as wide as they need, if the numbers leave so much."""
    need = [max(map(len, (key, *found))) for key, found in zip(by, texts, strict=True)]
    room = max(width - _needed(numbers), width // 3) - len(by)
    while sum(need) > room and max(need) > _SHORTEST_NAME:
        need[need.index(max(need))] -= 1
    return [Column(key, key.upper(), n, is_key=True) for key, n in zip(by, need, strict=True)]


def _needed(columns: Sequence[Column]) -> int:
    return sum(column.width + 1 for column in columns) - bool(columns)


def _widened(columns: list[Column], room: int) -> list[Column]:
    """Give room that is left to the curves."""
    spare = min(max(room - _needed(columns), 0), 20)
    return [
        Column(c.name, c.heading, c.width + spare, c.is_key) if c.name == TREND else c
        for c in columns
    ]
