"""Rows of the lake's tables, made by hand: what a test does not say is null."""

import duckdb
import ibis
import pyarrow as pa
from ibis.expr.operations import InMemoryTable

from pfscope.mine.schema import table_schema

JOB = {"log": "a", "job_id": "1", "nprocs": 4, "executable": "app", "partial": False}
FILE = {"log": "a", "nprocs": 4, "ranks": 1, "partial": False, "kind": "file"}


def rows(name, given, common):
    """Return an Arrow table of the lake."""
    schema = table_schema(name)
    columns = [(field.name, field.type) for field in schema]
    for row in given:
        assert set(row) <= set(schema.names), set(row) - set(schema.names)
    return pa.table({
        column: pa.array([{**common, **row}.get(column) for row in given], kind)
        for column, kind in columns
    })  # fmt: skip


def jobs(*given):
    return rows("darshan_job", given, JOB)


def files(*given):
    return rows("darshan_file", [{"file_id": i, **row} for i, row in enumerate(given)], FILE)


def written(start, end, size=100, **more):
    """A file that was written in a time."""
    return {"bytes_written": size, "write_start_s": start, "write_end_s": end, **more}


def expression(table):
    """Return a table as miners see it."""
    return ibis.memtable(table)


def run_expression(asked):
    """Return the rows of an expression over such a table."""
    connection = duckdb.connect()
    for made in asked.op().find(InMemoryTable):
        connection.register(made.name, made.data.to_pyarrow(made.schema))
    return connection.sql(ibis.to_sql(asked, dialect="duckdb")).to_arrow_table()
