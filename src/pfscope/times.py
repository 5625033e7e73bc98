"""Times and durations as people write them, read and written in one way everywhere. All is UTC."""

import re
from datetime import UTC, datetime, timedelta
from typing import Final

from pfscope.errors import UsageError

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_UNITS_US: Final = {
    "ms": 10**3, "s": 10**6, "m": 60 * 10**6, "h": 3600 * 10**6, "d": 86400 * 10**6,
    "w": 7 * 86400 * 10**6,
}  # fmt: skip
_DAY = re.compile(r"\d{4}-?\d\d-?\d\d")
_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|[smhdw])")
_LONGEST_US: Final = 200 * 366 * 86400 * 10**6
_LATEST_US: Final = 9_000_000_000 * 10**6


def duration_us(text: str) -> int:
    """Read `90`, `90s`, `2m`, `1h30m`, `7d`; a bare number is seconds.

    >>> duration_us("1h30m"), duration_us("0.5") == duration_us("500ms")
    (5400000000, True)
    """
    written = text if not re.fullmatch(r"\d+(\.\d+)?", text) else text + "s"
    parts = _PART.findall(written)
    if not parts or "".join(number + unit for number, unit in parts) != written:
        raise UsageError(f"{text!r} is no duration: write 120, 2m, 1h30m or 7d")
    total = sum(round(float(number) * _UNITS_US[unit]) for number, unit in parts)
    if not 0 < total < _LONGEST_US:
        raise UsageError(f"a duration of {text} makes no sense here")
    return total


def time_us(text: str, *, now_us: int, end: bool = False) -> int:
    """Read ISO 8601, `now`, or a duration before now such as `-2h`, as microseconds since 1970.

    A day as an end means the end of that day.

    >>> day = 86400 * 10**6
    >>> time_us("1970-01-02", now_us=0) == day, time_us("1970-01-02", now_us=0, end=True) == 2 * day
    (True, True)
    >>> time_us("-1d", now_us=3 * day) == 2 * day
    True
    """
    if text == "now":
        return now_us
    if text.startswith("-"):
        return max(now_us - duration_us(text[1:]), 0)
    try:
        # An offset's plus arrives as a blank where nobody escaped it.
        moment = datetime.fromisoformat(re.sub(r" (?=\d\d:?\d\d$)", "+", text))
    except ValueError:
        raise UsageError(
            f"{text!r} is no time: write 2022-10-27, 2022-10-27T08:30 or -2h"
        ) from None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    since_us = (moment - _EPOCH) // timedelta(microseconds=1)
    if end and _DAY.fullmatch(text):
        since_us += _UNITS_US["d"]
    if not 0 <= since_us < _LATEST_US:
        raise UsageError(f"{text!r} is no time at which anything can have been observed")
    return since_us


def iso(moment_us: int) -> str:
    """Write a time, with as many digits as it needs.

    >>> iso(0), iso(1_500_000)
    ('1970-01-01T00:00:00Z', '1970-01-01T00:00:01.500000Z')
    """
    return (_EPOCH + timedelta(microseconds=moment_us)).isoformat().replace("+00:00", "Z")
