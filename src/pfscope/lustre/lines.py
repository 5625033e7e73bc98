"""One line of job_stats at a time: slow, tolerant, for what the array scanner does not take.

It reads everything that the fast way reads, in any spacing, so that both agree on a good line.
"""

import re
from dataclasses import dataclass

_COUNTER = re.compile(
    rb"\s*(?P<name>[^\s:{}][^:{}]*?)\s*:\s*\{\s*samples:\s*(?P<samples>\d{1,20})"
    rb"\s*,\s*unit:\s*(?P<unit>[^\s,{}]+)"
    rb"(?:\s*,\s*min:\s*(?P<min>\d{1,20})\s*,\s*max:\s*(?P<max>\d{1,20})\s*,\s*sum:\s*(?P<sum>\d{1,20})"
    rb"(?:\s*,\s*sumsq:\s*(?P<sumsq>\d{1,20}))?)?"
    rb"(?:\s*,\s*hist:\s*\{(?P<hist>[^{}]*)\})?\s*\}\s*"
)
_BIN = re.compile(rb"\s*(\d{1,20})([KMGTPE]?)\s*:\s*(\d{1,20})\s*")
_TIME = re.compile(
    rb"(?P<indent>\s*)(?P<what>snapshot_time|start_time|elapsed_time)\s*:"
    rb"\s*(?P<seconds>\d{1,10})(?:\.(?P<fraction>\d{1,9}))?(?:\s+secs\.nsecs)?\s*"
)
_MAX = 2**64 - 1


class Unreadable(Exception):  # noqa: N818 - it is caught and counted, never shown as an error
    """The line cannot be read; the text says why."""


@dataclass(frozen=True, slots=True)
class Counter:
    """One operation of an entry."""

    name: bytes
    unit: bytes
    samples: int
    minimum: int
    maximum: int
    total: int
    sumsq: int
    measured: bool
    squared: bool
    histogram: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Time:
    """One of the time lines of an entry."""

    what: str
    nanoseconds: int
    fractional: bool
    indented: bool


def read_line(line: bytes) -> Counter | Time | None:
    """Read one line that is not the first of an entry; None when it means nothing."""
    if not line.strip() or line.strip() == b"job_stats:":
        return None
    if match := _COUNTER.fullmatch(line):
        return _counter(match)
    if match := _TIME.fullmatch(line):
        return _time(match)
    if b"{" in line or b"samples" in line:
        raise Unreadable("unreadable counter")
    if b"_time" in line:
        raise Unreadable("unreadable time")
    raise Unreadable("unreadable line")


def _counter(match: re.Match[bytes]) -> Counter:
    numbers = {key: int(match[key] or 0) for key in ("samples", "min", "max", "sum", "sumsq")}
    if max(numbers.values()) > _MAX:
        raise Unreadable("number above 64 bits")
    return Counter(
        match["name"],
        match["unit"],
        numbers["samples"],
        numbers["min"],
        numbers["max"],
        numbers["sum"],
        numbers["sumsq"],
        match["min"] is not None,
        match["sumsq"] is not None,
        _histogram(match["hist"] or b""),
    )


def _histogram(text: bytes) -> tuple[tuple[int, int], ...]:
    if not text.strip():
        return ()
    bins = []
    for part in text.split(b","):
        match = _BIN.fullmatch(part)
        if match is None:
            raise Unreadable("unreadable histogram")
        bound = int(match[1]) << (10 * b"-KMGTPE".index(match[2] or b"-"))
        if bound > _MAX or int(match[3]) > _MAX:
            raise Unreadable("number above 64 bits")
        bins.append((bound, int(match[3])))
    return tuple(bins)


def _time(match: re.Match[bytes]) -> Time:
    fraction = (match["fraction"] or b"0").ljust(9, b"0")
    nanoseconds = int(match["seconds"]) * 10**9 + int(fraction)
    if nanoseconds >= 2**63:
        raise Unreadable("unreadable time")
    return Time(
        match["what"].decode(),
        nanoseconds,
        match["fraction"] is not None,
        bool(match["indent"]),
    )
