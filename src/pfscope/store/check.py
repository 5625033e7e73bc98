"""What can be wrong with a store, looked for and told in plain words.

Each check yields one finding, healthy or not; none of them changes anything, and one that finds
nothing to look at is healthy. Usage is looked at day by day, so that years fit in memory.
"""
# ruff: noqa: S608 - what is put together here are names of the schema and numbers

import shutil
from collections.abc import Callable, Iterator
from itertools import chain
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from pfscope.store.embedded import EmbeddedStore
from pfscope.store.layout import DAILY, DAY_US, day_name, within
from pfscope.store.parts import Part, checksum
from pfscope.store.schema import VERSION

LEAST_FREE = 0.05
_USAGE = ("usage_mdt", "usage_ost")
_SHOWN = 3


class Finding(NamedTuple):
    """What one check found."""

    check: str
    healthy: bool
    text: str


Check = Callable[[EmbeddedStore], Finding]


def examine(store: EmbeddedStore) -> Iterator[Finding]:
    """Yield the finding of every check, in the order of what the later ones rely on."""
    yield Finding("schema", True, f"version {VERSION}, as this pfscope knows it")
    files = _parts(store)
    yield files
    if files.healthy:
        for check in (_series_numbers, _known, _intervals, _directions, _frame_times):
            yield check(store)
    yield _ledger(store)
    yield _space(store)


def _parts(store: EmbeddedStore) -> Finding:
    parts = store.parts()
    wrong = [f"{part.path}: {fault}" for part in parts if (fault := _fault(store, part))]
    rows, size = sum(part.rows for part in parts), sum(part.bytes for part in parts)
    good = f"{len(parts)} Parquet files with {rows:,} rows in {size / 1e6:,.1f} MB are as written"
    return _finding("parquet", wrong, good, "damaged or lost files, whose rows are not to be had")


def _fault(store: EmbeddedStore, part: Part) -> str:
    """Say what is wrong with a part; empty: nothing."""
    path = store.directory / part.path
    try:
        if checksum(path) != part.checksum:
            return "its content changed since it was written"
        rows = pq.read_metadata(path).num_rows
    except FileNotFoundError:
        return "it is gone"
    except (OSError, pa.ArrowException) as error:
        return f"it cannot be read: {error}"
    return "" if rows == part.rows else f"it has {rows} rows instead of {part.rows}"


def _series_numbers(store: EmbeddedStore) -> Finding:
    found = store.query(
        "SELECT series FROM series GROUP BY series HAVING count(*) > 1 ORDER BY series"
    )
    wrong = [f"series {number}" for number in found.column("series").to_pylist()]
    return _finding("series", wrong, "every series has its own number", "numbers given twice")


def _known(store: EmbeddedStore) -> Finding:
    tables = " UNION ALL ".join(
        f"SELECT DISTINCT series, operation FROM {table}" for table in (*_USAGE, "histograms")
    )
    found = store.query(
        f"WITH used AS (SELECT DISTINCT * FROM ({tables})) "
        "SELECT 'series ' || series AS what FROM (SELECT DISTINCT series FROM used) "
        "ANTI JOIN series USING (series) "
        "UNION ALL SELECT 'operation ' || operation FROM (SELECT DISTINCT operation FROM used) "
        "ANTI JOIN operations USING (operation) ORDER BY what"
    )
    good = "every usage row has its series and its operation"
    return _finding("references", found.column("what").to_pylist(), good, "named but not there")


def _intervals(store: EmbeddedStore) -> Finding:
    wrong = chain.from_iterable(
        _overlaps(store, table, day) for table in _USAGE for day in _days(store, table)
    )
    good = "no two intervals of a series and operation overlap"
    return _finding("intervals", list(wrong), good, "days on which usage may be counted twice")


def _overlaps(store: EmbeddedStore, table: str, day: int) -> list[str]:
    """Compare the rows of a day with each other, and with those of the next that reach into it."""
    end_us = (day + 1) * DAY_US
    found = store.query(
        f"SELECT count(*) AS n FROM (SELECT begin < lag(time) OVER "
        f"(PARTITION BY series, operation ORDER BY time, begin) AS twice FROM {table} "
        f"WHERE {within('time', day, day + 1)} "
        f"AND (time < make_timestamptz({end_us}) OR begin < make_timestamptz({end_us}))) "
        "WHERE twice"
    )
    count = found.column("n")[0].as_py()
    return [f"{table} on {day_name(day)}: {count}"] if count else []


def _directions(store: EmbeddedStore) -> Finding:
    wrong = []
    for table in (*_USAGE, "target_totals"):
        found = store.query(f"SELECT count(*) AS n FROM {table} WHERE begin > time")
        if count := found.column("n")[0].as_py():
            wrong.append(f"{table}: {count}")
    return _finding("direction", wrong, "every interval ends after it begins", "rows back in time")


def _frame_times(store: EmbeddedStore) -> Finding:
    found = store.query(
        "SELECT server || ' ' || epoch AS boot FROM (SELECT server, epoch, time < lag(time) OVER "
        "(PARTITION BY server, epoch ORDER BY sequence) AS back FROM frames WHERE state <> 'late') "
        "WHERE back GROUP BY ALL ORDER BY boot"
    )
    good = "the times of each server's frames grow with their numbers"
    return _finding("clock", found.column("boot").to_pylist(), good, "times run backwards on")


def _ledger(store: EmbeddedStore) -> Finding:
    columns = ", ".join(
        f"sum({unit}) FILTER (outcome = 'received') AS {unit}_received, "
        f"sum({unit}) FILTER (outcome <> 'received') AS {unit}_settled"
        for unit in ("frames", "entries")
    )
    found = store.query(f"SELECT stage, server, {columns} FROM ledger GROUP BY ALL ORDER BY ALL")
    wrong = [
        f"{row['stage']} {row['server']}: {row[unit + '_received'] or 0} {unit} received, "
        f"{row[unit + '_settled'] or 0} accounted for"
        for row in found.to_pylist()
        for unit in ("frames", "entries")
        if (row[unit + "_received"] or 0) != (row[unit + "_settled"] or 0)
    ]
    good = "received = stored + duplicate + rejected + dropped, for every stage and server"
    return _finding("ledger", wrong, good, "the sums differ")


def _space(store: EmbeddedStore) -> Finding:
    usage = shutil.disk_usage(store.directory)
    share = usage.free / usage.total
    text = f"{usage.free / 1e9:,.1f} GB ({share:.0%}) of the disk are free"
    return Finding("space", share >= LEAST_FREE, text)


def _days(store: EmbeddedStore, table: str) -> list[int]:
    column = DAILY[table]
    found = store.query(f'SELECT DISTINCT epoch_us("{column}") // {DAY_US} AS day FROM {table}')
    return sorted(found.column("day").to_pylist())


def _finding(check: str, wrong: list[str], good: str, bad: str) -> Finding:
    if not wrong:
        return Finding(check, True, good)
    more = f" and {len(wrong) - _SHOWN} more" if len(wrong) > _SHOWN else ""
    return Finding(check, False, f"{bad}: {'; '.join(wrong[:_SHOWN])}{more}")
