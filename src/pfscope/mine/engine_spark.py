"""Spark over the lake's Parquet files: on this machine, or on a cluster that sees the same lake.

Sets of OSTs are united seven bytes at a time, as numbers: Spark has no bits of any length.
"""

import os
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import reduce
from pathlib import Path
from typing import Any, Final

import ibis
import ibis.expr.datatypes as dt
import ibis.expr.types as ir
import pyarrow as pa

from pfscope.errors import InputError
from pfscope.mine.engine import RAW, Known, MineError, arrow_schema, declared, sql_function, told
from pfscope.mine.lake import Lake
from pfscope.mine.schema import DATE, TABLES, Table

_CHUNK: Final = 7
_BATCH: Final = 1 << 17
_FUNCTIONS: Final = f"""
pfscope_micros(moment TIMESTAMP) RETURNS BIGINT RETURN unix_micros(moment);
pfscope_time(micros BIGINT) RETURNS TIMESTAMP RETURN timestamp_micros(micros);
ost_chunk(osts BINARY, number INT) RETURNS BIGINT RETURN CASE WHEN osts IS NOT NULL THEN
  CAST(conv(rpad(substring(hex(osts), {2 * _CHUNK} * number + 1, {2 * _CHUNK}), {2 * _CHUNK}, '0'),
            16, 10) AS BIGINT) END;
ost_list(osts BINARY) RETURNS ARRAY<INT> RETURN CASE
  WHEN octet_length(osts) = 0 THEN CAST(array() AS ARRAY<INT>)
  WHEN osts IS NOT NULL THEN filter(
    transform(sequence(0, octet_length(osts) * 8 - 1), i -> CAST(i AS INT)),
    i -> getbit(CAST(conv(hex(substring(osts, i DIV 8 + 1, 1)), 16, 10) AS INT), i % 8) = 1) END;
ost_count(osts BINARY) RETURNS INT RETURN CASE WHEN osts IS NOT NULL THEN size(ost_list(osts)) END;
ost_overlap(a BINARY, b BINARY) RETURNS INT RETURN CASE WHEN a IS NOT NULL AND b IS NOT NULL
  THEN size(array_intersect(ost_list(a), ost_list(b))) END;
"""
_SETTINGS: Final = {
    "spark.app.name": "pfscope mine",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.sql.shuffle.partitions": "32",
    "spark.log.level": "FATAL",
}
_ORIGINAL: Final = {whole: part for part, whole in RAW.items()}
_HERE: Final = ("local", "spark://127.", "spark://localhost")


class SparkEngine:
    """Runs expressions on a cluster, or on threads of this process."""

    dialect = "pyspark"

    def __init__(
        self, lake: Lake, master: str, dates: list[str] | None, options: Mapping[str, str]
    ) -> None:
        self._lake, self._dates = lake, dates
        self._tables: set[str] = set()
        self._known: set[str] = set()
        self._chunks: int | None = None
        with _quiet():
            self._session = _session(master, options)
        for text in _FUNCTIONS.strip().split(";\n"):
            self._session.sql(f"CREATE OR REPLACE TEMPORARY FUNCTION {text.rstrip(';')}")

    def table(self, name: str) -> ir.Table:
        """Return a table of the lake; it is looked at when it is first asked for."""
        if name not in self._tables:
            self._show(name, TABLES[_ORIGINAL.get(name, name)])
            self._tables.add(name)
        return ibis.table(declared(name), name=name)

    def _show(self, name: str, table: Table) -> None:
        with _quiet():
            from ibis.backends.pyspark.datatypes import PySparkSchema

            columns = PySparkSchema.from_ibis(declared(name))
        files = self._lake.files(table.name, self._dates)
        if files:
            root = str(self._lake.path.resolve() / table.name)
            reader = self._session.read.schema(columns).option("basePath", root)
            frame = reader.parquet(*_places(files, whole=not self._dates))
        else:
            frame = self._session.createDataFrame([], columns)
        frame.createOrReplaceTempView(name)

    def ost_union_all(self, osts: ir.BinaryColumn) -> ir.BinaryScalar:
        """Return the union of sets, made of those of their pieces."""
        digits = [
            _hex(_bit_or(_ost_chunk(osts, i))).lpad(2 * _CHUNK, "0") for i in range(self._width())
        ]
        whole = reduce(lambda a, b: a + b, digits)
        return _unhex(_replaced(whole, "(00)+$", ""))

    def _width(self) -> int:
        if self._chunks is None:
            longest = self.table("darshan_job").aggregate(longest=lambda t: _octets(t.osts).max())
            found = max(batch["longest"][0].as_py() or 0 for batch in self.batches(longest))
            self._chunks = max(1, -(-found // _CHUNK))
        return self._chunks

    def know(self, function: Known) -> None:
        """Let expressions call a Python function."""
        if function.name in self._known:
            return
        with _quiet():
            from ibis.backends.pyspark.datatypes import PySparkType
            from pyspark.sql.functions import udf

            made = udf(function.function, returnType=PySparkType.from_ibis(function.gives))
            self._session.udf.register(function.name, made)
        self._known.add(function.name)

    def batches(self, table: ir.Table) -> Iterator[pa.RecordBatch]:
        """Run an expression; its rows come to this process together."""
        from py4j.protocol import Py4JError
        from pyspark.errors import PySparkException

        schema = arrow_schema(table)
        try:
            with _quiet():
                rows = self._session.sql(ibis.to_sql(table, dialect="pyspark")).toArrow()
        except (PySparkException, Py4JError) as error:
            raise MineError(f"Spark could not answer: {told(error)}") from error
        yield from rows.cast(schema).to_batches(_BATCH)

    def close(self) -> None:
        """Stop the session."""
        self._session.stop()


@contextmanager
def _quiet() -> Iterator[None]:
    """Pass over that PySpark 4 has not been tried with all of pandas 3."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        yield


def _session(master: str, options: Mapping[str, str]) -> Any:
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise InputError(
            "Spark is not installed: pip install 'pfscope[spark]', and Java 17"
        ) from None
    _ = ibis.pyspark  # so that Ibis knows its settings for Spark
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    settings = dict(_SETTINGS)
    if master.startswith(_HERE):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        settings |= {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
    builder = SparkSession.builder.master(master)
    for name, value in {**settings, **options}.items():
        builder = builder.config(name, value)
    try:
        return builder.getOrCreate()
    except Exception as error:
        raise InputError(f"Spark does not start on {master}: {told(error)}") from error


def _places(files: list[Any], *, whole: bool) -> list[str]:
    """Return what Spark is to read: a table's directory, or some of its days."""
    days = sorted({str(file.parent.resolve()) for file in files})
    return [str(Path(days[0]).parent)] if whole and DATE + "=" in days[0] else days


_octets: Final = sql_function("octet_length", [dt.binary], dt.int32)
_ost_chunk: Final = sql_function("ost_chunk", [dt.binary, dt.int32], dt.int64)
"""Seven bytes of a set, as a number."""
_bit_or: Final = sql_function("bit_or", [dt.int64], dt.int64, grouped=True)
_hex: Final = sql_function("hex", [dt.int64], dt.string)
_unhex: Final = sql_function("unhex", [dt.string], dt.binary)
_replaced: Final = sql_function("regexp_replace", [dt.string, dt.string, dt.string], dt.string)
