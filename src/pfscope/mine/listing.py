"""What is in a lake: by day and kind, and what became of every file that was imported."""

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pfscope.mine.darshan_runs import date_of
from pfscope.mine.inputs import Period
from pfscope.mine.lake import Lake
from pfscope.mine.records import OUTSIDE, PARTIAL, QUARANTINED, latest, read_rows
from pfscope.mine.schema import TABLES
from pfscope.times import time_us

KINDS: Final = ("darshan", "slurm", "lmt")
_DAY_US: Final = 86400 * 10**6


class Day(NamedTuple):
    """What a lake has of a kind of logs and a day; no day: what could not be read at all."""

    date: str | None
    kind: str
    files: int
    """Files that tell of the day."""
    partial: int
    """Those of them of which something is missing."""
    quarantined: int
    rows: int
    """In all tables of the kind."""
    size_bytes: int
    """Of their Parquet files."""


def list_days(lake: Lake, period: Period = Period()) -> list[Day]:  # noqa: B008 - it is immutable
    """Return what there is, by day and kind."""
    counts: defaultdict[tuple[str | None, str], list[int]] = defaultdict(lambda: [0] * 5)
    for kind in KINDS:
        for table in (name for name in TABLES if name.startswith(kind)):
            for date in lake.dates(table):
                entry = counts[date, kind]
                rows, size = _volume(lake.files(table, [date]))
                entry[3] += rows
                entry[4] += size
    told = records(lake)
    kinds, states = told["kind"].to_pylist(), told["state"].to_pylist()
    for kind, state, start, end in zip(kinds, states, *_times(told), strict=True):
        for day in () if state == OUTSIDE else _days(kind, start, end):
            entry = counts[day, kind]
            entry[0] += 1
            entry[1] += state == PARTIAL
            entry[2] += state == QUARANTINED
    found = [Day(date, kind, *entry) for (date, kind), entry in counts.items()]
    wanted = [day for day in found if day.date is None or _in(period, day.date)]
    return sorted(wanted, key=lambda day: (day.date is None, day.date or "", day.kind))


def records(lake: Lake) -> pa.Table:
    """Return the latest record of each content that was given to an import."""
    return latest(read_rows(lake.files("imports")))


def list_files(lake: Lake, period: Period = Period()) -> pa.Table:  # noqa: B008
    """Return what became of each file, those that nobody could date last."""
    rows = records(lake).sort_by(
        [("start", "ascending"), ("kind", "ascending"), ("path", "ascending")]
    )
    starts, ends = _times(rows)
    wanted = [
        start is None or _meets(period, start, start if end is None else end)
        for start, end in zip(starts, ends, strict=True)
    ]
    dates = [None if start is None else date_of(start) for start in starts]
    dated = rows.add_column(0, "date", pa.array(dates, pa.string()))
    shown = ["date", "kind", "state", "rows", "job_id", "size_bytes", "path", "reason", "log"]
    return dated.select(shown).filter(pa.array(wanted, pa.bool_()))


class Reason(NamedTuple):
    """Why some files are not whole in the lake."""

    kind: str
    state: str
    reason: str
    files: int
    path: str
    """One of them."""


def list_reasons(lake: Lake) -> list[Reason]:
    """Return why files are partial or in quarantine, the most frequent first."""
    rows = records(lake)
    rows = rows.filter(pc.is_in(rows["state"], pa.array([PARTIAL, QUARANTINED])))
    grouped = rows.group_by(["kind", "state", "reason"]).aggregate(
        [("path", "count"), ("path", "min")]
    )
    found = [
        Reason(row["kind"], row["state"], row["reason"] or "", row["path_count"], row["path_min"])
        for row in grouped.to_pylist()
    ]
    return sorted(found, key=lambda reason: (-reason.files, reason))


def _volume(files: Iterable[Path]) -> tuple[int, int]:
    rows = size = 0
    for file in files:
        rows += pq.read_metadata(file).num_rows
        size += file.stat().st_size
    return rows, size


def _times(rows: pa.Table) -> tuple[list[int | None], list[int | None]]:
    """Return begins and ends in microseconds."""
    begins, ends = (rows[name].cast(pa.int64()).to_pylist() for name in ("start", "end"))
    return begins, ends


def _days(kind: str, start: int | None, end: int | None) -> Iterable[str | None]:
    """Return the days that a file tells of; a run is of the day on which it began."""
    if start is None:
        return [None]
    last = start if kind == "darshan" or end is None else end
    return [date_of(us) for us in range(start - start % _DAY_US, last + 1, _DAY_US)]


def _in(period: Period, date: str) -> bool:
    begin = time_us(date, now_us=0)
    return _meets(period, begin, begin + _DAY_US - 1)


def _meets(period: Period, first: int, last: int) -> bool:
    return (period.to_us is None or first < period.to_us) and (
        period.from_us is None or last >= period.from_us
    )
