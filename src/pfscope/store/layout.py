"""Where things lie in a data directory, and how tables of the schema look in SQL and on disk.

A day is a day of UTC. In `DIR/parquet/TABLE/day=YYYY-MM-DD/` all rows of one day lie in parts; a
part is complete from the moment it has its name, and is never changed.
"""

from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Final

import pyarrow as pa

from pfscope.store.schema import TABLES, TIMED

DATABASE: Final = "store.duckdb"
PARQUET: Final = "parquet"
SCRATCH: Final = "tmp"
UNFINISHED: Final = ".unfinished"
"""Ends the name of a part while it is written; names of this kind are rubbish after a crash."""
DAY_US: Final = 86_400_000_000

DAILY: Final = {**dict.fromkeys(TIMED, "time"), "series": "first_seen", "jobs": "submit"}
"""The tables that are kept by day, and the column that says which day."""

ORDER: Final = {
    "usage_mdt": ("operation", "series", "time"),
    "usage_ost": ("operation", "series", "time"),
    "series": ("series",),
    "histograms": ("operation", "series", "time", "bound"),
    "target_totals": ("target", "operation", "time"),
    "server_load": ("server", "time"),
    "quality": ("target", "class", "time"),
    "jobs": ("job", "recorded"),
    "frames": ("server", "time", "sequence"),
}
"""How the rows of a part are sorted: like values beside each other are small on disk."""

ADDED: Final = {("frames", "clock_step_us"): 1, ("quality", "server"): 2}
"""Columns that came with a later version of the schema; older parts have nulls there."""

_EPOCH = date(1970, 1, 1)
_SQL_TYPES = {
    pa.int16(): "SMALLINT",
    pa.int32(): "INTEGER",
    pa.int64(): "BIGINT",
    pa.float64(): "DOUBLE",
    pa.bool_(): "BOOLEAN",
    pa.string(): "VARCHAR",
    pa.timestamp("us", "UTC"): "TIMESTAMPTZ",
}


def sql_type(table: str, column: str) -> str:
    """Return DuckDB's type for a column of the schema."""
    return _SQL_TYPES[TABLES[table].field(column).type]


def create_table(table: str, name: str) -> str:
    """Return the statement that makes `name` with the columns of a table of the schema."""
    required = DAILY.get(table)
    columns = ", ".join(
        f'"{column}" {sql_type(table, column)}{" NOT NULL" if column == required else ""}'
        for column in TABLES[table].names
    )
    return f"CREATE TABLE {name} ({columns})"


def quoted(text: str | Path) -> str:
    """Return a string literal of SQL."""
    return "'" + str(text).replace("'", "''") + "'"


def day_of(time_us: int) -> int:
    """Return the number of the day that a time belongs to."""
    return time_us // DAY_US


def day_name(day: int) -> str:
    """Return `YYYY-MM-DD`."""
    return (_EPOCH + timedelta(days=day)).isoformat()


def day_number(name: str) -> int:
    """Undo `day_name`."""
    return (date.fromisoformat(name) - _EPOCH).days


def month_of(day: int) -> str:
    """Return `YYYY-MM`."""
    return day_name(day)[:7]


def day_start(day: int) -> str:
    """Return the instant at which a day begins, as a literal of SQL."""
    return f"TIMESTAMPTZ '{day_name(day)} 00:00:00+00'"


def within(column: str, first: int, last: int) -> str:
    """Return the condition that a time lies in the days from `first` to `last`."""
    return f'"{column}" >= {day_start(first)} AND "{column}" < {day_start(last + 1)}'


def utc(time_us: int) -> str:
    """Return a time for people, to the second."""
    return datetime.fromtimestamp(time_us // 1_000_000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
