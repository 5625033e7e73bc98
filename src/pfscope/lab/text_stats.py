"""`stats`, `md_stats`, `exports/<NID>/stats` and service stats as each release prints them.

A line is `name N samples [unit]`, with `min max sum sumsq` behind it where the release measures
them; a counter without samples has no line.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from pfscope.lab.dialects import Dialect, Kind
from pfscope.lab.tables import Counters, ExportTotals, ServiceTotals, Tally, TargetTotals
from pfscope.lab.text_digits import NS
from pfscope.lab.text_jobs import measures_of, unit_of


class Clock(NamedTuple):
    """When a file is read, since when it counts, and when the server booted, by its clock."""

    now_ns: int
    start_ns: int
    boot_ns: int


def target_stats_text(dialect: Dialect, clock: Clock, totals: TargetTotals) -> bytes:
    """Return `obdfilter.<target>.stats` or `mdt.<target>.md_stats`."""
    measures = (totals.minimum, totals.maximum, totals.total, totals.sumsq)
    lines = _operation_lines(dialect, totals.kind, totals.samples, measures)
    return _text(_clock_lines(dialect, clock), lines)


def export_stats_text(dialect: Dialect, clock: Clock, exports: ExportTotals, row: int) -> bytes:
    """Return `exports.<NID>.stats` of one client."""
    measures = (exports.minimum, exports.maximum, exports.total, exports.sumsq)
    lines = _operation_lines(
        dialect, exports.kind, exports.samples[row], tuple(m[row] for m in measures)
    )
    return _text(_clock_lines(dialect, clock), lines)


def service_stats_text(dialect: Dialect, clock: Clock, service: ServiceTotals) -> bytes:
    """Return the `stats` of a request service, such as `ost.OSS.ost_io.stats`."""
    microseconds = "usecs" if dialect.start_times else "usec"
    lines = (
        _tally_line("req_waittime", microseconds, service.req_waittime),
        _tally_line("req_qdepth", "reqs", service.req_qdepth),
        _tally_line("req_active", "reqs", service.req_active),
    )
    return _text(_clock_lines(dialect, clock), filter(None, lines))


def _clock_lines(dialect: Dialect, clock: Clock) -> Iterator[str]:
    if dialect.unpadded_clock:
        seconds, nanoseconds = divmod(clock.now_ns, NS)
        yield f"{'snapshot_time':<25} {seconds}.{nanoseconds // 1000} secs.usecs"
        return
    origin = clock.boot_ns if dialect.times == "boot" else 0
    yield f"{'snapshot_time':<25} {seconds_text(clock.now_ns - origin)} secs.nsecs"
    if dialect.start_times:
        yield f"{'start_time':<25} {seconds_text(clock.start_ns - origin)} secs.nsecs"
        yield f"{'elapsed_time':<25} {seconds_text(clock.now_ns - clock.start_ns)} secs.nsecs"


def seconds_text(time_ns: int) -> str:
    """Return seconds with nine decimals.

    >>> seconds_text(1_000_000_020_113_000)
    '1000000.020113000'
    """
    seconds, nanoseconds = divmod(max(time_ns, 0), NS)
    return f"{seconds}.{nanoseconds:09d}"


def _operation_lines(
    dialect: Dialect, kind: Kind, samples: Counters, measures: tuple[Counters, ...]
) -> Iterator[str]:
    for column in np.flatnonzero(samples):
        operation = dialect.operations(kind)[column]
        printed = measures[: len(measures_of(dialect, operation))]
        numbers = "".join(f" {int(values[column])}" for values in printed)
        unit = unit_of(dialect, kind, operation)
        yield f"{operation:<25} {int(samples[column])} samples [{unit}]{numbers}"


def _tally_line(name: str, unit: str, tally: Tally) -> str:
    if not tally.samples:
        return ""
    measures = f"{tally.minimum} {tally.maximum} {tally.total} {tally.sumsq}"
    return f"{name:<25} {tally.samples} samples [{unit}] {measures}"


def _text(*groups: Iterable[str]) -> bytes:
    return "".join(f"{line}\n" for lines in groups for line in lines).encode()
