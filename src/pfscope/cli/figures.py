"""Numbers for people: three digits, SI prefixes and units; what a column means is in its name."""

from collections.abc import Sequence
from typing import Any, Final

from pfscope.cli.table import HOT, WARM, Cell, Column
from pfscope.query.metrics import is_bytes

UNKNOWN: Final = "–"
_PREFIXES: Final = ("", "k", "M", "G", "T", "P", "E")
_RATES: Final = frozenset(
    {"rate", "rate_mean", "rate_max", "baseline", "peak", "increase", "bucket_low", "bucket_high"}
)
_AMOUNTS: Final = frozenset({"total", "increment"})
_PLAIN: Final = frozenset({"rank"})
_MUCH: Final = 0.2
_MOST: Final = 0.5


def abbreviated(value: float, unit: str = "") -> str:
    """Return a number with three digits, a prefix where it is large, and its unit.

    >>> abbreviated(1234567, "B/s"), abbreviated(999.9), abbreviated(0.01234), abbreviated(12, "/s")
    ('1.23 MB/s', '1 k', '0.0123', '12 /s')
    """
    power = 0
    while abs(value) >= 999.5 and power < len(_PREFIXES) - 1:
        value, power = value / 1000, power + 1
    return f"{value:.3g} {_PREFIXES[power]}{unit}".rstrip()


def column_of(name: str, values: Sequence[Any]) -> Column:
    """Return how a column is laid out."""
    return Column(name, any(isinstance(value, int | float) for value in values))


def cells_of(columns: Sequence[str], row: Sequence[Any], unit: str | None) -> list[Cell]:
    """Return a row as people read it."""
    told = dict(zip(columns, row, strict=True))
    if unit is None and isinstance(told.get("operation"), str):
        unit = "bytes" if is_bytes(told["operation"]) else "requests"
    sign = "B" if unit == "bytes" else ""
    return [_cell(name, value, sign) for name, value in told.items()]


def _cell(name: str, value: Any, sign: str) -> Cell:
    if value is None:
        return Cell(UNKNOWN)
    if isinstance(value, bool):
        return Cell("yes" if value else "no")
    if not isinstance(value, int | float) or name in _PLAIN:
        return Cell(str(value))
    if name.endswith("share"):
        return Cell(f"{value:.1%}", HOT if value >= _MOST else WARM if value >= _MUCH else "")
    if name.endswith(("_s", "_us")):
        return Cell(_seconds(value if name.endswith("_s") else value / 1e6))
    return Cell(abbreviated(value, _unit(name, sign)))


def _unit(name: str, sign: str) -> str:
    if name in _RATES:
        return f"{sign}/s"
    return "B" if name.endswith(("_bytes", "_size")) else sign if name in _AMOUNTS else ""


def _seconds(value: float) -> str:
    """Return a duration; below a second in the thousandths that people say."""
    for factor, unit in ((1, "s"), (1e3, "ms")):
        if abs(value) * factor >= 1:
            return f"{value:,.0f} s" if abs(value) >= 1e3 else f"{value * factor:.3g} {unit}"
    return f"{value * 1e6:.3g} µs"
