"""Quantities as people write them: `1GB`, `64KiB`, `1GB/s`, `90s`, `2h`; bytes or seconds.

`kB`, `MB`, `GB` … are powers of 1000, `KiB`, `MiB`, `GiB` … powers of 1024.
"""

import re
from difflib import get_close_matches
from typing import Final

from pfscope.errors import UsageError

SIZES: Final = {
    "B": 1, "kB": 10**3, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "PB": 10**15,
    "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40, "PiB": 2**50,
}  # fmt: skip
TIMES: Final = {
    "us": 1e-6, "ms": 1e-3, "s": 1, "m": 60, "min": 60, "h": 3600, "d": 86400, "w": 7 * 86400,
}  # fmt: skip
_UNITS: Final[dict[str, float]] = {**SIZES, **TIMES}
NUMBER: Final = r"\d+(?:\.\d+)?(?:[eE][+-]?\d+)?"
_QUANTITY: Final = re.compile(rf"\s*(-?{NUMBER})\s*([A-Za-z]*)(/s)?\s*")


def quantity(text: str) -> int | float:
    """Return bytes, bytes per second, seconds, or a bare number; whole ones as an integer.

    >>> quantity("1GB"), quantity("1.5KiB"), quantity("100MB/s"), quantity("90m"), quantity("0")
    (1000000000, 1536, 100000000, 5400, 0)
    """
    match = _QUANTITY.fullmatch(text)
    if not match or (match[3] and match[2] not in SIZES):
        raise UsageError(f"{text!r} is no quantity: write 1GB, 64KiB, 1GB/s or 90s")
    return with_unit(match[1], match[2])


def with_unit(number: str, unit: str) -> int | float:
    """Return a number in bytes or seconds."""
    if unit and unit not in _UNITS:
        near = [known for known in _UNITS if known.lower() == unit.lower()]
        near = near or get_close_matches(unit, _UNITS, 1, 0.3)
        hint = f", did you mean {near[0]}?" if near else ""
        raise UsageError(f"{number}{unit}: no unit is called {unit}{hint}")
    whole = re.fullmatch(r"-?\d+", number)
    value = (int(number) if whole else float(number)) * (_UNITS[unit] if unit else 1)
    if abs(value) >= 2**63:
        raise UsageError(f"{number}{unit} is too large")
    exact = isinstance(value, float) and (not whole or unit in TIMES) and value.is_integer()
    return int(value) if exact else value


def size_text(value: float) -> str:
    """Return bytes with the largest unit of 1000 that keeps it short, as bins are called.

    >>> size_text(0), size_text(10**9), size_text(2.5e6), size_text(1048576)
    ('0', '1GB', '2.5MB', '1048576')
    """
    for unit in ("PB", "TB", "GB", "MB", "kB"):
        scaled = value / SIZES[unit]
        if scaled >= 1 and round(scaled, 1) == scaled:
            return f"{scaled:g}{unit}"
    return f"{value:.15g}"
