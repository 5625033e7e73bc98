"""Numbers for people at a terminal: three digits, SI prefixes and units."""

from typing import Final

UNKNOWN: Final = "–"
MUCH: Final = 0.2
MOST: Final = 0.5
"""Shares of all that are worth a look."""
PREFIXES: Final = ("", "k", "M", "G", "T", "P", "E")


def abbreviated(value: float, unit: str = "") -> str:
    """Return a number with three digits, a prefix where it is large, and its unit.

    >>> abbreviated(1234567, "B/s"), abbreviated(999.9), abbreviated(0.01234), abbreviated(12, "/s")
    ('1.23 MB/s', '1 k', '0.0123', '12 /s')
    """
    power = 0
    while abs(value) >= 999.5 and power < len(PREFIXES) - 1:
        value, power = value / 1000, power + 1
    return f"{value:.3g} {PREFIXES[power]}{unit}".rstrip()


def short_time(seconds: float) -> str:
    """Return a duration in one or two of its units.

    >>> short_time(4.2), short_time(200), short_time(7260), short_time(90_000)
    ('4 s', '3 min', '2 h 1 min', '1 d 1 h')
    """
    if seconds < 120:
        return f"{seconds:.0f} s"
    minutes, hours, days = (int(seconds // size) for size in (60, 3600, 86400))
    if hours < 1:
        return f"{minutes} min"
    if days < 1:
        return f"{hours} h {minutes % 60} min"
    return f"{days} d {hours % 24} h"


def spaced(seconds: float) -> str:
    """Return a duration; below a second in the thousandths that people say.

    >>> spaced(2.5), spaced(0.0023), spaced(1e-5)
    ('2.5 s', '2.3 ms', '10 µs')
    """
    for factor, unit in ((1, "s"), (1e3, "ms")):
        if abs(seconds) * factor >= 1:
            return f"{seconds:,.0f} s" if abs(seconds) >= 1e3 else f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e6:.3g} µs"
