"""Rows that are told again, and later know more: put together with those that the lake has.

Slurm and LMT tell of the same jobs and moments in many files, whose periods overlap. A key stands
once in the lake; files of the lake in which it stood are replaced when a row of them changes.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pfscope.mine.darshan_runs import date_of
from pfscope.mine.lake import Lake
from pfscope.mine.parts import ROWS, Parts
from pfscope.mine.schema import DATE, TABLES

_MEMORY: Final = "1GB"


class Rule(NamedTuple):
    """How rows of a table are put together."""

    table: str
    better: tuple[str, ...]
    """Of rows with the same key the first in this order (SQL) holds; none: the one in the lake is
    filled with what the new one knows."""
    earliest: str
    """The column whose day is not after that under which a key may stand already."""


def upsert(lake: Lake, parts: Parts, rule: Rule, rows: pa.Table) -> list[Path]:
    """Write rows, and all that they meet, into the batch; return the files that it replaces."""
    if not rows.num_rows:
        return []
    engine = duckdb.connect(config={"memory_limit": _MEMORY, "threads": 2})
    table = TABLES[rule.table]
    engine.register("new", rows)
    files = _met(engine, lake, rule, rows)
    old = _read(files, table.schema)
    engine.register("old", old)
    merged = engine.sql(_chosen(rule) if rule.better else _filled(rule)).to_arrow_table()
    merged = merged.cast(table.schema)
    order = [(name, "ascending") for name in table.key]
    if old.num_rows and _same(merged, old.sort_by(order)):
        return []
    for date, some in by_day(merged, table.when or ""):
        parts.write(rule.table, date, some)
    parts.close()
    return files


def by_day(rows: pa.Table, when: str) -> list[tuple[str, pa.Table]]:
    """Cut rows by the day of a time."""
    days = rows[when].cast(pa.int64()).combine_chunks().to_numpy() // (86400 * 10**6)
    return [
        (date_of(day * 86400 * 10**6), rows.filter(pa.array(days == day)))
        for day in sorted(set(days.tolist()))
    ]


def _met(engine: duckdb.DuckDBPyConnection, lake: Lake, rule: Rule, rows: pa.Table) -> list[Path]:
    """Return the files that have keys of new rows, or are small and of their days."""
    table = TABLES[rule.table]
    first = pc.min(rows[rule.earliest].cast(pa.int64())).as_py()
    unknown = first is None or rows[rule.earliest].null_count
    dates = [d for d in lake.dates(rule.table) if unknown or d >= date_of(first)]
    files = lake.files(rule.table, dates)
    if not files:
        return []
    same = " AND ".join(f"new.{key} IS NOT DISTINCT FROM have.{key}" for key in table.key)
    meeting = engine.execute(
        f"""
        SELECT DISTINCT filename FROM read_parquet($files, filename = true) AS have
        WHERE EXISTS (SELECT 1 FROM new WHERE {same})
        """,  # noqa: S608 - names of our own columns
        {"files": [str(file) for file in files]},
    ).fetchall()
    met = {name for (name,) in meeting}
    wanted = {f"{DATE}={date}" for date, _ in by_day(rows, table.when or "")}
    return [
        file
        for file in files
        if str(file) in met
        or (file.parent.name in wanted and pq.read_metadata(file).num_rows < ROWS)
    ]


def _read(files: Sequence[Path], schema: pa.Schema) -> pa.Table:
    return pa.concat_tables(
        [schema.empty_table(), *(pq.ParquetFile(file).read() for file in files)]
    )


def _chosen(rule: Rule) -> str:
    """Return a query that takes the better row of each key."""
    table = TABLES[rule.table]
    keys = ", ".join(table.key)
    return f"""
        SELECT * EXCLUDE (side) FROM (
          SELECT *, 0 AS side FROM old UNION ALL BY NAME SELECT *, 1 AS side FROM new
        ) QUALIFY row_number() OVER (
          PARTITION BY {keys} ORDER BY {", ".join(rule.better)}, side
        ) = 1 ORDER BY {keys}
    """  # noqa: S608 - names of our own columns


def _filled(rule: Rule) -> str:
    """Return a query that fills each key's row with what new ones know, the last one first."""
    table = TABLES[rule.table]
    keys = ", ".join(table.key)
    values = ", ".join(
        column.name
        if column.name in table.key
        else f"last({column.name} ORDER BY side) FILTER ({column.name} IS NOT NULL)"
        f" AS {column.name}"
        for column in table.columns
    )
    return f"""
        SELECT {values} FROM (
          SELECT *, 0 AS side FROM old UNION ALL BY NAME SELECT *, 1 AS side FROM new
        ) GROUP BY {keys} ORDER BY {keys}
    """  # noqa: S608 - names of our own columns


def _same(merged: pa.Table, old: pa.Table) -> bool:
    """Return whether nothing is told that was not there; who told it makes no difference."""
    return bool(merged.drop_columns("log").equals(old.drop_columns("log")))
