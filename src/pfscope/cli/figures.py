"""Numbers for people: three digits, SI prefixes and units; what a column means is in its name."""

from collections.abc import Sequence
from typing import Any, Final

from pfscope.cli.table import HOT, WARM, Cell, Column
from pfscope.figures import MOST, MUCH, UNKNOWN, abbreviated, spaced
from pfscope.query.metrics import is_bytes

_RATES: Final = frozenset(
    {"rate", "rate_mean", "rate_max", "baseline", "peak", "increase", "bucket_low", "bucket_high"}
)
_AMOUNTS: Final = frozenset({"total", "increment"})
_PLAIN: Final = frozenset({"rank"})


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
        return Cell(f"{value:.1%}", HOT if value >= MOST else WARM if value >= MUCH else "")
    if name.endswith(("_s", "_us")):
        return Cell(spaced(value if name.endswith("_s") else value / 1e6))
    return Cell(abbreviated(value, _unit(name, sign)))


def _unit(name: str, sign: str) -> str:
    if name in _RATES:
        return f"{sign}/s"
    return "B" if name.endswith(("_bytes", "_size")) else sign if name in _AMOUNTS else ""
