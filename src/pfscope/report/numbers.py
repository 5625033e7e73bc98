"""Numbers as people read them: three digits and an SI prefix, shares, times; never a raw float."""

from collections.abc import Sequence
from datetime import UTC, datetime

_PREFIXES = ("", "k", "M", "G", "T", "P", "E")
_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
NOTHING = "–"


def si(value: float | None, unit: str = "") -> str:
    """Write a number with three digits.

    >>> si(13711.9), si(1.72e9, "B/s"), si(0.0421), si(7), si(0), si(None)
    ('13.7 k', '1.72 GB/s', '0.042', '7', '0', '–')
    """
    if value is None or value != value:
        return NOTHING
    size, power = abs(value), 0
    while float(f"{size:.3g}") >= 1000 and power < len(_PREFIXES) - 1:
        size, power = size / 1000, power + 1
    if size and size < 0.001:
        text = "< 0.001"
    elif size < 1:
        text = f"{size:.2g}"
    else:
        text = f"{size:.3g}" if size < 999.5 else f"{size:.0f}"
    behind = f" {_PREFIXES[power]}{unit}".rstrip()
    return ("-" if value < 0 else "") + text + behind


def rate(value: float | None, unit: str | None) -> str:
    """Write a rate per second of `requests` or `bytes`.

    >>> rate(2272.98, "requests"), rate(1.7e9, "bytes")
    ('2.27 k/s', '1.7 GB/s')
    """
    if value is None:
        return NOTHING
    text = si(value, "B/s" if unit == "bytes" else "/s")
    return text.replace(" /s", "/s")


def amount(value: float | None, unit: str | None) -> str:
    """Write how many requests or bytes."""
    return si(value, "B" if unit == "bytes" else "")


def share(part: float | None) -> str:
    """Write a share of all.

    >>> share(0.841), share(0.0042), share(0.00001), share(1)
    ('84 %', '0.4 %', '< 0.1 %', '100 %')
    """
    if part is None:
        return NOTHING
    if 0 < part < 0.001:
        return "< 0.1 %"
    return f"{part * 100:.1f} %" if 0 < part < 0.0995 else f"{part * 100:.0f} %"


def factor(now: float | None, before: float | None) -> str:
    """Write how many times as much it was.

    >>> factor(30, 10), factor(10, 30), factor(10, 10.1), factor(1, 0)
    ('3 ×', '0.33 ×', 'the same', 'new')
    """
    if now is None or before is None:
        return NOTHING
    if before == 0:
        return "new" if now else "the same"
    times = now / before
    return (
        "the same" if 0.95 < times < 1.05 else f"{times:.2g} ×" if times < 100 else f"{si(times)} ×"
    )


def count(number: int) -> str:
    """Write a count, small ones as words.

    >>> count(0), count(1), count(12_345)
    ('none', 'one', '12\u202f345')
    """
    if number == 0:
        return "none"
    return _WORDS[number] if number < len(_WORDS) else f"{number:,}".replace(",", "\u202f")


def how_many(number: int, noun: str) -> str:
    """Write a count with its noun.

    >>> how_many(1, "user"), how_many(8, "user"), how_many(310, "user"), how_many(0, "user")
    ('one user', 'eight users', '310 users', 'no user')
    """
    written = count(number) if number else "no"
    return f"{written} {noun}" if number < 2 else f"{written} {noun}s"


def listed(words: Sequence[str]) -> str:
    """Write some words in a row.

    >>> listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c"])
    ('a', 'a and b', 'a, b and c')
    """
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def clock(time_us: int) -> str:
    """Write a time of the day."""
    return f"{_moment(time_us):%H:%M}"


def day(time_us: int) -> str:
    """Write a day."""
    return f"{_moment(time_us):%Y-%m-%d}"


def weekday(time_us: int) -> str:
    """Write a day with its name."""
    return f"{_moment(time_us):%A %Y-%m-%d}"


def minute(time_us: int) -> str:
    """Write a time to the minute."""
    return f"{_moment(time_us):%Y-%m-%d %H:%M}"


def span(start_us: int, end_us: int) -> str:
    """Write a period.

    >>> span(0, 3600 * 10**6), span(0, 90 * 86400 * 10**6)
    ('1970-01-01 00:00–01:00', '1970-01-01 00:00 to 1970-04-01 00:00')
    """
    if day(start_us) == day(end_us - 1):
        end = "24:00" if day(start_us) != day(end_us) else clock(end_us)
        return f"{minute(start_us)}–{end}"
    return f"{minute(start_us)} to {minute(end_us)}"


def length(span_us: float) -> str:
    """Write how long.

    >>> length(90e6), length(7200e6), length(86400e6), length(3 * 86400e6)
    ('90 s', '2 h', '24 h', '3 days')
    """
    seconds = span_us / 1e6
    if seconds < 120:
        return f"{seconds:.3g} s"
    if seconds < 7200:
        return f"{seconds / 60:.3g} min"
    return f"{seconds / 3600:.3g} h" if seconds < 172_800 else f"{seconds / 86400:.3g} days"


def duration(span_us: float) -> str:
    """Write how long something took.

    >>> duration(850), duration(2360), duration(2.5e6)
    ('850 µs', '2.36 ms', '2.5 s')
    """
    if span_us < 1e3:
        return f"{span_us:.3g} µs"
    return f"{span_us / 1e3:.3g} ms" if span_us < 1e6 else f"{span_us / 1e6:.3g} s"


def _moment(time_us: int) -> datetime:
    return datetime.fromtimestamp(time_us / 1e6, UTC)
