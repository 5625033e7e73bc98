"""The Parquet parts: which there are, how one comes to be, how views unite them with DuckDB.

A part belongs to the store from the commit that records it in the table `parts`; a file that no
record names is what a crash left behind. A record and the rows it stands for change in one
transaction, and so do the views, so that nobody sees a row twice or misses one.
"""
# ruff: noqa: S608 - what is put together here are names of the schema, numbers and quoted paths

import os
import zlib
from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from duckdb import DuckDBPyConnection

from pfscope.store.layout import (
    ADDED,
    DAILY,
    ORDER,
    PARQUET,
    UNFINISHED,
    day_name,
    month_of,
    quoted,
    sql_type,
    within,
)
from pfscope.store.schema import TABLES, VERSION

DAYS_APART = 62
"""So many of the latest days are told apart by the views; before them, months."""
CREATE = """
CREATE TABLE parts (
    "table" VARCHAR NOT NULL, day INTEGER NOT NULL, number BIGINT NOT NULL,
    version INTEGER NOT NULL, rows BIGINT NOT NULL, bytes BIGINT NOT NULL,
    checksum BIGINT NOT NULL, last_series INTEGER, written TIMESTAMPTZ NOT NULL
)"""
_COLUMNS = '"table", day, number, version, rows, bytes, checksum, last_series, epoch_us(written)'


class Part(NamedTuple):
    """One file of rows of one table and day."""

    table: str
    day: int
    number: int
    version: int
    """Of the schema that it was written with."""
    rows: int
    bytes: int
    checksum: int
    """CRC-32 of the file."""
    last_series: int | None
    """The greatest number in it, in parts of `series`."""
    written_us: int

    @property
    def path(self) -> str:
        """Where it lies, below the data directory."""
        return f"{PARQUET}/{self.table}/day={day_name(self.day)}/part-{self.number:08d}.parquet"


def recorded(cursor: DuckDBPyConnection) -> list[Part]:
    """Return all parts, table by table, day by day, oldest first."""
    rows = cursor.execute(f'SELECT {_COLUMNS} FROM parts ORDER BY "table", day, number').fetchall()
    return [Part(*row) for row in rows]


def record(cursor: DuckDBPyConnection, part: Part) -> None:
    """Make a file that is complete a part of the store."""
    cursor.execute("INSERT INTO parts VALUES (?, ?, ?, ?, ?, ?, ?, ?, make_timestamptz(?))", part)


def forget(cursor: DuckDBPyConnection, parts: Iterable[Part]) -> None:
    """Make parts files that nobody names."""
    numbers = [part.number for part in parts]
    cursor.execute("DELETE FROM parts WHERE number IN (SELECT unnest(?))", [numbers])


def write_part(
    cursor: DuckDBPyConnection, directory: Path, table: str, day: int, rows: str, now_us: int
) -> Part:
    """Write what the SELECT `rows` yields, sorted, so that it survives the end of the machine."""
    found = cursor.execute("SELECT nextval('part_number')").fetchone()
    assert found
    part = Part(table, day, found[0], VERSION, 0, 0, 0, None, now_us)
    path = directory / part.path
    unfinished = path.with_name(path.name + UNFINISHED)
    _make_durable_folder(path.parent, directory)
    order = ", ".join(f'"{column}"' for column in ORDER[table])
    result = cursor.execute(
        f"COPY (SELECT * FROM ({rows}) ORDER BY {order}) TO {quoted(unfinished)} "
        "(FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 122880)"
    ).fetchone()
    assert result
    sync(unfinished)
    unfinished.rename(path)
    sync(path.parent)
    last = None
    if table == "series":
        newest = cursor.execute(f"SELECT max(series) FROM ({rows})").fetchone()
        last = newest[0] if newest else None
    return part._replace(
        rows=result[0], bytes=path.stat().st_size, checksum=checksum(path), last_series=last
    )


def checksum(path: Path) -> int:
    """Return the CRC-32 of a file."""
    crc = 0
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            crc = zlib.crc32(block, crc)
    return crc


def remove_rubbish(directory: Path, kept: Iterable[Part]) -> list[Path]:
    """Delete files that are no parts (crashes and failures leave them) and folders left empty."""
    known = {directory / part.path for part in kept}
    found = [p for p in (directory / PARQUET).glob("*/day=*/*") if p not in known]
    for path in found:
        path.unlink(missing_ok=True)
    for folder in (directory / PARQUET).glob("*/day=*"):
        if not any(folder.iterdir()):
            folder.rmdir()
    return found


def create_views(cursor: DuckDBPyConnection, directory: Path, tables: Iterable[str]) -> None:
    """Let each view show what is in DuckDB and in all parts as one table."""
    parts = [part for part in recorded(cursor) if (directory / part.path).exists()]
    for table in tables:
        of_table = [part for part in parts if part.table == table]
        selects = [f"SELECT {_columns(table)} FROM hot.{table}", *_cold(directory, of_table)]
        cursor.execute(f"CREATE OR REPLACE VIEW {table} AS " + " UNION ALL ".join(selects))


def next_series(cursor: DuckDBPyConnection) -> int:
    """Return the first number that was never a series', be it of one that is gone."""
    found = cursor.execute(
        "SELECT greatest((SELECT next_series FROM store), (SELECT max(series) FROM hot.series) + 1,"
        " (SELECT max(last_series) FROM parts) + 1)"
    ).fetchone()
    assert found
    return int(found[0])


def select_parts(directory: Path, parts: Sequence[Part]) -> str:
    """Return a SELECT of all rows of some parts of one table and one version of the schema."""
    table, version = parts[0].table, parts[0].version
    files = ", ".join(quoted(directory / part.path) for part in parts)
    columns = _columns(table, version)
    return f"SELECT {columns} FROM read_parquet([{files}], hive_partitioning = false)"


def by_version(parts: Iterable[Part]) -> list[list[Part]]:
    """Group parts by the schema that they were written with."""
    ordered = sorted(parts, key=lambda part: part.version)
    return [list(group) for _, group in groupby(ordered, key=lambda part: part.version)]


def _cold(directory: Path, parts: list[Part]) -> list[str]:
    """Return SELECTs that tell the planner which days they hold, so that it leaves others out."""
    if not parts:
        return []
    newest = max(part.day for part in parts)
    periods: dict[str, list[Part]] = {}
    for part in parts:
        apart = newest - part.day < DAYS_APART
        periods.setdefault(day_name(part.day) if apart else month_of(part.day), []).append(part)
    return [
        f"{select_parts(directory, group)} WHERE {_period(group)}"
        for period in periods.values()
        for group in by_version(period)
    ]


def _period(parts: list[Part]) -> str:
    column = DAILY[parts[0].table]
    return within(column, min(p.day for p in parts), max(p.day for p in parts))


def _columns(table: str, version: int = VERSION) -> str:
    return ", ".join(
        f'NULL::{sql_type(table, name)} AS "{name}"'
        if ADDED.get((table, name), 0) > version
        else f'"{name}"'
        for name in TABLES[table].names
    )


def _make_durable_folder(folder: Path, directory: Path) -> None:
    missing = [p for p in (folder, *folder.parents) if p.is_relative_to(directory)]
    for path in reversed(missing):
        if not path.exists():
            path.mkdir()
            sync(path.parent)


def sync(path: Path) -> None:
    """Make a file, or the names in a folder, survive the end of the machine."""
    fd = os.open(path, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
