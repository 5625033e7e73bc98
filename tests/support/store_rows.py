"""Rows for stores in tests: a few columns that matter, the others filled in."""

from datetime import UTC, datetime

import pyarrow as pa

from pfscope.store.schema import TABLES, TIME

DAY_US = 86_400_000_000
HOUR_US = DAY_US // 24
MINUTE_US = HOUR_US // 60
DAY = 19_292
"""2022-10-27."""


def at(day=0, hour=0, minute=0):
    """Return microseconds, `day` days after 2022-10-27."""
    return (DAY + day) * DAY_US + hour * HOUR_US + minute * MINUTE_US


def moment(time_us):
    return datetime.fromtimestamp(time_us / 1e6, UTC)


def table(name, rows):
    """Return a table of the schema; what a row (a dict) does not give is null."""
    schema = TABLES[name]
    columns = []
    for field in schema:
        values = [row.get(field.name) for row in rows]
        if field.type == TIME:
            columns.append(pa.array(values, pa.int64()).cast(TIME))
        else:
            columns.append(pa.array(values, field.type))
    return pa.table(columns, schema=schema)


def usage(*times_us, series=0, operation=0, samples=1):
    """Return usage rows of one series, two minutes each."""
    return table(
        "usage_ost",
        [
            {
                "time": t, "begin": t - 2 * MINUTE_US, "series": series, "operation": operation,
                "samples": samples, "total": 10 * samples, "restarted": False, "baseline": False,
            }
            for t in times_us
        ],
    )  # fmt: skip


def series(*numbers, first_seen=None, system=False):
    return table(
        "series",
        [
            {
                "series": n, "filesystem": "scratch", "target": "scratch-OST0000", "kind": "ost",
                "entry_id": f"{n}:1000:r01c01", "class": "sound", "system": system, "job": str(n),
                "user": "1000", "node": "r01c01",
                "first_seen": at() if first_seen is None else first_seen,
            }
            for n in numbers
        ],
    )  # fmt: skip


def operations(*names):
    return table(
        "operations",
        [{"operation": i, "name": n, "unit": "reqs"} for i, n in enumerate(names)],
    )


def frames(*sequences, server="oss1", epoch="e", time_us=None):
    return table(
        "frames",
        [
            {
                "server": server, "epoch": epoch, "sequence": n, "state": "stored", "entries": 1,
                "time": (at() if time_us is None else time_us) + n,
            }
            for n in sequences
        ],
    )  # fmt: skip


def whole_batch(time_us=None):
    """Return a sound batch with something in every table that rows refer to."""
    time_us = at(hour=1) if time_us is None else time_us
    return {
        "usage_ost": usage(time_us),
        "series": series(0, first_seen=time_us),
        "operations": operations("read", "write"),
        "frames": frames(0, time_us=time_us),
    }
