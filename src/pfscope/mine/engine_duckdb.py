"""DuckDB in this process, over the lake's Parquet files: one view for each table."""

from collections.abc import Iterator
from typing import Any, Final

import duckdb
import ibis
import ibis.expr.datatypes as dt
import ibis.expr.types as ir
import pyarrow as pa

from pfscope.mine.engine import RAW, Known, MineError, arrow_schema, declared, sql_function, told
from pfscope.mine.lake import Lake
from pfscope.mine.ost_sets import DUCKDB as OST_FUNCTIONS
from pfscope.mine.schema import DATE, TABLES, Table

_FUNCTIONS: Final = """
CREATE OR REPLACE MACRO pfscope_micros(moment) AS epoch_us(moment);
CREATE OR REPLACE MACRO pfscope_time(micros) AS make_timestamptz(micros);
"""
_TYPES: Final = {
    pa.int64(): "BIGINT", pa.int32(): "INTEGER", pa.float64(): "DOUBLE", pa.string(): "VARCHAR",
    pa.bool_(): "BOOLEAN", pa.binary(): "BLOB", pa.timestamp("us", "UTC"): "TIMESTAMPTZ",
}  # fmt: skip
_BATCH: Final = 1 << 17


def connect(
    lake: Lake, dates: list[str] | None, threads: int | None = None
) -> duckdb.DuckDBPyConnection:
    """Return a connection with the lake's tables as views, of some days alone if any are named."""
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'")
    connection.execute("SET preserve_insertion_order = false")
    if threads:
        connection.execute(f"SET threads = {threads:d}")
    connection.execute(OST_FUNCTIONS + _FUNCTIONS)
    for table in TABLES.values():
        name = RAW.get(table.name, table.name)
        connection.execute(f'CREATE VIEW "{name}" AS {_scan(lake, table, dates)}')
    return connection


def _scan(lake: Lake, table: Table, dates: list[str] | None) -> str:
    files = lake.files(table.name, dates)
    if not files:
        columns = ", ".join(f'NULL::{_TYPES[c.type]} AS "{c.name}"' for c in table.columns)
        date = f", NULL::DATE AS {DATE}" if table.when else ""
        return f"SELECT {columns}{date} LIMIT 0"
    names = ", ".join(quoted(str(file)) for file in files)
    parted = f", hive_partitioning = true, hive_types = {{'{DATE}': DATE}}" if table.when else ""
    return f"SELECT * FROM read_parquet([{names}]{parted})"  # noqa: S608 - names are quoted


def quoted(text: str) -> str:
    """Return a text of SQL."""
    return "'" + text.replace("'", "''") + "'"


class DuckDBEngine:
    """Runs expressions on a DuckDB of this process."""

    dialect = "duckdb"

    def __init__(self, lake: Lake, dates: list[str] | None, threads: int | None = None) -> None:
        self._connection = connect(lake, dates, threads)
        self._wide = False
        self._known: set[str] = set()

    def table(self, name: str) -> ir.Table:
        """Return a table of the lake."""
        return ibis.table(declared(name), name=name)

    def ost_union_all(self, osts: ir.BinaryColumn) -> ir.BinaryScalar:
        """Return the union of sets: as bits of one width, which is that of the widest run's."""
        if not self._wide:
            self._connection.execute(_WIDE_UNION.format(width=self._width()))
            self._wide = True
        union: ir.BinaryScalar = _ost_union_wide(osts)
        return union

    def _width(self) -> int:
        row = self._connection.execute(
            "SELECT greatest(max(octet_length(osts)), 1) FROM darshan_job"
        ).fetchone()
        return int(row[0]) if row and row[0] else 1

    def know(self, function: Known) -> None:
        """Let expressions call a Python function."""
        if function.name not in self._known:
            takes: list[Any] = [_sql_type(kind) for kind in function.takes]
            self._connection.create_function(
                function.name, function.function, takes, _sql_type(function.gives)
            )
            self._known.add(function.name)

    def batches(self, table: ir.Table) -> Iterator[pa.RecordBatch]:
        """Run an expression."""
        schema = arrow_schema(table)
        try:
            with self._connection.cursor() as cursor:
                rows = cursor.sql(ibis.to_sql(table, dialect="duckdb"))
                for batch in rows.to_arrow_reader(_BATCH):
                    yield batch.cast(schema)
        except (duckdb.Error, pa.ArrowException) as error:
            raise MineError(f"DuckDB could not answer: {told(error)}") from error

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


def _sql_type(kind: dt.DataType) -> str:
    if isinstance(kind, dt.Array):
        return f"{_sql_type(kind.value_type)}[]"
    return _TYPES[kind.to_pyarrow()]


_WIDE_UNION: Final = """
CREATE OR REPLACE MACRO ost_union_wide(osts) AS unhex(regexp_replace(hex(
  bit_or((osts || repeat('\\x00'::BLOB, {width} - octet_length(osts)))::BIT)::BLOB
), '(00)+$', ''))
"""


_ost_union_wide: Final = sql_function("ost_union_wide", [dt.binary], dt.binary, grouped=True)
