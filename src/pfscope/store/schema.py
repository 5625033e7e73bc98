"""The tables of the store, declared once: names, columns and types, for DuckDB and Parquet alike.

Times are the end of what a row covers, in microseconds of UTC. A series is a small number; who and
what it is stands in `series`, an operation's name and unit in `operations`.
"""

from typing import Final

import pyarrow as pa

VERSION: Final = 2
"""Raised with every change of a table; `migrations` brings older stores up."""

TIME: Final = pa.timestamp("us", "UTC")

USAGE: Final = pa.schema(
    [
        ("time", TIME),
        ("begin", TIME),
        ("series", pa.int32()),
        ("operation", pa.int16()),
        ("samples", pa.int64()),
        ("total", pa.int64()),
        ("sumsq", pa.float64()),
        ("minimum", pa.int64()),
        ("maximum", pa.int64()),
        ("restarted", pa.bool_()),
        ("baseline", pa.bool_()),
    ]
)
"""Increments in (begin, time]. `total` is bytes or microseconds, by the operation's unit. The
extremes are null where those of the interval cannot be told. `restarted`: the raw counter began at
zero with this row; `baseline`: what it held when first seen, which is not usage. A raw counter is
the sum of its rows since the time of the last such mark on any row of its series."""

SERIES: Final = pa.schema(
    [
        ("series", pa.int32()),
        ("filesystem", pa.string()),
        ("target", pa.string()),
        ("kind", pa.string()),
        ("entry_id", pa.string()),
        ("class", pa.string()),
        ("system", pa.bool_()),
        ("job", pa.string()),
        ("array_job", pa.string()),
        ("array_task", pa.string()),
        ("user", pa.string()),
        ("group", pa.string()),
        ("node", pa.string()),
        ("executable", pa.string()),
        ("process", pa.string()),
        ("first_seen", TIME),
    ]
)
"""Text that users wrote is ASCII, other bytes as `\\xHH`; null where an id says nothing."""

OPERATIONS: Final = pa.schema(
    [("operation", pa.int16()), ("name", pa.string()), ("unit", pa.string())]
)

HISTOGRAMS: Final = pa.schema(
    [
        ("time", TIME),
        ("series", pa.int32()),
        ("operation", pa.int16()),
        ("bound", pa.int64()),
        ("count", pa.int64()),
    ]
)
"""Requests in (begin, time] of the usage row, by size: `bound` is the upper one of the bin."""

TARGET_TOTALS: Final = pa.schema(
    [
        ("time", TIME),
        ("begin", TIME),
        ("server", pa.string()),
        ("target", pa.string()),
        ("operation", pa.int16()),
        ("samples", pa.int64()),
        ("total", pa.int64()),
        ("sumsq", pa.float64()),
    ]
)
"""What the target itself counted, unattributed requests included."""

SERVER_LOAD: Final = pa.schema(
    [
        ("time", TIME),
        ("server", pa.string()),
        ("load_1", pa.float64()),
        ("load_5", pa.float64()),
        ("load_15", pa.float64()),
        ("cpu_busy", pa.float64()),
        ("cpu_iowait", pa.float64()),
        ("memory_total", pa.int64()),
        ("memory_available", pa.int64()),
    ]
)
"""cpu_busy and cpu_iowait are shares of all cores since the observation before; memory in bytes."""

QUALITY: Final = pa.schema(
    [
        ("time", TIME),
        ("target", pa.string()),
        ("class", pa.string()),
        ("system", pa.bool_()),
        ("entries", pa.int64()),
        ("server", pa.string()),
    ]
)
"""What was in a read; it also tells which server a target was on at the time of a usage row."""

JOBS: Final = pa.schema(
    [
        ("job", pa.string()),
        ("array_job", pa.string()),
        ("array_task", pa.string()),
        ("user", pa.string()),
        ("user_name", pa.string()),
        ("group", pa.string()),
        ("project", pa.string()),
        ("partition", pa.string()),
        ("name", pa.string()),
        ("nodes", pa.string()),
        ("node_count", pa.int64()),
        ("submit", TIME),
        ("start", TIME),
        ("end", TIME),
        ("state", pa.string()),
        ("recorded", TIME),
    ]
)
"""What the scheduler says of a job; of several rows of one job the latest `recorded` counts. `user`
and `group` are numeric ids where they are known, `nodes` is a host list as Slurm writes it."""

FRAMES: Final = pa.schema(
    [
        ("server", pa.string()),
        ("epoch", pa.string()),
        ("sequence", pa.int64()),
        ("time", TIME),
        ("received", TIME),
        ("state", pa.string()),
        ("entries", pa.int64()),
        ("defects", pa.int64()),
        ("raw_bytes", pa.int64()),
        ("read_us", pa.int64()),
        ("clock_step_us", pa.int64()),
    ]
)
"""`state` is `stored`, `late` or `rejected`. A text has its digest as the epoch."""

LEDGER: Final = pa.schema(
    [
        ("stage", pa.string()),
        ("server", pa.string()),
        ("outcome", pa.string()),
        ("reason", pa.string()),
        ("frames", pa.int64()),
        ("entries", pa.int64()),
    ]
)
"""Counts since the store was made. Outcomes: received, stored, duplicate, rejected, dropped."""

TABLES: Final = {
    "usage_mdt": USAGE,
    "usage_ost": USAGE,
    "series": SERIES,
    "operations": OPERATIONS,
    "histograms": HISTOGRAMS,
    "target_totals": TARGET_TOTALS,
    "server_load": SERVER_LOAD,
    "quality": QUALITY,
    "jobs": JOBS,
    "frames": FRAMES,
    "ledger": LEDGER,
}
TIMED: Final = tuple(name for name, schema in TABLES.items() if "time" in schema.names)
"""Tables that grow with time: kept by day in Parquet, and subject to retention."""
